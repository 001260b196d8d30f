// Writes the JSON data of the report's HTML page. All JSON of the page is written in one file, so that the code can be
// compared with src/report/viewer/data.js, which describes the members of the JSON.
#include "page/data.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "costs/compile_time.h"
#include "json/writer.h"
#include "page/changes.h"
#include "page/compare_texts.h"
#include "page/highlight.h"
#include "page/lines.h"
#include "page/rows.h"
#include "record/memory.h"
#include "support/words.h"
#include "texts/counts.h"
#include "texts/guard_costs.h"
#include "texts/words.h"

namespace depyf::page {
namespace {

using namespace record;

constexpr int data_version = 1;
constexpr std::size_t source_max = std::size_t{4} << 20;  // the most bytes of a source file that is shown

constexpr std::size_t compared_max = 3;  // the most earlier compilations with which a compilation is compared
constexpr double time_max = 1e15;  // microseconds; a longer time is a mistake in the log

using NodesByName = std::map<std::string_view, const Node*>;

bool is_compiled(const Compilation& compilation) { return compilation.status == Status::compiled; }

bool is_of_framework(const std::string& path) {
  return path.find("/torch/") != std::string::npos || path.find("<eval_with_key>") != std::string::npos ||
         path.find("<frozen ") != std::string::npos;
}

// Returns the failed guard that caused the compilation, as one line.
std::string deciding(const Compilation& it) {
  std::string text = texts::deciding_reason(it.reasons);
  if ((it.reasons.empty() || it.reasons[0].is_in_words) && !it.reasons_in_words.empty()) text = it.reasons_in_words[0];
  return text.substr(0, text.find('\n'));
}

// Writes the parts of the compile time, and the time that possible changes would save, in microseconds.
void time_of_compiling(json::Writer& out, const Process& process, Lines& lines) {
  const costs::CompileTime time = costs::compile_time(process);
  const auto number = [&](std::string_view name, double value) { out.key(name), out.number(value); };
  out.object("costs", [&] {
    number("wallUs", time.wall_us);
    number("restartsUs", time.restarts_us);
    number("compilersUs", time.compilers_us);
    out.member("compiledFiles", static_cast<std::int64_t>(time.compiled_files));
    out.objects("parts", time.parts, [&](const costs::PartTime& part) {
      out.member("part", part.part);
      number("us", part.us);
    });
    out.objects("savings", time.savings, [&](const costs::Saving& saving) {
      out.member("kind", saving.kind);
      out.member("change", saving.change);
      out.strings("compilations", saving.compilations);
      number("us", saving.us);
      number("ofUs", saving.of_us);
      out.member("line", lines.number_of(saving.place));
    });
  });
}

void write_measurements(json::Writer& out, const std::vector<Measurement>& measurements, Lines& lines) {
  out.objects("measurements", measurements, [&](const Measurement& measurement) {
    out.member("kind", measurement.kind);
    out.member("line", lines.number_of(measurement.place));
    out.key("value"), out.number(measurement.value);
    out.member("unit", measurement.unit);
    out.member("text", measurement.text);
    out.key("isAlarm"), out.boolean(measurement.is_alarm);
  });
}

class Data {
 public:
  Data(const Run& run, const std::vector<PageTexts>& texts, const ReadSource& read_source, const PageOptions& options)
      : run_(run), texts_(texts), read_source_(read_source), options_(options) {}

  std::string text() {
    out_.begin_object();
    out_.member("version", data_version);
    out_.member("tool", "depyf " DEPYF_VERSION);
    out_.member("command", options_.command);
    flag("isRedacted", options_.is_redacted);
    out_.key("processes");
    out_.begin_array();
    for (std::size_t index = 0; index < run_.processes.size(); ++index) process(run_.processes[index], index);
    out_.end_array();
    ranks();
    write_measurements(out_, run_.measurements, lines_);
    write_changes(out_, options_.changes, lines_);
    files();
    out_.key("lines");
    out_.begin_array();
    for (const SourceLine& line : lines_.lines()) out_.integer(line.file), out_.integer(line.line);
    out_.end_array();
    out_.strings("texts", kept_texts_);
    out_.strings("highlights", highlights_);
    out_.end_object();
    return out_.take();
  }

