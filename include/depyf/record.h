// Defines the record: what one run of torch.compile did, as plain data, and its JSON form. The record needs neither
// torch nor Python. It is one file, because its structs form one tree, which the JSON has as well.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace depyf::record {

// The version of the JSON form. A change that readers of the JSON can notice raises it. Version 1 had only some of the
// members; from_json() reads it, too.
inline constexpr int schema_version = 2;
inline constexpr int oldest_schema_version = 1;

// A line of source.
struct Place {
  std::string file;      // empty: unknown
  std::string function;  // as code objects name it
  std::string text;      // the line of source, stripped; empty: unknown
  int line = 0;          // from 1; 0: unknown
};

// The time of all events with one name within one compilation.
struct Phase {
  std::string name;
  double total_us = 0;  // from start to end, in microseconds
  // The total without the time of nested events. The self times of a compilation add up to its whole time.
  double self_us = 0;
  std::uint32_t count = 0;
  bool is_parallel = false;  // true if it ran in worker threads beside the other phases, outside of the sum
};

// One event of a phase, for the timeline.
struct Event {
  std::string name;
  double start_us = 0, duration_us = 0;  // microseconds since the epoch, and microseconds from start to end
  int compilation = -1;                  // index into Process::compilations; -1 if it belongs to none
  bool is_parallel = false;              // true if it ran in a worker thread
};

// A place where Dynamo ended a graph because it could not go on.
struct GraphBreak {
  Place place;
  std::string reason;  // the first line of PyTorch's report
  std::string explanation;
  std::vector<std::string> hints;
  std::vector<Place> stack;  // the user's call stack, the outermost call first
  Place inside;              // the line of PyTorch's own code at which the graph ends, if `place` only led there
  std::string link;          // PyTorch's page about this kind of graph break
  std::string then;          // why Dynamo could not compile even the code before it; empty if it could
};

// The reason why a compiled function did not accept a call: the guard that failed in one earlier compilation.
struct FailedGuard {
  std::string compilation;  // the id of the earlier compilation; empty if it is unknown
  std::string guard;        // the condition in PyTorch's words
  Place place;              // the user's line that made the guard
  // The following fields are known only from dumps. All texts are in the user's terms.
  std::string subject, expected, actual;  // the value that the guard checks
  std::string origin;                     // what in PyTorch set it, if no line of the user did
  bool is_in_words = false;               // true if everything is read from PyTorch's words
  bool is_state = false;                  // true if it is about the state of the process, such as grad mode
  std::vector<std::string> alike;         // other values that fail in the same way
  std::vector<std::string> follows;       // values whose guards fail only because of this failure
};

// A condition on the next call, which must hold for a compilation to be used again.
struct Limit {
  std::string condition;  // in the user's terms
  std::string subject;  // the value that the condition is about; empty for several, or for the state of the process
  std::string origin;  // what in PyTorch set the condition, if no line of the user did
  Place place;
};

// A limit on the number of compilations of a function, which a call has reached.
struct LimitReached {
  std::string setting;  // the setting in torch._dynamo.config
  std::optional<std::int64_t> value;
  std::vector<std::string> compilations, reasons;  // the compilations that use the limit up, and why each was made
  std::vector<std::string> accepted;  // the calls that they accept together, one line for each value
  bool is_still_used = true;  // whether calls that one of them accepts still use it
};

// A size or number that is known only when the graph runs. A RuntimeAssert is a condition that the graph checks at that
// time.
struct RuntimeValue {
  std::string name, range;
  Place place;
};
struct RuntimeAssert {
  std::string condition, message;
  Place place;
};

// A text that a compilation should have left, but did not.
struct MissingArtifact {
  std::string kind, why;
  std::string direction;  // "forward", "backward"; empty where it has no meaning
};

// A kernel that Inductor generated, or a call of a library in its output code.
struct Kernel {
  std::string name;
  std::string kind;  // "cpp", "triton", "library", or as the output code says
  std::string direction;  // "forward", "backward", "inference"
  std::vector<std::string> source_nodes;  // names of captured nodes, as the output code's comments list them
  std::uint32_t calls = 0;
};

