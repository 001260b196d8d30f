// The texts of an explanation: what depyf.explain found of a function, its cache entries and its resume functions.
#pragma once

#include <string>
#include <string_view>

namespace depyf {

// Each takes an explanation as JSON: the fields of `Explanation` in python/depyf/explanation/model.py by their names. What is
// missing in it is empty.

// The whole story, in the order in which it runs.
std::string explanation_text(std::string_view explanation);

// One line that says what is explained and how many entries there are.
std::string explanation_headline(std::string_view explanation);

// The story in HTML that folds, behind a `frame` of HTML with the page.
std::string explanation_html(std::string_view explanation, std::string_view frame);
// The same for one cache entry, an item of `entries`.
std::string entry_html(std::string_view entry, std::string_view frame);

}  // namespace depyf