 private:
  void numbers(std::string_view name, const std::vector<int>& items) {
    out_.list(name, items, [&](int item) { out_.integer(item); });
  }
  void flag(std::string_view name, bool value) { out_.key(name), out_.boolean(value); }
  void number(std::string_view name, double value) { out_.key(name), out_.number(value); }
  // Writes the index of a place's line in `lines_.lines()`; -1 if the line is unknown.
  void line(std::string_view name, const Place& place) { out_.member(name, lines_.number_of(place)); }

  // Adds a text to the list of texts that the page contains, and returns its number in the list. Equal texts have the
  // same number, and are written to the page once.
  int keep(const std::string& text) {
    const auto [known, is_new] = text_numbers_.try_emplace(text, static_cast<int>(kept_texts_.size()));
    if (is_new) kept_texts_.push_back(text);
    return known->second;
  }

  // Like `keep`, for a text that is shown as code: returns the index of the text in `kept_texts_`, and stores the
  // colours of the rows of the text. Texts that are not shown as code have no colours.
  int keep_code(const std::string& text) {
    const int number = keep(text);
    highlights_.resize(std::max(highlights_.size(), static_cast<std::size_t>(number) + 1));
    std::string& colours = highlights_[static_cast<std::size_t>(number)];
    if (colours.empty()) colours = highlights(text);
    return number;
  }

  void process(const Process& process, std::size_t index) {
    out_.begin_object();
    out_.member("log", process.log);
    out_.optional("pid", process.pid);
    out_.optional("rank", process.rank);
    out_.member("torch", process.torch_version);
    out_.member("python", process.python_version);
    flag("isCut", process.is_cut);
    flag("isLog", !process.records.empty());
    const texts::Counts counts = texts::counts_of(process);
    out_.member("functions", static_cast<std::int64_t>(counts.functions));
    out_.member("eager", static_cast<std::int64_t>(counts.eager));
    out_.strings("notes", process.notes);
    out_.list("problems", process.problems, [&](const Problem& problem) {
      out_.begin_object();
      out_.member("offset", static_cast<std::int64_t>(problem.offset));
      out_.member("message", problem.message);
      out_.end_object();
    });
    breaks(process);
    out_.list("phases", process.phases, [&](const Phase& item) { phase(item); });
    events(process);
    out_.key("compilations");
    out_.begin_array();
    static const std::vector<PageText> none;
    for (std::size_t i = 0; i < process.compilations.size(); ++i) {
      const bool has_texts = index < texts_.size() && i < texts_[index].size();
      compilation(process.compilations[i], has_texts ? texts_[index][i] : none);
      if (has_texts) differences(process, i, texts_[index]);
      else differences(process, i, {});
      out_.end_object();
    }
    out_.end_array();
    time_of_compiling(out_, process, lines_);
    out_.end_object();
  }

  // Writes five numbers for each event: the index of its name among the texts of the page, the microseconds from the
  // start of the first event to the start of the event, the event's duration in microseconds, the index of its
  // compilation, and 1 if it ran in a worker thread, otherwise 0.
  void events(const Process& process) {
    double first = 0;
    for (const Event& event : process.events) first = first == 0 ? event.start_us : std::min(first, event.start_us);
    out_.key("events");
    out_.begin_array();
    for (const Event& event : process.events) {
      out_.integer(keep(event.name));
      out_.integer(static_cast<std::int64_t>(std::min(event.start_us - first, time_max)));
      out_.integer(static_cast<std::int64_t>(std::clamp(event.duration_us, 0.0, time_max)));
      out_.integer(event.compilation);
      out_.integer(event.is_parallel);
    }
    out_.end_array();
  }

