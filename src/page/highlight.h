// Finds the comments, strings, numbers and keywords in a text of code, which the page colours.
#pragma once

#include <string>
#include <string_view>

namespace depyf::page {

// Returns a row for each row of the text, with its coloured spans from left to right. A span is a letter (c: comment,
// s: string, S: string that began in a row before, n: number, w: keyword), the number of characters since the span
// before it or since the start of the row, a point, and the number of its own characters; the point and both numbers
// are omitted for a string that is the whole row. Characters are counted in UTF-16, as JavaScript does.
//
// The text is Python in which source in triple quotes after `async_compile.` is a kernel: C++ after
// `async_compile.cpp`, else Python.
std::string highlights(std::string_view text);

}  // namespace depyf::page
