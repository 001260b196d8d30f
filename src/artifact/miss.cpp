#include "artifact/miss.h"

#include "artifact/stages.h"
#include "json/json.h"

namespace depyf::artifact {
namespace {

constexpr std::string_view state_name = "\"cache_state\"";
constexpr std::size_t missed_parts_max = 10'000;  // the maximum number of parts of a key
constexpr std::size_t key_max = 200;  // the maximum size of a key in bytes

}  // namespace

bool is_recorded_key(std::string_view bytes) {
  return bytes.starts_with('{') && bytes.find(state_name) != std::string_view::npos;
}

std::optional<Part> read_recorded_key(std::string_view bytes, Budget& budget) {
  json::Document document;
  if (document.parse(bytes)) return {};
  const json::Value root = document.root(), components = root["components"];
  Part part;
  part.key = root["key"].text().substr(0, key_max);
  // The first character of a key names the cache that the key belongs to.
  part.kind = part.key.starts_with('a') ? "aot_autograd" : "inductor";
  part.title = part.kind == "inductor" ? "key that Inductor's cache was asked for"
                                       : "key that AOTAutograd's cache was asked for";
  part.size = bytes.size();
  part.facts.push_back({"answer", root["cache_state"].text().substr(0, key_max)});
  if (const std::string reason = root["cache_bypass_reason"].text(); !reason.empty())
    part.facts.push_back({"why the cache was not asked", budget.copied(reason)});
  components.for_each_item([&](json::Value line) {
    if (part.key_parts.size() < missed_parts_max) add_key_part(line.text(), part, budget);
  });
  return part;
}

}  // namespace depyf::artifact