  // Writes the graph breaks without duplicates, each with the compilations that end at the break. `break_numbers_` maps
  // each break of a compilation to the index of the equal break in the written list.
  void breaks(const Process& process) {
    std::vector<std::pair<const GraphBreak*, std::vector<std::size_t>>> distinct;
    break_numbers_.clear();
    for (std::size_t i = 0; i < process.compilations.size(); ++i)
      for (const GraphBreak& graph_break : process.compilations[i].breaks) {
        auto known = std::find_if(distinct.begin(), distinct.end(),
                                  [&](const auto& earlier) { return texts::is_same(*earlier.first, graph_break); });
        if (known == distinct.end()) known = distinct.insert(distinct.end(), {&graph_break, {}});
        if (known->second.empty() || known->second.back() != i) known->second.push_back(i);
        break_numbers_[&graph_break] = static_cast<int>(known - distinct.begin());
      }
    out_.list("breaks", distinct, [&](const auto& item) {
      const auto& [graph_break, compilations] = item;
      double seconds = 0;
      std::vector<int> indices;
      for (const std::size_t i : compilations) {
        const Compilation& compilation = process.compilations[i];
        seconds += compilation.seconds + compilation.backward_seconds;
        indices.push_back(static_cast<int>(i));
      }
      out_.begin_object();
      out_.member("where", texts::where(*graph_break));
      out_.member("sentence", texts::sentence(*graph_break));
      out_.member("reason", graph_break->reason);
      out_.member("explanation", graph_break->explanation);
      out_.strings("hints", graph_break->hints);
      out_.member("link", graph_break->link);
      line("line", graph_break->place);
      out_.member("source", graph_break->place.text);
      numbers("compilations", indices);
      number("seconds", seconds);
      out_.end_object();
    });
  }

  void phase(const Phase& phase) {
    out_.begin_object();
    out_.member("name", phase.name);
    number("totalUs", phase.total_us);
    number("selfUs", phase.self_us);
    out_.member("count", phase.count);
    flag("isParallel", phase.is_parallel);
    out_.end_object();
  }

  void compilation(const Compilation& it, const std::vector<PageText>& texts) {
    const std::string title = texts::title_of(it);
    out_.begin_object();
    out_.member("id", it.id);
    out_.member("title", title);
    out_.member("name", texts::name_of(it));
    out_.member("status", name_of(it.status));
    flag("isResume", it.is_resume);
    flag("wasBefore", it.was_before);
    out_.key("isProved");
    if (it.is_proved) out_.boolean(*it.is_proved);
    else out_.null();
    out_.member("whyNotProved", it.why_not_proved);
    line("line", it.place);
    out_.list("calledFrom", it.called_from, [&](const Place& place) { out_.integer(lines_.number_of(place)); });
    out_.member("attempts", it.attempts);
    out_.strings("restartReasons", it.restart_reasons);
    number("seconds", it.seconds);
    number("backwardSeconds", it.backward_seconds);
    number("startUs", it.start_us);
    out_.optional("guards", it.guards);
    out_.member("headline", is_compiled(it) ? "" : texts::headline(it, title));
    out_.strings("details", is_compiled(it) ? std::vector<std::string>() : texts::details(it));
    out_.strings("reasons", texts::reasons(it));
    out_.member("deciding", deciding(it));
    out_.list("failures", it.reasons, [&](const FailedGuard& guard) { failure(guard); });
    out_.list("breaks", it.breaks,
              [&](const GraphBreak& graph_break) { out_.integer(break_numbers_.at(&graph_break)); });
    out_.strings("resumeNames", it.resume_names);
    out_.strings("resumeCalls", it.resume_calls);
    out_.list("limits", it.limits, [&](const Limit& limit) {
      const std::string text = texts::limit_text(limit);
      out_.begin_object();
      out_.member("condition", limit.condition);
      out_.member("subject", limit.subject);
      out_.member("why", text.size() > limit.condition.size() + 4 ? text.substr(limit.condition.size() + 4) : "");
      line("line", limit.place);
      out_.end_object();
    });
    out_.strings("symbols", texts::symbol_rows(it.symbols));
    out_.strings("guardTime", texts::guard_time_rows(it));
    out_.strings("atRunTime", texts::runtime_rows(it));
    out_.list("missing", it.missing, [&](const MissingArtifact& missing) {
      out_.begin_object();
      out_.member("kind", missing.kind);
      out_.member("direction", missing.direction);
      out_.member("why", missing.why);
      out_.end_object();
    });
    out_.strings("notes", it.notes);
    out_.list("caches", it.caches, [&](const CacheEvent& event) {
      out_.begin_object();
      out_.member("cache", event.cache);
      out_.member("result", event.result);
      out_.member("key", event.key);
      out_.end_object();
    });
    out_.list("phases", it.phases, [&](const Phase& item) { phase(item); });
    out_.list("nodes", it.chains, [&](const Chain& chain) {
      out_.begin_array();
      out_.string(chain.node), out_.string(chain.op), out_.string(chain.module);
      out_.integer(lines_.number_of(chain.place));
      out_.end_array();
    });
    calls(it);
    buffers(it);
    out_.list("notFused", it.not_fused, [&](const NotFused& pair) {
      out_.begin_object();
      out_.member("direction", pair.direction);
      out_.member("first", pair.first);
      out_.member("second", pair.second);
      out_.member("why", pair.why);
      out_.end_object();
    });
    out_.list("saved", saved_values(it), [&](const SavedValue& saved) {
      out_.begin_object();
      out_.member("name", saved.node->name);
      out_.member("shape", saved.shape);
      out_.optional("bytes", bytes_of(saved.shape));
      flag("isInput", saved.node->op == "placeholder");
      line("line", saved.node->place);
      out_.end_object();
    });
    out_.list("panes", texts, [&](const PageText& text) { pane(text, it); });
  }

