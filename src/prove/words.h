// Describes effects for messages.
#pragma once

#include <string>

#include "prove/effect.h"

namespace depyf {

// Returns a short description of the effect, such as `call: f, x`.
std::string effect_words(const Effect& effect, const Symbols& symbols);

// Returns a description of the effect's result. For a load of a name or attribute it is that name alone.
std::string result_words(const Effect& effect, const Symbols& symbols);

}  // namespace depyf
