// Phrases that the text of an artifact and the comparison share.
#pragma once

#include <string>
#include <string_view>

#include "depyf/artifact.h"

namespace depyf::artifact {

std::string_view match_words(Source::Match match);

// Returns a phrase such as "transformed code (model.py:12), proved".
std::string function_headline(const Function& function);

}  // namespace depyf::artifact
