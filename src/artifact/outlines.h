// Values of a pickle in few words.
#pragma once

#include <string>
#include <vector>

#include "pickle/pickle.h"

namespace depyf::artifact {

constexpr std::size_t text_max = 1000;  // bytes of a name or a short value

// A string as it is, anything else in outline.
std::string short_text(const pickle::Value& value);

// The bytes of a value, which pickles to protocol 2 have as a text that is encoded.
std::string bytes_of(const pickle::Value& value);

// "(self, x, *args, flag=True)", from the pickle of an inspect.Signature.
std::string signature_text(const pickle::Value& signature);

// The globals and free variables that transformed code has from the file, a sentence each.
std::vector<std::string> kept_values(const pickle::Value& environment);

// True if programs hardly ever give the name to a global of their own.
bool is_builtin(const std::string& name);

}  // namespace depyf::artifact
