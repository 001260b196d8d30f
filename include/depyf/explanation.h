// Writes the texts of an explanation, in which depyf.explain describes a function, its cache entries and its resume
// functions.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// All functions take an explanation as JSON, with the names of the fields of `Explanation` in
// python/depyf/explanation/model.py. A field that the JSON lacks counts as empty.

// Returns the whole explanation as text, with the code in the order in which it runs.
std::string explanation_text(std::string_view explanation);

// Returns one line with the explained function and the number of its cache entries.
std::string explanation_headline(std::string_view explanation);

// Returns the explanation as HTML with collapsible parts. `frame` is the HTML of the page around the explanation.
std::string explanation_html(std::string_view explanation, std::string_view frame);
// Returns one cache entry, which is an item of the field `entries`, as HTML. `frame` is the HTML of the page around the
// entry.
std::string entry_html(std::string_view entry, std::string_view frame);

}  // namespace depyf
