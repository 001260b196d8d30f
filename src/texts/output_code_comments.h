// Adds comments to Inductor's output code: at each call, the line of source that it comes from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"
#include "links/seen.h"

namespace depyf::texts {

constexpr std::string_view comment_mark = "#~ ";  // begins each comment of depyf, so that the comments can be removed

// Returns the text of a file without the comments that depyf added.
std::string without_comments(std::string_view text);

// Returns output code with comments: at each call its source place, and above the definition of each kernel the places
// of its calls. Inductor's own comments are shortened, and no line is added or removed. `links` is null if no links are
// known. The calls of libraries are added to `library_calls`.
std::string with_places(std::string_view output_code, const links::DirectionLinks* links,
                        std::vector<record::KernelCall>& library_calls);

record::Place record_place(const SeenLine& line);

}  // namespace depyf::texts
