// Defines the record of one run of torch.compile as plain data, and its JSON form. The record needs neither torch nor
// Python. The structs of the record are in one file, because they form one tree, which the JSON has as well.
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

// The version of the JSON form, which is raised by each change that readers of the JSON can notice. Version 1 has
// only some of the members; from_json() reads version 1, too.
inline constexpr int schema_version = 2;
inline constexpr int oldest_schema_version = 1;

// A line of source.
struct Place {
  std::string file;      // the path of the file; empty: unknown
  std::string function;  // the name of the function in its code object
  std::string text;      // the line of source, stripped; empty: unknown
  int line = 0;          // the line number, from 1; 0: unknown
};

// The time of all events with one name within one compilation.
struct Phase {
  std::string name;
  double total_us = 0;  // the time from start to end, in microseconds
  // The total without the time of nested events. The self times of a compilation add up to its whole time.
  double self_us = 0;
  std::uint32_t count = 0;
  bool is_parallel = false;  // true if the events ran in worker threads, whose time is not part of the whole time
};

// One event of a phase, for the timeline.
struct Event {
  std::string name;
  double start_us = 0, duration_us = 0;  // microseconds since the epoch, and microseconds from start to end
  int compilation = -1;                  // index into Process::compilations; -1 if the event belongs to none
  bool is_parallel = false;              // true if the event ran in a worker thread
};

// A place where Dynamo ended a graph because it could not trace further.
struct GraphBreak {
  Place place;
  std::string reason;  // the first line of PyTorch's report
  std::string explanation;
  std::vector<std::string> hints;
  std::vector<Place> stack;  // the user's call stack, the outermost call first
  Place inside;              // the line inside PyTorch at which the graph ends, if the code at `place` calls it
  std::string link;          // PyTorch's page about this kind of graph break
  std::string then;          // why Dynamo could not compile the code before the break; empty if it could
};

// The reason why a compiled function did not accept a call: the guard that failed in one earlier compilation.
struct FailedGuard {
  std::string compilation;  // the id of the earlier compilation; empty if it is unknown
  std::string guard;        // the condition as PyTorch printed it
  Place place;              // the user's line that caused the guard
  // The fields from `subject` on are known only from dumps, and their texts are in the user's terms.
  std::string subject, expected, actual;  // the checked value, its expected and its actual content
  std::string origin;                     // the part of PyTorch that caused the guard, if no line of the user did
  bool is_in_words = false;               // true if all fields were parsed from PyTorch's message
  bool is_state = false;                  // true if the guard checks the state of the process, such as grad mode
  std::vector<std::string> alike;         // other values for which the same check fails
  std::vector<std::string> follows;       // values whose guards fail only as a consequence of `guard`
};

// A condition on the next call, which must hold for a compilation to be used again.
struct Limit {
  std::string condition;  // the condition in the user's terms
  std::string subject;  // the value that the condition is about; empty for several, or for the state of the process
  std::string origin;  // the part of PyTorch that set the condition, if no line of the user did
  Place place;
};

// A limit on the number of compilations of a function, which a call has reached.
struct LimitReached {
  std::string setting;  // the setting in torch._dynamo.config
  std::optional<std::int64_t> value;
  std::vector<std::string> compilations, reasons;  // the compilations that count towards the limit, with their reasons
  // For each value in which `compilations` differ, a line with all values that at least one of them accepts, such as
  // `x.shape[0] == 2 or x.shape[0] == 3`.
  std::vector<std::string> accepted;
  bool is_still_used = true;  // whether calls that a compilation of `compilations` accepts still use its code
};

// A size or number that is known only when the graph runs. A RuntimeAssert is a condition that the graph checks when
// it runs.
struct RuntimeValue {
  std::string name, range;
  Place place;
};
struct RuntimeAssert {
  std::string condition, message;
  Place place;
};

// A text (such as a graph) that a compilation should have logged, but did not.
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
  std::string module;  // the path of the module in the user's model, such as b1.fc1; empty: not stated in the log
  std::vector<std::string> inputs;  // the nodes that the node reads, in the order of its arguments
  Place place;  // the user's line
  bool is_backward = false;  // for a node of a joint graph: whether it computes gradients
};

