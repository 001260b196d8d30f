// Takes the tokens of an expression of Python off a text, from left to right.
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
  // True at the end of the text or of what brackets enclose.
  bool is_at_close();
  // Returns the next character that is not a blank; '\0' at the end.
  char next();
  // Returns the character behind the next `size` ones; '\0' if there is none.
  char behind(std::size_t size) const { return at_ + size < text_.size() ? text_[at_ + size] : '\0'; }
  // Takes an operator or a bracket. `not_before` lists the characters that would make another operator of it.
  bool take(std::string_view sign, std::string_view not_before = {});
  // Returns the next name or keyword; an empty text if there is none.
  std::string_view word();
  bool take_word(std::string_view wanted);
  void skip(std::size_t size) { at_ += size; }
  // Takes the parameters of a lambda, up to the colon behind them. Default values are expressions, so that a colon within
  // brackets belongs to one of them. Returns nothing if there is a string among them.
  std::optional<std::string> take_parameters();
  std::string take_number();

  // String literals that follow each other, which Python joins. Their texts are kept; only the quotes of a simple literal
  // are changed to those that Python's repr uses.
  struct Strings {
    std::string text;
    bool is_bytes = false;
  };
  // Returns nothing for an f-string, for a literal that does not end, and for one in triple quotes.
  std::optional<Strings> take_strings();

 private:
  void skip_blanks();
  // Returns the position behind the literal whose first quote is at `quote`; npos if it does not end, or has three
  // quotes.
  std::size_t end_of_string(std::size_t quote) const;

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace depyf::conditions
