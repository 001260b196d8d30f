#include "texts/output_code_comments.h"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "support/words.h"
#include "texts/operations.h"

namespace depyf::texts {

using namespace links;

namespace {

constexpr std::size_t source_nodes_max = 2;  // a comment of Inductor on more nodes is reduced to the last node
constexpr std::string_view source_nodes = "# Source Nodes: [";  // begins a shortened comment of Inductor
constexpr std::size_t source_text_max = 100;  // the most characters of a line of source above a kernel's definition

std::string module_text(const SeenPlace& place) {
  const std::string line = place_text(place.line);
  return place.module.empty() ? line : place.module + " (" + line + ")";
}

// Returns the first `characters` characters of a text.
std::string_view beginning(std::string_view text, std::size_t characters) {
  std::size_t end = 0;
  for (; end < text.size(); ++end)
    if ((text[end] & 0xc0) != 0x80 && characters-- == 0) break;
  return text.substr(0, end);
}

// Returns a text with one of the places and the number of the other places. The text contains the first place that has
// a module, or the first of all places if no place has a module. The file provenance.json lists the nodes of all
// places.
std::string shortly(const std::vector<SeenPlace>& places, bool with_text) {
  const auto in_module =
      std::find_if(places.begin(), places.end(), [](const SeenPlace& place) { return !place.module.empty(); });
  const SeenPlace& first = in_module == places.end() ? places[0] : *in_module;
  std::string text = module_text(first);
  if (with_text && !first.line.text.empty()) {
    const std::string source = " " + first.line.text;
    const std::string_view start = beginning(source, source_text_max);
    text += start.size() < source.size() ? std::string(start) + " ..." : source;
  }
  std::vector<const SeenPlace*> distinct;
  for (const SeenPlace& place : places)
    if (std::none_of(distinct.begin(), distinct.end(), [&](const SeenPlace* known) { return *known == place; }))
      distinct.push_back(&place);
  return distinct.size() > 1 ? text + " and " + std::to_string(distinct.size() - 1) + " more" : text;
}

// Returns the comment `# Topologically Sorted Source Nodes: [...]`, which Inductor writes above each call, with its
// list of nodes shortened; an empty text if `line` is not that comment. For example, `# Topologically Sorted Source
// Nodes: [a, b, c], Original ATen: [aten.add]` becomes `# Source Nodes: [..., c]`.
std::string shortened_nodes(std::string_view line) {
  std::string_view rest = stripped_start(line);
  const std::string_view indent = line.substr(0, line.size() - rest.size());
  if (!take(rest, "# Topologically Sorted Source Nodes: [")) return {};
  const std::size_t end = rest.find(']');
  if (end == std::string_view::npos) return {};
  const std::string_view nodes = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  if (!rest.empty() && !(take(rest, ", Original ATen: [") && rest.find(']') == rest.size() - 1 && !rest.empty()))
    return {};
  std::size_t count = 1;
  for (std::size_t at = 0; (at = nodes.find(", ", at)) != std::string_view::npos; at += 2) ++count;
  const std::string shown =
      count > source_nodes_max ? "..., " + std::string(nodes.substr(nodes.rfind(", ") + 2)) : std::string(nodes);
  return std::string(indent) + std::string(source_nodes) + shown + "]";
}

// Returns a comment `# buffer buf1 (op: op1) is assumed to be not aligned` without the operation; an empty text if the
// line is not a comment about alignment.
std::string shortened_alignment(std::string_view line) {
  std::string_view rest = stripped_start(line);
  if (!take(rest, "# buffer ")) return {};
  const std::string_view name = word_at(rest);
  rest.remove_prefix(name.size());
  if (name.empty() || !take(rest, " (op: ")) return {};
  const std::size_t end = rest.find_first_of("()");
  if (end == std::string_view::npos || rest.substr(end) != ") is assumed to be not aligned") return {};
  const std::size_t kept = static_cast<std::size_t>(rest.data() - line.data()) - std::string_view(" (op: ").size();
  return std::string(line.substr(0, kept)) + " is assumed to be not aligned";
}

// The lines of output code, most of which are not changed.
class Lines {
 public:
  explicit Lines(std::string_view output_code) : lines_(rows_of(output_code)) {}

  std::size_t size() const { return lines_.size(); }
  std::string_view operator[](std::size_t i) const { return lines_[i]; }
  void replace(std::size_t i, std::string line) { lines_[i] = changed_.emplace_back(std::move(line)); }
  std::string text() const { return joined(lines_, "\n"); }

 private:
  std::vector<std::string_view> lines_;
  std::deque<std::string> changed_;
};

// Shortens Inductor's comments.
void shorten_comments(Lines& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!stripped_start(lines[i]).starts_with('#')) continue;
    std::string shorter = shortened_nodes(lines[i]);
    if (shorter.empty()) shorter = shortened_alignment(lines[i]);
    if (!shorter.empty()) lines.replace(i, std::move(shorter));
  }
}

// Returns the text of a line up to its first bracket, which may begin the arguments of a call. Returns an empty text if
// the line has no bracket, or is not indented, because each call in output code is indented.
std::string_view before_call(std::string_view line) {
  const std::string_view statement = stripped_start(line);
  const std::size_t open = statement.find('(');
  return statement.size() == line.size() || open == std::string_view::npos ? std::string_view()
                                                                           : statement.substr(0, open);
}

