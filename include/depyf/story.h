// Writes the story of a function: one Python file with the function and everything that torch.compile generated from
// it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace depyf {

// Functions that read the files that the story quotes.
struct StorySources {
  // Returns the text of a file of the dump.
  std::function<std::string(const std::string& file)> read;
  // Returns the lines of the user's function, with a comment at the line `line` of `file`, where a resume function
  // continues.
  std::function<std::vector<std::string>(const std::string& file, int line)> marked;
};

// Returns one Python file with the original function, and with the code, graphs and guards that torch.compile
// generated. `sections` is a JSON list: the function first, and then the resume functions to which its code leads. Each
// section is an object with the following fields.
// - source: the text of the function; empty for a resume function.
// - code_name: the name of the function in its code object.
// - frames: the compilations of the function, in the format of session.json.
// - guard_files: for each compilation, the file with its guards as a function; null if the list of guards is unknown.
// - resume_places: maps the name of each called resume function to the user's line at which it continues.
// - own_places: for a resume function, maps each of its names to the user's line at which the function continues.
std::string full_code(std::string_view sections, const StorySources& sources);

// Returns the class in the text of a graph's file, renamed to `name`, or the comments of the text if it has no class.
// If `file` is not empty, repeated layers are shown only once, and the result refers to `file` for the whole text.
std::string graph_body(std::string_view text, const std::string& name, std::string_view file);

}  // namespace depyf
