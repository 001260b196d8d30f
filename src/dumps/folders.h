// Reads the rank or the process id of a process from the name of the folder that the process wrote to: rank_N or
// process_PID.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace depyf::dumps {

// Returns the number behind a prefix in the name of a folder, such as 3 for "rank_3"; std::nullopt if the folder's
// name is not the prefix and a number.
inline std::optional<std::int64_t> number_in_name(std::string_view directory, std::string_view prefix) {
  while (directory.ends_with('/')) directory.remove_suffix(1);
  const std::string_view name = directory.substr(directory.rfind('/') + 1);
  if (!name.starts_with(prefix)) return std::nullopt;
  std::int64_t number = 0;
  auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

inline std::optional<std::int64_t> rank_in(std::string_view directory) { return number_in_name(directory, "rank_"); }

}  // namespace depyf::dumps