// One node of a graph.
struct Node {
  std::string name;
  std::string op;  // as PyTorch prints it, such as aten.mul.Tensor; "placeholder" for an input
  std::string shape;  // such as f32[8, 256][256, 1]cpu; empty: not stated
  std::string module;  // the path of the module in the user's model, such as b1.fc1; empty: the log does not say
  std::vector<std::string> inputs;  // the nodes that it reads, in the order of its arguments
  Place place;  // the user's line
  bool is_backward = false;  // of a joint graph: whether it computes gradients
};

// One graph of a compilation, at one stage.
struct Graph {
  std::string stage;  // "captured", "joint", "forward", "backward", "inference", "post_grad"
  std::string direction;  // "forward", "backward", "inference"; empty for the captured and the joint graph
  int number = 0;  // of the graph within its compilation, as Inductor's output code counts the graphs of a process
  std::vector<Node> nodes;
  std::vector<std::string> outputs;  // what the graph returns, in order; empty texts stand for None
};

// One statement of the output code that calls a kernel or a library.
struct KernelCall {
  std::string kernel;  // name of the kernel, or the function of the library
  std::string kind;  // the kind of the kernel
  int line = 0;  // the line in the output code
  std::vector<std::string> reads, writes;  // inputs and buffers
  std::vector<std::string> overwrites;  // buffers whose memory it writes; whether it reads them first is not stated
  std::vector<std::string> source_nodes;  // as the comment above the call lists them
  std::string handle;  // PyTorch's name for the call if provenance tracking is on, such as cpp_fused_add_0:3
  // The following fields hold the links, which link() fills in.
  std::vector<std::string> nodes;  // the nodes after the post-grad passes that the call computes
  std::vector<std::string> captured;  // the captured nodes from which these nodes come
  std::vector<Place> places;  // the user's lines
  std::string evidence;  // how the nodes are known: "recorded", "comments" or "data flow"; empty if they are unknown
  std::string why_no_place;  // empty if there is a line
};

// Inductor's code for one direction of a graph.
struct OutputCode {
  std::string direction;
  int number = 0;  // as that of the graph
  std::vector<KernelCall> calls;
  std::vector<std::string> outputs;  // what the code returns, in order; empty texts stand for None
  std::map<std::string, std::string> buffer_of;  // views and other names of buffers
  std::map<std::string, std::string> shapes;  // of buffers: dtype and sizes, such as f32[8, 256]
  // Links that PyTorch recorded (provenance tracking): the captured nodes of each node after the post-grad passes, and
  // the nodes of each kernel or call.
  std::map<std::string, std::vector<std::string>> captured_of, nodes_of;
  std::string why_no_calls;  // empty if the code could be read
};

// The results of one captured node in one direction.
struct Link {
  std::vector<std::string> graph;  // nodes of the forward or backward graph
  std::vector<std::string> post_grad;  // nodes after Inductor's post-grad passes
  std::vector<std::string> kernels;  // kernels and library calls
  std::vector<std::string> operations;  // of Inductor's IR, where a dump recorded them
  std::vector<std::string> not_recorded;  // the stages whose link is unknown, each with the reason
};

// The results of one captured node in all directions.
struct Chain {
  std::string node;
  std::string op;
  std::string module;
  Place place;
  std::vector<std::string> joint;
  std::map<std::string, Link> directions;  // "forward", "backward"
  std::vector<std::string> not_recorded;  // why there is no direction
};

// Two neighbouring operations that Inductor did not fuse into one kernel, although the second reads what the first
// computes.
struct NotFused {
  std::string direction;
  std::string first, second;  // the operations in the user's terms, such as "h (train.py:11)"
  std::string why;
  std::vector<std::string> buffers;  // the buffers that the second reads from the first
};

// An access to one of PyTorch's caches.
struct CacheEvent {
  std::string cache;  // "fx_graph", "aotautograd", ...
  std::string result;  // "hit", "miss", "bypass"
  std::string key;
};

// A part of the guards of a compilation.
struct GuardGroup {
  std::string source;  // Dynamo's name for the value that they read, such as L['self']; empty: the state of the process
  double us = 0;  // of one check
  std::int64_t values = 0, guards = 0;  // that they read, and the conditions on these values
};

// A symbolic size of a graph.
struct Symbol {
  std::string name, source, value, range;
  Place place;
  std::string lower_from, upper_from;  // what set the bounds, in PyTorch's words
  std::string specialized_to;  // the one value that it was specialised to; `place` is the line that needs it
  std::string reason;
};

