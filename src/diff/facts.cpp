#include "diff/facts.h"

#include <algorithm>
#include <charconv>

#include "diff/causes.h"
#include "record/memory.h"
#include "support/words.h"
#include "texts/counts.h"
#include "texts/words.h"

namespace depyf::diff {

using namespace record;

namespace {

constexpr std::string_view resume_prefix = "torch_dynamo_resume_in_";

// Returns the name of a node's operator without its packages and its overload, such as "mul" for aten.mul.Tensor and
// torch.mul.
std::string short_operator(const std::string& op) {
  std::string_view name = op;
  if (take(name, "aten.") || take(name, "prims.")) return std::string(name.substr(0, name.find('.')));
  if (name.starts_with("torch.ops.")) {  // The last part of torch.ops.mylib.op.default is the overload.
    const std::size_t overload = name.rfind('.');
    name = name.substr(0, overload);
  }
  return std::string(name.substr(name.rfind('.') + 1));
}

// Returns a shape without strides and names of symbols, such as "f32[?, 64]cpu" for f32[s77, 64][64, 1]cpu. The names
// of symbols differ between releases of PyTorch, and the strides usually follow from the sizes.
std::string normal_shape(std::string_view shape) {
  if (shape.starts_with("Sym(")) return "Sym(?)";
  const std::size_t end = shape.find(']');
  if (end == std::string_view::npos) return std::string(shape);
  std::string result(word_at(shape));
  for (std::size_t i = result.size(); i <= end; ++i) {
    const std::string_view word = word_at(shape.substr(i));
    const bool is_symbol = !word.empty() && (word[0] < '0' || word[0] > '9');
    if (is_symbol) result += '?';
    else result += word.empty() ? shape.substr(i, 1) : word;
    i += word.empty() ? 0 : word.size() - 1;
  }
  std::string_view device = shape.substr(end + 1);
  if (take(device, "[")) device = device.substr(std::min(device.find(']') + 1, device.size()));
  return result + std::string(device);
}

std::string_view own_function(const Compilation& compilation) {
  std::string_view name = compilation.place.function;
  if (!take(name, resume_prefix)) return name;
  return name.substr(0, name.rfind("_at_"));
}

bool is_rest(const Compilation& compilation) {
  return compilation.is_resume || compilation.place.function.starts_with(resume_prefix);
}

// Finds for each file of the compiled functions the shortest end of its path that no other file has. The places of
// graph nodes are not used, because a graph from a cache names the folders of the program that stored it.
class FileNames {
 public:
  explicit FileNames(const Process& process) {
    for (const Compilation& compilation : process.compilations) {
      paths_.insert(compilation.place.file);
      for (const GraphBreak& graph_break : compilation.breaks) paths_.insert(graph_break.place.file);
    }
  }

  std::string operator()(const std::string& path) {
    auto [known, is_new] = names_.try_emplace(path);
    if (is_new) known->second = name_of(path);
    return known->second;
  }

 private:
  std::string name_of(const std::string& path) const {
    const std::string name = texts::package_path(path);
    std::size_t start = path.size() - std::min(path.size(), name.size());
    if (path.substr(start) != name) return name;
    const auto is_shared = [&](std::string_view end) {
      return std::any_of(paths_.begin(), paths_.end(), [&](const std::string& other) {
        return other != path && other.size() > end.size() && other.ends_with(end) &&
               other[other.size() - end.size() - 1] == '/';
      });
    };
    while (start > 1 && is_shared(std::string_view(path).substr(start))) {
      const std::size_t slash = path.rfind('/', start - 2);
      if (slash == std::string::npos) return path;
      start = slash + 1;
    }
    return path.substr(start);
  }

  std::set<std::string> paths_;
  std::map<std::string, std::string> names_;
};

class Collector {
 public:
  explicit Collector(const Process& process) : process_(process), files_(process) {}

