// Text that grows line by line, and the map from its lines to the bytecode.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "print/print.h"

namespace depyf::print {

class Emitter {
 public:
  explicit Emitter(std::size_t limit) : limit_(limit) {}

  // Throws std::length_error where the text is longer than it may be.
  void write(std::string_view text) {
    text_ += text;
    if (text_.size() > limit_)
      throw std::length_error("the source is longer than " + std::to_string(limit_) + " bytes");
  }
  void end_line() { text_ += '\n'; }
  void begin_line() {
    line_begin_ = text_.size();
    begin_number_ = line();
    text_.append(indent(), ' ');
  }
  // What is written next is a statement on the line that is being written.
  void continue_line() {
    line_begin_ = text_.rfind('\n') + 1;
    begin_number_ = line();
  }
  // Replaces the text from `begin` on.
  void rewrite(std::size_t begin, std::string_view text) {
    if (counted_ > begin) {
      line_ -= std::uint32_t(std::ranges::count(text_.begin() + begin, text_.begin() + counted_, '\n'));
      counted_ = begin;
    }
    text_.resize(begin);
    write(text);
  }
  // Takes back the end of the last line.
  void reopen_line() {
    text_.pop_back();
    if (counted_ > text_.size()) counted_ = text_.size(), --line_;
  }
  // The number, from 1, of the line that is being written, or that would begin now.
  std::uint32_t line() {
    for (std::size_t at = text_.find('\n', counted_); at != text_.npos; at = text_.find('\n', at + 1)) ++line_;
    counted_ = text_.size();
    return line_;
  }
  std::uint32_t begin_number() const { return begin_number_; }
  std::size_t line_begin() const { return line_begin_; }
  std::size_t indent() const { return 4 * depth_; }
  void deeper() { ++depth_; }
  void shallower() { --depth_; }
  bool outermost() const { return depth_ == 0; }

  // The line that begins now belongs to `code` at `offset`, which was line `original` of the source (-1: unknown).
  void map_line(const CodeObject* code, std::uint32_t offset, std::int32_t original) {
    lines_.push_back({code, {line(), offset, original}});
  }

  // What `print` writes, apart from the rest.
  template <class F>
  std::string capture(F print) {
    std::string outer = std::exchange(text_, {});
    print();
    return std::exchange(text_, std::move(outer));
  }

  std::string& text() { return text_; }
  std::vector<LineOfCode> take_lines() { return std::move(lines_); }

 private:
  std::string text_;
  std::size_t limit_;
  std::size_t depth_ = 0;
  std::uint32_t begin_number_ = 1;  // of the line at `line_begin_`
  std::size_t line_begin_ = 0;  // where the statement or clause that is being printed starts, its indentation included
  std::vector<LineOfCode> lines_;
  std::uint32_t line_ = 1;  // at `counted_`
  std::size_t counted_ = 0;
};

}  // namespace depyf::print