// Returns the kernel that a line calls; an empty text if the line calls no kernel. `name` is the text before the
// bracket of the call.
std::string_view called_in(std::string_view name, const std::set<std::string, std::less<>>& kernels) {
  if (std::string_view target = name; take(target, "buf")) {
    const std::size_t digits = std::min(target.find_first_not_of("0123456789"), target.size());
    target.remove_prefix(digits);
    if (digits && take(target, " = ")) name = target;
  }
  if (kernels.contains(name)) return name;
  if (name.ends_with(".run")) name.remove_suffix(4);
  return kernels.contains(name) ? name : std::string_view();
}

// Returns the library function that a line calls, as the line spells the function; an empty text if the line calls no
// library. `name` is the text before the bracket of the call.
std::string_view library_call_in(std::string_view name) {
  if (const std::size_t equals = name.find(" = "); equals != std::string_view::npos) name.remove_prefix(equals + 3);
  for (const std::string_view library : {"extern_kernels.", "torch.ops.", "aten.", "inductor_ops."})
    if (name.starts_with(library) && name.find_first_of(" '\"") == std::string_view::npos) return name;
  return {};
}

using KernelNames = std::set<std::string, std::less<>>;

// Writes the comments of one file of output code.
class Commented {
 public:
  Commented(Lines& lines, const DirectionLinks& links) : links_(links), lines_(lines) {
    for (const auto& [call, places] : links.places) kernels_.insert(call.first);
  }

  void run(std::vector<record::KernelCall>& library_calls) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view line = lines_[i], called = before_call(line);
      if (called.empty()) continue;
      if (const std::string_view library = library_call_in(called); !library.empty()) {
        record::KernelCall& call = library_calls.emplace_back();
        call.kernel = library;
        call.kind = "library";
      }
      const std::string kernel(called_in(called, kernels_));
      if (kernel.empty()) continue;
      const std::vector<SeenPlace> places = places_of_call(line, kernel);
      if (places.empty()) continue;
      if (!library_calls.empty() && library_calls.back().kernel == kernel)
        library_calls.back().places = {record_place(places[0].line)};
      std::vector<SeenPlace>& of_all_calls = places_of_[kernel];
      of_all_calls.insert(of_all_calls.end(), places.begin(), places.end());
      const std::size_t commented = commented_line(i);
      lines_.replace(commented,
                     std::string(lines_[commented]).append("  ").append(comment_mark) + shortly(places, false));
    }
    comment_definitions();
  }

 private:
  // Returns the places in the user's source that compute the buffers which a call writes. The first call of a kernel
  // that names a buffer of the kernel is assumed to write the buffer.
  std::vector<SeenPlace> places_of_call(std::string_view line, const std::string& kernel) {
    Names own;
    for (const std::string_view name : buffers_in(line)) {
      std::string buffer(name);
      if (!written_.contains(buffer) && links_.places.contains({kernel, buffer})) own.push_back(std::move(buffer));
    }
    std::vector<SeenPlace> places;
    for (const std::string& buffer : own) {
      written_.insert(buffer);
      // Among the places of a buffer, the place of the value that was computed last comes first, because the values
      // that were computed earlier may be values that the kernel only reads.
      const std::vector<SeenPlace>& of_buffer = links_.places.find({kernel, buffer})->second;
      for (auto place = of_buffer.rbegin(); place != of_buffer.rend(); ++place)
        if (std::find(places.begin(), places.end(), *place) == places.end()) places.push_back(*place);
    }
    return places;
  }

  // Returns the line to which the place of a call is appended: Inductor's comment with the source nodes above the call,
  // or else the line of the call.
  std::size_t commented_line(std::size_t call) const {
    for (std::size_t i = call; i-- > 0;) {
      const std::string_view line = stripped_start(lines_[i]);
      if (line.starts_with(source_nodes)) return i;
      if (!line.starts_with("# ")) break;
    }
    return call;
  }

  // Writes the places of a kernel's calls into the line above the kernel's definition, if the line is blank. A comment
  // in the line of the definition would become a part of the kernel's code, which is a string.
  void comment_definitions() {
    for (std::size_t i = 2; i < lines_.size(); ++i) {
      if (lines_[i].starts_with(' ') || !stripped(lines_[i - 1]).empty()) continue;
      const std::size_t end = lines_[i].find(" = async_compile.");
      if (end == std::string_view::npos) continue;
      if (const auto places = places_of_.find(std::string(lines_[i].substr(0, end))); places != places_of_.end())
        lines_.replace(i - 1, std::string(comment_mark) + shortly(places->second, true));
    }
  }

  const DirectionLinks& links_;
  Lines& lines_;
  KernelNames kernels_;
  std::unordered_set<std::string> written_;  // buffers that a call has written
  std::unordered_map<std::string, std::vector<SeenPlace>> places_of_;  // maps a kernel to the places of all its calls
};

}  // namespace

std::string with_places(std::string_view output_code, const DirectionLinks* links,
                        std::vector<record::KernelCall>& library_calls) {
  Lines lines(output_code);
  shorten_comments(lines);
  if (links && !links->places.empty()) Commented(lines, *links).run(library_calls);
  return lines.text();
}

std::string without_comments(std::string_view text) {
  if (text.find(comment_mark) == std::string_view::npos) return std::string(text);
  std::vector<std::string_view> lines = rows_of(text);
  for (std::string_view& line : lines) {
    const std::size_t begin = line.find(comment_mark);
    if (begin == std::string_view::npos) continue;
    line = line.substr(0, begin >= 2 && line.substr(begin - 2, 2) == "  " ? begin - 2 : begin);
  }
  return joined(lines, "\n");
}

record::Place record_place(const SeenLine& line) {
  return {line.file, line.function, line.text, static_cast<int>(line.line)};
}

}  // namespace depyf::texts