  Facts run() {
    facts_.process = &process_;
    facts_.is_dump = process_.records.empty();
    for (const Compilation& compilation : process_.compilations) group(compilation);
    for (Function& function : facts_.functions) {
      std::map<std::pair<int, std::string>, Costs> parts;  // maps the first line and name of a part to its costs
      for (const Compilation* compilation : function.compilations) {
        add(*compilation, function);
        parts[{compilation->place.line, compilation->place.function}].keep_larger(costs_of(*compilation, function));
      }
      for (const auto& [part, costs] : parts) function.costs.add(costs);
      for (const auto& [op, count] : function.costs.operators) facts_.operators[op] += count;
    }
    return std::move(facts_);
  }

 private:
  // Assigns a compilation to its function. A resume function belongs to the last function of its name that begins
  // before the resume function.
  void group(const Compilation& compilation) {
    if (texts::is_ahead(compilation)) return;
    const std::string file = files_(compilation.place.file);
    const std::string name = compilation.name.empty() ? std::string(own_function(compilation)) : compilation.name;
    Function* known = nullptr;
    for (Function& function : facts_.functions) {
      if (function.file != file || function.name != name) continue;
      const bool is_here = is_rest(compilation) ? function.place.line <= compilation.place.line
                                                : function.place.line == compilation.place.line;
      if (is_here && (!known || known->place.line < function.place.line)) known = &function;
    }
    if (!known) {
      const auto behind = std::find_if(facts_.functions.begin(), facts_.functions.end(), [&](const Function& function) {
        return std::pair(function.file, function.place.line) > std::pair(file, compilation.place.line);
      });
      known = &*facts_.functions.emplace(behind);
      known->name = name;
      known->file = file;
      known->place = compilation.place;
      known->place.function = own_function(compilation);
    }
    known->compilations.push_back(&compilation);
  }

  Line line_of(const Place& place) {
    Line line{files_(place.file), place.text.empty() ? std::to_string(place.line) : place.text};
    facts_.places.try_emplace(line, place);
    return line;
  }

  void add(const Compilation& compilation, Function& function) {
    function.seconds += texts::seconds_of(compilation);
    const bool is_eager =
        texts::is_refused(compilation) || (!texts::is_compiled(compilation) && compilation.stopped_by);
    if (is_eager) {
      EagerFact fact{eager_kind(compilation), eager_place(compilation), &compilation};
      const bool is_known = std::any_of(function.eager.begin(), function.eager.end(), [&](const EagerFact& known) {
        return known.kind == fact.kind && known.place.line == fact.place.line;
      });
      if (!is_known) function.eager.push_back(std::move(fact));
    }
    for (const GraphBreak& graph_break : compilation.breaks) {
      const bool is_known = std::any_of(function.breaks.begin(), function.breaks.end(), [&](const BreakFact& known) {
        return texts::is_same(*known.source, graph_break);
      });
      if (!is_known) function.breaks.push_back({line_of(graph_break.place), &graph_break});
    }
    if (texts::is_again(compilation)) function.recompilations.push_back(cause_of(compilation, function.recompilations));
    for (const Limit& limit : compilation.limits)
      function.guards.try_emplace(without_addresses(limit.condition), limit.place);
  }

  Costs costs_of(const Compilation& compilation, Function& function) {
    Costs costs;
    const auto reach = [&](Reach stage) { facts_.reach = std::max(facts_.reach.value_or(stage), stage); };
    for (const Graph& graph : compilation.graphs) {
      reach(graph.stage == "captured"    ? Reach::captured
            : graph.stage == "post_grad" ? Reach::kernels
                                         : Reach::autograd);
      if (graph.stage == "captured") captured(graph, costs, function);
    }
    for (const Kernel& kernel : compilation.kernels) {
      reach(Reach::kernels);
      if (kernel.kind == "library") costs.library_calls[kernel.name] += kernel.calls;
      else ++costs.kernels;
    }
    for (const OutputCode& code : compilation.output_codes) fusions(compilation, code, function);
    for (const SavedValue& value : saved_values(compilation)) {
      if (value.node->op == "placeholder") continue;
      const std::optional<std::int64_t> bytes = bytes_of(value.shape);
      costs.has_unknown_bytes |= !bytes;
      costs.saved_bytes += bytes.value_or(0);
      costs.saved_at[line_of(value.node->place)] += bytes.value_or(0);
    }
    if (compilation.guards) costs.guards = *compilation.guards;
    for (const Limit& limit : compilation.limits) costs.guards += guards_in(limit);
    return costs;
  }

