// The links of a compilation as text: comments at the lines of a dump's files, provenance.json, and lines for readers.
#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>

#include "depyf/graph_text.h"
#include "depyf/seen.h"
#include "json/writer.h"
#include "links/seen.h"
#include "record/graph.h"
#include "support/words.h"
#include "texts/markdown.h"
#include "texts/shown.h"
#include "texts/tables.h"

namespace depyf {
namespace {

using namespace links;

constexpr std::string_view mark = "#~ ";  // begins each comment, so that a text without them can be had
constexpr std::size_t source_nodes_max = 2;  // that stay in Inductor's comment; of more only the last does
constexpr std::size_t source_text_max = 100;  // characters of a line of source above a kernel's definition

// -- which neighbours were not fused, and why

// Beginnings of Inductor's reasons, and the same for those who do not know its names.
constexpr std::pair<std::string_view, std::string_view> reasons[] = {
    {"intermediate nodes between",
     "another operation has to run between the two: it needs the first's result, and the second needs its own"},
    {"no shared data", "they have no data in common, so one kernel would save nothing"},
    {"memory deps did not match", "the second reads the first's result in another order than it is written in"},
    {"node1 must go before node2", "the second does not use the first's result, and has to wait for something else"},
    {"node1 is nop", "the first computes nothing"},
    {"node2 is extern or nop", "the second is a library call, and Inductor fuses nothing before one"},
    {"node1 is extern",
     "the first is a library call, and Inductor fuses only simple loops behind one, where its template can take them"},
    {"node1's triton kernel", "the first is a kernel that was given, which takes nothing behind it"},
    {"device mismatch", "they run on different devices"},
    {"fusion for buffer explicit disabled", "fusion was switched off for a buffer between them"},
    {"nodes numel", "they loop over different numbers of elements"},
    {"numel/rnumel mismatch", "they loop over different numbers of elements"},
    {"exceeds max fusion", "the kernel would be larger than torch._inductor.config.max_fusion_size allows"},
    {"will create cycle", "each would have to run before the other"},
    {"grouped node", "one is part of a group that stays together"},
    {"register spilling", "the kernel would need more registers than there are"},
};

// Two neighbours in different kernels: one makes what the other reads.
struct Apart {
  const OperationGroup* first;
  const OperationGroup* second;
  Names buffers;  // that the one writes and the other reads
  std::string why;
  std::string reason;  // in Inductor's words; empty where it gave none
};

std::string name_of_group(const OperationGroup& group) {
  std::string name;
  for (const SeenOperation& operation : group) name += (name.empty() ? "" : "_") + operation.name;
  return name;
}

std::vector<std::string> parts_of(std::string_view joined) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(joined.find('_'), joined.size());
    parts.emplace_back(joined.substr(0, end));
    if (end == joined.size()) return parts;
    joined.remove_prefix(end + 1);
  }
}

// What Inductor tried to fuse and did not, by the operations.
class Tried {
 public:
  explicit Tried(const std::vector<NotFused>& not_fused) {
    for (const NotFused& pair : not_fused) {
      const std::size_t number = pairs_.size();
      pairs_.push_back({set_of(parts_of(pair.first)), set_of(parts_of(pair.second)), &pair.reason});
      for (const std::set<std::string>* side : {&pairs_.back().left, &pairs_.back().right})
        for (const std::string& operation : *side) of_[operation].insert(number);
    }
  }

  // Inductor's reason for two groups, or for the largest parts of them that it tried; the last one of those.
  std::string reason(const OperationGroup& first, const OperationGroup& second) const {
    const std::set<std::string> firsts = names_of(first), seconds = names_of(second);
    std::set<std::size_t> numbers;
    for (const std::string& operation : firsts)
      if (const auto entry = of_.find(operation); entry != of_.end())
        numbers.insert(entry->second.begin(), entry->second.end());
    std::string best;
    std::size_t size = 0;
    for (const std::size_t number : numbers) {
      const Pair& pair = pairs_[number];
      const bool fits = (is_within(pair.left, firsts) && is_within(pair.right, seconds)) ||
                        (is_within(pair.left, seconds) && is_within(pair.right, firsts));
      if (!fits || pair.left.size() + pair.right.size() < size) continue;
      best = *pair.reason;
      size = pair.left.size() + pair.right.size();
    }
    return best;
  }

