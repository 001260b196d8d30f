// Describes values of a pickle in a few words.
#pragma once

#include <string>
#include <vector>

#include "pickle/pickle.h"

namespace depyf::artifact {

constexpr std::size_t text_max = 1000;  // bytes of a name or of a short value

// Returns a string unchanged, and an outline of any other value.
std::string short_text(const pickle::Value& value);

// Returns the bytes of a value. Pickles up to protocol 2 have them as a text that is to be encoded.
std::string bytes_of(const pickle::Value& value);

// Returns a text such as "(self, x, *args, flag=True)" for the pickle of an inspect.Signature.
std::string signature_text(const pickle::Value& signature);

// Returns a sentence for each global and free variable that the file stores for transformed code.
std::vector<std::string> kept_values(const pickle::Value& environment);

// True if programs hardly ever use the name for a global of their own.
bool is_builtin(const std::string& name);

}  // namespace depyf::artifact
