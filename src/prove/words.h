// Effects in words, for people.
#pragma once

#include <string>

#include "prove/effect.h"

namespace depyf {

std::string effect_words(const Effect& effect, const Symbols& symbols);

// Of what the effect gives; of a name or attribute: the name alone.
std::string result_words(const Effect& effect, const Symbols& symbols);

}  // namespace depyf
