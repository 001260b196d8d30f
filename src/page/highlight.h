// Finds the parts of code that the page colours: comments, strings, numbers and keywords.
#pragma once

#include <string>
#include <string_view>

namespace depyf::page {

// Returns a row for each row of the text, with its coloured spans from left to right. A span is written as a letter and
// two numbers with a point between them: c4.12 is a comment of 12 characters behind 4 characters without a colour. The
// letter is c for a comment, s for a string, S for a string that began in an earlier row, n for a number, and w for a
// keyword. The first number is the number of characters since the previous span or the start of the row, and the second
// number is the number of characters in the span. If a string fills a whole row, its span consists of the letter alone.
// Characters are counted in UTF-16, as in JavaScript.
//
// The text is Python. A string in triple quotes after a call of a function of `async_compile` is the source of a
// kernel. The source is C++ if the name of the function begins with `cpp`, and Python if it does not.
std::string highlights(std::string_view text);

}  // namespace depyf::page
