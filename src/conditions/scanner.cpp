#include "conditions/scanner.h"

#include "support/words.h"

namespace depyf::conditions {
namespace {

bool is_name_part(char c) { return is_word(c) || (c & 0x80) != 0; }

}  // namespace

void Scanner::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

bool Scanner::is_at_end() {
  skip_blanks();
  return at_ == text_.size();
}

bool Scanner::is_at_close() {
  const char c = next();
  return c == '\0' || c == ')' || c == ']' || c == '}';
}

char Scanner::next() { return is_at_end() ? '\0' : text_[at_]; }

bool Scanner::take(std::string_view sign, std::string_view not_before) {
  skip_blanks();
  // Most calls fail at the first character, so it is compared first, without a function call.
  if (at_ == text_.size() || text_[at_] != sign.front() || !text_.substr(at_).starts_with(sign)) return false;
  const std::size_t end = at_ + sign.size();
  if (end < text_.size() && not_before.find(text_[end]) != std::string_view::npos) return false;
  at_ = end;
  return true;
}

std::string_view Scanner::word() {
  const char first = next();
  if (!is_name_part(first) || is_digit(first)) return {};
  std::size_t end = at_;
  while (end < text_.size() && is_name_part(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

bool Scanner::take_word(std::string_view wanted) {
  if (word() != wanted) return false;
  at_ += wanted.size();
  return true;
}

std::optional<std::string> Scanner::take_parameters() {
  skip_blanks();
  const std::size_t start = at_;
  for (int depth = 0; at_ < text_.size() && (depth > 0 || text_[at_] != ':'); ++at_) {
    const char c = text_[at_];
    if (c == '\'' || c == '"') return std::nullopt;
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
  }
  return std::string(stripped(text_.substr(start, at_ - start)));
}

std::string Scanner::take_number() {
  const std::size_t start = at_;
  // In 0x1e+1 the `e` is a digit and not an exponent.
  const bool has_prefix = text_[at_] == '0' && is_word(behind(1)) && !is_digit(behind(1));
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_], before = at_ > start ? text_[at_ - 1] : '\0';
    const bool is_sign_of_exponent = !has_prefix && (c == '+' || c == '-') && (before == 'e' || before == 'E');
    if (!is_word(c) && c != '.' && !is_sign_of_exponent) break;
  }
  return std::string(text_.substr(start, at_ - start));
}

std::optional<Scanner::Strings> Scanner::take_strings() {
  Strings strings;
  for (int count = 0;; ++count) {
    const std::size_t start = at_;
    const std::string prefix(word());
    const std::size_t quote = at_ + prefix.size();
    const bool is_string = quote < text_.size() && (text_[quote] == '\'' || text_[quote] == '"') && prefix.size() <= 2;
    if (!is_string) {
      at_ = start;
      break;
    }
    const std::size_t end =
        prefix.find_first_of("fFtT") == std::string::npos ? end_of_string(quote) : std::string_view::npos;
    if (end == std::string_view::npos) return std::nullopt;
    strings.is_bytes = prefix.find_first_of("bB") != std::string::npos;
    if (count) strings.text += ' ';
    const std::string_view body = text_.substr(quote + 1, end - quote - 2);
    if (text_[quote] == '"' && body.find_first_of("'\\") == std::string_view::npos)
      strings.text += prefix + "'" + std::string(body) + "'";
    else strings.text += text_.substr(at_, end - at_);
    at_ = end;
    skip_blanks();
  }
  return strings;
}

std::size_t Scanner::end_of_string(std::size_t quote) const {
  const char sign = text_[quote];
  if (text_.substr(quote).starts_with(std::string(3, sign))) return std::string_view::npos;
  for (std::size_t i = quote + 1; i < text_.size() && text_[i] != '\n'; ++i) {
    if (text_[i] == '\\') ++i;
    else if (text_[i] == sign) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace depyf::conditions
