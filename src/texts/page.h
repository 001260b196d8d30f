// A page in Markdown.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "texts/shown.h"

namespace depyf::texts {

inline constexpr std::size_t line_max = 200;  // the most characters of a line; longer lines are broken at a space

// A text in Markdown. Lines of more than `line_max` characters are broken.
class Page {
 public:
  void line(const std::string& text = "") {
    std::string_view rest = text;
    const std::size_t margin = std::min(text.find_first_not_of(' '), text.size());
    const bool is_item = text.substr(margin).starts_with("- ");
    const std::string indent(margin + (is_item ? 2 : margin >= 4 ? 4 : 0), ' ');
    bool is_first = true;
    while (rest.size() > line_max && text[0] != '|') {
      std::size_t end = rest.rfind(' ', line_max - indent.size());
      if (end == std::string_view::npos || end <= margin + 2) end = rest.find(' ', line_max - indent.size());
      if (end == std::string_view::npos) break;
      text_ += (is_first ? "" : indent) + std::string(rest.substr(0, end)) + "\n";
      rest.remove_prefix(end + 1);
      is_first = false;
    }
    text_ += (is_first ? "" : indent) + std::string(rest) + "\n";
  }
  void heading(const std::string& text) { line(text), line(); }
  void block(const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    for (const std::string& text : lines) line("    " + one_line(text));
    line();
  }
  void append(const std::string& lines) { text_ += lines; }  // appends lines of another page, which are broken already
  std::string text() {
    text_.resize(text_.find_last_not_of('\n') + 1);
    return std::move(text_) + "\n";
  }

 private:
  std::string text_;
};

}  // namespace depyf::texts
