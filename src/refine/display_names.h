// Tracks the names whose values are known. A removed store is written after all where a statement that the pass does
// not interpret reads the name, or where a local that the value refers to is rebound.
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

  // The block that is being rewritten: the values known at the current statement, and the list of the statements
  // written so far.
  struct Scene {
    State* state = nullptr;
    std::vector<ast::Stmt*>* out = nullptr;
  };
  // Makes `scene` the current block, and returns the previous one.
  Scene exchange(Scene scene) { return std::exchange(scene_, scene); }
  State& state() { return *scene_.state; }
  const State& state() const { return *scene_.state; }

  // Appends a statement to the current block.
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
  // Fills the empty list `items` with the items of a list or tuple. Returns false if the items are not known.
  bool sequence(const Value& value, std::vector<Value>& items);
  // If the object of `value` has been stored under a name in the meantime, changes `value` to that name.
  void refresh(Value& value) const;

  // Records that the name has this value, without writing a store.
  void bind(std::string_view name, Value value);
  // Records that the local `name` is rebound. If known values refer to the old value of the local, that value is first
  // copied to a temporary.
  void stored(std::string_view name);
  // Writes `t = expr` for a fresh temporary t, and returns t as a value.
  Value named(ast::Expr* expr);
  // Writes the removed store of a name whose value is known, and drops the known value.
  void give_name(std::string_view name);
  // Writes `name = display` for the object, and replaces the object by the name in all known values. If `name` is
  // empty, a name is chosen; the name is returned.
  std::string_view name_object(int object, std::string_view name = {});
  // Writes the removed stores of all known values that may be read later.
  void name_all_live() { name_all_live(liveness_.future()); }
  void name_all_live(const Intervals& within);
  // Writes the removed stores of the names that lambdas and comprehensions in the statement read.
  void name_what_inner_scopes_read(ast::Stmt* stmt);
  // Drops the known values that neither the current statement nor a later one reads.
  void forget_dead();

  // Returns an expression for a value that a written statement contains: a name, a constant or a display. `through` is
  // the variable from which the statement reads the value.
  ast::Expr* given(Value value, std::string_view through);

 private:
  // written_displays.cpp
  bool shared(int object, std::string_view name) const;
  ast::Expr* written(int object);

  Context& context_;
  const Liveness& liveness_;
  Scene scene_;
  int fresh_ = 0, objects_ = 0;
  std::map<int, std::string_view> given_names_;  // maps an object to the name under which it was stored
};

}  // namespace depyf::displays