  // Writes the differences between the texts before and after each pass. Also writes the differences between the texts
  // of the compilation and the texts of earlier compilations that rejected the call for which the compilation was made.
  void differences(const Process& process, std::size_t index, const PageTexts& texts) {
    static constexpr std::pair<std::string_view, std::string_view> passes[] = {{"pre_grad_before", "pre_grad"},
                                                                               {"joint", "forward"},
                                                                               {"joint", "backward"},
                                                                               {"post_grad_before", "post_grad"},
                                                                               {"ir_before", "ir"}};
    out_.key("differences");
    out_.begin_array();
    if (index < texts.size()) {
      const std::vector<PageText>& own = texts[index];
      for (const auto& [before, after] : passes)
        for (std::size_t pane = 0; pane < own.size(); ++pane)
          if (own[pane].stage == after) difference(own, index, own, pane, before);
      for (const std::size_t other : compared_with(process, index))
        if (other < texts.size())
          for (std::size_t pane = 0; pane < own.size(); ++pane)
            if (is_compared(own[pane].stage)) difference(texts[other], other, own, pane, own[pane].stage);
    }
    out_.end_array();
  }

  // True if the texts of the stage are compared between compilations. If a pass has a graph before and a graph after
  // it, only one of the two graphs is compared between compilations. Inductor's IR is not compared, because the kernels
  // that are generated from the IR have the same content.
  static bool is_compared(std::string_view stage) {
    return stage != "joint" && !stage.starts_with("pre_grad") && stage != "post_grad_before" &&
           !stage.starts_with("ir");
  }

  // Returns the indices of the earlier compilations that rejected the call for which compilation `index` was made, in
  // the order in which they rejected the call. The result has at most `compared_max` indices, because the page shows
  // the differences between compilation `index` and each returned compilation.
  static std::vector<std::size_t> compared_with(const Process& process, std::size_t index) {
    std::vector<std::size_t> others;
    for (const FailedGuard& reason : process.compilations[index].reasons)
      for (std::size_t i = index; i-- > 0;) {
        if (process.compilations[i].id != reason.compilation) continue;
        if (others.size() < compared_max && std::find(others.begin(), others.end(), i) == others.end())
          others.push_back(i);
        break;
      }
    return others;
  }

  void difference(const std::vector<PageText>& olds, std::size_t old_index, const std::vector<PageText>& own,
                  std::size_t pane, std::string_view stage) {
    const auto old = std::find_if(olds.begin(), olds.end(), [&](const PageText& text) {
      return text.stage == stage && (stage == "joint" || text.direction == own[pane].direction);
    });
    if (old == olds.end()) return;
    out_.begin_object();
    out_.member("compilation", static_cast<std::int64_t>(old_index));
    out_.member("from", old - olds.begin());
    out_.member("to", static_cast<std::int64_t>(pane));
    out_.key("same");
    out_.begin_array();
    for (const SameRows& run : same_rows(old->text, own[pane].text))
      out_.integer(run.first), out_.integer(run.second), out_.integer(run.count);
    out_.end_array();
    out_.end_object();
  }

