#include <algorithm>

#include "decode/op.h"
#include "lower/expressions.h"
#include "lower/fstrings.h"

namespace depyf::lowering {
using namespace ast;

// From 3.10 on, an f-string of many parts is compiled to a call of ''.join() (see lift/long_fstrings.cpp).
void joined(Unit& unit, List<Expr*> values) {
  if (values.size() > most_on_the_stack && unit.dialect.bounded_displays) {
    unit.code.load_string("");
    unit.code.named(Op::load_attr_, "join");
    unit.code.emit(Op::build_list_, 0);
    for (const Expr* value : values) {
      expr(unit, value);
      unit.code.emit(Op::list_append_, 1);
    }
    unit.code.emit(Op::call_function_, 1);
    return;
  }
  exprs(unit, values);
  if (values.size() != 1) unit.code.emit(Op::build_string_, static_cast<std::int32_t>(values.size()));
}

// Emits the value of a field, its conversion and its format specification.
void formatted(Unit& unit, const FormattedValue& node) {
  expr(unit, node.value);
  const std::int32_t conversion = node.conversion == 's'   ? 1
                                  : node.conversion == 'r' ? 2
                                  : node.conversion == 'a' ? 3
                                                           : 0;
  if (!node.format_spec) {
    unit.code.emit(Op::format_value_, conversion, 0);
    return;
  }
  // From 3.13 on, the conversion is an operation of its own if a format specification follows.
  if (unit.dialect.conversion_apart && conversion) unit.code.emit(Op::convert_value_, conversion);
  expr(unit, node.format_spec);
  unit.code.emit(Op::format_value_, unit.dialect.conversion_apart ? 0 : conversion, 1);
}

// Emits the tuple of the texts around the interpolations, the tuple of the interpolations, and BUILD_TEMPLATE. The
// tuple of the texts has one item more than the tuple of the interpolations.
void template_string(Unit& unit, const TemplateStr& node) {
  int strings = 0, interpolations = 0;
  bool text = false;
  for (const Expr* value : node.values) {
    if (is<Interpolation>(value)) {
      // The text between two adjacent interpolations is empty.
      if (!text) unit.code.load_string(""), ++strings;
      text = false;
    } else {
      expr(unit, value);
      ++strings;
      text = true;
    }
  }
  if (!text) unit.code.load_string(""), ++strings;
  unit.code.emit(Op::build_tuple_, strings);
  for (const Expr* value : node.values) {
    auto* part = as<Interpolation>(value);
    if (!part) continue;
    if (part->shown != Interpolation::Shown::text) fail("a field of a template string whose text is not its value's");
    expr(unit, part->value);
    unit.code.load_string(part->text);
    if (part->format_spec) expr(unit, part->format_spec);
    const std::int32_t conversion = part->conversion == 's'   ? 1
                                    : part->conversion == 'r' ? 2
                                    : part->conversion == 'a' ? 3
                                                              : 0;
    unit.code.emit(Op::build_interpolation_, conversion, part->format_spec != nullptr);
    ++interpolations;
  }
  unit.code.emit(Op::build_tuple_, interpolations);
  unit.code.emit(Op::build_template_);
}

}  // namespace depyf::lowering
