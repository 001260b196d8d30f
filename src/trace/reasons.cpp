#include "trace/reasons.h"

#include <charconv>

#include "support/words.h"

namespace depyf::trace {
namespace {

std::string_view stripped(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\r") - start + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

int number_of(std::string_view digits) {
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// The frames of a traceback; a line of source follows each, and perhaps a line of ^^^^.
std::vector<record::Place> traceback_of(const std::vector<std::string_view>& lines, std::size_t first) {
  std::vector<record::Place> places;
  for (std::size_t i = first; i < lines.size(); ++i) {
    std::string_view line = stripped(lines[i]);
    if (take(line, "File \"")) {
      const std::size_t end = line.rfind("\", line ");
      if (end == std::string_view::npos) continue;
      record::Place place;
      place.file = line.substr(0, end);
      std::string_view rest = line.substr(end + 8);
      place.line = number_of(rest);
      if (const std::size_t in = rest.find(", in "); in != std::string_view::npos) place.function = rest.substr(in + 5);
      places.push_back(std::move(place));
    } else if (!places.empty() && places.back().text.empty() &&
               line.find_first_not_of("^~ ") != std::string_view::npos) {
      places.back().text = line;
    }
  }
  return places;
}

}  // namespace

record::Place place_of(std::string_view text) {
  record::Place place;
  if (const std::size_t in = text.rfind(" in "); in != std::string_view::npos) {
    place.function = stripped(text.substr(in + 4));
    text = text.substr(0, in);
  }
  text = stripped(text);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  place.file = text.substr(0, colon);
  place.line = number_of(text.substr(colon + 1));
  return place;
}

record::GraphBreak graph_break_of(std::string_view text) {
  record::GraphBreak result;
  const std::vector<std::string_view> lines = lines_of(text);
  bool is_reason_next = false;  // the line before ended with a colon: what it announces follows
  std::string* continued = nullptr;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = stripped(lines[i]);
    if (take(line, "User code traceback:")) {
      result.stack = traceback_of(lines, i + 1);
      break;
    }
    if (i == 0 && take(line, "Graph break in user code at ")) {
      result.place = place_of(line);
    } else if (take(line, "Graph Break Reason: ") || take(line, "Reason: ")) {
      is_reason_next = line.ends_with(':');
      result.reason = line;
      continued = nullptr;
    } else if (take(line, "Explanation: ")) {
      result.explanation = line;
      continued = &result.explanation;
    } else if (take(line, "Hint: ")) {
      result.hints.emplace_back(line);
      continued = &result.hints.back();
    } else if (line.empty() || line.starts_with("Developer debug context:") || line.starts_with("For more details")) {
      continued = nullptr;
    } else if (is_reason_next) {
      result.reason = line;
      is_reason_next = false;
    } else if (continued) {
      *continued += ' ';
      *continued += line;
    }
  }
  if (result.place.function.empty() && !result.stack.empty()) {
    const record::Place& innermost = result.stack.back();
    if (innermost.file == result.place.file && innermost.line == result.place.line) result.place = innermost;
  }
  return result;
}

record::FailedGuard failed_guard_of(std::string_view text) {
  record::FailedGuard result;
  result.is_in_words = true;
  const std::vector<std::string_view> lines = lines_of(text);
  if (lines.empty()) return result;
  std::string_view line = lines[0];
  const std::size_t colon = line.find(": ");
  if (colon != std::string_view::npos && line.substr(0, colon).find('/') != std::string_view::npos &&
      line.substr(0, colon).find_first_not_of("!0123456789/_") == std::string_view::npos) {
    result.compilation = line.substr(0, colon);
    line.remove_prefix(colon + 2);
  }
  const std::size_t comment = line.find("  # ");
  if (comment != std::string_view::npos) {
    const std::string_view comments = line.substr(comment + 4);
    const std::size_t place = comments.rfind("# ");
    result.place = place_of(place == std::string_view::npos ? comments : comments.substr(place + 2));
    if (place != std::string_view::npos) result.place.text = stripped(comments.substr(0, place));
  }
  result.guard = stripped(line.substr(0, comment));
  const std::vector<record::Place> stack = traceback_of(lines, 1);
  if (!stack.empty()) result.place = stack.back();  // its path is not shortened
  return result;
}

}  // namespace depyf::trace