 private:
  struct Pair {
    std::set<std::string> left, right;
    const std::string* reason;
  };
  static std::set<std::string> set_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }
  static std::set<std::string> names_of(const OperationGroup& group) {
    std::set<std::string> names;
    for (const SeenOperation& operation : group) names.insert(operation.name);
    return names;
  }
  static bool is_within(const std::set<std::string>& part, const std::set<std::string>& whole) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
  }

  std::vector<Pair> pairs_;
  std::unordered_map<std::string, std::set<std::size_t>> of_;  // by operation, the pairs that have it
};

std::string in_words(const OperationGroup& first, const OperationGroup& second, const std::string& reason) {
  const std::pair<const char*, const OperationGroup*> sides[] = {{"the first", &first}, {"the second", &second}};
  for (const auto& [which, group] : sides)
    for (const SeenOperation& operation : *group)
      if (operation.kind == "library call")
        return std::string(which) + " is a library call (" +
               (operation.call.empty() ? "not a kernel of its own" : operation.call) +
               "), and Inductor writes kernels only around it";
  for (const auto& [start, words] : reasons)
    if (reason.starts_with(start)) return std::string(words);
  return reason.empty() ? "Inductor did not try, or did not say" : reason;
}

const std::string* kernel_of(const OperationGroup& group, const DirectionLinks& links) {
  for (const SeenOperation& operation : group)
    if (const auto entry = links.kernel_of.find(operation.name); entry != links.kernel_of.end()) return &entry->second;
  return nullptr;
}

// Each two operations that pass data to each other and are in different kernels, with the reason. `groups` lives as long.
std::vector<Apart> apart(const std::vector<OperationGroup>& groups, const DirectionLinks& links) {
  std::unordered_map<std::string, std::size_t> writer;
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const SeenOperation& operation : groups[i])
      for (const std::string& buffer : operation.writes) writer[buffer] = i;
  const Tried tried(links.seen->not_fused);
  std::vector<Apart> result;
  for (std::size_t j = 0; j < groups.size(); ++j) {
    Names reads;
    for (const SeenOperation& operation : groups[j]) append_new(operation.reads, reads);
    std::map<std::size_t, Names> shared;  // by the group that writes them
    for (std::string& buffer : reads)
      if (const auto entry = writer.find(buffer); entry != writer.end() && entry->second != j)
        shared[entry->second].push_back(std::move(buffer));
    for (auto& [i, buffers] : shared) {
      const std::string *one = kernel_of(groups[i], links), *other = kernel_of(groups[j], links);
      if (one && other && *one == *other) continue;  // side by side in one kernel after all
      std::string reason = tried.reason(groups[i], groups[j]);
      std::string why = in_words(groups[i], groups[j], reason);
      result.push_back({&groups[i], &groups[j], std::move(buffers), std::move(why), std::move(reason)});
    }
  }
  return result;
}

// The operations that compute something.
std::vector<OperationGroup> computing_groups(const SeenDirection& direction) {
  std::vector<OperationGroup> groups;
  for (const OperationGroup& group : direction.operations) {
    OperationGroup computing;
    for (const SeenOperation& operation : group)
      if (operation.kind != "nothing") computing.push_back(operation);
    if (!computing.empty()) groups.push_back(std::move(computing));
  }
  return groups;
}

struct Subjects {
  Names nodes, places;
};

// The captured nodes of operations, and the user's lines.
Subjects subjects_of(const std::vector<const SeenOperation*>& operations, const DirectionLinks& links) {
  Subjects subjects;
  for (const SeenOperation* operation : operations)
    for (const std::string& origin : operation->origins) {
      if (const auto captured = links.captured.find(origin); captured != links.captured.end())
        append_new(captured->second, subjects.nodes);
      if (const auto line = links.lines.find(origin); line != links.lines.end())
        append_new({name_of(line->second) + ":" + std::to_string(line->second.line)}, subjects.places);
    }
  if (subjects.nodes.empty()) subjects.nodes.push_back("code of PyTorch");
  return subjects;
}

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Operations in the user's terms: the captured nodes, with the user's lines.
std::string subject_of(const OperationGroup& group, const DirectionLinks& links) {
  std::vector<const SeenOperation*> operations;
  for (const SeenOperation& operation : group) operations.push_back(&operation);
  const Subjects subjects = subjects_of(operations, links);
  return joined(subjects.nodes) + (subjects.places.empty() ? "" : " (" + joined(subjects.places) + ")");
}