  void failure(const FailedGuard& guard) {
    out_.begin_object();
    out_.member("of", guard.compilation);
    out_.member("guard", guard.guard);
    out_.member("subject", guard.subject);
    out_.member("expected", guard.expected);
    out_.member("actual", guard.actual);
    out_.member("origin", guard.origin);
    out_.strings("alike", guard.alike);
    out_.strings("follows", guard.follows);
    line("line", guard.place);
    out_.end_object();
  }

  // Returns the number of bytes of the buffers, with each buffer counted once; std::nullopt if the size of a buffer is
  // unknown.
  static std::optional<std::int64_t> bytes_of_all(const std::vector<std::string>& buffers,
                                                  const std::map<std::string, std::string>& shapes) {
    std::int64_t sum = 0;
    std::set<std::string> seen;
    for (const std::string& buffer : buffers) {
      if (!seen.insert(buffer).second) continue;
      auto shape = shapes.find(buffer);
      if (shape == shapes.end())
        // A later value in the same buffer has the name of the buffer, followed by a suffix such as `'1`.
        shape = shapes.find(buffer.substr(0, buffer.find('\'')));
      const std::optional<std::int64_t> bytes = shape == shapes.end() ? std::nullopt : bytes_of(shape->second);
      if (!bytes) return std::nullopt;
      sum += *bytes;
    }
    return sum;
  }

  // Returns the shapes of the buffers of output code, of the inputs of its graph, and of the values that library
  // calls return.
  static std::map<std::string, std::string> shapes_in(const OutputCode& code, const NodesByName& nodes) {
    std::map<std::string, std::string> shapes = code.shapes;
    for (const auto& [name, node] : nodes)
      if (node->op == "placeholder") shapes.try_emplace(std::string(name), node->shape);
    for (const KernelCall& call : code.calls)
      if (call.kind == "library" && !call.writes.empty()) add_returned(call, nodes, shapes);
    for (bool has_grown = true; has_grown;) {  // A name can be an alias of another alias.
      has_grown = false;
      for (const auto& [name, buffer] : code.buffer_of)
        if (const auto shape = shapes.find(buffer); shape != shapes.end())
          has_grown |= shapes.try_emplace(name, std::string(shape->second)).second;
    }
    return shapes;
  }

  // Adds the shapes of the values that a library call returns. If the call returns a tuple, each item gets the shape of
  // the `getitem` node that reads the item. If the call returns a single value, the value gets the shape of the node
  // that the call computes.
  static void add_returned(const KernelCall& call, const NodesByName& nodes,
                           std::map<std::string, std::string>& shapes) {
    static constexpr std::string_view no_bytes = "u8[0]";  // the shape of a tuple, whose memory is counted at its items
    for (const std::string& name : call.nodes) {
      const auto node = nodes.find(name);
      if (node == nodes.end() || !is_called(node->second->op, call.kernel)) continue;
      if (call.writes.size() == 1) {
        shapes.try_emplace(call.writes[0], node->second->shape);
        return;
      }
      std::vector<const Node*> items;
      for (const auto& [item_name, item] : nodes)
        if (item->op == "operator.getitem" && !item->inputs.empty() && item->inputs[0] == name) items.push_back(item);
      // The nodes are elements of one vector in the order of the graph, so sorting the nodes by address restores the
      // order of the graph.
      std::sort(items.begin(), items.end(), std::less<>());
      if (items.size() + 1 != call.writes.size()) return;
      shapes.try_emplace(call.writes[0], no_bytes);
      for (std::size_t i = 0; i < items.size(); ++i) shapes.try_emplace(call.writes[i + 1], items[i]->shape);
      return;
    }
  }

  // True if `kernel`, which the output code calls, is the operator `op` of a node. For example, the operator
  // "aten.convolution.default" is called as "extern_kernels.convolution" or as "torch.ops.aten.convolution.default".
  static bool is_called(std::string_view op, std::string_view kernel) {
    if (!op.starts_with("aten.")) return false;
    const std::string_view name = op.substr(5, op.find('.', 5) - 5);
    return kernel.ends_with(op) || kernel.ends_with("." + std::string(name));
  }

