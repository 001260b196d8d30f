// The record: what one run of torch.compile did, as plain data, and its JSON form. It needs neither torch nor Python.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace depyf::record {

// Version of the JSON form; a change that readers can see raises it.
inline constexpr int schema_version = 1;

struct Place {
  std::string file;      // empty: unknown
  std::string function;  // as code objects name it
  std::string text;      // the line of source, stripped; empty: unknown
  int line = 0;          // from 1; 0: unknown
};

// The time of all events of one name within one compilation.
struct Phase {
  std::string name;
  double total_us = 0;  // from start to end, in microseconds
  double self_us =
      0;   // the total less that of the events nested in it: the self times of a compilation sum to the whole
  std::uint32_t count = 0;
  bool is_parallel = false;  // ran in worker threads beside the other phases: no part of the sum
};

struct GraphBreak {
  Place place;
  std::string reason;              // the first line
  std::string explanation;
  std::vector<std::string> hints;
  std::vector<Place> stack;        // the user's call stack, the outermost call first
};

// Why a compiled function did not accept a call: the guard that failed in one earlier compilation.
struct FailedGuard {
  std::string compilation;  // id of the earlier compilation; empty: unknown
  std::string guard;        // the condition, as PyTorch words it
  Place place;              // the user's line that made the guard
};

// A kernel that Inductor generated, or a call of a library in its output code.
struct Kernel {
  std::string name;
  std::string kind;                       // "cpp", "triton", "library", or as the output code says
  std::string direction;                  // "forward", "backward", "inference"
  std::vector<std::string> source_nodes;  // names of captured nodes, as the output code's comments list them
  std::uint32_t calls = 0;
};

struct CacheEvent {
  std::string cache;   // "fx_graph", "aotautograd", ...
  std::string result;  // "hit", "miss", "bypass"
  std::string key;
};

struct Symbol {
  std::string name, source, value, range;
  Place place;
};

// One text of the log: a graph, code, guards, or what no other part of the record stands for.
struct Artifact {
  std::string kind;          // the record's own name, such as aot_joint_graph or artifact
  std::string name;          // of an artifact; else empty
  std::size_t offset = 0;  // of the header line in the log, in bytes; after decompression if the log was compressed
  std::size_t size = 0;  // of the payload as the log holds it, in bytes
  std::string fingerprint;  // MD5 of the payload, as the log states it; empty: not stated
  bool is_known = true;  // whether this release of depyf knows the kind
};

enum class Status : std::uint8_t {
  compiled,  // it left code that runs
  failed,  // an exception ended it
  no_code,  // it ended without code: the frame runs as it was written
  unfinished,  // the log ends before it did
};
const char* name_of(Status status);

struct Compilation {
  std::string id;  // "frame/compilation", "!autograd/frame/compilation", or "#n" if the log has no id for it
  bool is_own_id = false;  // whether the id was given by this reader
  int attempts = 1;  // 1 and one more for each restart of the tracing
  Place place;  // function, file and first line
  std::vector<Place> called_from;
  Status status = Status::unfinished;
  std::string failure;  // the exception's type and message
  Place failed_at;
  std::vector<std::string> restart_reasons;
  std::vector<FailedGuard> reasons;  // empty: the first compilation of its function
  std::vector<GraphBreak> breaks;
  std::vector<Kernel> kernels;
  std::vector<CacheEvent> caches;
  std::vector<Symbol> symbols;
  std::vector<Phase> phases;
  std::vector<Artifact> artifacts;
  std::optional<std::int64_t> guards, graph_nodes, graph_operators;
  double start_us = 0;  // since the epoch; 0: unknown
  double seconds = 0;  // forward, as the log states it; the backward's beside it
  double backward_seconds = 0;
};

// A damaged or missing part of a log. Everything around it was read.
struct Problem {
  std::size_t offset = 0;  // in bytes
  std::string message;
};

struct Process {
  std::string log;  // path
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> rank;
  std::string torch_version, python_version;
  std::vector<Compilation> compilations;
  std::vector<Artifact> artifacts;  // those of no compilation
  std::vector<Phase> phases;  // of events outside all compilations
  std::map<std::string, std::uint64_t> records;  // how many of each kind
  std::vector<Problem> problems;
  std::uint64_t unknown_strings = 0;  // references to file names that the log does not hold (a forked child's log)
  bool is_cut = false;  // the last record is not whole
};

struct Run {
  std::vector<Process> processes;
};

// Ranks that compiled the same, and where they part from the others.
struct RankGroup {
  std::vector<std::size_t> processes;  // indices into Run::processes, in ascending order
  std::size_t nearest =
      0;  // index of an earlier group: the one that the group has most in common with; 0 for the first group
  std::string parts_at;  // id of the first compilation that differs from the nearest group's; empty for the first group
  std::string difference;  // what differs there, in words
};

// The groups of processes that compiled the same functions to the same graphs for the same reasons, the largest first.
std::vector<RankGroup> compare_ranks(const Run& run);

// The record as JSON, with "schema_version"; docs/record.md describes it.
std::string to_json(const Run& run);

}  // namespace depyf::record
