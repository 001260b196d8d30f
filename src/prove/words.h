// Describes effects for messages.
#pragma once

#include <string>

#include "prove/effect.h"

namespace depyf {

// Returns a short description of the effect, such as `call: f, x`.
std::string effect_words(const Effect& effect, const Symbols& symbols);

// Returns a description of the effect's result; for a load of a name or attribute, the name alone.
std::string result_words(const Effect& effect, const Symbols& symbols);

}  // namespace depyf
