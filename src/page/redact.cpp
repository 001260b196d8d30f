#include "page/redact.h"

#include <algorithm>

#include "page/redact_text.h"

namespace depyf::page {
namespace {

using namespace record;

// Collects the names, files and sizes that the record states, before any text is redacted.
class Survey {
 public:
  explicit Survey(TextRedactor& text) : text_(text) {}

  void run(const Run& run) {
    for (const Measurement& measurement : run.measurements) place(measurement.place);
    for (const Process& process : run.processes) {
      text_.add_private_name(process.working_directory);
      for (const Compilation& compilation : process.compilations) this->compilation(compilation);
    }
  }

 private:
  void place(const Place& place) {
    text_.add_path(place.file);
    text_.add_private_name(place.function);
  }

  void compilation(const Compilation& compilation) {
    place(compilation.place);
    place(compilation.failed_at);
    text_.add_private_name(compilation.name);
    for (const Place& caller : compilation.called_from) place(caller);
    for (const GraphBreak& graph_break : compilation.breaks) place(graph_break.place);
    for (const FailedGuard& failure : compilation.reasons)
      place(failure.place), text_.add_private_name(failure.subject);
    for (const Limit& limit : compilation.limits) place(limit.place), text_.add_private_name(limit.subject);
    for (const Graph& graph : compilation.graphs)
      for (const Node& node : graph.nodes) {
        place(node.place);
        text_.add_shape(node.shape);
        text_.add_private_name(node.name);
        text_.add_private_name(node.module);
      }
    for (const OutputCode& code : compilation.output_codes)
      for (const auto& [name, shape] : code.shapes) text_.add_shape(shape);
  }

  TextRedactor& text_;
};

class Redactor {
 public:
  Redacted run(const Run& run, const std::vector<PageTexts>& texts) {
    Survey(text_).run(run);
    Redacted result{run, texts};
    for (std::size_t i = 0; i < result.run.processes.size(); ++i) process(result.run.processes[i], i);
    for (Measurement& measurement : result.run.measurements) {
      place(measurement.place);
      measurement.text.clear();
    }
    for (PageTexts& of_process : result.texts)
      for (std::vector<PageText>& of_compilation : of_process)
        for (PageText& text : of_compilation) page_text(text);
    return result;
  }

 private:
  void names(std::vector<std::string>& items) {
    for (std::string& item : items) item = text_.name(item);
  }
  void codes(std::vector<std::string>& items) {
    for (std::string& item : items) item = text_.code(item);
  }
  void sentences(std::vector<std::string>& items) {
    for (std::string& item : items) item = text_.sentence(item);
  }
  void places(std::vector<Place>& items) {
    for (Place& item : items) place(item);
  }

  void place(Place& place) {
    place.file = text_.path(place.file);
    place.function = text_.name(place.function);
    if (!place.text.empty()) place.text = left_out;
  }

  void page_text(PageText& text) {
    text.name.clear();  // The file's name contains the name of a function.
    text.text = text.stage == "code" ? text_.calls_of_graphs(text.text) : text_.code(text.text);
  }

  void process(Process& process, std::size_t index) {
    process.log = "log" + std::to_string(index + 1);
    process.working_directory.clear();
    process.artifacts.clear();
    process.function_files.clear();
    sentences(process.notes);
    for (Problem& problem : process.problems) problem.message = text_.sentence(problem.message);
    for (Phase& phase : process.phases) phase.name = text_.sentence(phase.name);
    for (Event& event : process.events) event.name = event_name(event.name);
    for (Compilation& compilation : process.compilations) this->compilation(compilation);
  }

  // Returns the redacted name of an event. Redacted names are cached, because a log has a hundred thousand events with
  // a hundred different names.
  const std::string& event_name(const std::string& name) {
    const auto [known, is_new] = event_names_.try_emplace(name);
    if (is_new) known->second = text_.sentence(name);
    return known->second;
  }

  void compilation(Compilation& compilation) {
    place(compilation.place);
    place(compilation.failed_at);
    places(compilation.called_from);
    compilation.name = text_.name(compilation.name);
    names(compilation.resume_names);
    names(compilation.resume_calls);
    failures(compilation);
    for (GraphBreak& item : compilation.breaks) graph_break(item);
    for (Limit& limit : compilation.limits) {
      limit.condition = text_.code(limit.condition);
      limit.subject = text_.code(limit.subject);
      limit.origin = text_.code(limit.origin);
      place(limit.place);
    }
    for (RuntimeValue& value : compilation.runtime_values) {
      value.name = text_.code(value.name);
      value.range = text_.code(value.range);
      place(value.place);
    }
    for (RuntimeAssert& check : compilation.runtime_asserts) {
      check.condition = text_.code(check.condition);
      check.message.clear();
      place(check.place);
    }
    for (Symbol& symbol : compilation.symbols) this->symbol(symbol);
    for (MissingArtifact& missing : compilation.missing) missing.why = text_.sentence(missing.why);
    sentences(compilation.notes);
    compilation.provenance.clear();
    compilation.code_file.clear();
    compilation.guards_file.clear();
    compilation.why_not_proved = text_.sentence(compilation.why_not_proved);
    for (CacheEvent& event : compilation.caches) event.key.clear();
    for (Phase& phase : compilation.phases) phase.name = text_.sentence(phase.name);
    compilation.artifacts.clear();
    compiled(compilation);
  }

