#include "print/pattern.h"

#include <utility>

#include "ast/overloaded.h"
#include "print/operands.h"
#include "print/unicode.h"

namespace depyf::print {

using namespace ast;

namespace {
// The levels of precedence of patterns, from the loosest: `p as x`, `p | q`, and patterns with brackets or a single
// name.
enum PatternLevel : int { as_pattern, or_pattern, closed_pattern };

int level_of(const Pattern* pattern) {
  if (auto* n = as<MatchAs>(pattern)) return n->pattern ? as_pattern : closed_pattern;
  return is<MatchOr>(pattern) ? or_pattern : closed_pattern;
}

// Returns the line of the expression with which the pattern starts; -1 if the pattern starts with a bracket or a captured
// name, whose position no instruction has.
std::int32_t first_line_of(const Pattern* pattern) {
  if (auto* value = as<MatchValue>(pattern)) return first_line(value->value);
  if (auto* match = as<MatchClass>(pattern)) return first_line(match->cls);
  if (auto* named = as<MatchAs>(pattern)) return named->pattern ? first_line_of(named->pattern) : -1;
  auto* either = as<MatchOr>(pattern);
  return either && !either->patterns.empty() ? first_line_of(either->patterns[0]) : -1;
}
}  // namespace

void Patterns::of_case(const Pattern* pattern) {
  if (!as<MatchOr>(pattern)) return this->pattern(pattern, as_pattern);
  breaks_.optional_brackets(first_line_of(pattern), [&] { this->pattern(pattern, as_pattern); });
}

void Patterns::patterns(List<Pattern*> patterns) {
  bool first = true;
  for (const Pattern* each : patterns) {
    if (first) breaks_.open(first_line_of(each));
    else breaks_.comma(first_line_of(each));
    first = false;
    pattern(each, as_pattern);
  }
  if (!first) breaks_.close();
}

// Prints a dotted name, a literal or a sum such as `1+2j`, which the grammar allows without parentheses. An integer is
// printed with its digits, because the grammar allows no power or shift.
void Patterns::value(const Expr* value) {
  if (const Constant* number = constant_of(value, Constant::Kind::integer)) constants_.constant_text(*number);
  else exprs_.expr(value, Level::arithmetic);
}

void Patterns::pattern(const Pattern* pattern, int loosest) {
  // A missing pattern is printed as the wildcard `_`.
  if (!pattern) return out_.write("_");
  const bool parenthesised = level_of(pattern) < loosest;
  if (parenthesised) out_.write("(");
  std::visit(Overloaded{
                 [&](const MatchValue& n) { value(n.value); },
                 [&](const MatchSingleton& n) { constants_.constant(*n.value); },
                 [&](const MatchSequence& n) {
                   out_.write("[");
                   patterns(n.patterns);
                   out_.write("]");
                 },
                 [&](const MatchMapping& n) {
                   out_.write("{");
                   for (std::size_t i = 0; i < n.keys.size() && i < n.patterns.size(); ++i) {
                     if (i == 0) breaks_.open(first_line(n.keys[i]));
                     else breaks_.comma(first_line(n.keys[i]));
                     value(n.keys[i]);
                     out_.write(": ");
                     this->pattern(n.patterns[i], as_pattern);
                   }
                   if (!n.rest.empty()) {
                     if (!n.keys.empty()) breaks_.comma();
                     out_.write("**");
                     names_.name(n.rest);
                   }
                   if (!n.keys.empty()) breaks_.close();
                   out_.write("}");
                 },
                 [&](const MatchClass& n) {
                   exprs_.expr(n.cls, Level::atom);
                   out_.write("(");
                   bool first = true;
                   const auto start = [&](const Pattern* each) {
                     if (std::exchange(first, false)) breaks_.open(first_line_of(each));
                     else breaks_.comma(first_line_of(each));
                   };
                   for (const Pattern* each : n.patterns) {
                     start(each);
                     this->pattern(each, as_pattern);
                   }
                   for (std::size_t i = 0; i < n.kwd_attrs.size() && i < n.kwd_patterns.size(); ++i) {
                     start(n.kwd_patterns[i]);
                     names_.name(n.kwd_attrs[i]);
                     out_.write("=");
                     this->pattern(n.kwd_patterns[i], as_pattern);
                   }
                   if (!first) breaks_.close();
                   out_.write(")");
                 },
                 [&](const MatchStar& n) {
                   out_.write("*");
                   n.name.empty() ? out_.write("_") : names_.name(n.name);
                 },
                 // `MatchAs` without a pattern is a capture `x` or the wildcard `_`.
                 [&](const MatchAs& n) {
                   if (n.pattern) {
                     this->pattern(n.pattern, or_pattern);
                     out_.write(" as ");
                   }
                   n.name.empty() ? out_.write("_") : names_.name(n.name);
                 },
                 [&](const MatchOr& n) {
                   for (std::size_t i = 0; i < n.patterns.size(); ++i) {
                     if (i > 0) {
                       // The operator binds like the `|` of expressions.
                       breaks_.mark(Mark::Kind::separator, first_line_of(n.patterns[i]),
                                    static_cast<std::uint8_t>(int(Level::atom) - int(Level::bit_or)));
                       out_.write(" | ");
                     }
                     this->pattern(n.patterns[i], closed_pattern);
                   }
                 },
             },
             pattern->node);
  if (parenthesised) out_.write(")");
}

}  // namespace depyf::print
