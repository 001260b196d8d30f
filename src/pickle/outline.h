// Writes values of a pickle as text for readers, and lists the names, calls and objects that unpickling would use.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pickle/pickle.h"

namespace depyf::pickle {

// Returns a value on one line in Python's notation, with calls and instances as `module.name(arguments)`. `...`
// replaces containers that are nested more than a few levels deep, values that contain themselves, and everything
// beyond `limit` bytes.
std::string outline(const Value& value, std::size_t limit = 1000);

// Returns a Python literal of a string, in pure ASCII.
std::string quoted(std::string_view utf8);

// The names that unpickling would look up, the functions that unpickling would call, and the number of objects that
// unpickling would need from outside of the pickle.
struct Reach {
  std::vector<std::string> names;  // The names that would be looked up, each once, in the order of the pickle.
  std::size_t name_count = 0;  // the number of all names, which can exceed the number of listed names
  std::vector<std::string> called;  // the names of the functions that would be called
  std::size_t persistent_count = 0;  // the number of values that the unpickling program has to provide
  std::size_t extension_count = 0;  // how many names are written as their numbers in the registry of copyreg
  std::size_t buffer_count = 0;  // the number of buffers that are kept outside of the pickle
};
Reach reach(const Document& document);

}  // namespace depyf::pickle