// -- output code

std::string text_of(const SeenPlace& place) {
  const std::string line = name_of(place.line) + ":" + std::to_string(place.line.line);
  return place.module.empty() ? line : place.module + " (" + line + ")";
}

// The beginning of a text with so many characters.
std::string_view beginning(std::string_view text, std::size_t characters) {
  std::size_t end = 0;
  for (; end < text.size(); ++end)
    if ((text[end] & 0xc0) != 0x80 && characters-- == 0) break;
  return text.substr(0, end);
}

// The first place in a module, and how many more there are: provenance.json lists the nodes of all.
std::string shortly(const std::vector<SeenPlace>& places, bool with_text) {
  const auto in_module =
      std::find_if(places.begin(), places.end(), [](const SeenPlace& place) { return !place.module.empty(); });
  const SeenPlace& first = in_module == places.end() ? places[0] : *in_module;
  std::string text = text_of(first);
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

std::string_view without_indent(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

// The line that Inductor writes above each call, with fewer nodes; empty if the line is another.
//
//     # Topologically Sorted Source Nodes: [a, b, c], Original ATen: [aten.add]
//     # Source Nodes: [..., c]
std::string shortened_nodes(std::string_view line) {
  std::string_view rest = without_indent(line);
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
  return std::string(indent) + "# Source Nodes: [" + shown + "]";
}

// `# buffer buf1 (op: op1) is assumed to be not aligned` without the operation; empty if the line is another.
std::string shortened_alignment(std::string_view line) {
  std::string_view rest = without_indent(line);
  if (!take(rest, "# buffer ")) return {};
  const std::string_view name = word_at(rest);
  rest.remove_prefix(name.size());
  if (name.empty() || !take(rest, " (op: ")) return {};
  const std::size_t end = rest.find_first_of("()");
  if (end == std::string_view::npos || rest.substr(end) != ") is assumed to be not aligned") return {};
  const std::size_t kept = static_cast<std::size_t>(rest.data() - line.data()) - std::string_view(" (op: ").size();
  return std::string(line.substr(0, kept)) + " is assumed to be not aligned";
}

// The kernel that a line calls; empty if it calls none.
std::string_view called_in(std::string_view line, const std::set<std::string, std::less<>>& kernels) {
  std::string_view rest = without_indent(line);
  if (rest.size() == line.size()) return {};
  if (std::string_view target = rest; take(target, "buf")) {
    const std::size_t digits = std::min(target.find_first_not_of("0123456789"), target.size());
    target.remove_prefix(digits);
    if (digits && take(target, " = ")) rest = target;
  }
  std::string_view name = rest.substr(0, rest.find('('));
  if (name.size() == rest.size()) return {};
  if (kernels.contains(name)) return name;
  if (name.ends_with(".run")) name.remove_suffix(4);
  return kernels.contains(name) ? name : std::string_view();
}

std::vector<std::string> all_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : lines_of(text)) lines.emplace_back(line);
  if (text.empty() || text.back() == '\n') lines.emplace_back();
  return lines;
}

std::string with_line_ends(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i ? "\n" : "") + lines[i];
  return text;
}

record::Place record_place(const SeenLine& line) {
  return {line.file, line.function, line.text, static_cast<int>(line.line)};
}

// The function of a library that a line calls, as it stands there; empty if it calls none.
std::string_view library_call_in(std::string_view line) {
  std::string_view rest = without_indent(line);
  if (rest.size() == line.size()) return {};
  if (const std::size_t equals = rest.find(" = "); equals != std::string_view::npos && equals < rest.find('('))
    rest.remove_prefix(equals + 3);
  const std::string_view name = rest.substr(0, rest.find('('));
  if (name.size() == rest.size() || name.find_first_of(" '\"") != std::string_view::npos) return {};
  for (const std::string_view library : {"extern_kernels.", "torch.ops.", "aten.", "inductor_ops."})
    if (name.starts_with(library)) return name;
  return {};
}

