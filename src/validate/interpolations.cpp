// Compares the text of each field of a template string with its expression. `t"{1 + 2}"` keeps the text `1 + 2` for
// programs to read, beside the value 3, to which the compiler has folded the expression. The printed template string
// can contain either the text or the value of a field, and no instruction shows that the text and the value belong
// together.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ast/visit.h"
#include "print/expression.h"
#include "print/fstring.h"
#include "print/unicode.h"
#include "support/keywords.h"
#include "support/words.h"
#include "validate/expression_text.h"
#include "validate/validate.h"

namespace depyf {
using namespace ast;

namespace {

// Returns the text in a normal form: without blanks outside of strings except between words, with double quotes around
// strings, and without backslashes in front of quotes. Two texts of code with the same normal form have the same
// meaning.
std::string essence(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_quote(text[at])) {
      const bool is_blank = text[at] == ' ' || text[at] == '\n';
      const bool joins = !is_blank && at > 0 && !result.empty() && (text[at - 1] == ' ' || text[at - 1] == '\n') &&
                         is_identifier_byte(result.back()) && is_identifier_byte(text[at]);
      if (joins) result += ' ';
      if (!is_blank) result += text[at];
      ++at;
      continue;
    }
    // A literal in triple quotes is read as three literals.
    const std::size_t end = behind_string(text, at);
    result += '"';
    for (++at; at + 1 < end; ++at) {
      if (text[at] == '\\' && !is_quote(text[at + 1])) result += text[at];
      if (text[at] == '\\') ++at;
      result += text[at];
    }
    result += '"';
    at = end;
  }
  return result;
}

// Returns the identifiers in a text of code, in order. Words in string literals are not returned.
std::vector<std::string_view> identifiers(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_identifier_byte(text[end])) ++end;
    if (const std::string_view word = text.substr(at, end - at); print::is_identifier(word)) words.push_back(word);
    at = end > at ? end : is_quote(text[at]) ? behind_string(text, at) : at + 1;
  }
  return words;
}

class Interpolations {
 public:
  Interpolations(Context& context, Version version) : context_(context), version_(version) {}

  Block block(Block body) {
    std::vector<Stmt*> statements;
    for (Stmt* stmt : body) {
      lost_.clear();
      for_each_expr(stmt, [&](Expr*& expr) { look(expr); });
      for (const std::string& text : lost_) statements.push_back(context_.stmt(Comment{context_.arena.copy(text)}));
      statements.push_back(stmt);
      for_each_block(stmt, [&](Block& inner) { inner = block(inner); });
      if (auto* function = as<FunctionDef>(stmt)) definition(stmt, function->body, class_name_);
      if (auto* cls = as<ClassDef>(stmt)) definition(stmt, cls->body, cls->name);
    }
    return statements.size() == body.size() ? body : context_.arena.copy(statements);
  }

 private:
  void definition(const Stmt* stmt, Block& body, std::string_view class_name) {
    if (!visited_.insert(stmt).second) return;
    const std::string_view around = std::exchange(class_name_, class_name);
    body = block(body);
    class_name_ = around;
  }

  // Calls `settle` for all interpolations in an expression.
  void look(Expr* expr) {
    std::vector<Expr*> todo{expr};
    while (!todo.empty()) {
      Expr* next = todo.back();
      todo.pop_back();
      if (auto* part = as<Interpolation>(next)) settle(*part);
      for_each_child(next, [&](Expr*& child) { todo.push_back(child); });
    }
  }

  void settle(Interpolation& part) {
    print::Sheet sheet(version_, nullptr, {});
    sheet.names.enter_class(class_name_);
    print::Expressions(sheet).expr(part.value, print::level_of_field(part.value));
    const std::string printed(sheet.out.text().view());
    if (essence(part.text) == essence(printed)) return;
    std::string text(part.text);
    std::ranges::replace(text, '\n', ' ');
    const std::string_view code = std::string_view(text).substr(std::min(text.find_first_not_of(' '), text.size()));
    const bool is_likely =
        validate::is_expression(code, dialect_of(version_)) && identifiers(text) == identifiers(printed);
    part.shown = is_likely ? Interpolation::Shown::likely_text : Interpolation::Shown::value;
    if (is_likely && context_.options.compared) return;
    lost_.push_back(is_likely
                        ? "depyf: not proved: the text of a field may differ from its expression: " + one_line(printed)
                        : "depyf: not equal: the text of a field was: " + one_line(text));
    context_.notes.push_back("the text of a field of a template string differs from its expression");
  }

  static std::string one_line(std::string_view text) {
    std::string line(text.substr(0, 200));
    for (char& c : line)
      if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 0x7f) c = '?';
    return line;
  }

  Context& context_;
  const Version version_;
  std::string_view class_name_;    // the enclosing class, in which the compiler mangles private names
  std::vector<std::string> lost_;  // comments to put in front of the current statement
  std::set<const Stmt*> visited_;
};

}  // namespace

Block settle_interpolations(Context& context, Block body, Version version) {
  return Interpolations(context, version).block(body);
}

}  // namespace depyf
