// Any bytes as a TORCH_TRACE log: a record comes out whose JSON can be read back and whose texts hold no control characters.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "depyf/texts.h"
#include "depyf/trace.h"
#include "json/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  depyf::record::Run run;
  run.processes.push_back(depyf::read_trace(log, "fuzzed.log"));
  for (const depyf::record::Compilation& compilation : run.processes[0].compilations)
    for (const depyf::record::Artifact& artifact : compilation.artifacts) depyf::payload_of(log, artifact);
  const std::string text = depyf::record::to_json(run);
  depyf::json::Document document;
  if (document.parse(text)) std::abort();
  const std::string summary = depyf::summary(run);
  if (std::any_of(summary.begin(), summary.end(), [](char it) { return it >= 0 && it < ' ' && it != '\n'; }))
    std::abort();
  return 0;
}
