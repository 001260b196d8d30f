#include "page/highlight.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

namespace depyf::page {
namespace {

constexpr std::string_view python_words[] = {"False",  "None",   "True",    "and",      "as",       "assert", "async",
                                             "await",  "break",  "class",   "continue", "def",      "del",    "elif",
                                             "else",   "except", "finally", "for",      "from",     "global", "if",
                                             "import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
                                             "pass",   "raise",  "return",  "try",      "while",    "with",   "yield"};
constexpr std::string_view cpp_words[] = {
    "auto",    "bool",     "break",   "case",     "char",   "class",       "const",   "constexpr", "continue",
    "default", "do",       "double",  "else",     "enum",   "extern",      "false",   "float",     "for",
    "if",      "int",      "int32_t", "int64_t",  "long",   "namespace",   "nullptr", "private",   "public",
    "return",  "short",    "signed",  "sizeof",   "static", "static_cast", "struct",  "switch",    "template",
    "true",    "typename", "uint8_t", "unsigned", "using",  "void",        "while"};
constexpr std::string_view prefix_letters = "rbfuRBFU";  // the letters that can precede a string literal of Python
constexpr std::size_t prefix_max = 2;

bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }
bool is_word(char c) { return is_word_start(c) || std::isdigit(static_cast<unsigned char>(c)); }

// Returns the number of UTF-16 units of the character that a byte of UTF-8 begins; 0 if the byte begins no character.
std::size_t units_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x80 && byte < 0xc0) return 0;
  return byte >= 0xf0 ? 2 : 1;
}

class Highlighter {
 public:
  explicit Highlighter(std::string_view text) : text_(text) {}

  std::string rows() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') end_row();
      else if (starts_with_end()) leave_kernel();
      else if (is_cpp_) cpp_token();
      else python_token();
    }
    return std::move(out_);
  }

 private:
  void end_row() {
    out_ += '\n';
    ++at_;
    row_start_ = at_;
    units_since_span_ = 0;
  }

  std::size_t end_of_row() const { return std::min(text_.find('\n', at_), text_.size()); }

  // Moves to `end`, which is in the same row, and leaves the text up to `end` without a colour.
  void skip_to(std::size_t end) {
    for (; at_ < end; ++at_) units_since_span_ += units_of(text_[at_]);
  }

  // Colours the text from `at_` to `end`; both positions are in the same row.
  void span_to(std::size_t end, char kind) {
    std::size_t units = 0;
    const bool is_whole = at_ == row_start_ && (kind == 's' || kind == 'S') && end == end_of_row();
    for (; at_ < end; ++at_) units += units_of(text_[at_]);
    out_ += kind;
    if (!is_whole) out_ += std::to_string(units_since_span_) + "." + std::to_string(units);
    units_since_span_ = 0;
  }

  // Colours the text from `at_` to `end` as a string, row by row.
  void string_to(std::size_t end) {
    for (char kind = 's'; at_ < end; kind = 'S') {
      span_to(std::min(end, end_of_row()), kind);
      if (at_ < end) end_row();
    }
  }

  std::size_t end_of_word() const {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return end;
  }

  void number() {
    std::size_t end = at_;
    while (end < text_.size() && (is_word(text_[end]) || text_[end] == '.' ||
                                  ((text_[end] == '-' || text_[end] == '+') && (text_[end - 1] | 0x20) == 'e' &&
                                   !text_.substr(at_).starts_with("0x"))))
      ++end;
    span_to(end, 'n');
  }

  template <std::size_t count>
  void word(const std::string_view (&words)[count]) {
    const std::size_t end = end_of_word();
    const std::string_view word = text_.substr(at_, end - at_);
    if (std::find(std::begin(words), std::end(words), word) != std::end(words)) span_to(end, 'w');
    else skip_to(end);
  }

  // Returns the end of the string that begins with the quote at `start`; `start` itself if the string does not end in
  // its row.
  std::size_t end_of_string(std::size_t start) const {
    const std::size_t row_end = end_of_row();
    for (std::size_t end = start + 1; end < row_end; ++end) {
      if (text_[end] == '\\') ++end;
      else if (text_[end] == text_[start]) return end + 1;
    }
    return start;
  }

  void python_token() {
    const char c = text_[at_];
    if (c == '#') return span_to(end_of_row(), 'c');
    if (c == '"' || c == '\'') return python_string(at_);
    if (std::isdigit(static_cast<unsigned char>(c))) return number();
    if (!is_word_start(c)) return skip_to(at_ + 1);
    const std::size_t end = end_of_word();
    const bool is_prefix = end < text_.size() && end - at_ <= prefix_max && (text_[end] == '"' || text_[end] == '\'') &&
                           text_.substr(at_, end - at_).find_first_not_of(prefix_letters) == std::string_view::npos;
    if (is_prefix) return python_string(end);
    word(python_words);
  }

  // Colours the string whose opening quote is at `quote`, together with its prefix.
  void python_string(std::size_t quote) {
    const std::string triple(3, text_[quote]);
    if (!text_.substr(quote).starts_with(triple)) {
      const std::size_t end = end_of_string(quote);
      return end == quote ? skip_to(quote + 1) : span_to(end, 's');
    }
    const std::string_view before = text_.substr(row_start_, quote - row_start_);
    if (const std::size_t call = before.rfind("async_compile.");
        call != std::string_view::npos && kernel_end_.empty()) {
      span_to(quote + 3, 's');
      kernel_end_ = triple;
      is_cpp_ = before.substr(call).starts_with("async_compile.cpp");
      return;
    }
    const std::size_t end = text_.find(triple, quote + 3);
    string_to(end == std::string_view::npos ? text_.size() : end + 3);
  }

  bool starts_with_end() const { return !kernel_end_.empty() && text_.substr(at_).starts_with(kernel_end_); }

  void leave_kernel() {
    span_to(at_ + kernel_end_.size(), 's');
    kernel_end_.clear();
    is_cpp_ = false;
  }

  void cpp_token() {
    const char c = text_[at_];
    const bool is_first = text_.substr(row_start_, at_ - row_start_).find_first_not_of(" \t") == std::string_view::npos;
    if (c == '#' && is_first) return span_to(end_of_row(), 'w');
    if (text_.substr(at_).starts_with("//")) return span_to(end_of_row(), 'c');
    if (c == '"' || c == '\'') {
      const std::size_t end = end_of_string(at_);
      return end == at_ ? skip_to(at_ + 1) : span_to(end, 's');
    }
    if (std::isdigit(static_cast<unsigned char>(c))) return number();
    if (!is_word_start(c)) return skip_to(at_ + 1);
    word(cpp_words);
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
  std::size_t row_start_ = 0;
  std::size_t units_since_span_ = 0;
  std::string kernel_end_;  // the quotes that end the source of the current kernel; empty outside of a kernel
  bool is_cpp_ = false;
};

}  // namespace

std::string highlights(std::string_view text) { return Highlighter(text).rows(); }

}  // namespace depyf::page
