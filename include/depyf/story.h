// Writes the story of a function: one file that leads through everything that torch.compile made of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace depyf {

// Functions that read what the story quotes.
struct StorySources {
  // Returns the text of a file of the dump.
  std::function<std::string(const std::string& file)> read;
  // Returns the lines of the user's function, with a mark at the line where a resume function continues.
  std::function<std::vector<std::string>(const std::string& file, int line)> marked;
};

// Returns one Python file that leads from the original function through code, graphs and guards to the end. `sections`
// is a JSON list: the function first, and then the resume functions to which its code leads. Each section is an object
// with these fields:
// - source: the text of the function; empty for a resume function
// - code_name: the name in its code object
// - frames: its compilations, as session.json has them
// - guard_files: for each compilation, the file with its guards as a function; null if they are not known as a list
// - resume_places: by name, the user's lines at which the called resume functions continue
// - own_places: for a resume function, the same by the names under which it is called
std::string full_code(std::string_view sections, const StorySources& sources);

// Returns the class in the file of a graph under another name, or the comments of the file if it has no class. If
// `file` is not empty, layers are folded, and the text names `file` as the place of the whole text.
std::string graph_body(std::string_view text, const std::string& name, std::string_view file);

}  // namespace depyf
