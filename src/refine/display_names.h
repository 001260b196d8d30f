// Tracks the names whose values are known while fold_displays.cpp rewrites a block. The store of a known value under a
// name is emitted only if the rewritten code may read the name. If a local to which a known value refers is rebound,
// the old value of the local is first copied to a temporary.
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

  // The block that is being rewritten: the values known at the current statement, and the list of the statements that
  // have been emitted.
  struct Scene {
    State* state = nullptr;
    std::vector<ast::Stmt*>* out = nullptr;
  };
  // Makes `scene` the current block, and returns the previous block.
  Scene exchange(Scene scene) { return std::exchange(scene_, scene); }
  State& state() { return *scene_.state; }
  const State& state() const { return *scene_.state; }

  // Appends a statement to the current block.
  void keep(ast::Stmt* stmt) { scene_.out->push_back(stmt); }
  // Appends a statement to the current block. The statement has the position of `like` if `like` is not null.
  void emit(ast::Stmt::Node node, const ast::Stmt* like) {
    if (like) keep(context_.stmt(std::move(node), like->offset, like->line, like->column, like->width));
    else keep(context_.stmt(std::move(node)));
  }
  // Returns a copy of the node `atom`, because a tree may contain each node only once.
  ast::Expr* copy_of(const ast::Expr* atom) { return context_.expr(atom->node, atom->offset, atom->line); }
  // Returns the name of a temporary that is not used elsewhere.
  std::string_view fresh_name();

  // Tracks `object`, to which only locals of the frame refer, and returns it as a value.
  Value make(Object object);
  // Fills the empty vector `items` with the items of the list or tuple `value`. Returns false if the items are not
  // known.
  bool sequence(const Value& value, std::vector<Value>& items);
  // If the object of `value` has been stored under a name since `value` was obtained, changes `value` to that name.
  void refresh(Value& value) const;

  // Records that `name` has the value `value`, without emitting a store.
  void bind(std::string_view name, Value value);
  // Records that the local `name` is rebound. If known values refer to the old value of the local, the old value is
  // first copied to a temporary.
  void stored(std::string_view name);
  // Emits `t = expr` for a fresh temporary t, and returns t as a value.
  Value named(ast::Expr* expr);
  // If the value of `name` is known, emits the store of `name`, which was left out before, and drops the known value.
  void give_name(std::string_view name);
  // Emits `name = display` for the object with number `object`, and replaces the object by the name in all known
  // values. Returns the name of the object; if `name` is empty, the function chooses the name.
  std::string_view name_object(int object, std::string_view name = {});
  // Emits the stores, left out before, of all names with known values that may be read later.
  void name_all_live() { name_all_live(liveness_.future()); }
  void name_all_live(const Intervals& within);
  // Emits the stores, left out before, of the names that lambdas and comprehensions in `stmt` read.
  void name_what_inner_scopes_read(ast::Stmt* stmt);
  // Drops the known values that neither the current statement nor a later one reads.
  void forget_dead();

  // Returns an expression that represents `value` in an emitted statement: a name, a constant or a display. `through`
  // is the variable from which the statement reads the value; it is empty if there is no such variable.
  ast::Expr* given(Value value, std::string_view through);

 private:
  // written_displays.cpp
  bool shared(int object, std::string_view name) const;
  ast::Expr* written(int object);

  Context& context_;
  const Liveness& liveness_;
  Scene scene_;
  int fresh_ = 0, objects_ = 0;
  std::map<int, std::string_view> given_names_;  // maps an object to the name under which it is stored
};

}  // namespace depyf::displays
