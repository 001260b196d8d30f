// The contract of a program: a small file, meant to be committed, that states which graph breaks, recompilations and
// costs torch.compile may cause. A contract is written from one run, and later runs are checked against the contract.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "depyf/diff.h"
#include "depyf/record.h"

namespace depyf::contract {

// The version of the format of contract files, which docs/contract.schema.json describes.
inline constexpr std::int64_t schema_version = 1;

// A graph break that is allowed: the text of its line, and PyTorch's reason.
struct Break {
  std::string line, reason;
};

// A recompilation that is allowed: `kind` is "size", "dtype", "value" and so on; `subject` is the value whose guard
// fails, as an expression in the user's code.
struct Recompilation {
  std::string kind, subject;
};

// The bounds that a function has to keep. A bound without a value is not checked.
struct Function {
  std::string name, file;
  std::optional<std::vector<Break>> breaks;
  std::optional<std::vector<Recompilation>> recompilations;
  std::optional<std::vector<std::string>> eager;  // "limit", "break" or "error", for a function that may run eagerly
  // Upper bounds on the numbers of kernels, of bytes that are saved for the backward, and of guards.
  std::optional<std::int64_t> kernels, saved_bytes, guards;
  // Pairs of a library function, and the upper bound on the number of its calls.
  std::optional<std::vector<std::pair<std::string, std::int64_t>>> library_calls;
};

struct Contract {
  std::string made_with;  // the versions of PyTorch and Python, for readers
  std::string backend;    // the last stage that the backend produces (a name in diff::Reach); empty if not checked
  bool is_of_dump = true;  // true if the run was a dump, in which guards are counted differently than in a log
  std::vector<Function> functions;
  // The bounds for each function that is not listed in `functions`.
  Function others{{}, {}, std::vector<Break>(), std::vector<Recompilation>(), std::vector<std::string>(), {}, {},
                  {}, {}};
  // Pairs of a line of source, such as "model.py: y = h * 2", and the operators that the line adds to graphs, such as
  // "mul f32[4, 8]".
  std::optional<std::vector<std::pair<std::string, std::string>>> operators;
  std::optional<double> seconds;        // the seconds that all compilations took in the run of the contract
  std::optional<double> seconds_ratio;  // the largest allowed multiple of `seconds`
  // Upper bounds on the sums over all functions, which options of `depyf check` set instead of a contract file.
  std::optional<std::int64_t> recompilations, kernels;
};

// The sections that a contract can leave out.
inline constexpr std::string_view sections[] = {
    "breaks", "recompilations", "eager", "kernels", "library_calls", "saved_bytes", "guards", "operators", "backend"};

// Returns the tightest contract that a run does not break, without the sections in `without`. If the run has several
// processes, each bound is the largest value among them. If `seconds_ratio` is given, the contract allows all
// compilations of a later run together to take at most `seconds_ratio` times the seconds that the compilations of `run`
// took.
Contract contract_of(const record::Run& run, const std::vector<std::string>& without,
                     std::optional<double> seconds_ratio);

// Returns the contract as JSON, with a line for each fact.
std::string to_json(const Contract& contract);

// Parses the text of a contract file; returns a message that names the first invalid member if the text is not a
// contract.
std::variant<Contract, std::string> from_json(std::string_view text);

// The result of checking a run against a contract.
struct Verdict {
  std::vector<diff::Change> broken;   // the violations of the contract, the most important first
  std::vector<std::string> better;    // sentences, each about an improvement over the contract
  std::vector<std::string> unchecked;  // sentences, each about a bound that could not be checked
  std::size_t functions = 0;          // the number of functions that were checked
};

// Checks each process of a run against the contract.
Verdict check(const Contract& contract, const record::Run& run);

// Return the verdict as English sentences, or as JSON. `name` is the name of the contract in the output.
std::string to_text(const Verdict& verdict, const std::string& name);
std::string to_json(const Verdict& verdict, const std::string& name);

}  // namespace depyf::contract
