// Reads any bytes as a TORCH_TRACE log: the result must be a record, with graphs and links, whose JSON can be parsed
// and whose texts contain no control characters. Bytes that are no log are also read as graphs and output code, because
// mutants of graphs rarely pass the checks of a log.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "depyf/links.h"
#include "depyf/texts.h"
#include "depyf/trace.h"
#include "json/json.h"
#include "record/graph.h"
#include "trace/output_code.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view log(reinterpret_cast<const char*>(data), size);
  depyf::Unpacked unpacked;
  if (depyf::is_compressed(log)) {
    unpacked = depyf::unpack(log);
    log = unpacked.bytes;
  }
  if (log.starts_with('{')) (void)depyf::record::from_json(log);
  depyf::record::Run run;
  run.processes.push_back(depyf::read_trace(log, "fuzzed.log"));
  for (const depyf::record::Compilation& compilation : run.processes[0].compilations)
    for (const depyf::record::Artifact& artifact : compilation.artifacts) depyf::payload_of(log, artifact);
  depyf::read_graphs(log, run.processes[0]);
  for (depyf::record::Compilation& compilation : run.processes[0].compilations) depyf::link(compilation);
  if (run.processes[0].compilations.empty()) {
    // The input is split at zero bytes into the captured graph, the joint graph, the post-grad graph and the output
    // code.
    depyf::record::Compilation& compilation = run.processes[0].compilations.emplace_back();
    std::string_view rest = log;
    for (const char* stage : {"captured", "joint", "post_grad"}) {
      const std::size_t end = rest.find('\0');
      compilation.graphs.push_back(depyf::record::graph_of(rest.substr(0, end)));
      compilation.graphs.back().stage = stage;
      // without a zero byte, each part is the whole text
      rest.remove_prefix(end == std::string_view::npos ? 0 : end + 1);
    }
    compilation.output_codes.push_back(depyf::trace::read_output_code(rest));
    compilation.graphs.back().direction = compilation.output_codes[0].direction;
    compilation.graphs.back().number = compilation.output_codes[0].number;
    depyf::link(compilation);
  }
  const std::string text = depyf::record::to_json(run);
  depyf::json::Document document;
  if (document.parse(text)) std::abort();
  const std::variant<depyf::record::Run, depyf::record::Problem> again = depyf::record::from_json(text);
  if (!std::holds_alternative<depyf::record::Run>(again)) std::abort();
  if (depyf::record::to_json(std::get<depyf::record::Run>(again)) != text) std::abort();
  const std::string summary = depyf::summary(run) + depyf::links_text(run);
  if (std::any_of(summary.begin(), summary.end(), [](char it) { return it >= 0 && it < ' ' && it != '\n'; }))
    std::abort();
  return 0;
}
