// Reads any bytes as a file that PyTorch saved: its text has no control characters, its JSON is valid, and a comparison
// of the file with itself finds no difference.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "depyf/artifact.h"
#include "json/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace depyf::artifact;
  Artifact artifact = read({reinterpret_cast<const char*>(data), size}, "fuzzed");
  check_sources(artifact, {"root"}, [](const std::string&) { return std::string("line\n"); });
  const std::string text = to_text(artifact);
  if (std::any_of(text.begin(), text.end(), [](char it) { return it >= 0 && it < ' ' && it != '\n' && it != '\t'; }))
    std::abort();
  depyf::json::Document document;
  if (document.parse(to_json({artifact}))) std::abort();
  if (!differences(artifact, artifact).empty()) std::abort();
  return 0;
}
