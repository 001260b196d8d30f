#include "trace/reasons.h"

#include <algorithm>
#include <charconv>

#include "depyf/trace.h"
#include "support/words.h"

namespace depyf::trace {
namespace {

int number_of(std::string_view digits) {
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// Returns the frames of a traceback. In `lines`, a frame is followed by a line of source, and possibly by a line that
// marks columns with ^^^^.
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

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && ((text[0] >= '0' && text[0] <= '9') || (text[0] >= 'a' && text[0] <= 'f'));
}

bool has_explanation(const std::vector<std::string_view>& lines) {
  return std::any_of(lines.begin(), lines.end(),
                     [](std::string_view line) { return stripped(line).starts_with("Explanation:"); });
}

// Returns the place in a line such as "Graph break in user code at FILE:LINE", in the form of any release; an empty
// place if the line contains no place.
record::Place announced_place(std::string_view line) {
  line = stripped(line);
  if (!take(line, "Graph break ")) return {};
  take(line, "in user code ");
  if (!take(line, "from user code at") && !take(line, "at")) return {};
  take(line, ":");
  return place_of(line);
}

// Returns the position after the `>` that closes the `<` at `open`; npos if the `<` is not closed.
std::size_t behind_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

// Returns the name in "function f at 0x7f01"; an empty text if the object is of a kind without a name.
std::string_view name_of_object(std::string_view object) {
  if (!take(object, "function ") && !take(object, "bound method ") && !take(object, "built-in function ") &&
      !take(object, "class "))
    return {};
  for (const std::string_view detail : {" at 0x", " of "}) object = object.substr(0, object.find(detail));
  if (object.size() > 1 && object.starts_with('\'') && object.ends_with('\''))
    object = object.substr(1, object.size() - 2);
  return object;
}

// Replaces "<function f at 0x7f01>" by "f", and removes the addresses of other objects, because addresses differ in
// every run.
std::string without_addresses(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::string_view rest = text.substr(i);
    if (take(rest, " at 0x") && is_hexadecimal(rest)) {
      while (is_hexadecimal(rest)) rest.remove_prefix(1);
      i = text.size() - rest.size();
      continue;
    }
    const std::size_t behind = text[i] == '<' ? behind_bracket(text, i) : std::string_view::npos;
    const std::string_view name =
        behind == std::string_view::npos ? std::string_view() : name_of_object(text.substr(i + 1, behind - i - 2));
    if (name.empty()) {
      result += text[i++];
    } else {
      result += name;
      i = behind;
    }
  }
  return result;
}

struct BreakParts {
  std::string reason, explanation, link;
  std::vector<std::string> hints;
};

// Returns the reason of a graph break, which is on the line before "Explanation:". Reports of older releases of PyTorch
// have no explanation. In a report without an explanation, the reason is on the first line, or on the second line if
// the first line ends in a colon.
std::string reason_in(const std::vector<std::string_view>& lines) {
  const bool is_explained = has_explanation(lines);
  std::string_view reason;
  for (const std::string_view padded : lines) {
    const std::string_view line = stripped(padded);
    if (line.starts_with("Explanation:")) break;
    if (!line.empty() && (is_explained || reason.empty() || reason.ends_with(':'))) reason = line;
  }
  if (!take(reason, "Graph Break Reason: ")) take(reason, "Reason: ");
  const std::size_t exception = reason.find(".Unsupported: ");
  if (exception < reason.find(' ')) reason.remove_prefix(exception + std::string_view(".Unsupported: ").size());
  while (reason.ends_with('.')) reason.remove_suffix(1);
  return without_addresses(reason);
}

// Returns the parts of one graph break of a report, without its place and its stack. If a part of the report has
// several lines, the lines are joined by spaces.
BreakParts parts_of(const std::vector<std::string_view>& lines) {
  BreakParts result;
  std::string context;
  std::vector<std::string> hints;
  std::string* continued = nullptr;
  for (std::string_view line : lines) {
    line = stripped(line);
    if (const std::size_t link = std::min(line.find("https://"), line.find("http://"));
        link != std::string_view::npos && result.link.empty())
      result.link = line.substr(link, line.find_first_of(" \t", link) - link);
    if (take(line, "Explanation:")) {
      result.explanation = stripped(line);
      continued = &result.explanation;
    } else if (take(line, "Hint: ")) {
      continued = &hints.emplace_back(line);
    } else if (take(line, "Developer debug context:")) {
      context = stripped(line);
      continued = &context;
    } else if (line.empty() || line.starts_with("For more details")) {
      continued = nullptr;
    } else if (continued) {
      if (!continued->empty()) *continued += ' ';
      *continued += line;
    }
  }
  result.reason = reason_in(lines);
  // Some graph breaks have a debug context instead of an explanation.
  result.explanation = without_addresses(result.explanation.empty() ? context : result.explanation);
  for (const std::string& hint : hints) {
    if (hint.starts_with("This graph break may have been caused by an earlier graph break")) continue;
    std::string text = without_addresses(hint);
    if (std::find(result.hints.begin(), result.hints.end(), text) == result.hints.end())
      result.hints.push_back(std::move(text));
  }
  return result;
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
  if (!stack.empty()) result.place = stack.back();  // Paths in the stack are not shortened.
  return result;
}

}  // namespace depyf::trace

namespace depyf {

using namespace trace;

std::vector<record::Place> read_traceback(std::string_view text) { return trace::traceback_of(lines_of(text), 0); }

record::GraphBreak read_graph_break(std::string_view text) {
  record::GraphBreak result;
  const std::vector<std::string_view> lines = lines_of(text);
  std::vector<std::string_view> report;  // the lines before the stack
  std::size_t stack = 0;
  while (stack < lines.size() && !lines[stack].starts_with("User code traceback:")) report.push_back(lines[stack++]);
  const bool has_heading = stack < lines.size();
  std::size_t end = has_heading ? stack : 0;
  while (end < lines.size() && !lines[end].starts_with("Traceback (most recent call last)")) ++end;
  result.stack =
      traceback_of({lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(end)}, has_heading ? stack + 1 : 0);
  if (!report.empty()) result.place = announced_place(report[0]);
  const auto first = report.begin() + (result.place.file.empty() ? 0 : 1);
  const auto second = std::find_if(first, report.end(), [](std::string_view line) {
    return stripped(line) == "*** While handling this graph break, another graph break occurred: ***";
  });
  BreakParts cause = parts_of({first, second});
  result.reason = std::move(cause.reason);
  result.explanation = std::move(cause.explanation);
  result.hints = std::move(cause.hints);
  result.link = std::move(cause.link);
  // If Dynamo cannot end the graph at a graph break, the report contains a second graph break.
  if (second != report.end()) {
    const BreakParts consequence = parts_of({second + 1, report.end()});
    result.then = consequence.explanation.empty() ? consequence.reason : consequence.explanation;
    while (result.then.ends_with('.')) result.then.pop_back();
    result.then += '.';
  }
  if (result.place.function.empty() && !result.stack.empty()) {
    const record::Place& innermost = result.stack.back();
    if (innermost.file == result.place.file && innermost.line == result.place.line) result.place = innermost;
  }
  return result;
}

}  // namespace depyf
