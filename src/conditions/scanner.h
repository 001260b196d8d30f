// Splits the text of a Python expression into tokens, from left to right.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace depyf::conditions {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::size_t position() const { return at_; }
  void go_back(std::size_t position) { at_ = position; }
  bool is_at_end();
  // True if the next character is a closing bracket, or if the text ends.
  bool is_at_close();
  // Returns the next character that is not a blank; '\0' at the end of the text.
  char next();
  // Returns the character behind the next `size` characters; '\0' if the text ends before it.
  char behind(std::size_t size) const { return at_ + size < text_.size() ? text_[at_ + size] : '\0'; }
  // Consumes the operator or bracket `sign`; returns false if `sign` does not follow. `not_before` lists the
  // characters that would form another operator with `sign`, such as `=` behind `<`.
  bool take(std::string_view sign, std::string_view not_before = {});
  // Returns the next name or keyword; an empty text if no word follows.
  std::string_view word();
  bool take_word(std::string_view wanted);
  void skip(std::size_t size) { at_ += size; }
  // Consumes the parameters of a lambda, up to the colon behind them. A colon within brackets belongs to the default
  // value of a parameter. Returns nothing if the parameters contain a string.
  std::optional<std::string> take_parameters();
  std::string take_number();

  // Adjacent string literals, which Python joins. The texts of the literals stay unchanged, except that a literal in
  // double quotes gets single quotes, as in the output of repr, unless it contains a single quote or a backslash.
  struct Strings {
    std::string text;
    bool is_bytes = false;
  };
  // Consumes adjacent string literals. Returns nothing if a literal is an f-string, does not end, or has triple quotes.
  std::optional<Strings> take_strings();

 private:
  void skip_blanks();
  // Returns the position behind the literal whose first quote is at `quote`; npos if the literal does not end, or has
  // triple quotes.
  std::size_t end_of_string(std::size_t quote) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace depyf::conditions
