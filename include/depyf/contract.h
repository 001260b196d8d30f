// The contract of a program: a small file, meant to be committed, that states which graph breaks, recompilations and
// costs torch.compile may cause. A contract is written from one run, and later runs are checked against it.
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

// The bounds that a function has to keep. A section without a value is not checked.
struct Function {
  std::string name, file;
  std::optional<std::vector<Break>> breaks;
  std::optional<std::vector<Recompilation>> recompilations;
  std::optional<std::vector<std::string>> eager;  // "limit", "break" or "error", for a function that may run eagerly
  // Upper bounds.
  std::optional<std::int64_t> kernels, saved_bytes, guards;
  std::optional<std::vector<std::pair<std::string, std::int64_t>>> library_calls;  // library function -> max. calls
};

struct Contract {
  std::string made_with;  // the versions of PyTorch and Python, for readers
  std::string backend;    // the last stage that the backend produces: a name of diff::Reach; empty if not checked
  bool is_of_dump = true;  // whether the run was a dump, in which guards are counted differently than in a log
  std::vector<Function> functions;
  // The bounds for each function that is not listed in `functions`.
  Function others{{}, {}, std::vector<Break>(), std::vector<Recompilation>(), std::vector<std::string>(), {}, {},
                  {}, {}};
  // "model.py: y = h * 2" -> "mul f32[4, 8]"
  std::optional<std::vector<std::pair<std::string, std::string>>> operators;
  std::optional<double> seconds;        // the seconds that all compilations took in the run of the contract
  std::optional<double> seconds_ratio;  // the largest allowed multiple of `seconds`
  // Upper bounds on the sums over all functions, which options of `depyf check` set instead of a contract file.
  std::optional<std::int64_t> recompilations, kernels;
};

// The sections that a contract can leave out.
inline constexpr std::string_view sections[] = {
    "breaks", "recompilations", "eager", "kernels", "library_calls", "saved_bytes", "guards", "operators", "backend"};

// Returns the tightest contract that a run keeps, without the sections in `without`. If the run has several processes,
// each bound is the largest value among them. `seconds_ratio` adds a bound on the seconds of all compilations.
Contract contract_of(const record::Run& run, const std::vector<std::string>& without,
                     std::optional<double> seconds_ratio);

// Returns the contract as JSON, with a line for each fact.
std::string to_json(const Contract& contract);

// Parses the text of a contract file; returns a message that names the invalid member if there is one.
std::variant<Contract, std::string> from_json(std::string_view text);

// The result of checking a run against a contract.
struct Verdict {
  std::vector<diff::Change> broken;   // the violations of the contract, the most important first
  std::vector<std::string> better;    // sentences about improvements over the contract
  std::vector<std::string> unchecked;  // sentences about bounds that could not be checked
  std::size_t functions = 0;          // the number of functions that were checked
};

// Checks each process of a run against the contract.
Verdict check(const Contract& contract, const record::Run& run);

// Return the verdict as English sentences, or as JSON. `name` is the name of the contract in the output.
std::string to_text(const Verdict& verdict, const std::string& name);
std::string to_json(const Verdict& verdict, const std::string& name);

}  // namespace depyf::contract
