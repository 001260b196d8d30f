// The contract of a program: what torch.compile has to make of it, as a small file that people commit. A contract is
// written from a run, and later runs are checked against it.
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

// The version of the file's form, which docs/contract.schema.json describes.
inline constexpr std::int64_t schema_version = 1;

// A graph break that is allowed: its line, as text, and PyTorch's reason.
struct Break {
  std::string line, reason;
};

// A recompilation that is allowed. Its kind is "size", "dtype", "value" and so on; its subject is the value whose guard
// fails, as an expression of the user's.
struct Recompilation {
  std::string kind, subject;
};

// What a function has to keep. A section that is missing is not checked.
struct Function {
  std::string name, file;
  std::optional<std::vector<Break>> breaks;
  std::optional<std::vector<Recompilation>> recompilations;
  std::optional<std::vector<std::string>> eager;  // "limit", "break" or "error", for a function that may run eagerly
  // Upper bounds.
  std::optional<std::int64_t> kernels, saved_bytes, guards;
  std::optional<std::vector<std::pair<std::string, std::int64_t>>> library_calls;  // function of a library -> calls
};

struct Contract {
  std::string made_with;  // the versions of PyTorch and Python, for readers
  std::string backend;    // how far the backend goes: the name of a diff::Reach; empty if it is not checked
  bool is_of_dump = true;  // guards are counted differently in dumps and in logs
  std::vector<Function> functions;
  // What a function that is not listed has to keep.
  Function others{{}, {}, std::vector<Break>(), std::vector<Recompilation>(), std::vector<std::string>(), {}, {},
                  {}, {}};
  // "model.py: y = h * 2" -> "mul f32[4, 8]"
  std::optional<std::vector<std::pair<std::string, std::string>>> operators;
  std::optional<double> seconds;        // what all compilations took
  std::optional<double> seconds_ratio;  // the largest allowed multiple of that
  // Upper bounds on all functions together, which no file states.
  std::optional<std::int64_t> recompilations, kernels;
};

// The sections that a contract can leave out.
inline constexpr std::string_view sections[] = {
    "breaks", "recompilations", "eager", "kernels", "library_calls", "saved_bytes", "guards", "operators", "backend"};

// Returns the contract that a run keeps, without the named sections. With several processes, each bound is the largest
// among them. `seconds_ratio` adds a bound on the seconds of all compilations.
Contract contract_of(const record::Run& run, const std::vector<std::string>& without,
                     std::optional<double> seconds_ratio);

// Returns the contract as JSON, with a line for each fact.
std::string to_json(const Contract& contract);

// Returns the contract in a file; or a message that names the member that is wrong.
std::variant<Contract, std::string> from_json(std::string_view text);

// The result of a check.
struct Verdict {
  std::vector<diff::Change> broken;   // what breaks the contract, that which matters most first
  std::vector<std::string> better;    // what the run does better, in sentences
  std::vector<std::string> unchecked;  // what could not be checked, in sentences
  std::size_t functions = 0;          // functions that were checked
};

// Checks each process of a run.
Verdict check(const Contract& contract, const record::Run& run);

// Returns the verdict in sentences, or as JSON. `name` is what the contract is called.
std::string to_text(const Verdict& verdict, const std::string& name);
std::string to_json(const Verdict& verdict, const std::string& name);

}  // namespace depyf::contract
