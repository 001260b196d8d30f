// The record and the texts of a run without what belongs to the user alone: source text, paths, names, strings and numbers.
#pragma once

#include <string_view>
#include <vector>

#include "depyf/page.h"

namespace depyf::page {

// Words that no program owns, with a space between two of them.
extern const std::string_view public_words;

struct Redacted {
  record::Run run;
  std::vector<PageTexts> texts;
};

// Returns a copy that keeps structure: operators, shapes, times, statuses, numbers of lines. A name is kept if it consists of
// public words, numbers and single letters; another name becomes name1, name2, ..., always the same one.
Redacted redacted(const record::Run& run, const std::vector<PageTexts>& texts);

}  // namespace depyf::page
