#include "costs/plan.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "costs/attention.h"
#include "costs/library_call.h"
#include "costs/tensors.h"
#include "support/words.h"
#include "trace/output_code.h"

namespace depyf::costs {
namespace {

constexpr std::int64_t usual_element_bytes = 4;  // used if the element type of a library call's result is unknown
constexpr std::int64_t unknown_bytes = -1;
constexpr int of_input = -1, of_none = -2;
constexpr std::size_t statement_max = 1 << 20;  // the maximum size of a statement in characters

// Returns the first name in an expression for which `is_known` is true, such as buf1 in `reinterpret_tensor(buf1, (8,
// 1), (1, 1), 0)`; an empty text if no name is known.
template <class IsKnown>
std::string first_name(std::string_view text, IsKnown is_known) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\'' || text[at] == '"') {
      at = behind_string(text, at);
      continue;
    }
    const std::string_view word = word_at(text.substr(at));
    if (!word.empty() && is_known(std::string(word))) return std::string(word);
    at += std::max<std::size_t>(word.size(), 1);
  }
  return {};
}

class PlanReader {
 public:
  PlanReader(const Symbols& symbols, const Nodes& nodes, std::int64_t threads, const OwnMemory& own_memory)
      : symbols_(symbols), nodes_(nodes), threads_(threads), own_memory_(own_memory) {}

