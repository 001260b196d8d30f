// Conditions of guards, which are expressions of Python over `L` (the local variables) and `G` (the globals): in the
// user's terms, as limits on the next call, and those that follow from others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace depyf::conditions {

// Returns an expression in the user's terms: `x.shape[0]` for `L['x'].size()[0]`, `self.b1` for
// `L['self'].__dict__['_modules']['b1']`. A text that is not an expression stays as it is.
std::string in_terms(std::string_view expression);

// Returns an expression for a dict in the user's terms; for a table of a module, the module.
std::string owner_in_terms(std::string_view expression);

// A comparison of an expression with a constant.
struct Bound {
  std::string subject;   // the expression, in the user's terms
  std::string sign;      // the operator, if the subject is on the left
  std::string constant;  // as an expression
};

// Returns the comparisons with constants that a condition consists of; an empty list for any other condition. A
// comparison of sizes with a tuple gives a comparison for each dimension:
//
//     L['x'].size() == (8, 64)    x.shape[0] == 8, x.shape[1] == 64
std::vector<Bound> bounds_of(std::string_view condition);

// A guard, as python/depyf/guards/model.py describes it.
struct Guard {
  std::string kind, text, source;
  std::string value;                    // the expression for the value that it reads; empty if there is none
  std::vector<std::string> conditions;  // what must hold; empty if PyTorch's own object decides
  std::vector<std::string> members;     // the values that it relates
  bool is_live = false;                 // true if PyTorch's own object decides
  bool is_quiet = true;                 // false for guards on the state of the process
  bool has_line = false;                // true if the user's line that needs it is known
};

// A symbolic size with the origins of its bounds.
struct SymbolBounds {
  std::vector<std::string> sources;
  std::string lower_from, upper_from;  // as PyTorch names the places
};

// A condition on the next call.
struct Limit {
  std::string condition, subject;
  int guard = -1;      // the index of the guard whose line needs it; -1 if there is none
  std::string origin;  // the place in PyTorch that set it
};

// Returns the limits of one compilation: first those that an argument can cross, and last those that are rarely
// crossed. `symbols` is nothing if the symbolic sizes were not recorded.
std::vector<Limit> frontier(const std::vector<Guard>& guards, const std::optional<std::vector<SymbolBounds>>& symbols);

// A limit of an entry, with what needs it.
struct Accepted {
  std::string condition, subject, why;
};

// Returns what the entries of a function accept together, as a line for each value that they fix or bound.
// `entries_max` is the recompilation limit of the function; nothing if it is not to be mentioned.
std::vector<std::string> together(const std::vector<std::vector<Accepted>>& entries, std::optional<int> entries_max);

// Returns what is not noticed without a guard of a kind, such as "another value will not be noticed".
std::string unnoticed(std::string_view kind);

// A guard that a filter dropped.
struct DroppedGuard {
  std::string kind, source;  // the source is empty for the state of the process
};

// Returns sentences about changes that are not noticed because a filter dropped guards.
std::vector<std::string> unchecked_after_dropping(const std::vector<DroppedGuard>& dropped);

// Returns sentences about the locals and globals that a function reads, and the state of the process, for those that no
// guard mentions.
std::vector<std::string> unchecked_values(const std::vector<Guard>& guards, const std::vector<std::string>& locals,
                                          const std::vector<std::string>& globals);

// A guard that the remaining guards of its compilation imply.
struct Redundant {
  int position = 0;  // the index of the guard
  std::vector<std::string> implied_by;
};

// Returns the guards that others imply, in their order, each with the conditions that imply it. `identity_of_none` is
// the number that `id(None)` returns in the process whose guards these are.
//
// The rules compare conditions only, so they hold for every input: a guard is redundant only if no input exists that it
// refuses and that all remaining guards accept. Guards that PyTorch's own objects check neither imply others nor are
// implied. All redundant guards can be left out together, because a redundant guard is no longer used as a premise.
std::vector<Redundant> redundant(const std::vector<Guard>& guards, std::int64_t identity_of_none);

}  // namespace depyf::conditions
