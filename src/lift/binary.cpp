// a; b; BINARY_OP +                    a + b
// a; b; BINARY_OP +=; STORE a          a += b                        (stores.cpp)
// a; b; BINARY_OP +=; anything else    t = a; t += b; ... t
#include <algorithm>

#include "dialect/dialect.h"
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

namespace {
// From 3.11 on the compiler makes an f-string of '%s and %r' % (a, b). Where it did not, the text was an f-string itself.
bool would_be_fstring(const Expr* left, const Expr* right) {
  const Constant* text = constant_of(left, Constant::Kind::string);
  auto* items = as<Tuple>(right);
  if (!text || !items) return false;
  const std::string& format = text->text;
  std::size_t count = 0;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') continue;
    const char kind = ++at < format.size() ? format[at] : 0;
    if (kind != '%' && kind != 's' && kind != 'r' && kind != 'a') return false;
    count += kind != '%';
  }
  return count == items->elts.size() &&
         std::none_of(items->elts.begin(), items->elts.end(), [](const Expr* item) { return is<Starred>(item); });
}
}  // namespace

void Lifter::binary(BinaryOp op, bool in_place) {
  Expr* right = pop();
  Expr* left = pop_entry().expr;
  if (!in_place) {
    stack_.push_back({left, node_, -1});
    left = pop();
    if (op == BinaryOp::remainder && dialect_of(context_.version).percent_formats && would_be_fstring(left, right))
      left = make(JoinedStr{context_.list({left})});
    return push(BinOp{left, op, right, false});
  }
  if (literal_here()) {
    // temporary op= right
    stack_.push_back({left, node_, -1});
    stack_.push_back({right, node_, -1});
    spill_all(stack_.size());
    right = pop(), left = pop();
    Expr* name = fresh();
    emit(Assign{context_.list({name}), left});
    emit(AugAssign{make(name->node), op, right});
    return push(make(name->node));
  }
  push(BinOp{left, op, right, true});
}

}  // namespace depyf
