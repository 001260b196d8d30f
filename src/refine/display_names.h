// Tracks the names whose values are known. A store that was removed is written after all where a statement that is not
// followed reads the name, or where a local that the value refers to gets another value.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "lift/context.h"
#include "refine/display_liveness.h"
#include "refine/display_state.h"

namespace depyf::displays {

class Names {
 public:
  Names(Context& context, const Liveness& liveness) : context_(context), liveness_(liveness) {}

  // The current block: the knowledge in it, and the list that collects its statements.
  struct Scene {
    State* state = nullptr;
    std::vector<ast::Stmt*>* out = nullptr;
  };
  // Makes `scene` the current block, and returns the one before.
  Scene exchange(Scene scene) { return std::exchange(scene_, scene); }
  State& state() { return *scene_.state; }
  const State& state() const { return *scene_.state; }

  // Appends a statement to the block.
  void keep(ast::Stmt* stmt) { scene_.out->push_back(stmt); }
  // Appends a statement with the position of `like`, if that is not null.
  void emit(ast::Stmt::Node node, const ast::Stmt* like) {
    if (like) keep(context_.stmt(std::move(node), like->offset, like->line, like->column, like->width));
    else keep(context_.stmt(std::move(node)));
  }
  // Returns a new node for a value, because a tree may contain each node only once.
  ast::Expr* copy_of(const ast::Expr* atom) { return context_.expr(atom->node, atom->offset, atom->line); }
  // Returns the name of a temporary that is not used elsewhere.
  std::string_view fresh_name();

  // Returns a value for an object to which only the frame has a reference.
  Value make(Object object);
  // Appends the items of a list or tuple to `items`. Returns false if they are not known.
  bool sequence(const Value& value, std::vector<Value>& items);
  // Replaces an object that got a name since `value` was made by that name.
  void refresh(Value& value) const;

  // Records that the name has this value. No store is written.
  void bind(std::string_view name, Value value);
  // Records that the local gets another value. Values that refer to its old value keep that under another name.
  void stored(std::string_view name);
  // Writes `t = expr` for a fresh temporary t, and returns t as a value.
  Value named(ast::Expr* expr);
  // The name is stored after all.
  // Writes the store of a name whose value is known, and forgets the value.
  void give_name(std::string_view name);
  // Writes the object as a display under a name, and replaces it by the name everywhere. An empty `name` leaves the
  // choice open.
  std::string_view name_object(int object, std::string_view name = {});
  // Gives names to all known values that may be read later.
  void name_all_live() { name_all_live(liveness_.future()); }
  void name_all_live(const Intervals& within);
  // Gives names to known values that lambdas and comprehensions in the statement read.
  void name_what_inner_scopes_read(ast::Stmt* stmt);
  // Forgets values that nothing reads any more.
  void forget_dead();

  // Returns an expression for a value that is needed as such. `through` is the name by which it was reached.
  ast::Expr* given(Value value, std::string_view through);

 private:
  // written_displays.cpp
  bool shared(int object, std::string_view name) const;
  ast::Expr* written(int object);

  Context& context_;
  const Liveness& liveness_;
  Scene scene_;
  int fresh_ = 0, objects_ = 0;
  std::map<int, std::string_view> given_names_;  // by object: the name that it got
};

}  // namespace depyf::displays
