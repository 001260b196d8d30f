// Counts the functions, compilations and graph breaks of a process, for index.md, the summary and the page.
#pragma once

#include <string>
#include <vector>

#include "depyf/record.h"

namespace depyf::texts {

double seconds_of(const record::Compilation& compilation);
bool is_compiled(const record::Compilation& compilation);
// True if a compilation serves no call of the program: it made no code, has a note that states its purpose, and did not
// fail.
bool is_ahead(const record::Compilation& compilation);
bool is_again(const record::Compilation& compilation);
// True if the function runs eagerly because of an error, a graph break or a limit.
bool is_refused(const record::Compilation& compilation);

// A graph break, with the compilations that end at it.
struct DistinctBreak {
  const record::GraphBreak* graph_break = nullptr;
  std::vector<const record::Compilation*> compilations;
  double seconds = 0;
};

// Returns the breaks of a process, each once, in the order in which they occurred.
std::vector<DistinctBreak> distinct_breaks(const record::Process& process);

struct Counts {
  std::size_t functions = 0;  // functions of the user; a resume function is a part of the function that it resumes
  std::size_t eager = 0;  // functions that do not run compiled, or not in all parts, or not for every call
  std::size_t compilations = 0, not_compiled = 0, again = 0, breaks = 0;
  double seconds = 0;
};

Counts counts_of(const record::Process& process);
// Returns the counts over all processes of a run. A function or break that several processes have is counted once.
Counts counts_of(const record::Run& run);

// Returns in one line why a function was compiled again; an empty text if the compilation is the first of its function.
std::string why_again(const record::Compilation& compilation);

}  // namespace depyf::texts