// One graph of a compilation, at one stage.
struct Graph {
  std::string stage;  // "captured", "joint", "forward", "backward", "inference", "post_grad"
  std::string direction;  // "forward", "backward", "inference"; empty for the captured and the joint graph
  int number = 0;  // the number of the graph, as Inductor's output code counts the graphs of a process
  std::vector<Node> nodes;
  std::vector<std::string> outputs;  // the values that the graph returns, in order; an empty text means None
};

// One statement of the output code that calls a kernel or a library.
struct KernelCall {
  std::string kernel;  // name of the kernel, or the function of the library
  std::string kind;  // the kind of the kernel
  int line = 0;  // the line number in the output code
  std::vector<std::string> reads, writes;  // inputs and buffers
  std::vector<std::string> overwrites;  // buffers whose memory the call writes, and may have read before
  std::vector<std::string> source_nodes;  // captured nodes in the comment above the call
  std::string handle;  // PyTorch's name for the call if provenance tracking is on, such as cpp_fused_add_0:3
  // The fields from `nodes` on are links, which link() fills in.
  std::vector<std::string> nodes;  // the nodes that the call computes, of the graph after the post-grad passes
  std::vector<std::string> captured;  // the captured nodes from which `nodes` come
  std::vector<Place> places;  // the user's lines
  std::string evidence;  // how the nodes are known: "recorded", "comments" or "data flow"; empty if they are unknown
  std::string why_no_place;  // why `places` is empty; empty if it is not
};

// Inductor's code for one direction of a graph.
struct OutputCode {
  std::string direction;
  int number = 0;  // the number of the graph
  std::vector<KernelCall> calls;
  std::vector<std::string> outputs;  // the values that the code returns, in order; an empty text means None
  std::map<std::string, std::string> buffer_of;  // maps views and other names of a buffer to the buffer
  std::map<std::string, std::string> shapes;  // maps a buffer to its dtype and sizes, such as f32[8, 256]
  // Links that PyTorch recorded (provenance tracking): the captured nodes of each node after the post-grad passes, and
  // the nodes of each kernel or call.
  std::map<std::string, std::vector<std::string>> captured_of, nodes_of;
  std::string why_no_calls;  // why `calls` is empty; empty if the code could be read
};

// What Inductor generated for one captured node in one direction.
struct Link {
  std::vector<std::string> graph;  // nodes of the forward or backward graph
  std::vector<std::string> post_grad;  // nodes after Inductor's post-grad passes
  std::vector<std::string> kernels;  // kernels and library calls
  std::vector<std::string> operations;  // operations of Inductor's IR, if a dump recorded them
  std::vector<std::string> not_recorded;  // the stages whose link is unknown, each with the reason
};

// What Inductor generated for one captured node in all directions.
struct Chain {
  std::string node;
  std::string op;
  std::string module;
  Place place;
  std::vector<std::string> joint;
  std::map<std::string, Link> directions;  // "forward", "backward"
  std::vector<std::string> not_recorded;  // the reason why `directions` is empty
};

// Two neighbouring operations that Inductor did not fuse into one kernel, although the second reads what the first
// computes.
struct NotFused {
  std::string direction;
  std::string first, second;  // the operations in the user's terms, such as "h (train.py:11)"
  std::string why;
  std::vector<std::string> buffers;  // the buffers that `first` writes and `second` reads
};

// An access to one of PyTorch's caches.
struct CacheEvent {
  std::string cache;  // "fx_graph", "aotautograd", ...
  std::string result;  // "hit", "miss", "bypass"
  std::string key;
};

// The guards of a compilation that read one value.
struct GuardGroup {
  std::string source;  // Dynamo's name for the value that the guards read, such as L['self']; empty: process state
  double us = 0;  // microseconds of one check of the guards
  std::int64_t values = 0, guards = 0;  // the numbers of values that the guards read, and of conditions on them
};

// A symbolic size of a graph.
struct Symbol {
  std::string name, source, value, range;
  Place place;
  std::string lower_from, upper_from;  // the origins of the two bounds, as PyTorch prints them
  std::string specialized_to;  // the constant to which the size was specialised, by the line `place`
  std::string reason;
};

