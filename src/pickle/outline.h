// Values of a pickle as text for readers, and what unpickling would do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pickle/pickle.h"

namespace depyf::pickle {

// Returns a value on one line, in Python's notation; calls and instances as `module.name(arguments)`. Containers within
// containers beyond a few levels, values that contain themselves and what would make the text longer than `limit` bytes
// become `...`.
std::string outline(const Value& value, std::size_t limit = 1000);

// A Python literal of a string, in pure ASCII.
std::string quoted(std::string_view utf8);

// What unpickling would reach for.
struct Reach {
  std::vector<std::string> names;      // that would be looked up, each once, in the order of the pickle
  std::size_t name_count = 0;          // of all, where there are more than are listed
  std::vector<std::string> called;     // those of them that would be called, not only looked up
  std::size_t persistent_count = 0;    // values that the program which unpickles has to give
  std::size_t extension_count = 0;     // names by number in copyreg's registry
  std::size_t buffer_count = 0;        // buffers that are kept elsewhere
};
Reach reach(const Document& document);

}  // namespace depyf::pickle