// Output code with a place at each call, and above each definition that of the first call. The comments that Inductor writes
// there are shortened: each line stays in its place.
// `calls` gets the library calls.
std::string output_code_with_places(std::string_view text, const DirectionLinks* links,
                                    std::vector<record::KernelCall>& calls) {
  std::vector<std::string> lines = all_lines(text);
  for (std::string& line : lines) {
    std::string shorter = shortened_nodes(line);
    if (shorter.empty()) shorter = shortened_alignment(line);
    if (!shorter.empty()) line = std::move(shorter);
  }
  if (!links || links->places.empty()) return with_line_ends(lines);
  std::set<std::string, std::less<>> kernels;
  for (const auto& [key, places] : links->places) kernels.insert(key.first);
  std::unordered_map<std::string, std::vector<SeenPlace>> of_kernel;
  std::unordered_set<std::string> written;
  for (std::string& line : lines) {
    if (const std::string_view library = library_call_in(line); !library.empty()) {
      record::KernelCall& call = calls.emplace_back();
      call.kernel = library;
      call.kind = "library";
    }
    const std::string kernel(called_in(line, kernels));
    if (kernel.empty()) continue;
    std::vector<SeenPlace> places;
    Names own;  // the first call that names a buffer writes it
    for (const std::string_view name : buffers_in(line)) {
      std::string buffer(name);
      if (!written.contains(buffer) && links->places.contains({kernel, buffer})) own.push_back(std::move(buffer));
    }
    for (const std::string& buffer : own) {
      written.insert(buffer);
      // What was computed last leads: the values before are also what the kernel reads.
      const std::vector<SeenPlace>& of_buffer = links->places.find({kernel, buffer})->second;
      for (auto place = of_buffer.rbegin(); place != of_buffer.rend(); ++place)
        if (std::find(places.begin(), places.end(), *place) == places.end()) places.push_back(*place);
    }
    if (places.empty()) continue;
    if (!calls.empty() && calls.back().kernel == kernel) calls.back().places = {record_place(places[0].line)};
    std::vector<SeenPlace>& of_all_calls = of_kernel[kernel];
    of_all_calls.insert(of_all_calls.end(), places.begin(), places.end());
    line += "  " + std::string(mark) + shortly(places, false);
  }
  // What a kernel computes stands above its definition, if there is a blank line: its code begins inside a string.
  for (std::size_t i = 2; i < lines.size(); ++i) {
    const std::size_t end = lines[i].find(" = async_compile.");
    if (end == std::string::npos || !stripped(lines[i - 1]).empty()) continue;
    if (const auto entry = of_kernel.find(lines[i].substr(0, end)); entry != of_kernel.end())
      lines[i - 1] = std::string(mark) + shortly(entry->second, true);
  }
  return with_line_ends(lines);
}

// The text without comments of depyf's.
std::string plain(std::string_view text) {
  if (text.find(mark) == std::string_view::npos) return std::string(text);
  std::vector<std::string> lines = all_lines(text);
  for (std::string& line : lines) {
    const std::size_t begin = line.find(mark);
    if (begin == std::string::npos) continue;
    line.resize(begin >= 2 && line.compare(begin - 2, 2, "  ") == 0 ? begin - 2 : begin);
  }
  return with_line_ends(lines);
}

// -- data

void write_line(json::Writer& writer, const SeenLine& line) {
  writer.begin_object();
  writer.member("file", line.file);
  writer.member("line", line.line);
  writer.member("text", line.text);
  writer.member("function", line.function);
  writer.end_object();
}

using LinesOfKernel = std::vector<std::pair<const std::string*, const SeenLine*>>;

// Of each kernel of a direction the captured nodes that it computes, with the user's lines.
std::unordered_map<std::string, LinesOfKernel> lines_of_kernels(const SeenLinks& links, const std::string& direction) {
  std::unordered_map<std::string, LinesOfKernel> result;
  for (const SeenChain& chain : links.chains)
    for (const auto& [name, link] : chain.directions)
      if (name == direction && chain.node->line)
        for (const std::string& kernel : link.kernels)
          result[kernel].emplace_back(&chain.node->name, &*chain.node->line);
  return result;
}

void write_kernels(json::Writer& writer, const SeenLinks& links, const DirectionLinks& direction) {
  const std::unordered_map<std::string, LinesOfKernel> lines = lines_of_kernels(links, direction.seen->name);
  std::unordered_map<std::string, Names> operations;
  for (const OperationGroup& group : direction.seen->operations)
    for (const SeenOperation& operation : group)
      if (const auto kernel = direction.kernel_of.find(operation.name); kernel != direction.kernel_of.end())
        operations[kernel->second].push_back(operation.name);
  writer.list(direction.seen->name, direction.kernels, [&](const std::string& kernel) {
    writer.begin_object();
    writer.member("name", kernel);
    writer.strings("operations", operations[kernel]);
    writer.key("computes");
    writer.begin_object();
    if (const auto computed = lines.find(kernel); computed != lines.end())
      for (const auto& [node, line] : computed->second) writer.key(*node), write_line(writer, *line);
    writer.end_object();
    writer.end_object();
  });
}

