// The names of what is followed: which are known to be what, and the stores that stay after all, where something that is not
// followed reads a name, or what it was known to be gets another value.
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

  // The block at work: what is known in it, and the statements that it gets.
  struct Scene {
    State* state = nullptr;
    std::vector<ast::Stmt*>* out = nullptr;
  };
  Scene exchange(Scene scene) { return std::exchange(scene_, scene); }
  State& state() { return *scene_.state; }
  const State& state() const { return *scene_.state; }

  void keep(ast::Stmt* stmt) { scene_.out->push_back(stmt); }
  void emit(ast::Stmt::Node node, const ast::Stmt* like) {
    keep(context_.stmt(std::move(node), like ? like->offset : 0, like ? like->line : -1));
  }
  ast::Expr* copy_of(const ast::Expr* atom) { return context_.expr(atom->node, atom->offset, atom->line); }
  std::string_view fresh_name();

  // An object of which only the frame knows.
  Value make(Object object);
  // Appends the items of a list or a tuple; false if they are not known.
  bool sequence(const Value& value, std::vector<Value>& items);
  // An object that got a name since `value` was made is known by that.
  void refresh(Value& value) const;

  void bind(std::string_view name, Value value);
  // The local gets another value: what is known to be its old one keeps that under another name.
  void stored(std::string_view name);
  // t = expr
  Value named(ast::Expr* expr);
  // The name is stored after all.
  void give_name(std::string_view name);
  std::string_view name_object(int object, std::string_view name = {});
  void name_all_live() { name_all_live(liveness_.future()); }
  void name_all_live(const Intervals& within);
  void name_what_inner_scopes_read(ast::Stmt* stmt);
  void forget_dead();

  // A name, or part of what it is known to be, is needed as a value.
  ast::Expr* given(Value value, std::string_view through);

 private:
  // written_displays.cpp
  bool shared(int object, std::string_view name) const;
  ast::Expr* written(int object);

  Context& context_;
  const Liveness& liveness_;
  Scene scene_;
  int fresh_ = 0, objects_ = 0;
  std::map<int, std::string_view> given_names_;  // by object
};

}  // namespace depyf::displays