  void captured(const Graph& graph, Costs& costs, Function& function) {
    for (const Node& node : graph.nodes) {
      const std::string shape = normal_shape(node.shape);
      if (!shape.empty()) function.types.emplace(word_at(shape));
      if (node.op == "placeholder") {
        if (!shape.empty() && !node.name.starts_with('s')) function.inputs[node.name].insert(shape);
        continue;
      }
      const Operator op{line_of(node.place), short_operator(node.op)};
      ++costs.operators[op];
      if (!shape.empty()) facts_.shapes[op].insert(shape);
    }
  }

  // Records the pairs of captured operators that a single kernel computes.
  void fusions(const Compilation& compilation, const OutputCode& code, Function& function) {
    const auto is_kernel = [](const KernelCall& call) { return call.kind != "library"; };
    const auto is_linked = [](const KernelCall& call) { return !call.captured.empty(); };
    function.knows_fused &= std::ranges::none_of(code.calls, is_kernel) || std::ranges::any_of(code.calls, is_linked);
    for (const KernelCall& call : code.calls) {
      if (!is_kernel(call)) continue;
      std::set<Operator> operators;
      for (const Graph& graph : compilation.graphs)
        for (const Node& node : graph.nodes)
          if (graph.stage == "captured" &&
              std::find(call.captured.begin(), call.captured.end(), node.name) != call.captured.end())
            operators.insert({line_of(node.place), short_operator(node.op)});
      for (auto first = operators.begin(); first != operators.end(); ++first)
        for (auto second = std::next(first); second != operators.end(); ++second)
          function.fused.emplace(*first, *second);
    }
  }

  const Process& process_;
  FileNames files_;
  Facts facts_;
};

}  // namespace

std::int64_t guards_in(const Limit& limit) {
  const std::string_view text = limit.condition;
  const std::size_t open = text.rfind('(');
  if (open == std::string_view::npos || !text.ends_with(" guards)")) return 1;
  std::int64_t count = 0;
  std::from_chars(text.data() + open + 1, text.data() + text.size(), count);
  return std::max<std::int64_t>(count, 1);
}

std::string Function::title() const {
  const std::string name_of_file = texts::file_name(file);
  return name + (name_of_file.empty() ? "" : " (" + name_of_file + ":" + std::to_string(place.line) + ")");
}

std::string_view Function::own_name() const {
  const std::string_view view = name;
  return view.substr(view.rfind('.') + 1);
}

void Costs::keep_larger(const Costs& other) {
  const auto keep = [](auto& counts, const auto& others) {
    for (const auto& [key, count] : others) counts[key] = std::max(counts[key], count);
  };
  keep(operators, other.operators);
  keep(library_calls, other.library_calls);
  keep(saved_at, other.saved_at);
  kernels = std::max(kernels, other.kernels);
  guards = std::max(guards, other.guards);
  saved_bytes = std::max(saved_bytes, other.saved_bytes);
  has_unknown_bytes |= other.has_unknown_bytes;
}

void Costs::add(const Costs& other) {
  for (const auto& [op, count] : other.operators) operators[op] += count;
  for (const auto& [name, count] : other.library_calls) library_calls[name] += count;
  for (const auto& [line, bytes] : other.saved_at) saved_at[line] += bytes;
  kernels += other.kernels;
  guards += other.guards;
  saved_bytes += other.saved_bytes;
  has_unknown_bytes |= other.has_unknown_bytes;
}

const char* name_of(Reach reach) {
  switch (reach) {
    case Reach::captured: return "captured graphs";
    case Reach::autograd: return "AOTAutograd's graphs";
    case Reach::kernels: return "kernels";
  }
  return "";
}

Facts facts_of(const Process& process) { return Collector(process).run(); }

std::string quoted_line(const Place& place) {
  if (place.file.empty() && place.line == 0) return {};
  std::string text = texts::file_name(place.file) + ":" + std::to_string(place.line);
  if (!place.text.empty()) text += " `" + place.text + "`";
  return text;
}

}  // namespace depyf::diff