  Plan run(std::string_view code) {
    is_on_cpu_ = code.find("_DeviceGuard(") == std::string_view::npos;
    find_facts(code);
    find_sizes(code);
    int number = 0, depth = 0;
    std::size_t indent_of_call = std::string_view::npos;
    std::string statement;
    bool is_in_source = false;
    for (std::string_view line : lines_of(code)) {
      ++number;
      const bool was_in_source = is_in_source;
      for (std::size_t at = line.find("'''"); at != std::string_view::npos; at = line.find("'''", at + 3))
        is_in_source = !is_in_source;
      if (was_in_source) continue;
      const std::size_t indent = line.find_first_not_of(' ');
      if (indent == std::string_view::npos || line[indent] == '#') continue;
      if (indent_of_call != std::string_view::npos && indent <= indent_of_call) break;
      if (line.substr(indent).starts_with("def call(")) {
        indent_of_call = indent;
        continue;
      }
      if (indent_of_call == std::string_view::npos) continue;
      if (statement.empty()) line_ = number;
      statement += without_comment(line.substr(indent), depth);
      if (depth > 0 && statement.size() < statement_max) continue;
      depth = 0;
      takes_over_ = statement.find("; del ") != std::string::npos;
      for (std::string_view rest = statement; !rest.empty();) {
        const std::size_t end = std::min(rest.find(';'), rest.size());
        execute(stripped(rest.substr(0, end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      statement.clear();
    }
    return finished();
  }

 private:
  static std::string_view without_comment(std::string_view text, int& depth) {
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] == '\'' || text[at] == '"') {
        at = behind_string(text, at);
        continue;
      }
      if (text[at] == '#') return text.substr(0, at);
      depth += text[at] == '(' || text[at] == '[' || text[at] == '{';
      depth -= text[at] == ')' || text[at] == ']' || text[at] == '}';
      ++at;
    }
    return text;
  }

  // Finds the place and the element type of each buffer, which the first call that writes the buffer determines.
  void find_facts(std::string_view code) {
    const record::OutputCode output = trace::read_output_code(code);
    std::unordered_map<std::string, std::vector<std::string>> sources_of_kernels;
    for (record::Kernel& kernel : trace::kernels_of(code))
      sources_of_kernels[kernel.name] = std::move(kernel.source_nodes);
    for (const record::KernelCall& call : output.calls) {
      NodeFacts facts;
      const auto search = [&](const std::vector<std::string>& names) {
        for (auto name = names.rbegin(); name != names.rend(); ++name) {
          const auto known = nodes_.find(*name);
          if (known == nodes_.end()) continue;
          if (!facts.place.line) facts.place = known->second.place;
          if (facts.dtype.empty()) facts.dtype = known->second.dtype;
        }
      };
      if (const auto nodes = output.nodes_of.find(call.kernel); nodes != output.nodes_of.end()) search(nodes->second);
      search(call.source_nodes);
      if (const auto sources = sources_of_kernels.find(call.kernel); sources != sources_of_kernels.end())
        search(sources->second);
      for (const std::string& name : call.writes) facts_of_.try_emplace(name.substr(0, name.find('\'')), facts);
    }
  }

  // Finds the sizes of inputs and of the results of library calls, which the code states by `assert_size_stride(buf1,
  // (8, 64), (64, 1), ...)`. The function also finds the names of the items of results, as in `buf1 = buf0[0]`. The
  // code does not state the element type of a result; the node in the graph has the element type.
  void find_sizes(std::string_view code) {
    std::unordered_map<std::string, std::string> first_name_of;
    for (std::string_view line : lines_of(code)) {
      line = stripped(line);
      const std::string name(word_at(line));
      std::string_view rest = line.substr(name.size());
      if (name == "assert_size_stride") {
        const std::vector<std::string_view> items = items_in_brackets(rest);
        if (items.size() < 3) continue;
        const std::optional<std::int64_t> elements = strided_bytes(items[1], items[2], 1, symbols_);
        const auto first = first_name_of.find(std::string(items[0]));
        if (elements)
          elements_of_.try_emplace(first == first_name_of.end() ? std::string(items[0]) : first->second, *elements);
        if (!tensors_.has_layout(std::string(items[0])))
          tensors_.state_layout(std::string(items[0]), items[1], items[2]);
      } else if (take(rest, " = ")) {
        const std::string_view source = word_at(rest);
        if (source == rest && !rest.empty()) first_name_of[name] = rest;
        else if (!source.empty() && rest.substr(source.size()).starts_with("["))
          items_of_[std::string(source)].push_back(name);
      }
    }
  }

  bool is_known(const std::string& name) const { return buffer_of_.contains(name) || inputs_.contains(name); }

  void execute(std::string_view text) {
    if (take(text, "del ")) return free(std::string(word_at(text)));
    if (take(text, "return ")) return give(text);
    if (is_library_call(text)) return call_library(text, {});
    const std::size_t equals = text.find(" = ");
    if (equals == std::string_view::npos) return;
    const std::string_view target = text.substr(0, equals);
    const std::string_view value = stripped(text.substr(equals + 3));
    if (value == "args") {
      for (std::string_view rest = target; !rest.empty(); rest.remove_prefix(std::min(rest.size(), std::size_t{1}))) {
        const std::string_view name = word_at(rest);
        if (!name.empty()) inputs_.emplace(name, true);
        rest.remove_prefix(name.size());
        if (rest.empty()) break;
      }
      return;
    }
    if (word_at(target) == target && !target.empty()) assign(std::string(target), value);
  }

  void assign(const std::string& target, std::string_view value) {
    const std::string_view function = value.substr(0, value.find('('));
    if (function.starts_with("empty_strided") || function.starts_with("torch.empty") || function == "empty") {
      const std::vector<std::string_view> items =
          items_in_brackets(value.substr(std::min(function.size(), value.size())));
      std::string_view dtype;
      for (std::string_view item : items)
        if (const std::size_t at = item.find("torch."); at != std::string_view::npos)
          dtype = item.substr(at).substr(0, item.substr(at).find_first_of(",) "));
      const std::int64_t width = element_bytes_of(dtype);
      const std::optional<std::int64_t> bytes =
          items.size() < 2 || !width ? std::nullopt : strided_bytes(items[0], items[1], width, symbols_);
      if (items.size() > 1) tensors_.state_layout(target, items[0], items[1]);
      if (width) tensors_.state_dtype(target, dtype);
      return allocate(target, bytes.value_or(-1));
    }
    if (value.starts_with("reinterpret_tensor(") || word_at(value) == value) tensors_.name(target, value);
    if (value.starts_with("reinterpret_tensor(") || word_at(value) == value || value.starts_with("as_strided(")) {
      const std::string source = first_name(value.substr(word_at(value) == value ? 0 : function.size()),
                                            [&](const std::string& name) { return is_known(name); });
      if (!source.empty()) share(target, source);
      return;
    }
    // The value may be an item of the result of a library call, as in `buf1 = buf0[0]`.
    const std::string source(word_at(value));
    if (value.substr(source.size()).starts_with("[") && (buffer_of_.contains(source) || tuples_.contains(source))) {
      if (const auto whole = buffer_of_.find(source); whole != buffer_of_.end()) {
        if (plan_.buffers[static_cast<std::size_t>(whole->second)].bytes < 0) {  // a tuple of tensors
          tuples_.insert(source);
          plan_.buffers[static_cast<std::size_t>(whole->second)].bytes = 0;
        }
      }
      return allocate_by_call(target, calls_with_state_.contains(source) && value.ends_with(source + "[0]"));
    }
    if (function.find("rng_state") != std::string_view::npos) calls_with_state_.insert(target);
    if (is_library_call(value)) {
      const auto items = items_of_.find(target);
      call_library(value, items == items_of_.end() ? std::vector{target} : items->second);
      allocate_by_call(target, false);
    }
  }

  void allocate_by_call(const std::string& name, bool is_random_state) {
    const auto elements = elements_of_.find(name);
    if (elements == elements_of_.end()) return allocate(name, unknown_bytes);
    allocate(name, elements->second * (is_random_state ? 1 : width_of(name)));
    plan_.buffers.back().elements = elements->second;
  }

  std::int64_t width_of(const std::string& name) const {
    const std::int64_t width = element_bytes_of(tensors_.dtype_of(name));
    return width ? width : usual_element_bytes;
  }

  // Returns the element type that the graph states for an input or for a buffer that a call writes; an empty text if
  // the type is unknown.
  std::string_view dtype_in_graph(const std::string& name) const {
    if (const auto facts = facts_of_.find(name); facts != facts_of_.end()) return facts->second.dtype;
    const auto node = nodes_.find(source_of(name));
    return node == nodes_.end() ? std::string_view() : std::string_view(node->second.dtype);
  }

  // Counts the memory that a library call allocates while it runs. `results` are the buffers that the call allocates
  // and returns. Output code assigns names to the results of a library call only behind the call, and may free
  // arguments of the call before it assigns the names.
  void call_library(std::string_view call, const std::vector<std::string>& results) {
    const std::string_view function = call.substr(0, call.find('('));
    std::optional<std::string> expression;
    if (is_on_cpu_)
      expression =
          expression_of(call, symbols_, [&](std::string_view argument) { return tensors_.facts_of(argument); });
    std::int64_t of_results = 0;
    for (const std::string& result : results)
      if (const auto elements = elements_of_.find(result); elements != elements_of_.end())
        of_results += elements->second * width_of(result);
    const auto measured = expression ? own_memory_.find(*expression) : own_memory_.end();
    if (expression &&
        std::ranges::find(plan_.library_calls, *expression, &LibraryCall::expression) == plan_.library_calls.end())
      plan_.library_calls.push_back({*expression, measured == own_memory_.end() ? -1 : measured->second});
    std::int64_t bytes = of_results;
    if (measured != own_memory_.end()) {
      bytes = std::max(bytes, measured->second);
    } else if (is_attention(function)) {
      std::vector<Layout> layouts;
      for (std::string_view argument : items_in_brackets(call.substr(function.size())))
        layouts.push_back(tensors_.layout_of(argument));
      bytes +=
          attention_bytes(function, layouts, results.empty() ? usual_element_bytes : width_of(results[0]), threads_);
    } else {
      ++plan_.unmeasured;
    }
    if (bytes == of_results) return;
    if (const auto facts = results.empty() ? facts_of_.end() : facts_of_.find(results[0]); facts != facts_of_.end())
      place_of_call_ = facts->second.place;
    of_library_ = bytes - of_results;
    live(bytes);
    live_ -= bytes;
    of_library_ = 0;
    place_of_call_ = {};
  }

  void allocate(const std::string& name, std::int64_t bytes) {
    Buffer buffer;
    buffer.names = {name};
    buffer.bytes = bytes;
    buffer.first_line = buffer.last_line = line_;
    if (const auto facts = facts_of_.find(name); facts != facts_of_.end()) buffer.place = facts->second.place;
    const auto index = static_cast<int>(plan_.buffers.size());
    plan_.buffers.push_back(std::move(buffer));
    holders_.push_back(0);
    hold(name, index);
    live(bytes);
  }

  void hold(const std::string& name, int index) {
    if (const auto before = buffer_of_.find(name); before != buffer_of_.end()) free(name);
    buffer_of_[name] = index;
    ++holders_[static_cast<std::size_t>(index)];
  }

  void share(const std::string& target, const std::string& source) {
    const auto known = buffer_of_.find(source);
    if (known == buffer_of_.end()) {
      inputs_.emplace(target, true);
      origin_[target] = source_of(source);
      return;
    }
    const int index = known->second;
    Buffer& buffer = plan_.buffers[static_cast<std::size_t>(index)];
    buffer.names.push_back(target);
    if (takes_over_) plan_.reused += std::max<std::int64_t>(buffer.bytes, 0);
    hold(target, index);
  }

  std::string source_of(const std::string& name) const {
    const auto origin = origin_.find(name);
    return origin == origin_.end() ? name : origin->second;
  }

  void free(const std::string& name) {
    const auto known = buffer_of_.find(name);
    if (known == buffer_of_.end()) return;
    const auto index = static_cast<std::size_t>(known->second);
    buffer_of_.erase(known);
    if (--holders_[index] > 0) return;
    plan_.buffers[index].last_line = line_;
    live_ -= std::max<std::int64_t>(plan_.buffers[index].bytes, 0);
  }

  // Adds `bytes` to the memory in use; if the sum is a new peak, records the line, the place and the buffers in use.
  void live(std::int64_t bytes) {
    live_ += bytes == unknown_bytes ? 0 : bytes;
    if (live_ <= plan_.peak) return;
    plan_.peak = live_;
    plan_.peak_line = line_;
    plan_.peak_place = place_of_call_;
    plan_.peak_of_library = of_library_;
    plan_.at_peak.clear();
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
      if (holders_[i] > 0) plan_.at_peak.push_back(i);
  }

  void give(std::string_view text) {
    for (std::string_view item : items_in_brackets(text)) {
      const std::string name = first_name(item, [&](const std::string& word) { return is_known(word); });
      const auto known = buffer_of_.find(name);
      plan_.returned.push_back(name.empty() ? of_none : known == buffer_of_.end() ? of_input : known->second);
      plan_.returned_names.push_back(known == buffer_of_.end() ? source_of(name) : name);
      if (known == buffer_of_.end()) continue;
      plan_.buffers[static_cast<std::size_t>(known->second)].is_output = true;
    }
    for (Buffer& buffer : plan_.buffers)
      if (buffer.last_line == buffer.first_line) buffer.last_line = line_;
  }

  Plan finished() {
    for (const Buffer& buffer : plan_.buffers) {
      plan_.allocated += std::max<std::int64_t>(buffer.bytes, 0);
      plan_.unknown += buffer.bytes < 0;
    }
    std::stable_sort(plan_.at_peak.begin(), plan_.at_peak.end(),
                     [&](std::size_t a, std::size_t b) { return plan_.buffers[a].bytes > plan_.buffers[b].bytes; });
    for (const std::size_t index : plan_.at_peak)
      if (!plan_.peak_place.line && plan_.buffers[index].first_line == plan_.peak_line)
        plan_.peak_place = plan_.buffers[index].place;
    if (!plan_.peak_place.line)
      for (const std::size_t index : plan_.at_peak)
        if (!plan_.peak_place.line) plan_.peak_place = plan_.buffers[index].place;
    return std::move(plan_);
  }

  const Symbols& symbols_;
  const Nodes& nodes_;
  const std::int64_t threads_;
  const OwnMemory& own_memory_;
  Tensors tensors_{symbols_, [this](const std::string& name) { return dtype_in_graph(name); }};
  Plan plan_;
  std::vector<int> holders_;  // the number of names that refer to each buffer
  std::unordered_map<std::string, int> buffer_of_;
  std::unordered_map<std::string, bool> inputs_;
  std::unordered_map<std::string, std::string> origin_;  // maps a view of an input to the input
  std::unordered_set<std::string>
      calls_with_state_;  // calls that return a state of random numbers, in bytes, as their first item
  std::unordered_map<std::string, std::int64_t> elements_of_;  // maps an input or result to its number of elements
  std::unordered_map<std::string, std::vector<std::string>>
      items_of_;  // maps the result of a library call to the names of its items
  std::unordered_set<std::string> tuples_;  // results of library calls that consist of several tensors
  std::unordered_map<std::string, NodeFacts> facts_of_;  // maps a buffer to the facts about it
  bool is_on_cpu_ = true;  // false if the code selects another device: `with torch.cuda._DeviceGuard(0):`
  std::int64_t live_ = 0;
  std::int64_t of_library_ = 0;  // the part of `live_` that a library call allocates internally
  record::Place place_of_call_;  // the place of the call whose memory is counted
  bool takes_over_ = false;  // true if the current statement reuses the memory of a buffer for another buffer
  int line_ = 0;
};

}  // namespace

Plan plan_of(std::string_view output_code, const Symbols& symbols, const Nodes& nodes, std::int64_t threads,
             const OwnMemory& own_memory) {
  return PlanReader(symbols, nodes, threads, own_memory).run(output_code);
}

}  // namespace depyf::costs
