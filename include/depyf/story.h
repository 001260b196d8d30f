// The story of a function: one file that leads through everything that torch.compile made of it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace depyf {

struct StorySources {
  // Returns the text of a file of the dump.
  std::function<std::string(const std::string& file)> read;
  // Returns the lines of the user's function with a mark at the line where a resume function goes on.
  std::function<std::vector<std::string>(const std::string& file, int line)> marked;
};

// One Python file from the original function through code, graphs and guards to the end. `sections` is a JSON list: the
// function, and after it the resume functions that its code leads to, each an object with
// - source: the text of the function; empty for a resume function
// - code_name: the name in its code object
// - frames: its compilations, as session.json has them
// - guard_files: for each of them the file with its guards as a function; null where they are not known as a list
// - resume_places: the user's lines at which the resume functions go on that its compilations call, by name
// - own_places: the same of a resume function itself, by the names that it is called by
std::string full_code(std::string_view sections, const StorySources& sources);

// The class in the file of a graph, under another name; the comments where there is none. `file` is the name of the file where
// the layers in it are to be folded, else empty.
std::string graph_body(std::string_view text, const std::string& name, std::string_view file);

}  // namespace depyf
