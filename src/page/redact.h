// Removes what belongs to the user alone from the record and the texts of a run: source text, paths, names, strings
// and numbers.
#pragma once

#include <string_view>
#include <vector>

#include "depyf/page.h"

namespace depyf::page {

// The words that belong to no program, separated by spaces.
extern const std::string_view public_words;

struct Redacted {
  record::Run run;
  std::vector<PageTexts> texts;
};

// Returns a copy that keeps operators, shapes, times, statuses and line numbers. A name is kept if it consists of
// public words, numbers and single letters. Any other name becomes name1, name2 and so on, and always the same one.
Redacted redacted(const record::Run& run, const std::vector<PageTexts>& texts);

}  // namespace depyf::page
