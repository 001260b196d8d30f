// Reads any bytes as a pickle: the result must be a document whose values can all be read, or an error with a position
// in the input, within the limits of time and memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "pickle/outline.h"
#include "pickle/pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace depyf::pickle;
  const auto document = read({reinterpret_cast<const char*>(data), size});
  if (!document) {
    if (document.error().message.empty() || document.error().offset > size) std::abort();
    return 0;
  }
  constexpr std::size_t limit = 500;
  if (document->end() > size || outline(document->root(), limit).size() > limit + 3) std::abort();
  if (const Reach found = reach(*document); found.names.size() > found.name_count) std::abort();
  for (std::size_t index = 0; index < document->size(); ++index) {
    const Value value(&*document, NodeId(static_cast<std::uint32_t>(index)));
    if (value.offset() >= size) std::abort();
    value.class_name(), value.attribute("state"), value["key"], value.appended(), value.assigned();
  }
  return 0;
}
