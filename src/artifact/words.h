// Phrases and helpers that the files of src/artifact share.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "depyf/artifact.h"

namespace depyf::artifact {

std::string_view match_words(Source::Match match);

// True if `names` contains `name`.
template <class Names>
bool is_among(std::string_view name, const Names& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Returns a phrase such as "transformed code (model.py:12), proved".
std::string function_headline(const Function& function);

}  // namespace depyf::artifact
