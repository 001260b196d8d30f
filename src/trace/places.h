// Resolves places in the user's source. A log replaces the names of files by numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "depyf/record.h"
#include "json/json.h"

namespace depyf::trace {

class Places {
 public:
  // Reads a record that assigns a number to a file.
  void add(json::Value value) {
    if (auto number = value.at(1).integer()) files_[*number] = value.at(0).text();
  }

  record::Place place_of(json::Value frame) {
    record::Place place;
    place.line = static_cast<int>(std::clamp<std::int64_t>(frame["line"].integer().value_or(0), 0, 1 << 30));
    place.function = frame["name"].text();
    place.text = frame["loc"].text();
    const std::int64_t number = frame["filename"].integer().value_or(-1);
    if (number < 0) return place;
    if (const auto known = files_.find(number); known != files_.end()) {
      place.file = known->second;
    } else {
      ++unknown_;
    }
    return place;
  }

  // Returns the number of uses of file numbers that the log does not define.
  std::uint64_t unknown() const { return unknown_; }

 private:
  std::unordered_map<std::int64_t, std::string> files_;
  std::uint64_t unknown_ = 0;
};

}  // namespace depyf::trace