  // Returns a map from names to nodes for the graph from which the output code was generated.
  static NodesByName nodes_of(const Compilation& it, const OutputCode& code) {
    NodesByName nodes;
    for (const Graph& graph : it.graphs)
      if (graph.stage == "post_grad" && graph.direction == code.direction)
        for (const Node& node : graph.nodes) nodes[node.name] = &node;
    return nodes;
  }

  // Writes the statements of output code that call kernels and libraries, each with the nodes that the statement
  // computes.
  void calls(const Compilation& it) {
    out_.key("calls");
    out_.begin_array();
    for (const OutputCode& code : it.output_codes) {
      const NodesByName nodes = nodes_of(it, code);
      const std::map<std::string, std::string> shapes = shapes_in(code, nodes);
      for (const KernelCall& call : code.calls) {
        out_.begin_object();
        out_.member("kernel", call.kernel);
        out_.member("kind", call.kind);
        out_.member("direction", code.direction == "inference" ? "forward" : code.direction);
        out_.member("row", call.line);
        out_.strings("captured", call.captured);
        out_.strings("reads", call.reads);
        out_.strings("writes", call.writes);
        // A kernel that writes its result into an existing value also reads the existing value.
        std::vector<std::string> read = call.reads;
        read.insert(read.end(), call.overwrites.begin(), call.overwrites.end());
        out_.optional("bytesRead", bytes_of_all(read, shapes));
        out_.optional("bytesWritten", bytes_of_all(call.writes, shapes));
        out_.list("nodes", call.nodes, [&](const std::string& name) {
          const auto node = nodes.find(name);
          out_.begin_array();
          out_.string(name), out_.string(node == nodes.end() ? "" : node->second->op);
          out_.end_array();
        });
        std::set<int> numbers_of_lines;
        for (const Place& place : call.places)
          if (const int line = lines_.number_of(place); line != no_line) numbers_of_lines.insert(line);
        numbers("lines", {numbers_of_lines.begin(), numbers_of_lines.end()});
        out_.member("evidence", call.evidence);
        out_.member("why", call.why_no_place);
        out_.end_object();
      }
    }
    out_.end_array();
  }

  // Writes the buffers that the calls write to, with their sizes.
  void buffers(const Compilation& it) {
    out_.key("buffers");
    out_.begin_array();
    for (const OutputCode& code : it.output_codes) {
      const NodesByName nodes = nodes_of(it, code);
      for (const auto& [name, shape] : shapes_in(code, nodes)) {
        if (const auto node = nodes.find(name); node != nodes.end() && node->second->op == "placeholder")
          continue;  // The buffer of an input belongs to the caller.
        out_.begin_object();
        out_.member("name", name);
        out_.member("direction", code.direction == "inference" ? "forward" : code.direction);
        out_.optional("bytes", bytes_of(shape));
        flag("isOutput", std::find(code.outputs.begin(), code.outputs.end(), name) != code.outputs.end());
        out_.end_object();
      }
    }
    out_.end_array();
  }

  // Writes a text of a compilation, with its rows as arrays [row, name, reason, last row, lines...] (see `Row`).
  void pane(const PageText& text, const Compilation& compilation) {
    out_.begin_object();
    out_.member("stage", text.stage);
    out_.member("direction", text.direction);
    out_.member("name", text.name);
    out_.member("text", keep_code(text.text));
    out_.list("rows", rows_of(text, compilation, lines_), [&](const Row& row) {
      out_.begin_array();
      out_.integer(row.row), out_.string(row.name), out_.integer(row.why.empty() ? -1 : keep(row.why));
      out_.integer(row.last);
      for (const int line : row.lines) out_.integer(line);
      out_.end_array();
    });
    out_.end_object();
  }

  void ranks() {
    out_.key("ranks");
    out_.begin_array();
    // A dump is not compared with a log, because dumps and logs describe a run in different terms, and every part would
    // seem to differ.
    const auto logs = std::count_if(run_.processes.begin(), run_.processes.end(),
                                    [](const Process& process) { return !process.records.empty(); });
    const bool are_alike = logs == 0 || logs == static_cast<std::ptrdiff_t>(run_.processes.size());
    if (run_.processes.size() > 1 && are_alike)
      for (const RankGroup& group : compare_ranks(run_)) {
        out_.begin_object();
        out_.list("processes", group.processes,
                  [&](std::size_t index) { out_.integer(static_cast<std::int64_t>(index)); });
        out_.member("nearest", static_cast<std::int64_t>(group.nearest));
        out_.member("partsAt", group.parts_at);
        out_.member("difference", group.difference);
        out_.end_object();
      }
    out_.end_array();
  }

