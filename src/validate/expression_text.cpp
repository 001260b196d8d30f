// Recognizes expressions by recursive descent, in the form in which the compiler stores annotations as text (PEP 563).
#include "validate/expression_text.h"

#include <array>
#include <cstddef>
#include <string>

#include "print/unicode.h"
#include "support/keywords.h"

namespace depyf::validate {
namespace {

constexpr int nesting_max = 60;  // far below the limit of CPython's own parser

class Recognizer {
 public:
  explicit Recognizer(std::string_view text) : text_(text) {}

  bool whole() { return test() && (blanks(), at_ == text_.size()); }

 private:
  bool fail() { return false; }
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
    for (std::string_view op : {"==", "!=", "<=", ">=", "<", ">"})
      if (!starts_shift() && symbol(op)) return true;
    return false;
  }
  bool starts_shift() {
    blanks();
    return text_.substr(at_).starts_with("<<") || text_.substr(at_).starts_with(">>");
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
  // Reads `for a in b if c` after an element. Also returns true if no such clause follows.
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
    if (c == '\'' || c == '"') return strings();
    if ((c >= '0' && c <= '9') || c == '.') return number();
    const std::string_view found = peek_word();
    const std::size_t after = at_ + found.size();
    const bool quoted = after < text_.size() && (text_[after] == '\'' || text_[after] == '"');
    if (quoted && is_string_prefix(found)) return strings();
    if (found == "None" || found == "True" || found == "False") return at_ = after, true;
    return name();
  }
  static bool is_string_prefix(std::string_view word) {
    for (std::string_view prefix : {"b", "f", "r", "u", "rb", "br", "fr", "rf"})
      if (word == prefix) return true;
    return false;
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
  bool strings() {
    do {
      std::string_view prefix = peek_word();
      at_ += prefix.size();
      const char quote = text_[at_];
      const std::string_view three = text_.substr(at_, 3);
      if (three.size() == 3 && three[1] == quote && three[2] == quote) return false;  // no triple quotes in annotations
      const bool formatted = prefix.find('f') != std::string_view::npos;
      for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
        if (formatted && (text_[at_] == '{' || text_[at_] == '}')) return false;  // fields of f-strings are not parsed
        if (text_[at_] == '\\') ++at_;
      }
      if (at_++ >= text_.size()) return false;
      blanks();
    } while (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"'));
    return true;
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
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

bool is_expression(std::string_view text) { return !text.empty() && text[0] != ' ' && Recognizer(text).whole(); }

}  // namespace depyf::validate
