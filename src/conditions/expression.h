// Parses, changes and prints those Python expressions that the conditions of guards use. For example, the tree of the
// condition `L['x'].size()[0] <= 64` has the following nodes.
//
//   - `L['x'].size()[0] <= 64` is a comparison with the operators {"<="}, whose parts are a subscript and a number.
//   - `64` and `0` are numbers with the texts "64" and "0".
//   - `L['x'].size()[0]` is a subscript, whose parts are its value (a call) and its index (a number).
//   - `L['x'].size()` is a call, whose only part is its function (an attribute), because the call has no arguments.
//   - `L['x'].size` is an attribute with the text "size", whose only part is its owner (a subscript).
//   - `L['x']` is a subscript, whose parts are the name "L" and the string "'x'".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace depyf::conditions {

struct Expression {
  enum class Kind : std::uint8_t {
    absent,  // an omitted part, such as the bound of a slice
    name,            // text: the name
    number,          // text: the number as the source spells it
    string,          // text: the literal, in single quotes if it can be written so
    bytes,           // text: the literal
    constant,        // text: "None", "True", "False" or "..."
    attribute,       // text: the attribute; parts: the owner
    subscript,       // parts: the value, the index
    slice,           // parts: start, stop, step
    call,            // parts: the function, the arguments
    keyword,         // text: the name; parts: the value
    starred,         // parts: the value
    double_starred,  // parts: the value
    unary,           // text: the operator; parts: the operand
    binary,          // text: the operator; parts: the two operands
    comparison,      // operators; parts: one operand more than operators
    boolean,         // text: "and" or "or"; parts: the operands
    conditional,     // parts: the value if true, the condition, the value if false
    lambda,          // text: the parameters; parts: the body
    assignment,      // text: the name; parts: the value
    tuple,           // parts: the items, as for list and set
    list,
    set,
    dict,                // parts: keys and values, alternating; no value follows a double_starred
    generator,           // parts: the element, then the clauses, as in list and set comprehensions
    list_comprehension,
    set_comprehension,
    dict_comprehension,  // parts: key, value, then the clauses
    clause,              // text: "for" or "async for"; parts: the target, the iterable, the conditions
  };
  Kind kind = Kind::absent;
  std::string text;
  std::vector<std::string> operators;
  std::vector<Expression> parts;

  bool is(Kind other) const { return kind == other; }
  bool is_name(std::string_view name) const { return kind == Kind::name && text == name; }
};

// Returns the expression that a text consists of; nothing if the text is no expression, is nested too deeply, or uses
// syntax that conditions do not contain: f-strings, `await` and `yield`.
std::optional<Expression> parse(std::string_view text);

// Returns the text of an expression in the form of Python's ast.unparse.
std::string unparse(const Expression& expression);

// Returns the value of a string literal without a prefix and without escapes; nothing for any other expression.
std::optional<std::string_view> string_value(const Expression& expression);

// Returns the value of a decimal number of at most 18 digits; nothing for any other expression.
std::optional<std::int64_t> integer_value(const Expression& expression);

// True if `is_wanted` accepts the expression or any part of it, at any depth.
template <class IsWanted>
bool contains(const Expression& expression, const IsWanted& is_wanted) {
  if (is_wanted(expression)) return true;
  for (const Expression& part : expression.parts)
    if (contains(part, is_wanted)) return true;
  return false;
}

// Returns an expression of the given kind, with a text and parts.
Expression make(Expression::Kind kind, std::string text, std::vector<Expression> parts = {});

}  // namespace depyf::conditions