// One text of the log: a graph, code, guards, or anything that no other part of the record represents.
struct Artifact {
  std::string kind;  // the name of the log record, such as aot_joint_graph or artifact
  std::string name;  // the name of an artifact; otherwise empty
  std::size_t offset = 0;  // the byte offset of the header line in the log, after decompression
  std::size_t size = 0;  // the size of the payload in the log, in bytes
  std::string fingerprint;  // MD5 of the payload, as the log states it; empty: not stated
  std::string direction;  // of a file of a dump: "forward", "backward"; else empty
  bool is_known = true;  // whether this release of depyf knows the kind
};

// The outcome of a compilation.
enum class Status : std::uint8_t {
  compiled,  // the compilation produced code
  failed,  // an exception ended the compilation
  no_code,  // the compilation ended without code, so the frame runs eagerly
  unfinished,  // the log ends before the compilation does
};
const char* name_of(Status status);

// One compilation of one frame.
struct Compilation {
  std::string id;  // "frame/compilation", "!autograd/frame/compilation", or "#n" if the log has no id for it
  bool is_own_id = false;  // whether depyf chose the id, because the log has none
  int attempts = 1;  // 1 plus the number of restarts of the tracing
  Place place;  // function, file and first line
  std::string name;  // the qualified name, such as Net.forward; empty: a log does not have it
  bool is_resume = false;  // whether the function is a resume function, which continues after a graph break
  std::vector<std::string> resume_names;  // the global names by which a resume function is called
  std::vector<std::string> resume_calls;  // the globals of the resume functions that its code calls
  std::vector<Place> called_from;
  Status status = Status::unfinished;
  bool was_before = false;  // whether the function was compiled before depyf was active
  std::string failure;  // the exception's type and message
  bool is_raised = false;  // whether the call in the program raised the exception
  std::optional<GraphBreak> stopped_by;  // the graph break because of which there is no code
  std::optional<LimitReached> limit_reached;  // the limit because of which there is no code
  Place failed_at;
  std::vector<std::string> restart_reasons;
  std::vector<FailedGuard> reasons;  // why earlier compilations did not fit; empty for the first compilation
  std::vector<std::string> reasons_in_words;  // the reasons for compiling again, as PyTorch printed them
  std::vector<Limit> limits;
  std::vector<RuntimeValue> runtime_values;
  std::vector<RuntimeAssert> runtime_asserts;
  std::vector<MissingArtifact> missing;
  std::vector<std::string> notes;
  std::vector<std::string> provenance;  // lines of Markdown about the kernels of captured nodes, and unfused operations
  std::string code_file, guards_file;  // files of a dump; empty if there is none
  std::optional<bool> is_proved;  // whether the source in `code_file` was proved equivalent to the transformed code
  std::string why_not_proved;
  std::vector<GraphBreak> breaks;
  std::vector<Kernel> kernels;
  std::vector<CacheEvent> caches;
  std::vector<Symbol> symbols;
  std::vector<Phase> phases;
  std::vector<Artifact> artifacts;
  std::vector<Graph> graphs;  // empty until read_graphs() is called
  std::vector<OutputCode> output_codes;  // empty until read_graphs() is called
  std::vector<Chain> chains;  // empty until link() is called
  std::vector<NotFused> not_fused;  // filled in by read_provenance() for a dump
  std::optional<std::int64_t> guards, graph_nodes, graph_operators;
  std::optional<double> guard_us;  // the microseconds of one check of all guards on the call that was compiled
  std::vector<GuardGroup> guard_groups;  // the parts of `guard_us`, the longest first; empty if not measured
  std::optional<std::string> tables;  // the section of tables.md, if it was written while the graphs were known
  double start_us = 0;  // microseconds since the epoch; 0: unknown
  double seconds = 0;  // the time of the forward compilation, as the log states it
  double backward_seconds = 0;

  // The special member functions are defaulted in src/record/compilation.cpp, because a C++ compiler needs a second
  // to compile a copy of all members in each file that copies a Compilation.
  Compilation();
  Compilation(const Compilation&);
  Compilation(Compilation&&) noexcept;
  Compilation& operator=(const Compilation&);
  Compilation& operator=(Compilation&&) noexcept;
  ~Compilation();
};

// A damaged or missing part of a log, of which the other parts were read.
struct Problem {
  std::size_t offset = 0;  // the offset in bytes
  std::string message;
};

// The file of a dump that describes one function completely.
struct FunctionFile {
  std::string file, title;
  std::vector<std::string> compilations;
};

