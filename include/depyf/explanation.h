// Writes the texts of an explanation: what depyf.explain found out about a function, its cache entries and its resume
// functions.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// All functions take an explanation as JSON, with the names of the fields of `Explanation` in
// python/depyf/explanation/model.py. Missing fields are empty.

// Returns the whole explanation, in the order in which the parts run.
std::string explanation_text(std::string_view explanation);

// Returns one line that says what is explained, and how many cache entries there are.
std::string explanation_headline(std::string_view explanation);

// Returns the explanation as HTML with parts that fold. `frame` is the HTML of the page around it.
std::string explanation_html(std::string_view explanation, std::string_view frame);
// Returns one cache entry, an item of `entries`, as HTML in the same frame.
std::string entry_html(std::string_view entry, std::string_view frame);

}  // namespace depyf