// One text of the log: a graph, code, guards, or anything that no other part of the record represents.
struct Artifact {
  std::string kind;  // the record's own name, such as aot_joint_graph or artifact
  std::string name;  // of an artifact; else empty
  std::size_t offset = 0;  // of the header line in the log, in bytes; after decompression if the log was compressed
  std::size_t size = 0;  // of the payload as the log holds it, in bytes
  std::string fingerprint;  // MD5 of the payload, as the log states it; empty: not stated
  std::string direction;  // of a file of a dump: "forward", "backward"; else empty
  bool is_known = true;  // whether this release of depyf knows the kind
};

// How a compilation ended.
enum class Status : std::uint8_t {
  compiled,  // it left code that runs
  failed,  // an exception ended it
  no_code,  // it ended without code, so the frame runs as it was written
  unfinished,  // the log ends before the compilation does
};
const char* name_of(Status status);

// One compilation of one frame.
struct Compilation {
  std::string id;  // "frame/compilation", "!autograd/frame/compilation", or "#n" if the log has no id for it
  bool is_own_id = false;  // whether the id was given by this reader
  int attempts = 1;  // 1 and one more for each restart of the tracing
  Place place;  // function, file and first line
  std::string name;  // the qualified name, such as Net.forward; empty: a log does not have it
  bool is_resume = false;  // a resume function, which goes on after a graph break
  std::vector<std::string> resume_names;  // of a resume function: the globals that it is called by
  std::vector<std::string> resume_calls;  // the globals of the resume functions that its code calls
  std::vector<Place> called_from;
  Status status = Status::unfinished;
  bool was_before = false;  // compiled before depyf looked
  std::string failure;  // the exception's type and message
  bool is_raised = false;  // whether the program's call raised it
  std::optional<GraphBreak> stopped_by;  // the graph break for which there is no code
  std::optional<LimitReached> limit_reached;  // the limit for which there is no code
  Place failed_at;
  std::vector<std::string> restart_reasons;
  std::vector<FailedGuard> reasons;  // empty: the first compilation of its function
  std::vector<std::string> reasons_in_words;  // as PyTorch tells them
  std::vector<Limit> limits;
  std::vector<RuntimeValue> runtime_values;
  std::vector<RuntimeAssert> runtime_asserts;
  std::vector<MissingArtifact> missing;
  std::vector<std::string> notes;
  std::vector<std::string> provenance;  // what became of captured nodes, and what was not fused, in lines of Markdown
  std::string code_file, guards_file;  // of a dump; empty: there is none
  std::optional<bool> is_proved;  // whether the source in `code_file` does what the transformed code does
  std::string why_not_proved;
  std::vector<GraphBreak> breaks;
  std::vector<Kernel> kernels;
  std::vector<CacheEvent> caches;
  std::vector<Symbol> symbols;
  std::vector<Phase> phases;
  std::vector<Artifact> artifacts;
  std::vector<Graph> graphs;  // empty until somebody asks for them (read_graphs)
  std::vector<OutputCode> output_codes;  // the same
  std::vector<Chain> chains;  // empty until links::link()
  std::vector<NotFused> not_fused;  // of a dump (read_provenance)
  std::optional<std::int64_t> guards, graph_nodes, graph_operators;
  std::optional<double> guard_us;  // one check of its guards on the call that was compiled, in microseconds
  std::vector<GuardGroup> guard_groups;  // the parts of that check, the longest first; empty: not measured
  std::optional<std::string>
      tables;  // by line of source, if they were made where the graphs were at hand; may be empty
  double start_us = 0;  // since the epoch; 0: unknown
  double seconds = 0;  // forward, as the log states it; the backward's beside it
  double backward_seconds = 0;

  // The defaults, defined in src/record/compilation.cpp: a copy of all members takes the compiler a second, in each file
  // that needs one.
  Compilation();
  Compilation(const Compilation&);
  Compilation(Compilation&&) noexcept;
  Compilation& operator=(const Compilation&);
  Compilation& operator=(Compilation&&) noexcept;
  ~Compilation();
};

// A damaged or missing part of a log. The parts around it were read.
struct Problem {
  std::size_t offset = 0;  // in bytes
  std::string message;
};

