// f"{x!r:{w}}" and t-strings.
//
//   f"{x!r:{w}}"     <x>; CONVERT_VALUE; <w>; FORMAT_SIMPLE; FORMAT_WITH_SPEC           (3.13)
//   t"a{x!r:>5}b"    ('a', 'b'); <x>; 'x'; ['>5';] BUILD_INTERPOLATION; BUILD_TUPLE 1; BUILD_TEMPLATE       (3.14)
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

namespace {
constexpr char conversions[] = {0, 's', 'r', 'a'};

const Constant* string_of(const Expr* expr) {
  auto* constant = as<ConstantExpr>(expr);
  return constant && constant->value->kind == Constant::Kind::string ? constant->value : nullptr;
}
}  // namespace

// A format specification as the string that an f-string has for it.
Expr* Lifter::format_spec(Expr* spec) {
  if (!spec || is<JoinedStr>(spec)) return spec;
  Expr* part = string_of(spec) ? spec : make(FormattedValue{spec, 0, nullptr});
  return make(JoinedStr{context_.list({part})});
}

bool Lifter::template_string(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::convert_value_:
      // `format` adds the specification.
      push(FormattedValue{pop(), conversions[instruction.arg & 3], nullptr});
      return true;
    case Op::build_interpolation_: {
      Expr* spec = instruction.aux ? format_spec(pop()) : nullptr;
      const Constant* text = string_of(pop());
      if (!text) fail("an interpolation without its text");
      push(Interpolation{pop(), text->text, conversions[instruction.arg & 3], spec});
      return true;
    }
    case Op::build_template_: {
      auto* values = as<Tuple>(pop());
      auto* texts = as<ConstantExpr>(pop());
      const bool fits = texts && texts->value->kind == Constant::Kind::tuple;
      const std::size_t count = values ? values->elts.size() : 0;
      if (!fits || texts->value->items.size() != count + 1) fail("a template of another shape");
      std::vector<Expr*> parts;
      for (std::size_t index = 0; index <= count; ++index) {
        const Constant& text = texts->value->items[index];
        if (text.kind != Constant::Kind::string) fail("a template of another shape");
        if (!text.text.empty()) parts.push_back(make(ConstantExpr{&text}));
        if (index == count) break;
        if (!is<Interpolation>(values->elts[index])) fail("a template of another shape");
        parts.push_back(values->elts[index]);
      }
      push(TemplateStr{context_.arena.copy(parts)});
      return true;
    }
    default: return false;
  }
}

}  // namespace depyf
