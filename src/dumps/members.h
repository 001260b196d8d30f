// Reads the members of the JSON files of a dump. A missing member, and a member of an unexpected kind, are read as an
// empty value.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "depyf/record.h"
#include "json/json.h"

namespace depyf::dumps {

inline std::string text_of(json::Value value) { return value.is(json::Kind::string) ? value.text() : std::string(); }

inline double number_of(json::Value value) { return value.number().value_or(0); }

inline std::vector<std::string> texts_of(json::Value list) {
  std::vector<std::string> texts;
  list.for_each_item([&](json::Value item) { texts.push_back(text_of(item)); });
  return texts;
}

inline record::Place place_of(json::Value line) {
  record::Place place;
  place.file = text_of(line["file"]);
  place.function = text_of(line["function"]);
  place.text = text_of(line["text"]);
  place.line = static_cast<int>(std::clamp<std::int64_t>(line["line"].integer().value_or(0), 0, 1 << 30));
  return place;
}

// Reads the groups of a compilation's guards, each with the time that checking the guards of the group takes.
inline std::vector<record::GuardGroup> guard_groups_of(json::Value groups) {
  const auto count_of = [](json::Value number) { return std::max<std::int64_t>(number.integer().value_or(0), 0); };
  std::vector<record::GuardGroup> read;
  groups.for_each_item([&](json::Value group) {
    read.push_back({text_of(group["source"]), number_of(group["microseconds"]), count_of(group["values"]),
                    count_of(group["guards"])});
  });
  return read;
}

// Reads a frame of a session. The function can also read a cache entry of an explanation, whose fields have the same
// names as the fields of a frame.
record::Compilation compilation_of(json::Value frame);

}  // namespace depyf::dumps
