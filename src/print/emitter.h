// Holds the printed source, which grows line by line, and the map from its lines to bytecode offsets.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "print/print.h"
#include "print/text.h"

namespace depyf::print {

class Emitter {
 public:
  // The limit of the text's size in bytes bounds the output for a hostile file.
  explicit Emitter(std::size_t limit) : limit_(limit), text_(limit) {}

  void write(std::string_view text) { text_ += text; }
  template <std::size_t size>
  void write(const char (&literal)[size]) {
    text_ += literal;
  }
  void end_line() { text_ += '\n'; }
  // Starts a line with the indentation of the current block.
  void begin_line() {
    line_begin_ = text_.size();
    text_.append_blanks(indent());
  }
  // Continues the current line with another statement, behind `; ` or a colon.
  void continue_line() { line_begin_ = text_.view().rfind('\n') + 1; }
  // Replaces the text from offset `begin` on by `text`.
  void rewrite(std::size_t begin, std::string_view text) {
    if (counted_ > begin) {
      line_ -= std::uint32_t(std::ranges::count(text_.view().substr(begin, counted_ - begin), '\n'));
      counted_ = begin;
    }
    text_.cut(begin);
    write(text);
  }
  // Removes the line break at the end of the text, so that the last line can be continued.
  void reopen_line() {
    text_.cut(text_.size() - 1);
    if (counted_ > text_.size()) counted_ = text_.size(), --line_;
  }
  // Returns the number, from 1, of the line that is being written. Line breaks are counted from the offset at which
  // the last call of this function stopped.
  std::uint32_t line() {
    for (std::size_t at = text_.view().find('\n', counted_); at != std::string_view::npos;
         at = text_.view().find('\n', at + 1))
      ++line_;
    counted_ = text_.size();
    return line_;
  }
  // Returns the number of the line that starts at `line_begin()`.
  std::uint32_t begin_number() {
    return line() - std::uint32_t(std::ranges::count(text_.view().substr(line_begin_), '\n'));
  }
  std::size_t line_begin() const { return line_begin_; }
  std::size_t indent() const { return 4 * depth_; }
  void deeper() { ++depth_; }
  void shallower() { --depth_; }
  bool outermost() const { return depth_ == 0; }

  // Maps the line that begins at the end of the text to the instruction at `offset` in `code`. `original` is the line
  // of the source, or -1 if it is unknown.
  void map_line(const CodeObject* code, std::uint32_t offset, std::int32_t original) {
    lines_.push_back({code, {line(), offset, original}});
  }

  // Returns the text that `print` writes, without adding it to the output.
  template <class F>
  std::string capture(F print) {
    Text outer = std::exchange(text_, Text(limit_));
    print();
    return std::string(std::exchange(text_, std::move(outer)).view());
  }

  Text& text() { return text_; }
  std::vector<LineOfCode> take_lines() { return std::move(lines_); }

 private:
  std::size_t limit_;
  Text text_;
  std::size_t depth_ = 0;
  // The offset of the start of the line on which the statement or clause that is being printed begins.
  std::size_t line_begin_ = 0;
  std::vector<LineOfCode> lines_;
  // The line number at offset `counted_`; line breaks before that offset are not counted again.
  std::uint32_t line_ = 1;
  std::size_t counted_ = 0;
};

}  // namespace depyf::print
