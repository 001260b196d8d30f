// Describes values of a pickle in a few words.
#pragma once

#include <string>
#include <vector>

#include "pickle/pickle.h"

namespace depyf::artifact {

constexpr std::size_t text_max = 1000;  // the maximum size of a name or of a short value in bytes

// Returns the text of a string value, and an outline of a value of any other kind.
std::string short_text(const pickle::Value& value);

// Returns the content of a bytes value, which pickles up to protocol 2 contain as a text and a call of _codecs.encode.
std::string bytes_of(const pickle::Value& value);

// Returns a text such as "(self, x, *args, flag=True)" for the pickle of an inspect.Signature.
std::string signature_text(const pickle::Value& signature);

// Returns a note for each global, and one for the free variables, whose values the file stores for transformed code.
std::vector<std::string> kept_values(const pickle::Value& environment);

// True if `name` is that of a builtin function or class which programs hardly ever use for their own globals.
bool is_builtin(const std::string& name);

}  // namespace depyf::artifact
