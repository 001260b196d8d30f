// What a process compiled, as facts in which two runs can be compared: no names that PyTorch gives, no addresses, no folders, no
// order of compilations. The facts refer to the record, which has to outlive them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "depyf/record.h"

namespace depyf::diff {

// A line of source. Two runs have the same line if its file and its text are equal, whatever its number is.
struct Line {
  std::string file;  // without the folders that do not tell it from the other files of the run
  std::string text;  // the number of the line if the text is unknown
  auto operator<=>(const Line&) const = default;
};

// A graph break of a function; the compilations that end there are one fact.
struct BreakFact {
  Line line;
  const record::GraphBreak* source = nullptr;
};

// Why a function was compiled again.
struct Cause {
  std::string kind;  // "size", "dtype", "value", "identity", "state", ...
  std::string subject;  // the value whose guard failed, in the user's terms; empty if it is unknown
  std::string text;  // the reason in one line, with the values of this run
  record::Place place;
  const record::Compilation* compilation = nullptr;
  bool is_same_as(const Cause& other) const { return kind == other.kind && subject == other.subject; }
};

// Why a function, or the rest of one, runs as it was written.
struct EagerFact {
  std::string kind;  // "limit", "break" or "error"
  record::Place place;  // of the cause
  const record::Compilation* compilation = nullptr;
};

// An operator of a captured graph at a line.
struct Operator {
  Line line;
  std::string name;  // such as layer_norm
  auto operator<=>(const Operator&) const = default;
};

// Counts of one part of a function (from its start or from a break to its end or the next break). Of several
// compilations of the part each count is that of the largest, so that a recompilation does not add to it.
struct Costs {
  std::map<Operator, std::int64_t> operators;
  std::map<std::string, std::int64_t> library_calls;  // by function of the library
  std::int64_t kernels = 0;
  std::int64_t guards = 0;
  std::int64_t saved_bytes = 0;  // kept for the backward, beyond the inputs
  std::map<Line, std::int64_t> saved_at;
  bool has_unknown_bytes = false;  // sizes that vary
  void keep_larger(const Costs& other);
  void add(const Costs& other);
};

// A function of the user's, with all of its compilations.
struct Function {
  std::string name;  // the qualified name, or the function's own if the record has no other
  std::string file;  // as that of a Line
  record::Place place;
  std::vector<const record::Compilation*> compilations;
  std::vector<BreakFact> breaks;
  std::vector<Cause> recompilations;
  std::vector<EagerFact> eager;
  Costs costs;
  std::set<std::string> types;  // of elements in its captured graphs, such as f32
  std::map<std::string, std::set<std::string>> inputs;  // shapes by input
  std::map<std::string, record::Place> guards;  // conditions, of a dump
  double seconds = 0;
  std::string title() const;
  std::string_view own_name() const;  // without the classes and functions around it
};

// How far the backend goes: eager has the captured graph alone, aot_eager AOTAutograd's graphs, Inductor output code.
enum class Reach : std::uint8_t { captured, autograd, kernels };
const char* name_of(Reach reach);

struct Facts {
  const record::Process* process = nullptr;
  std::vector<Function> functions;  // by file and line
  std::map<Operator, std::int64_t> operators;  // of all functions
  std::map<Line, record::Place> places;  // where each line is
  std::map<Operator, std::set<std::string>> shapes;  // of what the operators compute
  std::set<std::pair<Operator, Operator>> fused;  // pairs that one kernel computes, the lesser one first
  std::optional<Reach> reach;  // nothing if no graph was recorded
  bool is_dump = false;
};

// Returns the facts of a process. Its graphs should have been read and linked; without them the counts are zero.
Facts facts_of(const record::Process& process);

// Returns a line as file, number and, if it is known, its text: model.py:7 `return x * b`. The result is empty if the place is
// unknown.
std::string quoted_line(const record::Place& place);

// Returns the text without addresses and numbers of objects, which differ in every run.
std::string without_addresses(std::string_view text);

// Returns, for each function of `before`, the index of the same function of `after`; -1 if there is none. Qualified names
// decide where both records have them, and otherwise names, lines and order.
std::vector<int> matches_of(const std::vector<Function>& before, const std::vector<Function>& after);

}  // namespace depyf::diff
