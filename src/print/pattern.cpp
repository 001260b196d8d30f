#include "ast/overloaded.h"
#include "print/printer.h"
#include "print/unicode.h"

namespace depyf::print {

using namespace ast;

namespace {
// How tightly patterns bind.
enum PatternLevel : int { as_pattern, or_pattern, closed_pattern };

int level_of(const Pattern* pattern) {
  if (auto* n = as<MatchAs>(pattern)) return n->pattern ? as_pattern : closed_pattern;
  return is<MatchOr>(pattern) ? or_pattern : closed_pattern;
}
}  // namespace

void Printer::patterns(List<Pattern*> patterns) {
  bool first = true;
  for (const Pattern* each : patterns) {
    if (!first) write(", ");
    first = false;
    pattern(each, as_pattern);
  }
}

void Printer::pattern(const Pattern* pattern, int loosest) {
  if (!pattern) return write("_");
  const bool parenthesised = level_of(pattern) < loosest;
  if (parenthesised) write("(");
  std::visit(Overloaded{
                 [&](const MatchValue& n) { expr(n.value, Level::arithmetic); },
                 [&](const MatchSingleton& n) { constant(*n.value); },
                 [&](const MatchSequence& n) {
                   write("[");
                   patterns(n.patterns);
                   write("]");
                 },
                 [&](const MatchMapping& n) {
                   write("{");
                   for (std::size_t i = 0; i < n.keys.size() && i < n.patterns.size(); ++i) {
                     if (i > 0) write(", ");
                     expr(n.keys[i], Level::arithmetic);
                     write(": ");
                     this->pattern(n.patterns[i], as_pattern);
                   }
                   if (!n.rest.empty()) {
                     write(n.keys.empty() ? "**" : ", **");
                     name(n.rest);
                   }
                   write("}");
                 },
                 [&](const MatchClass& n) {
                   expr(n.cls, Level::atom);
                   write("(");
                   patterns(n.patterns);
                   for (std::size_t i = 0; i < n.kwd_attrs.size() && i < n.kwd_patterns.size(); ++i) {
                     if (i > 0 || !n.patterns.empty()) write(", ");
                     name(n.kwd_attrs[i]);
                     write("=");
                     this->pattern(n.kwd_patterns[i], as_pattern);
                   }
                   write(")");
                 },
                 [&](const MatchStar& n) {
                   write("*");
                   n.name.empty() ? write("_") : name(n.name);
                 },
                 [&](const MatchAs& n) {
                   if (n.pattern) {
                     this->pattern(n.pattern, or_pattern);
                     write(" as ");
                   }
                   n.name.empty() ? write("_") : name(n.name);
                 },
                 [&](const MatchOr& n) {
                   for (std::size_t i = 0; i < n.patterns.size(); ++i) {
                     if (i > 0) write(" | ");
                     this->pattern(n.patterns[i], closed_pattern);
                   }
                 },
             },
             pattern->node);
  if (parenthesised) write(")");
}

}  // namespace depyf::print
