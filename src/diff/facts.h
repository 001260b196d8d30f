// Describes the compilations of a process as facts by which two runs can be compared. The facts contain no names that
// PyTorch chooses, no addresses, no folders, and no order of compilations. The facts refer to the record, which has to
// outlive them.
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

// A line of source. Lines of two runs are equal if their files and their texts are equal, even if their numbers
// differ.
struct Line {
  std::string file;  // the end of the path that distinguishes the file from other files of the run
  std::string text;  // the text of the line, or its number if the text is unknown
  auto operator<=>(const Line&) const = default;
};

// A graph break of a function, which is one fact for all compilations that end at the break.
struct BreakFact {
  Line line;
  const record::GraphBreak* source = nullptr;
};

// The reason why a function was compiled again.
struct Cause {
  std::string kind;  // "size", "dtype", "value", "identity", "state", ...
  std::string subject;  // the user's expression for the value whose guard failed; empty if unknown
  std::string text;  // the reason in one line, with values of the run
  record::Place place;
  const record::Compilation* compilation = nullptr;
  bool is_same_as(const Cause& other) const { return kind == other.kind && subject == other.subject; }
};

// The reason why a function, or the rest of a function behind a graph break, runs eagerly.
struct EagerFact {
  std::string kind;  // "limit", "break" or "error"
  record::Place place;  // the place of the cause
  const record::Compilation* compilation = nullptr;
};

// An operator of a captured graph at a line of source.
struct Operator {
  Line line;
  std::string name;  // the name of the operator, such as layer_norm
  auto operator<=>(const Operator&) const = default;
};

// The costs of one part of a function, which extends from the start of the function or a graph break to the next graph
// break or the end of the function. If a part of a function was compiled several times, each cost is the largest cost
// among these compilations, so that a recompilation does not change the cost.
struct Costs {
  std::map<Operator, std::int64_t> operators;
  std::map<std::string, std::int64_t> library_calls;  // maps a function of a library to the number of its calls
  std::int64_t kernels = 0;
  std::int64_t guards = 0;
  std::int64_t saved_bytes = 0;  // the bytes of values that are kept for the backward, without the inputs
  std::map<Line, std::int64_t> saved_at;
  bool has_unknown_bytes = false;  // true if some values that are kept for the backward have varying sizes
  void keep_larger(const Costs& other);
  void add(const Costs& other);
  // True if a backend that generates no kernels compiled the operators.
  bool has_operators_alone() const { return !operators.empty() && !kernels && library_calls.empty(); }
};

// A function of the user's program, with all of its compilations.
struct Function {
  std::string name;  // the qualified name; the plain name if the record lacks the qualified name
  std::string file;  // the end of the path, as in Line::file
  record::Place place;
  std::vector<const record::Compilation*> compilations;
  std::vector<BreakFact> breaks;
  std::vector<Cause> recompilations;
  std::vector<EagerFact> eager;
  Costs costs;
  // The pairs of operators that a single kernel computes. The first operator of a pair is the smaller one in the order
  // of operators (`operator<`).
  std::set<std::pair<Operator, Operator>> fused;
  // False if some output code has no links from kernels to operators, as may be the case for code from a cache.
  bool knows_fused = true;
  std::set<std::string> types;  // the element types in the function's captured graphs, such as f32
  std::map<std::string, std::set<std::string>> inputs;  // maps the name of an input to its shapes
  std::map<std::string, record::Place> guards;  // maps a guard's condition to its place; only a dump has guards
  double seconds = 0;
  std::string title() const;
  std::string_view own_name() const;  // Returns the name without enclosing classes and functions.
};

// The last form into which a backend translates a program. The backend `eager` has only the captured graph,
// `aot_eager` has the graphs of AOTAutograd too, and Inductor has output code too.
enum class Reach : std::uint8_t { captured, autograd, kernels };
const char* name_of(Reach reach);

struct Facts {
  const record::Process* process = nullptr;
  std::vector<Function> functions;  // sorted by file and line
  std::map<Operator, std::int64_t> operators;  // maps each operator to its count in all functions
  std::map<Line, record::Place> places;  // the place of each line
  std::map<Operator, std::set<std::string>> shapes;  // the shapes of the results of each operator
  std::optional<Reach> reach;  // std::nullopt if no graph was recorded
  bool is_dump = false;
};

// Returns the facts of a process. The caller has to read and link the graphs of the process first; if the graphs were
// not read, the facts have no operators, no fusions and no saved bytes.
Facts facts_of(const record::Process& process);

// Returns the file and the number of a line and, if it is known, the line's text, as in model.py:7 `return x * b`.
// The result is an empty text if the place is unknown.
std::string quoted_line(const record::Place& place);

// Returns the number of guards that a condition of a dump stands for: 1, or the number that the condition states, as in
// "modules have the same classes (17 guards)".
std::int64_t guards_in(const record::Limit& limit);

// Returns the text with `#` in place of the addresses and ids of objects, because these differ in every run.
std::string without_addresses(std::string_view text);

// Returns, for each function of `before`, the index of the same function in `after`; -1 if `after` lacks the
// function. Functions are matched by their qualified names if both records have them, or else by plain name, line and
// order.
std::vector<int> matches_of(const std::vector<Function>& before, const std::vector<Function>& after);

}  // namespace depyf::diff
