// f'...' of more than 30 parts, as 3.10 and later compile it:
//
//   LOAD_CONST ''; LOAD_METHOD join; BUILD_LIST 0; <part>; LIST_APPEND 1; ...; CALL 1   ->   f'{a} and {b} ...'
//
// The same call, written out, is the same code; nobody does, and the f-string gives that code back.
#include "lift/operations.h"

namespace depyf::lifting {
using namespace ast;

namespace {
constexpr std::size_t longest_on_the_stack = 30;  // STACK_USE_GUIDELINE of CPython's compiler

bool is_text(const Expr* expr) { return constant_of(expr, Constant::Kind::string) != nullptr; }
}  // namespace

// Null where the call is another.
Expr* long_fstring(Context& context, const Cursor& cursor, const Expr* function, const std::vector<Expr*>& args) {
  auto* join = as<Attribute>(function);
  auto* parts = args.size() == 1 ? as<ListExpr>(args[0]) : nullptr;
  if (!join || join->attr != "join" || !parts || parts->elts.size() <= longest_on_the_stack) return nullptr;
  if (!is_text(join->value) || !as<ConstantExpr>(join->value)->value->text.empty()) return nullptr;
  std::vector<Expr*> values;
  for (Expr* part : parts->elts) {
    if (auto* value = as<JoinedStr>(part); value && value->values.size() == 1 && is<FormattedValue>(value->values[0]))
      values.push_back(value->values[0]);
    else if (is_text(part) && (values.empty() || !is_text(values.back()))) values.push_back(part);
    else return nullptr;
  }
  return cursor.make(JoinedStr{context.arena.copy(values)});
}

}  // namespace depyf::lifting