void write_chain(json::Writer& writer, const SeenChain& chain) {
  writer.begin_object();
  writer.member("node", chain.node->name);
  writer.member("operator", chain.node->target);
  writer.key("line");
  chain.node->line ? write_line(writer, *chain.node->line) : writer.null();
  writer.strings("joint", chain.joint);
  writer.key("decomposed_into");
  writer.begin_object();
  for (const auto& [direction, operators] : chain.decomposed) writer.strings(direction, operators);
  writer.end_object();
  writer.key("directions");
  writer.begin_object();
  for (const auto& [direction, link] : chain.directions) {
    writer.key(direction);
    writer.begin_object();
    writer.strings("graph", link.graph);
    writer.strings("post_grad", link.post_grad);
    writer.strings("operations", link.operations);
    writer.strings("kernels", link.kernels);
    writer.strings("not_recorded", link.not_recorded);
    writer.end_object();
  }
  writer.end_object();
  writer.strings("not_recorded", chain.not_recorded);
  writer.end_object();
}

Names missing_in(const Seen& seen, const LinkedCompilation& compilation) {
  Names result;
  for (const SeenDirection& direction : seen.directions) {
    if (!direction.operations.empty()) continue;
    std::string text =
        direction.name + ": " +
        (direction.graph.empty() ? "no graph was seen with its nodes, so what the captured nodes became is not linked"
                                 : "Inductor's IR was not seen, so kernels are not linked");
    const auto stage =
        std::find_if(compilation.missing.begin(), compilation.missing.end(), [&](const MissingStage& it) {
          return (it.kind == "ir_post_fusion" || it.kind == "BEFORE_POST_GRAD") && it.direction == direction.name;
        });
    if (stage != compilation.missing.end()) text += ": " + stage->why;
    result.push_back(std::move(text));
  }
  return result;
}

struct AnnotatedFile {
  std::string name, kind, direction;
  std::vector<std::pair<std::string, std::size_t>> lines;  // of each node or operation
};

}  // namespace

struct Provenance::State {
  State(std::string_view json, const ReplacedBy& replaced) : seen(read_seen(json)), links(link_seen(seen, replaced)) {
    for (const SeenChain& chain : links.chains) chains[chain.node->name] = &chain;
    for (const DirectionLinks& direction : links.directions) {
      has_kernels = has_kernels || !direction.kernel_of.empty();
      for (const OperationGroup& group : direction.seen->operations)
        for (const SeenOperation& operation : group) {
          operations[direction.seen->name][operation.name] = &operation;
          const auto kernel = direction.kernel_of.find(operation.name);
          if (kernel == direction.kernel_of.end()) continue;
          for (const std::string& origin : operation.origins) {
            append_new({kernel->second}, kernels_of[direction.seen->name][origin]);
            append_new({kernel->second}, kernels_of[""][origin]);
          }
        }
      if (!direction.seen->operations.empty()) find_apart(direction);
    }
  }

  void find_apart(const DirectionLinks& direction) {
    groups.push_back(std::make_unique<std::vector<OperationGroup>>(computing_groups(*direction.seen)));
    for (Apart& pair : apart(*groups.back(), direction)) {
      std::string first = subject_of(*pair.first, direction), second = subject_of(*pair.second, direction);
      neighbours.push_back({direction.seen->name, std::move(pair), std::move(first), std::move(second)});
    }
  }

  Remark remark_of_captured(const std::string& name) const {
    const auto entry = chains.find(name);
    if (entry == chains.end()) return {};
    const SeenChain& chain = *entry->second;
    Remark remark;
    for (const auto& [direction, link] : chain.directions) {
      if (link.kernels.empty()) continue;
      const char* separator = remark.parts.empty() ? "" : "; ";
      remark.parts.push_back({separator + direction + ": ", link.kernels, link.kernels.size(), "kernel", ""});
    }
    if (!remark.parts.empty()) return remark;
    // What holds of each node of a backend without kernels stands in the index.
    if (!chain.directions.empty() && !has_kernels) return {};
    Names why;
    append_new(chain.not_recorded, why);
    for (const auto& [direction, link] : chain.directions) append_new(link.not_recorded, why);
    remark.sentence = "no kernel: ";
    for (std::size_t i = 0; i < why.size(); ++i) remark.sentence += (i ? "; " : "") + why[i];
    return remark;
  }

