// Restores f-strings of more than 30 parts, which CPython 3.10 and later compile to a call of ''.join(): `LOAD_CONST
// ''; LOAD_METHOD join; BUILD_LIST 0`, then `<part>; LIST_APPEND 1` for each part, then `CALL 1`. If the source itself
// contains a call of ''.join() with more than 30 parts, the call compiles to the same code as an f-string. But source
// code rarely contains a call of ''.join() with more than 30 parts, and the f-string has the same meaning as the call.
#include "lift/operations.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// The value of STACK_USE_GUIDELINE in CPython's compiler: the most parts of an f-string that are left on the stack.
constexpr std::size_t longest_on_the_stack = 30;

bool is_text(const Expr* expr) { return constant_of(expr, Constant::Kind::string) != nullptr; }
}  // namespace

Expr* long_fstring(Context& context, const Cursor& cursor, const Expr* function, List<Expr*> args) {
  auto* join = as<Attribute>(function);
  auto* parts = args.size() == 1 ? as<ListExpr>(args[0]) : nullptr;
  if (!join || join->attr != "join" || !parts || parts->elts.size() <= longest_on_the_stack) return nullptr;
  if (!is_text(join->value) || !as<ConstantExpr>(join->value)->value->text.empty()) return nullptr;
  Table<Expr*> values;
  for (Expr* part : parts->elts) {
    if (auto* value = as<JoinedStr>(part); value && value->values.size() == 1 && is<FormattedValue>(value->values[0]))
      values.push_back(value->values[0]);
    else if (is_text(part) && (values.empty() || !is_text(values.back()))) values.push_back(part);
    else return nullptr;
    // The compiler joins adjacent texts of an f-string, so two adjacent texts come from an explicit call of ''.join().
  }
  return cursor.make(JoinedStr{context.arena.copy(values)});
}

}  // namespace depyf::lifting
