// Removes the user's own source text, paths, names, strings and numbers from the record and the texts of a run.
#pragma once

#include <string_view>
#include <vector>

#include "depyf/page.h"

namespace depyf::page {

// The words that reveal nothing about a user's program, separated by spaces.
extern const std::string_view public_words;

struct Redacted {
  record::Run run;
  std::vector<PageTexts> texts;
};

// Returns a copy of the run and its texts that keeps operators, shapes, times, statuses and line numbers. Parts of
// names that are public words, numbers or single letters are kept. A part of a name that is neither a public word, a
// number nor a single letter becomes name1, name2 and so on; equal parts become the same name.
Redacted redacted(const record::Run& run, const std::vector<PageTexts>& texts);

}  // namespace depyf::page
