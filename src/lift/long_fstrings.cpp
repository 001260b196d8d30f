// Restores f'...' of more than 30 parts, which 3.10 and later compile to a call:
//
//   LOAD_CONST ''; LOAD_METHOD join; BUILD_LIST 0; <part>; LIST_APPEND 1; ...; CALL 1   ->   f'{a} and {b} ...'
//
// An explicit call of ''.join() in the source would compile to equal code, but is rare, and the f-string compiles to
// the same code.
#include "lift/operations.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// STACK_USE_GUIDELINE in CPython's compiler.
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
