#include "texts/cost_places.h"

#include <cstdint>
#include <cstdio>

#include "dumps/members.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf::texts {

void write_place_members(json::Writer& out, const record::Place& place) {
  out.member("file", place.file);
  out.member("line", static_cast<std::int64_t>(place.line));
  out.member("text", place.text);
  out.member("function", place.function);
}

void write_place(json::Writer& out, std::string_view name, const record::Place& place) {
  out.key(name);
  if (!place.line) return out.null();
  out.object([&] { write_place_members(out, place); });
}

std::string place_and_source(json::Value line) {
  if (!line["line"].integer()) return "no line";
  const std::string source = dumps::text_of(line["text"]);
  return file_name(dumps::text_of(line["file"])) + ":" + std::to_string(line["line"].integer().value_or(0)) +
         (source.empty() ? "" : "  " + shown(source, source_max));
}

std::string percent(double part, double whole, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %%", digits, whole > 0 ? 100 * part / whole : 0);
  return text;
}

}  // namespace depyf::texts
