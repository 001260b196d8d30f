// Lifts f-strings and t-strings.
//
//   `f"a{x!r:{w}}"` is `'a'; <x>; <w>; FORMAT_VALUE; FORMAT_VALUE !r, with spec; BUILD_STRING 2` up to 3.12.
//   `f"{x!r:{w}}"` is `<x>; CONVERT_VALUE; <w>; FORMAT_SIMPLE; FORMAT_WITH_SPEC` from 3.13 on.
//   `t"a{x!r:>5}b"` is `('a', 'b'); <x>; 'x'; ['>5';] BUILD_INTERPOLATION; BUILD_TUPLE 1; BUILD_TEMPLATE` (3.14).
#include <algorithm>

#include "ast/percent_format.h"
#include "depyf/constant.h"
#include "depyf/position.h"
#include "dialect/dialect.h"
#include "lift/operations.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// The conversions of f-strings (`!s`), indexed by the argument of FORMAT_VALUE and CONVERT_VALUE.
constexpr char conversions[] = {0, 's', 'r', 'a'};
// Returns the constant of `expr` if it is a string; null otherwise.
const Constant* string_of(const Expr* expr) { return constant_of(expr, Constant::Kind::string); }

// Returns the format specification `spec` as a JoinedStr, because a field of an f-string requires a JoinedStr; null if
// `spec` is null.
Expr* format_spec(Context& context, const Cursor& cursor, Expr* spec) {
  if (!spec || is<JoinedStr>(spec)) return spec;
  Expr* part = string_of(spec) ? spec : cursor.make(FormattedValue{spec, 0, nullptr});
  return cursor.make(JoinedStr{context.list({part})});
}

}  // namespace

// Handles the FORMAT instructions: pushes an f-string that consists of one field.
void format_value(Simulation& sim, const Instruction& instruction) {
  Expr* spec = instruction.aux ? format_spec(sim.context, sim.cursor, sim.pop()) : nullptr;
  Expr* value = sim.pop();
  char conversion = conversions[instruction.arg & 3];
  // From 3.13 on, CONVERT_VALUE has pushed a field with the conversion; that field is merged into the new field.
  if (auto* converted = as<FormattedValue>(value); converted && !converted->format_spec && !conversion)
    conversion = converted->conversion, value = converted->value;
  const FormattedValue field{value, conversion, spec};
  const std::span<const Position> positions = sim.cursor.decoded.positions;
  const std::size_t unit = instruction.offset / 2;
  // The compiler turns '%r' % (x,) into the same instructions as an f-string; the positions show which of the two the
  // source contains.
  const bool is_percent = conversion && dialect_of(sim.cursor.decoded.version).percent_formats &&
                          unit < positions.size() && is_percent_field(*sim.cursor.decoded.code, field, positions[unit]);
  sim.push(JoinedStr{sim.context.list({sim.cursor.make(field)}), is_percent && !is<ConstantExpr>(value)});
}

// Handles BUILD_STRING: joins `count` parts to one f-string.
void join_string(Simulation& sim, int count) {
  Table<Expr*> values;
  const List<Expr*> parts = sim.pop_many(count);
  const auto is_percent = [](const Expr* part) { return is<JoinedStr>(part) && as<JoinedStr>(part)->is_percent; };
  const auto may_be_percent = [&](const Expr* part) { return string_of(part) || is_percent(part); };
  const bool all_percent = std::ranges::any_of(parts, is_percent) && std::ranges::all_of(parts, may_be_percent);
  for (Expr* part : parts) {
    if (auto* joined = as<JoinedStr>(part)) values.insert(values.end(), joined->values.begin(), joined->values.end());
    else if (string_of(part)) values.push_back(part);
    // BUILD_STRING takes only strings, so a part that is no f-string has a string as value, and formatting a string
    // changes nothing.
    else values.push_back(sim.cursor.make(FormattedValue{part, 0, nullptr}));
  }
  sim.push(JoinedStr{sim.context.arena.copy(values), all_percent});
}

// Handles CONVERT_VALUE. If a format specification follows, `format_value` adds the specification to the pushed field.
void convert(Simulation& sim, int conversion) {
  sim.push(FormattedValue{sim.pop(), conversions[conversion & 3], nullptr});
}

// Handles BUILD_INTERPOLATION (3.14), which creates one field of a t-string.
void build_interpolation(Simulation& sim, const Instruction& instruction) {
  Expr* spec = instruction.aux ? format_spec(sim.context, sim.cursor, sim.pop()) : nullptr;
  const Constant* text = string_of(sim.pop());
  if (!text) sim.cursor.fail("an interpolation without its text");
  sim.push(Interpolation{sim.pop(), text->text, conversions[instruction.arg & 3], spec});
}

// Handles BUILD_TEMPLATE (3.14), which takes a tuple of texts and a tuple of interpolations between them.
void build_template(Simulation& sim) {
  auto* values = as<Tuple>(sim.pop());
  const Constant* texts = constant_of(sim.pop(), Constant::Kind::tuple);
  const std::size_t count = values ? values->elts.size() : 0;
  if (!texts || texts->items.size() != count + 1) sim.cursor.fail("a template of another shape");
  Table<Expr*> parts;
  for (std::size_t index = 0; index <= count; ++index) {
    const Constant& text = texts->items[index];
    if (text.kind != Constant::Kind::string) sim.cursor.fail("a template of another shape");
    // An empty text between two fields is left out of the t-string.
    if (!text.text.empty()) parts.push_back(sim.cursor.make(ConstantExpr{&text}));
    if (index == count) break;
    if (!is<Interpolation>(values->elts[index])) sim.cursor.fail("a template of another shape");
    parts.push_back(values->elts[index]);
  }
  sim.context.has_templates = true;
  sim.push(TemplateStr{sim.context.arena.copy(parts)});
}

}  // namespace depyf::lifting