  Remark remark_of_operation(const std::string& name, const std::string& direction) const {
    const DirectionLinks* of_direction = links.find(direction);
    const auto known = operations.find(direction);
    if (!of_direction || known == operations.end()) return {};
    std::vector<const SeenOperation*> parts;
    for (const std::string& part : parts_of(name))
      if (const auto entry = known->second.find(part); entry != known->second.end()) parts.push_back(entry->second);
    if (parts.empty()) return {};
    Names kernels;
    for (const SeenOperation* operation : parts)
      if (const auto kernel = of_direction->kernel_of.find(operation->name); kernel != of_direction->kernel_of.end())
        append_new({kernel->second}, kernels);
    const Subjects subjects = subjects_of(parts, *of_direction);
    Remark remark;
    remark.parts.push_back({"", subjects.nodes, subjects.nodes.size(), "node", ""});
    if (!subjects.places.empty()) remark.parts.push_back({" (", subjects.places, subjects.places.size(), "line", ")"});
    if (!kernels.empty()) remark.parts.push_back({" -> ", kernels, kernels.size(), "kernel", ""});
    return remark;
  }

  // Of a node of AOTAutograd's or Inductor's graphs; without a direction of the joint one.
  Remark remark_of_node(const std::string& name, const std::string& direction) const {
    const Names* captured = nullptr;
    if (direction.empty()) {
      captured = links.captured_anywhere(name);
    } else if (const DirectionLinks* of_direction = links.find(direction)) {
      const auto entry = of_direction->captured.find(name);
      captured = entry == of_direction->captured.end() ? nullptr : &entry->second;
    }
    Remark remark;
    if (captured && !captured->empty()) remark.parts.push_back({"<- ", *captured, captured->size(), "node", ""});
    if (const auto of_direction = kernels_of.find(direction); of_direction != kernels_of.end())
      if (const auto kernels = of_direction->second.find(name); kernels != of_direction->second.end())
        remark.parts.push_back(
            {remark.parts.empty() ? "-> " : " -> ", kernels->second, kernels->second.size(), "kernel", ""});
    return remark;
  }

  // Keeps a graph that the tables need.
  void add_graph(const std::string& kind, const std::string& direction, std::string_view text) {
    record::Artifact artifact;
    artifact.kind = kind;
    const std::string_view stage = record::stage_of(artifact);
    if (stage != "forward" && stage != "backward" && stage != "post_grad") return;
    record::Graph& graph = compilation.graphs.emplace_back(record::graph_of(text));
    graph.stage = stage == "forward" && seen.joint.empty() ? "inference" : stage;
    graph.direction = direction;
  }

  struct Neighbours {
    std::string direction;
    Apart pair;
    std::string first_is, second_is;  // in the user's terms
  };

  Seen seen;
  SeenLinks links;
  std::unordered_map<std::string, const SeenChain*> chains;  // by captured node
  std::unordered_map<std::string, std::unordered_map<std::string, const SeenOperation*>>
      operations;  // by direction, name
  std::unordered_map<std::string, NamesOf> kernels_of;  // by direction (empty: any) and node
  std::vector<std::unique_ptr<std::vector<OperationGroup>>> groups;
  std::vector<Neighbours> neighbours;
  std::vector<AnnotatedFile> files;
  record::Compilation compilation;  // what the tables need of it
  bool has_kernels = false;
};

Provenance::Provenance(std::string_view seen, const ReplacedBy& replaced)
    : state_(std::make_unique<State>(seen, replaced)) {}
Provenance::Provenance(Provenance&&) noexcept = default;
Provenance::~Provenance() = default;

