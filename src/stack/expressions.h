// Builds expressions of the values on the operand stack, for debuggers, and decides whether evaluating an expression
// would still yield the value.
#pragma once

#include <deque>
#include <unordered_map>

#include "ast/node.h"
#include "depyf/stack_map.h"
#include "stack/values.h"
#include "support/arena.h"
#include "support/table.h"

namespace depyf {

// The expression of one value on the stack.
struct ValueExpression {
  ast::Expr* expr = nullptr;
  int size = 1;  // the number of nodes of `expr`
  // True if evaluating the expression calls code, or if the expression contains a note such as `<exception>`, which is
  // no Python.
  bool effects = false;
  // True if the expression reads anything but locals of the frame, so that it is valid only until an instruction has
  // effects.
  bool reads_memory = false;
  StackSlot::Kind kind = StackSlot::Kind::value;
  bool null() const { return kind == StackSlot::Kind::null; }
  bool internal() const { return kind == StackSlot::Kind::internal; }
  void make_internal() { kind = StackSlot::Kind::internal; }
  // The locals that the expression reads, each with its version when the value was computed.
  Table<std::pair<int, VersionId>> locals;
  // The version of all memory except locals when the value was computed.
  VersionId memory = at_start;
};

// Builds expressions of the values that StackValues finds, and caches them.
class Expressions {
 public:
  explicit Expressions(const StackValues& values) : values_(values), code_(*values.decoded().code) {}

  // Returns the expression of a value. The returned reference is valid as long as the Expressions object exists.
  const ValueExpression& of(int value);
  // True if evaluating the expression in `state` yields the same value again.
  static bool is_current(const ValueExpression& expression, const MachineState& state);
  // Returns the name of a local that holds the value in `state`; null if no local holds the value.
  ast::Expr* holder(int value, const MachineState& state);

 private:
  using Parts = Table<int>;

  // Each of these functions returns the expression of one kind of value.
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
  // Returns the name of the local that the instruction loads.
  std::string variable(const Instruction& it) const;
  ValueExpression display(const StackValue& value, const Instruction& it);
  ValueExpression addition(const StackValue& value, const Instruction& it);
  ValueExpression call(const StackValue& value, const Instruction& it);
  ValueExpression unpacked(const StackValue& value, const Instruction& it);
  ValueExpression compound(ast::Expr::Node node, const Parts& parts, const StackValue& value);
  // Returns the note `<text>`, in place of an expression, for a value that no expression in Python yields.
  ValueExpression note(std::string text, bool internal = false);
  // Returns the source of a value's expression, for use in a note.
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
  // Maps the number of a value to its expression, if the expression has been built.
  std::unordered_map<int, ValueExpression> known_;
  int depth_ = 0;
};

}  // namespace depyf
