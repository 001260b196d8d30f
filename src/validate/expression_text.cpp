// Recognizes expressions by recursive descent, in the form in which the compiler stores annotations as text (PEP 563).
#include "validate/expression_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "print/unicode.h"
#include "support/keywords.h"
#include "support/words.h"

namespace depyf::validate {
namespace {

constexpr int nesting_max = 60;  // the greatest nesting depth, far below the limit of CPython's own parser

// The escape sequences in a literal: none in a raw literal, `\x00` in bytes, and also `\u0000` and `\U00000000` in all
// other literals.
enum class Escapes : std::uint8_t { none, of_bytes, all };

// Moves `at` behind one character of a literal, or behind one escape sequence. Returns false if the escape sequence is
// malformed, and for `\N{...}`, because this parser has no list of the names of characters. A backslash and a character
// that together begin no escape sequence with digits are read as one character.
bool read_character(std::string_view text, std::size_t& at, Escapes escapes) {
  if (text[at++] != '\\') return true;
  const char kind = at < text.size() ? text[at] : '\0';
  ++at;
  if (static_cast<unsigned char>(kind) < ' ') return false;
  if (escapes == Escapes::none) return true;
  std::size_t digits = kind == 'x' ? 2 : 0;
  if (escapes == Escapes::all) {
    if (kind == 'N') return false;
    if (kind == 'u') digits = 4;
    if (kind == 'U') digits = 8;
  }
  const std::string_view number = text.substr(std::min(at, text.size()), digits);
  at += number.size();
  return number.size() == digits && number.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos &&
         (kind != 'U' || digits == 0 || number.starts_with("0000") || number.starts_with("0010"));
}

class Recognizer {
 public:
  Recognizer(std::string_view text, const Dialect& dialect) : text_(text), dialect_(dialect) {}

  bool whole() { return test() && (blanks(), at_ == text_.size()); }