// The compilations, events and problems of one process.
struct Process {
  std::string log;  // path
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> run;  // of a dump: the number of the run that its processes share; see docs/record.md
  bool is_child = false;  // of a dump: true if another process of the run started this process, which is no rank
  std::string torch_version, python_version;
  std::string working_directory;  // the base of relative names of source files; empty: unknown, as in a log
  std::vector<Compilation> compilations;
  std::vector<Artifact> artifacts;  // artifacts that belong to no compilation
  std::vector<FunctionFile> function_files;
  std::vector<std::string> notes;  // sentences about failures, and functions compiled before depyf was active
  std::string tables;  // the text of tables.md of an earlier run of a dump; empty if there is none
  std::vector<Phase> phases;  // phases of events outside of all compilations
  std::vector<Event> events;  // at most 100,000 events of a log, in the order in which they ended
  std::map<std::string, std::uint64_t> records;  // maps a kind of log record to the number of such records
  std::vector<Problem> problems;
  std::uint64_t unknown_strings = 0;  // references to file names that the log lacks (a forked child's log)
  bool is_cut = false;  // true if the last record of the log is incomplete
};

// A number that was measured at a line of source, for example by `depyf numerics`. A Measurement belongs to no
// process of the record.
struct Measurement {
  std::string kind;  // what the number is, such as "error of eager"
  Place place;
  double value = 0;
  std::string unit;  // such as "ulp"
  std::string text;  // a sentence about the line; may be empty
  bool is_alarm = false;  // true if the line causes a problem
};

// The processes of one run, for example the ranks of a distributed program.
struct Run {
  std::vector<Process> processes;
  std::vector<Measurement> measurements;
};

// Ranks with equal compilations, and the first compilation in which they differ from other ranks.
struct RankGroup {
  std::vector<std::size_t> processes;  // indices into Run::processes, in ascending order
  // The index of the earlier group with which the group has most in common; 0 for the first group.
  std::size_t nearest = 0;
  std::string
      parts_at;  // the id of the first compilation that differs from the nearest group; empty for the first group
  std::string difference;  // a description of the difference in that compilation
};

// True if a process is one of several that do the same work: a log, or a rank of a dump, or a process of a dump
// without ranks. A process that the program starts is no peer, and neither is the process that starts the ranks.
bool is_peer(const Run& run, const Process& process);

// Returns the groups of peers that compiled the same functions to the same graphs for the same reasons, the largest
// group first.
std::vector<RankGroup> compare_ranks(const Run& run);

// The time that one rank waited for the slowest rank, summed over the compilations that several ranks have in common.
struct RankWait {
  double seconds = 0;
  std::vector<std::pair<std::string, double>> phases;  // seconds by which the slowest rank took longer, the most first
};

// Returns the waiting time of each process, if the ranks compile at the same time and synchronise after each
// compilation.
std::vector<RankWait> rank_waits(const Run& run);

// A stage of a compilation, which has a file of its own in a dump.
struct Stage {
  std::string_view kind;  // the kind of the file, such as Joint_graph
  std::string_view key;  // the name of the stage in a page, such as joint
  std::string_view about;  // a description for readers
  bool is_late = false;  // true if forward and backward graph each have this stage; such stages are last
};

// Returns the stages in the order in which a compilation passes through them, which is also the best order to read
// their files in.
const std::vector<Stage>& stages();

// Returns the key of the stage whose text a file of a dump, or a record of a log, contains. The key is one of
// `stages()` or "inference", which only logs distinguish from "forward". The result is empty if the text belongs to
// no stage.
std::string_view stage_of(const Artifact& artifact);

// Returns the direction that the key of a stage states: forward, backward or inference. The result is empty if the
// stage has no direction, or exists for each direction.
std::string_view direction_of(std::string_view stage);

// Returns true if the graph of the stage is read into nodes, through which links lead. All other stages are only
// shown as texts.
bool is_linked(std::string_view stage);

// Returns the record as JSON with a "schema_version". The file docs/record.md describes the form.
std::string to_json(const Run& run);

// Reads what to_json() returned, in this release or in an earlier one. Members that an earlier version lacks keep
// their default values, and unknown members are ignored. Returns the problem if the text is no record.
std::variant<Run, Problem> from_json(std::string_view text);

// Returns the JSON Schema (draft 2020-12) of the JSON that to_json() returns.
std::string json_schema();

}  // namespace depyf::record
