// Adds comments to Inductor's output code: each call gets a comment with the line of source that the call comes from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/record.h"
#include "links/seen.h"

namespace depyf::texts {

constexpr std::string_view comment_mark = "#~ ";  // begins each comment of depyf, so that depyf can remove its comments

// Returns the text of a file without the comments that depyf added.
std::string without_comments(std::string_view text);

// Returns output code with comments. Each call gets its place in the source as a comment, and the comment above the
// definition of a kernel has the places of all calls of the kernel. Inductor's own comments are shortened, and no line
// is added or removed. `links` is null if no links are known. The calls of library functions are added to
// `library_calls`.
std::string with_places(std::string_view output_code, const links::DirectionLinks* links,
                        std::vector<record::KernelCall>& library_calls);

record::Place record_place(const SeenLine& line);

}  // namespace depyf::texts
