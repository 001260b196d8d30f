// Values on the stack as expressions, and whether evaluating one again gives the same value.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "ast/node.h"
#include "depyf/stack_map.h"
#include "stack/values.h"
#include "support/arena.h"

namespace depyf {

struct ValueExpression {
  ast::Expr* expr = nullptr;
  int size = 1;             // nodes
  bool effects = false;     // calls something, or has a part that is no Python
  bool reads_memory = false;  // what is not local to the frame: valid until something has effects
  StackSlot::Kind kind = StackSlot::Kind::value;
  bool null() const { return kind == StackSlot::Kind::null; }
  bool internal() const { return kind == StackSlot::Kind::internal; }
  void make_internal() { kind = StackSlot::Kind::internal; }
  std::vector<std::pair<int, VersionId>> locals;  // (local, version) that it reads
  VersionId memory = at_start;
};

class Expressions {
 public:
  explicit Expressions(const StackValues& values) : values_(values), code_(*values.decoded().code) {}

  // The expression of a value. The result lives as long as this object.
  const ValueExpression& of(int value);
  // Does evaluating it in `state` give the value?
  static bool is_current(const ValueExpression& expression, const MachineState& state);
  // The name of a local that holds the value in `state`; null: none.
  ast::Expr* holder(int value, const MachineState& state);

 private:
  using Parts = std::vector<int>;

  ValueExpression build(const StackValue& value);
  ValueExpression made(const StackValue& value);
  ValueExpression met(const StackValue& value);
  ValueExpression choice(const StackValue& value);
  ValueExpression constant(int index);
  ValueExpression local(const StackValue& value, int index);
  ValueExpression plain(ast::Expr::Node node);
  ValueExpression read(ast::Expr::Node node, const Parts& parts, const StackValue& value);
  ValueExpression null();
  ValueExpression method(const StackValue& value, const Instruction& it);
  ValueExpression comparison(const StackValue& value, CompareOp op);
  ValueExpression internal_call(std::string_view function, const StackValue& value);
  std::string variable(const Instruction& it) const;  // the name of the local that it loads
  ValueExpression display(const StackValue& value, const Instruction& it);
  ValueExpression addition(const StackValue& value, const Instruction& it);
  ValueExpression call(const StackValue& value, const Instruction& it);
  ValueExpression unpacked(const StackValue& value, const Instruction& it);
  ValueExpression compound(ast::Expr::Node node, const Parts& parts, const StackValue& value);
  ValueExpression note(std::string text, bool internal = false);   // <text>
  std::string text(int value);

  ast::Expr* expr(ast::Expr::Node node) { return arena_.make<ast::Expr>(std::move(node)); }
  ast::Expr* part(int value) { return of(value).expr; }
  ast::List<ast::Expr*> list(const Parts& parts, std::size_t begin, std::size_t end);
  ast::Expr* integer(int value);
  std::string_view name(int index) const;

  const StackValues& values_;
  const CodeObject& code_;
  Arena arena_;
  std::deque<Constant> constants_;
  std::unordered_map<int, ValueExpression> known_;
  int depth_ = 0;
};

}  // namespace depyf
