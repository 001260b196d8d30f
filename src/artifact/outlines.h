// Describes values of a pickle in a few words.
#pragma once

#include <string>
#include <vector>

#include "pickle/pickle.h"

namespace depyf::artifact {

constexpr std::size_t text_max = 1000;  // the maximum size of a name or of a short value in bytes

// Returns the text of a value that is a string. For a value that is not a string, returns an outline, which is the
// value in Python's notation.
std::string short_text(const pickle::Value& value);

// Returns the content of a bytes value. Pickles up to protocol 2 contain bytes as a call of _codecs.encode with a
// text.
std::string bytes_of(const pickle::Value& value);

// Returns a text such as "(self, x, *args, flag=True)" for the pickle of an inspect.Signature.
std::string signature_text(const pickle::Value& signature);

// Returns a note for each global whose value the file stores for transformed code, and one note for all free
// variables whose values the file stores.
std::vector<std::string> kept_values(const pickle::Value& environment);

// True if `name` is the name of a builtin function or class that programs hardly ever use as the name of a global.
bool is_builtin(const std::string& name);

}  // namespace depyf::artifact