  // Returns the text of a source file. A relative path is looked up in the directories in which the recorded processes
  // ran, and then in the directory in which the page is written.
  std::optional<std::string> source_at(const std::string& path) const {
    if (!read_source_) return std::nullopt;
    if (!path.starts_with('/'))
      for (const Process& process : run_.processes)
        if (!process.working_directory.empty())
          if (std::optional<std::string> text = read_source_(process.working_directory + "/" + path)) return text;
    return read_source_(path);
  }

  // Returns the text of a source file if the file still contains each line that the record quotes. If the text cannot
  // be shown, the function returns std::nullopt and sets `why` to the reason.
  std::optional<std::string> unchanged_source(const std::string& path, int file, std::string& why) const {
    if (options_.is_redacted) {
      why = "the page was written without source (--redact)";
      return std::nullopt;
    }
    if (!path.ends_with(".py")) {
      why = "this is no file of source";
      return std::nullopt;
    }
    std::optional<std::string> text = source_at(path);
    if (!text) {
      why = "the file is not on the machine on which this page was made";
      return std::nullopt;
    }
    if (text->size() > source_max) {
      why = "the file is too large for this page";
      return std::nullopt;
    }
    const std::vector<std::string_view> lines = lines_of(*text);
    bool is_confirmed = false;
    for (const SourceLine& line : lines_.lines()) {
      if (line.file != file || line.text.empty()) continue;
      const auto index = static_cast<std::size_t>(line.line) - 1;
      if (index >= lines.size() || stripped(lines[index]) != stripped(line.text)) {
        why = "the file has changed since";
        return std::nullopt;
      }
      is_confirmed = true;
    }
    if (is_confirmed) return text;
    why = "the record quotes no line of it, so that nothing shows that the file is still the same";
    return std::nullopt;
  }

  void files() {
    out_.key("files");
    out_.begin_array();
    for (std::size_t i = 0; i < lines_.files().size(); ++i) {
      const std::string& path = lines_.files()[i];
      const bool is_framework = is_of_framework(path);
      std::string why = "this file belongs to PyTorch or Python";
      std::optional<std::string> text;
      if (!is_framework) text = unchanged_source(path, static_cast<int>(i), why);
      out_.begin_object();
      out_.member("path", path);
      out_.member("name", texts::file_name(path));
      flag("isFramework", is_framework);
      out_.member("text", text ? keep_code(*text) : -1);
      out_.member("why", text ? "" : why);
      out_.key("quoted");
      out_.begin_object();
      if (!text)
        for (const SourceLine& line : lines_.lines())
          if (line.file == static_cast<int>(i) && !line.text.empty()) out_.member(std::to_string(line.line), line.text);
      out_.end_object();
      out_.end_object();
    }
    out_.end_array();
  }

  const Run& run_;
  const std::vector<PageTexts>& texts_;
  const ReadSource& read_source_;
  const PageOptions& options_;
  json::Writer out_{true};
  Lines lines_;
  std::vector<std::string> kept_texts_;
  std::vector<std::string> highlights_;  // the colours of the texts that are code; same indices as `kept_texts_`
  std::unordered_map<std::string, int> text_numbers_;
  std::map<const GraphBreak*, int> break_numbers_;
};

}  // namespace

std::string data_of(const Run& run, const std::vector<PageTexts>& texts, const ReadSource& read_source,
                    const PageOptions& options) {
  const std::string text = Data(run, texts, read_source, options).text();
  // In JSON, the character `<` occurs only in strings, where it can be escaped, so that no text can end the script
  // element.
  std::string escaped;
  escaped.reserve(text.size() + text.size() / 16);
  for (const char character : text)
    if (character == '<') escaped += "\\u003c";
    else escaped += character;
  return escaped;
}

}  // namespace depyf::page