// The file of a dump that tells everything about one function.
struct FunctionFile {
  std::string file, title;
  std::vector<std::string> compilations;
};

// Everything that one process did.
struct Process {
  std::string log;  // path
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> run;  // of a dump: the number of the run that its processes share; see docs/record.md
  bool is_child = false;  // of a dump: true if another process of the run started it, and it is no rank
  std::string torch_version, python_version;
  std::string working_directory;  // where relative names of files of source start; empty: unknown, as in a log
  std::vector<Compilation> compilations;
  std::vector<Artifact> artifacts;  // those of no compilation
  std::vector<FunctionFile> function_files;
  std::vector<std::string> notes;  // what failed, what was compiled before
  std::string tables;  // tables.md of an earlier run of a dump; empty: it is not there
  std::vector<Phase> phases;  // of events outside all compilations
  std::vector<Event> events;  // of a log, in the order in which they ended; at most a hundred thousand
  std::map<std::string, std::uint64_t> records;  // how many of each kind
  std::vector<Problem> problems;
  std::uint64_t unknown_strings = 0;  // references to file names that the log does not hold (a forked child's log)
  bool is_cut = false;  // the last record is not whole
};

// A number that was measured at a line of source, as `depyf numerics` does. It belongs to no process of the record.
struct Measurement {
  std::string kind;  // what the number is, such as "error of eager"
  Place place;
  double value = 0;
  std::string unit;  // such as "ulp"
  std::string text;  // a sentence about the line; empty: there is nothing more to say
  bool is_alarm = false;  // true if the line is at fault
};

// The processes of one run, for example the ranks of a distributed program.
struct Run {
  std::vector<Process> processes;
  std::vector<Measurement> measurements;
};

// Ranks that compiled the same, and the place where they differ from other ranks.
struct RankGroup {
  std::vector<std::size_t> processes;  // indices into Run::processes, in ascending order
  // The index of the earlier group with which this group has most in common; 0 for the first group.
  std::size_t nearest = 0;
  std::string
      parts_at;  // the id of the first compilation that differs from the nearest group; empty for the first group
  std::string difference;  // what differs there, in words
};

// True if a process is one of several that do the same work: a log, or a rank of a dump, or a process of a dump without
// ranks. The processes that a program starts are none, and neither is the one that starts the ranks.
bool is_peer(const Run& run, const Process& process);

// Returns the groups of peers that compiled the same functions to the same graphs for the same reasons, the largest
// group first.
std::vector<RankGroup> compare_ranks(const Run& run);

// How long one rank waited for the slowest rank: the sum over the compilations that several ranks made.
struct RankWait {
  double seconds = 0;
  std::vector<std::pair<std::string, double>> phases;  // seconds that the slowest rank was longer in, the longest first
};

// Returns the wait of each process. It is the time that ranks wait if they compile at the same time and meet after each
// compilation.
std::vector<RankWait> rank_waits(const Run& run);

// A stage of a compilation, which has a file of its own in a dump.
struct Stage {
  std::string_view kind;  // of the file, such as Joint_graph
  std::string_view key;  // what a page calls it, such as joint
  std::string_view about;  // for readers
  bool is_late = false;  // one of each direction, behind the stages before
};

// Returns the stages in the order in which they are made, which is also the best order to read their files in.
const std::vector<Stage>& stages();

// Returns the key of the stage whose text a file of a dump, or a record of a log, holds. The key is one of `stages()`
// or "inference", which only logs distinguish from "forward". The result is empty if the text belongs to no stage.
std::string_view stage_of(const Artifact& artifact);

// Returns the direction that the key of a stage states: forward, backward or inference. The result is empty if the
// stage has no direction, or one of each.
std::string_view direction_of(std::string_view stage);

// Returns true if the graph of the stage is read into nodes, through which links lead. Other stages are only shown as
// texts.
bool is_linked(std::string_view stage);

// Returns the record as JSON with a "schema_version". The file docs/record.md describes the form.
std::string to_json(const Run& run);

// Reads what to_json() returned, in this release or in an earlier one. Members that an earlier version lacks keep their
// default values, and unknown members are passed over. A text that is no record gives the problem.
std::variant<Run, Problem> from_json(std::string_view text);

// Returns the JSON Schema (draft 2020-12) of what to_json() returns.
std::string json_schema();

}  // namespace depyf::record
