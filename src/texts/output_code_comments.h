// Comments in Inductor's output code: at each call the line of source that it comes from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"
#include "links/seen.h"

namespace depyf::texts {

constexpr std::string_view comment_mark = "#~ ";  // begins each comment, so that a text without them can be had

// The text of a file without comments of depyf's.
std::string without_comments(std::string_view text);

// Output code with a place at each call, and above each definition of a kernel that of its first call. Inductor's own
// comments are shortened. No line moves. `links` is null if there are none; `library_calls` gets the calls of libraries.
std::string with_places(std::string_view output_code, const links::DirectionLinks* links,
                        std::vector<record::KernelCall>& library_calls);

record::Place record_place(const links::SeenLine& line);

}  // namespace depyf::texts
