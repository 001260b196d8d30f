// The walk behind fold_displays.cpp, which follows lists, tuples and dicts from statement to statement.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ast/visit.h"
#include "refine/locals.h"

namespace depyf {

class DisplayFolder {
 public:
  DisplayFolder(Context& context, const Scope& scope, ast::Block body)
      : context_(context), locals_(scope, context.options), reads_(body) {}

  ast::Block run(ast::Block body) {
    context_.lent.clear();
    context_.wanted.clear();
    State state;
    return block(body, state, {});
  }

 private:
  // What a name or an item is known to be: an expression that may stand anywhere (a local, a constant, a cell), or an
  // object.
  struct Value {
    ast::Expr* atom = nullptr;
    int object = -1;
  };
  struct Object {
    enum class Kind : std::uint8_t { list, tuple, dict } kind = Kind::list;
    std::vector<ast::Expr*> keys;  // of a dict: constants
    std::vector<Value> items;
  };
  struct State {
    std::map<std::string_view, Value> names;
    std::map<int, Object> objects;
  };
  using Intervals = std::vector<Reads::Interval>;
  using Statements = std::vector<ast::Stmt*>;

  // fold_displays.cpp
  ast::Block block(ast::Block body, State& state, const Intervals& outside);
  void statement(ast::Stmt* stmt);
  void compound(ast::Stmt* stmt);
  void conditional(ast::Stmt* stmt, ast::If& branch);
  void assignment(ast::Stmt* stmt, ast::Assign& assign);
  bool outputs(std::string_view name, ast::Expr*& value);
  bool unpack(ast::Tuple& targets, ast::Expr* value);
  bool store_item(ast::Subscript& target, ast::Expr*& value);
  void deletion(ast::Stmt* stmt, ast::Delete& remove);
  void expression(ast::Stmt* stmt, ast::ExprStmt& single);
  bool grow(ast::Attribute& method, ast::Expr*& argument);
  void emit(ast::Stmt::Node node, const ast::Stmt* like) {
    out_->push_back(context_.stmt(std::move(node), like ? like->offset : 0, like ? like->line : -1));
  }

  // display_names.cpp
  bool live(std::string_view name) const { return live(name, future_); }
  bool live(std::string_view name, const Intervals& within) const;
  bool live_or_now(std::string_view name) const;
  void forget_dead();
  void reach(const Value& value, std::set<int>& found) const;
  bool reaches(const Value& value, int object) const;
  void bind(std::string_view name, Value value);
  void stored(std::string_view name);
  Value named(ast::Expr* expr);
  void give_name(std::string_view name);
  void name_all_live() { name_all_live(future_); }
  void name_all_live(const Intervals& within);
  std::string_view name_object(int object, std::string_view name = {});
  void name_what_inner_scopes_read(ast::Stmt* stmt);

  // known_displays.cpp
  static bool is_cell(const ast::Expr* expr);
  Object* object_of(const Value& value);
  Value make(Object object);
  bool sequence(const Value& value, std::vector<Value>& items);
  bool index_in(const ast::Expr* slice, std::size_t size, std::size_t& found) const;
  bool bounds_in(const ast::Expr* slice, std::size_t size, std::size_t& first, std::size_t& last) const;
  std::size_t find_key(const Object& object, const ast::Expr* key) const;
  static bool plain_key(const ast::Expr* key);
  std::optional<Value> known(ast::Expr* expr, bool hoist);
  std::optional<Value> display(Object::Kind kind, ast::List<ast::Expr*> elements, bool hoist);
  std::optional<Value> dictionary(ast::Dict& dict, bool hoist);
  std::optional<Value> item(ast::Subscript& subscript);
  Value value_of(ast::Expr*& expr);
  void refresh(Value& value) const;
  Object* receiver(const Value& container, std::vector<Value>& items);

  // display_uses.cpp
  bool shared(int object, std::string_view name) const;
  ast::Expr* given(Value value, std::string_view through);
  bool bound_to(std::string_view name, int object) const;
  int times(int whole, int part) const;
  ast::Expr* written(int id);
  ast::Expr* copy_of(const ast::Expr* atom) { return context_.expr(atom->node, atom->offset, atom->line); }
  void use(ast::Expr*& slot);
  void use_parts(ast::Expr* target);
  ast::List<ast::Expr*> spread(ast::List<ast::Expr*> items);
  static std::string_view base_name(const ast::Expr* expr);
  bool silent(const ast::Expr* expr) const;

  Context& context_;
  const Locals locals_;
  const Reads reads_;
  State* state_ = nullptr;
  Statements* out_ = nullptr;
  Intervals after_, future_;  // where the execution may go from the statement at work; with what is nested in it
  const ast::Stmt* now_ = nullptr;  // the statement at work
  bool in_try_ = false;
  int fresh_ = 0, objects_ = 0;
  std::map<int, std::string_view> given_names_;  // by object
};

}  // namespace depyf
