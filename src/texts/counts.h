// Counts the functions, compilations and graph breaks of a process, for index.md, the summary and the page.
#pragma once

#include <string>
#include <vector>

#include "depyf/record.h"

namespace depyf::texts {

double seconds_of(const record::Compilation& compilation);
bool is_compiled(const record::Compilation& compilation);
// True if a compilation serves no call of the program, such as a compilation ahead of time: the compilation has no code
// and no error, but has a note that states its purpose.
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

// Returns the graph breaks of a process without duplicates, in the order in which they occurred.
std::vector<DistinctBreak> distinct_breaks(const record::Process& process);

struct Counts {
  std::size_t functions = 0;  // the number of the user's functions; a resume function is a part of its function
  std::size_t eager = 0;  // the number of functions of which a part, or a call, runs without compiled code
  std::size_t compilations = 0, not_compiled = 0, again = 0, breaks = 0;
  double seconds = 0;
};

Counts counts_of(const record::Process& process);
// Returns the counts over all processes of a run. A function or break that several processes have is counted once.
Counts counts_of(const record::Run& run);

// Returns one line with the reason for compiling a function again; an empty text for its first compilation.
std::string why_again(const record::Compilation& compilation);

}  // namespace depyf::texts