std::string Provenance::annotated(const std::string& file, const std::string& kind, const std::string& direction,
                                  std::string_view text) {
  const std::string without_comments = plain(text);
  const std::string own = direction == "backward" ? direction : "forward";
  if (kind == "kernel") {
    record::OutputCode& code = state_->compilation.output_codes.emplace_back();
    code.direction = own;
    return output_code_with_places(without_comments, state_->links.find(own), code.calls);
  }
  state_->add_graph(kind, own, without_comments);
  AnnotatedFile annotated{file, kind, direction, {}};
  const bool is_ir = kind.starts_with("ir_");
  const bool is_captured = kind == "Captured_Graph" || kind == "BEFORE_PRE_GRAD" || kind == "AFTER_PRE_GRAD";
  const std::string of_direction = kind == "Joint_graph" ? "" : own;
  std::string result = with_remarks(
      without_comments, is_ir, mark,
      [&](const std::string& name) {
        return is_captured ? state_->remark_of_captured(name)
               : is_ir     ? state_->remark_of_operation(name, own)
                           : state_->remark_of_node(name, of_direction);
      },
      annotated.lines);
  state_->files.push_back(std::move(annotated));
  return result;
}

std::string Provenance::to_json(const LinkedCompilation& compilation) const {
  json::Writer writer(true);
  writer.begin_object();
  writer.member("compile_id", compilation.id);
  writer.member("function", compilation.function);
  writer.optional("compiled_fn", compilation.compiled_fn);
  writer.key("files");
  writer.begin_object();
  for (const AnnotatedFile& file : state_->files) {
    writer.key(file.name);
    writer.begin_object();
    writer.member("kind", file.kind);
    writer.optional("direction", file.direction);
    writer.key("lines");
    writer.begin_object();
    for (const auto& [name, line] : file.lines) writer.member(name, static_cast<std::int64_t>(line));
    writer.end_object();
    writer.end_object();
  }
  writer.end_object();
  writer.list("chains", state_->links.chains, [&](const SeenChain& chain) { write_chain(writer, chain); });
  writer.key("kernels");
  writer.begin_object();
  for (const DirectionLinks& direction : state_->links.directions)
    if (!direction.seen->operations.empty()) write_kernels(writer, state_->links, direction);
  writer.end_object();
  writer.key("not_fused");
  writer.begin_object();
  for (const DirectionLinks& direction : state_->links.directions) {
    if (direction.seen->operations.empty()) continue;
    writer.key(direction.seen->name);
    writer.begin_array();
    for (const State::Neighbours& neighbours : state_->neighbours) {
      if (neighbours.direction != direction.seen->name) continue;
      writer.begin_object();
      writer.member("first", name_of_group(*neighbours.pair.first));
      writer.member("second", name_of_group(*neighbours.pair.second));
      writer.strings("buffers", neighbours.pair.buffers);
      writer.member("why", neighbours.pair.why);
      writer.member("reason", neighbours.pair.reason);
      writer.member("first_is", neighbours.first_is);
      writer.member("second_is", neighbours.second_is);
      writer.end_object();
    }
    writer.end_array();
  }
  writer.end_object();
  writer.strings("missing", missing_in(state_->seen, compilation));
  writer.end_object();
  return writer.take();
}

std::string Provenance::tables() const {
  for (const SeenChain& chain : state_->links.chains) {
    record::Chain& shown = state_->compilation.chains.emplace_back();
    shown.node = chain.node->name;
    shown.module = chain.node->module;
    if (chain.node->line) shown.place = record_place(*chain.node->line);
    for (const auto& [direction, link] : chain.directions) {
      shown.directions[direction].graph = link.graph;
      shown.directions[direction].post_grad = link.post_grad;
    }
  }
  return texts::tables_of(state_->compilation);
}

std::vector<std::string> Provenance::story() const {
  using texts::prose;
  std::vector<std::string> lines;
  for (const SeenChain& chain : state_->links.chains) {
    std::string into;
    for (const auto& [direction, link] : chain.directions)
      if (!link.kernels.empty()) into += (into.empty() ? "" : "; ") + direction + " " + joined(link.kernels);
    if (into.empty() || !chain.node->line) continue;
    const std::string place = name_of(*chain.node->line) + ":" + std::to_string(chain.node->line->line);
    lines.push_back("- " + texts::literal(place) + " " + texts::code(chain.node->name) + " (" +
                    prose(chain.node->target) + "): " + prose(into));
  }
  for (const State::Neighbours& neighbours : state_->neighbours)
    lines.push_back("- not fused (" + neighbours.direction +
                    "): " + prose(neighbours.first_is + " with " + neighbours.second_is + ": " + neighbours.pair.why));
  return lines;
}

}  // namespace depyf
