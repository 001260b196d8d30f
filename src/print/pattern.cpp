#include "print/pattern.h"
#include "ast/overloaded.h"
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
}  // namespace

void Patterns::patterns(List<Pattern*> patterns) {
  bool first = true;
  for (const Pattern* each : patterns) {
    if (!first) out_.write(", ");
    first = false;
    pattern(each, as_pattern);
  }
}

void Patterns::pattern(const Pattern* pattern, int loosest) {
  // A missing pattern is printed as the wildcard `_`.
  if (!pattern) return out_.write("_");
  const bool parenthesised = level_of(pattern) < loosest;
  if (parenthesised) out_.write("(");
  std::visit(Overloaded{
                 // A value pattern is a dotted name, a literal or a sum such as `1+2j`, which the grammar allows
                 // without parentheses.
                 [&](const MatchValue& n) { exprs_.expr(n.value, Level::arithmetic); },
                 [&](const MatchSingleton& n) { constants_.constant(*n.value); },
                 [&](const MatchSequence& n) {
                   out_.write("[");
                   patterns(n.patterns);
                   out_.write("]");
                 },
                 [&](const MatchMapping& n) {
                   out_.write("{");
                   for (std::size_t i = 0; i < n.keys.size() && i < n.patterns.size(); ++i) {
                     if (i > 0) out_.write(", ");
                     exprs_.expr(n.keys[i], Level::arithmetic);
                     out_.write(": ");
                     this->pattern(n.patterns[i], as_pattern);
                   }
                   if (!n.rest.empty()) {
                     out_.write(n.keys.empty() ? "**" : ", **");
                     names_.name(n.rest);
                   }
                   out_.write("}");
                 },
                 [&](const MatchClass& n) {
                   exprs_.expr(n.cls, Level::atom);
                   out_.write("(");
                   patterns(n.patterns);
                   for (std::size_t i = 0; i < n.kwd_attrs.size() && i < n.kwd_patterns.size(); ++i) {
                     if (i > 0 || !n.patterns.empty()) out_.write(", ");
                     names_.name(n.kwd_attrs[i]);
                     out_.write("=");
                     this->pattern(n.kwd_patterns[i], as_pattern);
                   }
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
                     if (i > 0) out_.write(" | ");
                     this->pattern(n.patterns[i], closed_pattern);
                   }
                 },
             },
             pattern->node);
  if (parenthesised) out_.write(")");
}

}  // namespace depyf::print