  // Redacts the reasons why Dynamo could not compile a function, and the reasons why it compiled the function again.
  void failures(Compilation& compilation) {
    if (!compilation.failure.empty()) {
      const std::size_t end = compilation.failure.find_first_of(":\n ");
      compilation.failure = text_.name(compilation.failure.substr(0, end));
    }
    if (compilation.stopped_by) graph_break(*compilation.stopped_by);
    if (compilation.limit_reached) {
      codes(compilation.limit_reached->reasons);
      codes(compilation.limit_reached->accepted);
    }
    for (std::string& reason : compilation.restart_reasons) reason = reason_of_restart;
    codes(compilation.reasons_in_words);
    for (FailedGuard& failure : compilation.reasons) {
      for (std::string* text : {&failure.guard, &failure.subject, &failure.expected, &failure.actual, &failure.origin})
        *text = text_.code(*text);
      codes(failure.alike);
      codes(failure.follows);
      place(failure.place);
    }
  }

  // Redacts a graph break. A reason that has a link is kept in redacted form, because it is in PyTorch's fixed list of
  // reasons. A reason without a link can quote the program, and is left out.
  void graph_break(GraphBreak& graph_break) {
    graph_break.reason = graph_break.link.empty() ? "a reason that is left out" : text_.sentence(graph_break.reason);
    graph_break.explanation.clear();
    graph_break.hints.clear();
    graph_break.then = text_.sentence(graph_break.then);
    place(graph_break.place);
    place(graph_break.inside);
    places(graph_break.stack);
  }

  void symbol(Symbol& symbol) {
    for (std::string* text : {&symbol.source, &symbol.value, &symbol.range, &symbol.specialized_to})
      *text = text_.code(*text);
    place(symbol.place);
    symbol.lower_from.clear();
    symbol.upper_from.clear();
    symbol.reason.clear();
  }

  // Redacts the graphs, the kernels, and the links between them.
  void compiled(Compilation& compilation) {
    for (Kernel& kernel : compilation.kernels) kernel.name = text_.name(kernel.name), names(kernel.source_nodes);
    for (Graph& graph : compilation.graphs) {
      names(graph.outputs);
      for (Node& node : graph.nodes) {
        for (std::string* text : {&node.name, &node.op, &node.module}) *text = text_.name(*text);
        node.shape = text_.code(node.shape);
        names(node.inputs);
        place(node.place);
      }
    }
    for (OutputCode& code : compilation.output_codes) output_code(code);
    for (Chain& chain : compilation.chains) this->chain(chain);
    for (NotFused& pair : compilation.not_fused) {
      pair.first = text_.code(pair.first);
      pair.second = text_.code(pair.second);
      pair.why = text_.sentence(pair.why);
      names(pair.buffers);
    }
  }

  void output_code(OutputCode& code) {
    names(code.outputs);
    std::map<std::string, std::string> shapes;
    for (const auto& [name, shape] : code.shapes) shapes[text_.name(name)] = text_.code(shape);
    code.shapes = std::move(shapes);
    for (KernelCall& call : code.calls) {
      call.kernel = text_.name(call.kernel);
      for (std::vector<std::string>* items :
           {&call.reads, &call.writes, &call.overwrites, &call.source_nodes, &call.nodes, &call.captured})
        names(*items);
      call.handle = text_.name(call.handle);
      places(call.places);
    }
  }

  void chain(Chain& chain) {
    for (std::string* text : {&chain.node, &chain.op, &chain.module}) *text = text_.name(*text);
    place(chain.place);
    names(chain.joint);
    for (auto& [direction, link] : chain.directions)
      for (std::vector<std::string>* items : {&link.graph, &link.post_grad, &link.kernels, &link.operations})
        names(*items);
  }

  static constexpr const char* reason_of_restart = "left out";

  TextRedactor text_;
  std::map<std::string, std::string> event_names_;
};

}  // namespace

Redacted redacted(const Run& run, const std::vector<PageTexts>& texts) { return Redactor().run(run, texts); }

}  // namespace depyf::page
