// Analyses the conditions of guards, which are Python expressions over `L` (the local variables) and `G` (the globals).
// The functions rewrite conditions in the user's terms, derive limits on the next call, and detect guards that other
// guards imply.
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

// `expression` evaluates to a dict. Returns the expression in the user's terms. If the dict is a table of a module,
// such as `_parameters`, returns the expression of the module instead.
std::string owner_in_terms(std::string_view expression);

// A comparison of an expression with a constant.
struct Bound {
  std::string subject;  // the expression, in the user's terms
  std::string sign;  // the comparison operator, with the subject on its left
  std::string constant;  // the constant as an expression
};

// Returns the comparisons with constants that a condition consists of; an empty list if the condition has another form.
// A comparison of sizes with a tuple is split into one comparison for each dimension: the condition `L['x'].size() ==
// (8, 64)` has the comparisons `x.shape[0] == 8` and `x.shape[1] == 64`.
std::vector<Bound> bounds_of(std::string_view condition);

// A guard, as python/depyf/guards/model.py describes it.
struct Guard {
  std::string kind, text, source;
  std::string value;  // the expression for the value that the guard reads; empty if it reads no value
  std::vector<std::string> conditions;  // the conditions that must be true; empty if `is_live` is true
  std::vector<std::string> members;  // the values that the guard compares with each other
  bool is_live = false;  // true if PyTorch's own object checks the guard
  bool is_quiet = true;  // false for guards on the state of the process
  bool has_line = false;  // true if the user's line that caused the guard is known
};

// A symbolic size with the origins of its bounds.
struct SymbolBounds {
  std::vector<std::string> sources;
  std::string lower_from, upper_from;  // PyTorch's texts for the origins of the bounds
};

// A condition on the next call.
struct Limit {
  std::string condition, subject;
  int guard = -1;  // the index of the guard that caused the condition; -1 if its line is unknown
  std::string origin;  // the place in PyTorch that set the condition
};

// Returns the conditions on the next call that the guards of one compilation set: first the conditions that an argument
// can violate, and last the conditions that are rarely violated. `symbols` is std::nullopt if the symbolic sizes were
// not recorded.
std::vector<Limit> frontier(const std::vector<Guard>& guards, const std::optional<std::vector<SymbolBounds>>& symbols);

// A limit of a cache entry, with the reason for the limit.
struct Accepted {
  std::string condition, subject, why;
};

// Returns lines about the calls that the cache entries of a function accept together: for each value that all entries
// fix or bound, one line with the conditions of the entries, joined by "or". `entries_max` is the recompilation limit
// of the function, or std::nullopt if the limit is not to be mentioned.
std::vector<std::string> together(const std::vector<std::vector<Accepted>>& entries, std::optional<int> entries_max);

// Returns a phrase for the change that is not noticed if a value has no guard of the kind `kind`, such as "another
// value will not be noticed".
std::string unnoticed(std::string_view kind);

// A guard that a guard filter (`guard_filter_fn`) dropped.
struct DroppedGuard {
  std::string kind, source;  // the source is empty for the state of the process
};

// Returns sentences about changes that are not noticed because a guard filter dropped guards.
std::vector<std::string> unchecked_after_dropping(const std::vector<DroppedGuard>& dropped);

// Returns sentences about values that no guard mentions: locals and globals that a function reads, and parts of the
// process state.
std::vector<std::string> unchecked_values(const std::vector<Guard>& guards, const std::vector<std::string>& locals,
                                          const std::vector<std::string>& globals);

// A guard that the remaining guards of its compilation imply.
struct Redundant {
  int position = 0;  // the index of the guard
  std::vector<std::string> implied_by;
};

// Returns the redundant guards in the order of `guards`, each with the conditions that imply it. `identity_of_none`
// is the number that `id(None)` returns in the process that has the guards.
//
// The rules for implied guards compare conditions only, and are valid for every input. A guard is redundant only if no
// input exists that the guard rejects and that all remaining guards accept. A guard that an object of PyTorch checks,
// or that checks the state of the process, neither implies another guard nor is implied by another guard. All redundant
// guards can be left out together, because the conditions of a redundant guard are never used to show that another
// guard is redundant.
std::vector<Redundant> redundant(const std::vector<Guard>& guards, std::int64_t identity_of_none);

}  // namespace depyf::conditions