 private:
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool symbol(std::string_view wanted) {
    blanks();
    if (!text_.substr(at_).starts_with(wanted)) return false;
    at_ += wanted.size();
    return true;
  }
  std::string_view peek_word() {
    blanks();
    std::size_t end = at_;
    while (end < text_.size() && is_identifier_byte(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  bool word(std::string_view wanted) {
    if (peek_word() != wanted) return false;
    at_ += wanted.size();
    return true;
  }
  bool name() {
    const std::string_view found = peek_word();
    if (!print::is_identifier(found)) return false;
    at_ += found.size();
    return true;
  }

  bool test() {
    if (++depth_ > nesting_max) return false;
    const bool good = conditional();
    --depth_;
    return good;
  }
  bool conditional() {
    if (word("lambda")) return lambda();
    if (!disjunction()) return false;
    if (!word("if")) return true;
    return disjunction() && word("else") && test();
  }
  bool lambda() {
    while (!symbol(":")) {
      if (!symbol("**")) symbol("*");
      if (peek_word().empty()) {
        if (!symbol("/") && !symbol(",")) return false;
        continue;
      }
      if (!name() || (symbol("=") && !test())) return false;
      symbol(",");
    }
    return test();
  }
  bool disjunction() {
    do {
      while (word("not")) {}
      if (!comparison()) return false;
    } while (word("and") || word("or"));
    return true;
  }
  bool comparison() {
    if (!binary(0)) return false;
    while (comparison_operator())
      if (!binary(0)) return false;
    return true;
  }
  bool comparison_operator() {
    if (word("in")) return true;
    if (word("is")) return word("not"), true;
    if (word("not")) return word("in");
    blanks();
    const bool is_shift = text_.substr(at_).starts_with("<<") || text_.substr(at_).starts_with(">>");
    for (std::string_view op : {"==", "!=", "<=", ">=", "<", ">"})
      if (!is_shift && symbol(op)) return true;
    return false;
  }
  bool binary(int) {
    do {
      while (symbol("-") || symbol("+") || symbol("~")) {}
      word("await");
      if (!primary()) return false;
    } while (binary_operator());
    return true;
  }
  bool binary_operator() {
    for (std::string_view op : {"**", "//", "<<", ">>", "*", "/", "%", "@", "+", "-", "&", "|", "^"})
      if (symbol(op)) return true;
    return false;
  }
  bool primary() {
    if (!atom()) return false;
    for (;;) {
      if (symbol(".")) {
        if (!name()) return false;
      } else if (symbol("[")) {
        if (!subscripts()) return false;
      } else if (symbol("(")) {
        if (!arguments()) return false;
      } else {
        return true;
      }
    }
  }
  bool subscripts() {
    do {
      if (symbol("]")) return true;
      blanks();
      const bool begins_slice = at_ < text_.size() && text_[at_] == ':';
      if (!begins_slice && !(symbol("*") ? binary(0) : test())) return false;
      for (int colons = 0; colons < 2 && symbol(":"); ++colons) {
        blanks();
        const bool ends = at_ < text_.size() && std::string_view(":,]").find(text_[at_]) != std::string_view::npos;
        if (!ends && !test()) return false;
      }
    } while (symbol(","));
    return symbol("]");
  }
  bool arguments() {
    do {
      if (symbol(")")) return true;
      if (symbol("**") || symbol("*")) {
        if (!test()) return false;
        continue;
      }
      const std::size_t start = at_;
      if (name() && (blanks(), at_ < text_.size()) && text_[at_] == '=' && !text_.substr(at_).starts_with("==")) {
        ++at_;
      } else {
        at_ = start;
      }
      if (!test()) return false;
      if (!comprehension()) return false;
    } while (symbol(","));
    return symbol(")");
  }
  // Reads the clauses `for a in b if c` of a comprehension, if there are any. Returns false if a clause is malformed.
  bool comprehension() {
    for (;;) {
      word("async");
      if (!word("for")) return true;
      if (!targets() || !word("in") || !disjunction()) return false;
      while (word("if"))
        if (!disjunction()) return false;
    }
  }
  bool targets() {
    do {
      symbol("*");
      if (symbol("(")) {
        if (!targets() || !symbol(")")) return false;
      } else if (!name()) {
        return false;
      }
    } while (symbol(",") && peek_word() != "in");
    return true;
  }
  bool atom() {
    blanks();
    if (at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (symbol("...")) return true;
    if (c == '(') return display(')');
    if (c == '[') return display(']');
    if (c == '{') return braces();
    if ((c >= '0' && c <= '9') || c == '.') return number();
    if (starts_string()) return strings();
    const std::string_view found = peek_word();
    const std::size_t after = at_ + found.size();
    if (found == "None" || found == "True" || found == "False") return at_ = after, true;
    return name();
  }
  // True if a string literal begins at the current place: a quote, or a prefix and a quote.
  bool starts_string() {
    const std::string_view prefix = peek_word();
    const std::size_t after = at_ + prefix.size();
    if (after >= text_.size() || !is_quote(text_[after])) return false;
    const std::string_view plain[] = {"", "b", "f", "r", "u", "rb", "br", "fr", "rf"}, templates[] = {"t", "tr", "rt"};
    return std::ranges::find(plain, prefix) != std::end(plain) ||
           (dialect_.template_strings && std::ranges::find(templates, prefix) != std::end(templates));
  }
  bool display(char close) {
    if (++depth_ > nesting_max) return false;
    ++at_;
    const bool good =
        symbol(std::string_view(&close, 1)) || (elements() && comprehension() && symbol(std::string_view(&close, 1)));
    --depth_;
    return good;
  }
  bool elements() {
    if (word("yield")) return false;
    do {
      blanks();
      if (at_ < text_.size() && (text_[at_] == ')' || text_[at_] == ']')) return true;
      if (symbol("*") ? !binary(0) : !test()) return false;
    } while (symbol(","));
    return true;
  }
  bool braces() {
    if (++depth_ > nesting_max) return false;
    ++at_;
    if (symbol("}")) return --depth_, true;
    do {
      if (symbol("**") || symbol("*")) {
        if (!binary(0)) return false;
      } else if (!test() || (symbol(":") && !test()) || !comprehension()) {
        return false;
      }
    } while (symbol(","));
    --depth_;
    return symbol("}");
  }
  char current() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  // Adjacent literals form one constant: either all are bytes, or none is, and either all are templates, or none is.
  bool strings() {
    bool is_first = true, is_bytes = false, is_template = false;
    do {
      const std::string_view prefix = peek_word();
      at_ += prefix.size();
      const auto has = [&](char letter) { return prefix.find(letter) != std::string_view::npos; };
      if (!is_first && (has('b') != is_bytes || has('t') != is_template)) return false;
      is_first = false, is_bytes = has('b'), is_template = has('t');
      const std::size_t start = at_;
      const auto is_wide = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
      if (!literal(has('f') || is_template, has('r') ? Escapes::none : is_bytes ? Escapes::of_bytes : Escapes::all))
        return false;
      if (is_bytes && std::ranges::any_of(text_.substr(start, at_ - start), is_wide)) return false;
      blanks();
    } while (starts_string());
    return true;
  }
  // Reads a literal from its opening quote on. There are no triple quotes in annotations.
  bool literal(bool has_fields, Escapes escapes) {
    const char quote = current();
    if (text_.substr(at_ + 1, 2) == std::string_view(std::array{quote, quote}.data(), 2)) return false;
    const bool is_free = dialect_.free_fstrings;
    if (!is_free && enclosing_quotes_.find(quote) != std::string::npos) return false;
    const bool is_in_field = !enclosing_quotes_.empty();
    enclosing_quotes_ += quote;
    for (++at_; current() != quote;) {
      if (has_fields && (current() == '{' || current() == '}') && text_.substr(at_ + 1, 1) == text_.substr(at_, 1)) {
        at_ += 2;  // `{{` or `}}` is one brace
      } else if (has_fields && current() == '{') {
        if (!field(0)) return false;
      } else if (current() == '\0' || current() == '\n' || current() == '\r' || (has_fields && current() == '}')) {
        return false;
      } else if (is_in_field && !is_free && (current() == '\\' || current() == '#')) {
        return false;
      } else if (!read_character(text_, at_, escapes)) {
        return false;
      }
    }
    ++at_;
    enclosing_quotes_.pop_back();
    return true;
  }
  // Reads a field such as `{x!r:spec}` from its opening brace on, with the fields in its format specification. `depth`
  // is the number of format specifications around the field.
  bool field(int depth) {
    if (depth > 1 || ++depth_ > nesting_max) return false;
    ++at_;
    if (!disjunction()) return false;
    blanks();
    if (current() == '!') {
      ++at_;
      if (current() != 'r' && current() != 's' && current() != 'a') return false;
      ++at_;
    }
    if (current() == ':') {
      const char quote = enclosing_quotes_.back();
      for (++at_; current() != '}';) {
        if (current() == '{') {
          if (!field(depth + 1)) return false;
        } else if (current() == '\0' || current() == '\n' || current() == '\r' || current() == quote ||
                   !read_character(text_, at_, Escapes::all)) {
          return false;
        }
      }
    }
    --depth_;
    return current() == '}' && ++at_;
  }
  bool number() {
    std::size_t digits = 0;
    auto run = [&] {
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) ++digits;
    };
    const std::size_t start = at_;
    if (text_.substr(at_).starts_with("0x")) {
      at_ += 2;
      const std::string_view hexadecimal = peek_word();
      at_ += hexadecimal.size();
      return !hexadecimal.empty() && hexadecimal.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    }
    run();
    const std::size_t whole = digits;
    bool real = false;
    if (at_ < text_.size() && text_[at_] == '.') real = true, ++at_, run();
    if (digits == 0) return false;
    if (at_ < text_.size() && text_[at_] == 'e') {
      real = true, ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      const std::size_t before = digits;
      run();
      if (digits == before) return false;
    }
    if (at_ < text_.size() && text_[at_] == 'j') real = true, ++at_;
    if (!real && whole > 1 && text_[start] == '0') return false;  // an integer with a leading zero
    return at_ >= text_.size() || !is_identifier_byte(text_[at_]);
  }

  std::string_view text_;
  const Dialect& dialect_;
  // The quotes of the literals around the current place, the innermost last.
  std::string enclosing_quotes_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

bool is_expression(std::string_view text, const Dialect& dialect) {
  return !text.empty() && text[0] != ' ' && Recognizer(text, dialect).whole();
}

}  // namespace depyf::validate
