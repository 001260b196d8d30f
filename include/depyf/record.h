// Defines the record of one run of torch.compile as plain data, and its JSON form. The record can be written and read
// without torch and without Python. The structs of the record are in one file, because they form one tree, which the
// JSON has as well.
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

// The version of the JSON form, which is raised by each change that readers of the JSON can notice. Version 1 of the
// JSON form has only some of the members; from_json() reads version 1, too.
inline constexpr int schema_version = 2;
inline constexpr int oldest_schema_version = 1;

// A line of source.
struct Place {
  std::string file;      // the path of the file; empty if it is unknown
  std::string function;  // the name of the function in its code object
  std::string text;      // the line of source, stripped; empty if it is unknown
  int line = 0;          // the line number, from 1; 0 if it is unknown
};

// The time of all events with one name within one compilation. An event is a span of time that PyTorch's timeline
// names, such as one run of a compiler pass.
struct Phase {
  std::string name;
  double total_us = 0;  // the time from start to end, in microseconds
  // The total time without the time of nested events, in microseconds. The self times of a compilation add up to its
  // whole time.
  double self_us = 0;
  std::uint32_t count = 0;
  bool is_parallel = false;  // true if the events ran in worker threads, whose time is not part of the whole time
};

// A span of time that PyTorch's timeline names, such as one run of a compiler pass.
struct Event {
  std::string name;
  double start_us = 0, duration_us = 0;  // microseconds since the epoch, and microseconds from start to end
  int compilation = -1;                  // an index into Process::compilations; -1 if it is in no compilation
  bool is_parallel = false;              // true if the event ran in a worker thread
};

// A place where Dynamo ended a graph because it could not trace further.
struct GraphBreak {
  Place place;
  std::string reason;  // the first line of PyTorch's report
  std::string explanation;
  std::vector<std::string> hints;
  std::vector<Place> stack;  // the user's call stack, the outermost call first
  Place inside;              // the line inside PyTorch at which the graph ends, if the code at `place` calls PyTorch
  std::string link;          // PyTorch's page about this kind of graph break
  std::string then;          // the reason why Dynamo could not compile the code before the break; empty if it could
};

// The reason why a compiled function did not accept a call: the guard that failed in one earlier compilation.
struct FailedGuard {
  std::string compilation;  // the id of the earlier compilation; empty if it is unknown
  std::string guard;        // the condition as PyTorch printed it
  Place place;              // the user's line that caused the guard
  // The fields from `subject` on are known only from dumps, and their texts are in the user's terms.
  std::string subject, expected, actual;  // the checked value, its expected and its actual content
  std::string origin;  // the part of PyTorch that caused the guard, if no line of the user caused it
  bool is_in_words = false;  // true if all fields were parsed from PyTorch's message
  bool is_state = false;  // true if the guard checks the state of the process, such as grad mode
  std::vector<std::string> alike;  // other values for which the same check fails
  std::vector<std::string> follows;  // values whose guards fail only as a consequence of `guard`
};

// A condition on the next call, which must hold for a compilation to be used again.
struct Limit {
  std::string condition;  // the condition in the user's terms
  std::string subject;  // the value in the condition; empty for several values and for the state of the process
  std::string origin;  // the part of PyTorch that set the condition, if no line of the user set it
  Place place;
};

// A limit on the number of compilations of a function, after a call has reached the limit.
struct LimitReached {
  std::string setting;  // the setting in torch._dynamo.config
  std::optional<std::int64_t> value;
  std::vector<std::string> compilations, reasons;  // the compilations that count towards the limit, with their reasons
  // The different conditions of `compilations` on a value, joined by `or`, such as `x.shape[0] == 2 or x.shape[0] ==
  // 3`. The vector has one item for each value on which the conditions differ.
  std::vector<std::string> accepted;
  bool is_still_used = true;  // true if the code of `compilations` is still used for calls that they accept
};

// A size or number that is known only when the graph runs.
struct RuntimeValue {
  std::string name, range;
  Place place;
};
// A condition that the graph checks when it runs.
struct RuntimeAssert {
  std::string condition, message;
  Place place;
};

// A text (such as a graph) that a compilation should have logged, but did not.
struct MissingArtifact {
  std::string kind, why;
  std::string direction;  // "forward" or "backward"; empty if texts of the kind have no direction
};

// A kernel that Inductor generated, or a call of a library in its output code.
struct Kernel {
  std::string name;
  std::string kind;  // "cpp", "triton", "library", or another kind that the output code states
  std::string direction;  // "forward", "backward", "inference"
  std::vector<std::string> source_nodes;  // the names of captured nodes that comments in the output code list
  std::uint32_t calls = 0;
};

// One node of a graph.
struct Node {
  std::string name;
  std::string op;  // the operation as PyTorch prints it, such as aten.mul.Tensor; "placeholder" for an input
  std::string shape;  // the dtype, sizes, strides and device, such as f32[8, 256][256, 1]cpu; empty if not stated
  std::string module;  // the path of the module in the user's model, such as b1.fc1; empty if the log does not state it
  std::vector<std::string> inputs;  // the nodes that the node reads, in the order of its arguments
  Place place;  // the user's line
  bool is_backward = false;  // true if the node is in a joint graph and computes gradients
};

// One graph of a compilation, at one stage.
struct Graph {
  std::string stage;  // "captured", "joint", "forward", "backward", "inference" or "post_grad"
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
  std::vector<std::string> reads, writes;  // the inputs and buffers that the call reads and writes
  std::vector<std::string> overwrites;  // buffers whose memory the call writes, and may have read before
  std::vector<std::string> source_nodes;  // the captured nodes that the comment above the call names
  std::string handle;  // PyTorch's name for the call if provenance tracking is on, such as cpp_fused_add_0:3
  // The fields from `nodes` on are links, which link() fills in.
  std::vector<std::string> nodes;  // the nodes that the call computes, in the graph after the post-grad passes
  std::vector<std::string> captured;  // the captured nodes from which `nodes` come
  std::vector<Place> places;  // the user's lines
  std::string evidence;  // how the nodes are known: "recorded", "comments" or "data flow"; empty if they are unknown
  std::string why_no_place;  // the reason why `places` is empty; empty if there are places
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
  std::string why_no_calls;  // the reason why `calls` is empty; empty if the code could be read
};

// The nodes, kernels and operations that PyTorch generated for one captured node in one direction.
struct Link {
  std::vector<std::string> graph;  // the nodes of the forward or backward graph
  std::vector<std::string> post_grad;  // the nodes of the graph after Inductor's post-grad passes
  std::vector<std::string> kernels;  // kernels and library calls
  std::vector<std::string> operations;  // operations of Inductor's IR, if a dump recorded them
  std::vector<std::string> not_recorded;  // the stages whose link is unknown, each with the reason
};

// The nodes, kernels and operations that PyTorch generated for one captured node, in the forward and in the backward
// direction.
struct Chain {
  std::string node;
  std::string op;
  std::string module;
  Place place;
  std::vector<std::string> joint;
  std::map<std::string, Link> directions;  // "forward", "backward"
  std::vector<std::string> not_recorded;  // the reason why `directions` is empty
};

// Two neighbouring operations that Inductor did not fuse into one kernel, although the second operation reads a result
// of the first.
struct NotFused {
  std::string direction;
  std::string first, second;  // descriptions of the operations in the user's terms, such as "h (train.py:11)"
  std::string why;
  std::vector<std::string> buffers;  // the buffers that `first` writes and `second` reads
};

// An access to one of PyTorch's caches.
struct CacheEvent {
  std::string cache;  // the name of the cache, such as "fx_graph" or "aotautograd"
  std::string result;  // the outcome of the access: "hit", "miss" or "bypass"
  std::string key;
};

// The guards of a compilation that read one value.
struct GuardGroup {
  std::string source;  // Dynamo's name for the value that the guards read, such as L['self']; empty for process state
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
  std::string fingerprint;  // the MD5 of the payload that the log states; empty if the log states none
  std::string direction;  // for a file of a dump, "forward" or "backward"; otherwise empty
  bool is_known = true;  // true if this release of depyf knows the kind
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
  std::string id;  // "frame/compilation" or "!autograd/frame/compilation"; "#n" if the log has no id
  bool is_own_id = false;  // true if depyf chose the id, because the log has none
  int attempts = 1;  // 1 plus the number of restarts of the tracing
  Place place;  // the function, its file and its first line
  std::string name;  // the qualified name, such as Net.forward; empty in the record of a log
  bool is_resume = false;  // true if the function is a resume function, which continues after a graph break
  std::vector<std::string> resume_names;  // the global names by which a resume function is called
  std::vector<std::string> resume_calls;  // the global names of the resume functions that the compiled code calls
  std::vector<Place> called_from;
  Status status = Status::unfinished;
  bool was_before = false;  // true if the function was compiled before depyf was active
  std::string failure;  // the exception's type and message
  bool is_raised = false;  // true if the program's call of the function raised the exception
  std::optional<GraphBreak> stopped_by;  // the graph break that prevented compiled code
  std::optional<LimitReached> limit_reached;  // the limit that prevented compiled code
  Place failed_at;
  std::vector<std::string> restart_reasons;
  std::vector<FailedGuard> reasons;  // the reasons why earlier compilations reject the call; empty for the first one
  std::vector<std::string> reasons_in_words;  // the reasons for compiling again, as PyTorch printed them
  std::vector<Limit> limits;
  std::vector<RuntimeValue> runtime_values;
  std::vector<RuntimeAssert> runtime_asserts;
  std::vector<MissingArtifact> missing;
  std::vector<std::string> notes;
  std::vector<std::string> provenance;  // lines of Markdown about the kernels of captured nodes, and unfused operations
  std::string code_file, guards_file;  // the names of files in the dump; empty if there is no file
  std::optional<bool> is_proved;  // true if the source in `code_file` was proved equivalent to the transformed code
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
  std::optional<std::string> tables;  // the section of tables.md, if written while the graphs were known
  double start_us = 0;  // microseconds since the epoch; 0 if unknown
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

// A damaged or missing part of a log whose other parts were read.
struct Problem {
  std::size_t offset = 0;  // the offset in the log, in bytes
  std::string message;
};

// The file of a dump that describes one function completely.
struct FunctionFile {
  std::string file, title;
  std::vector<std::string> compilations;
};

// The compilations, events and problems of one process.
struct Process {
  std::string log;  // the path of the log
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> run;  // for a dump, the number of the run that its processes share; see docs/record.md
  bool is_child = false;  // true if another process of a dump's run started the process, which is not a rank
  std::string torch_version, python_version;
  std::string working_directory;  // the base of relative names of source files; empty if unknown, as in a log
  std::vector<Compilation> compilations;
  std::vector<Artifact> artifacts;  // artifacts that belong to no compilation
  std::vector<FunctionFile> function_files;
  std::vector<std::string> notes;  // sentences about failures, and functions compiled before depyf was active
  std::string tables;  // the text of tables.md of an earlier run of a dump; empty if the text is missing
  std::vector<Phase> phases;  // the phases of events that belong to no compilation
  std::vector<Event> events;  // at most 100,000 events of a log, in the order in which they ended
  std::map<std::string, std::uint64_t> records;  // maps a kind of log record to the number of such records
  std::vector<Problem> problems;
  std::uint64_t unknown_strings = 0;  // references to file names that the log lacks (the log of a forked child)
  bool is_cut = false;  // true if the last record of the log is incomplete
};

// A number that was measured at a line of source, for example by `depyf numerics`. A Measurement belongs to no
// process of the record.
struct Measurement {
  std::string kind;  // the meaning of the number, such as "error of eager"
  Place place;
  double value = 0;
  std::string unit;  // the unit of `value`, such as "ulp"
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
  std::string difference;  // a description of the difference in the compilation `parts_at`
};

// Returns true if a process is one of several that do the same work: the process of a log, a rank of a dump, or a
// process of a dump without ranks. Neither a process that the program starts nor the process that starts the ranks is a
// peer.
bool is_peer(const Run& run, const Process& process);

// Returns the groups of peers that compiled the same functions to the same graphs for the same reasons, the largest
// group first.
std::vector<RankGroup> compare_ranks(const Run& run);

// The time that one rank waited for the slowest rank, summed over the compilations that several ranks have in common.
struct RankWait {
  double seconds = 0;
  std::vector<std::pair<std::string, double>> phases;  // the slowest rank's additional seconds by phase, the most first
};

// Returns the time that each process waits for the slowest rank, under the assumption that the ranks compile at the
// same time and synchronise after each compilation.
std::vector<RankWait> rank_waits(const Run& run);

// A stage of a compilation, which has a file of its own in a dump.
struct Stage {
  std::string_view kind;  // the kind of the file, such as Joint_graph
  std::string_view key;  // the name of the stage in a page, such as joint
  std::string_view about;  // a description for readers
  bool is_late = false;  // true if forward and backward graph each have the stage; late stages come last
};

// Returns the stages in the order in which a compilation passes through them, which is also the best order to read
// their files in.
const std::vector<Stage>& stages();

// Returns the key of the stage to which the text of `artifact` belongs. `artifact` stands for a file of a dump, or for
// a record of a log. The key is the member `key` of an item of `stages()`, or "inference", which only logs distinguish
// from "forward". The result is empty if the text belongs to no stage.
std::string_view stage_of(const Artifact& artifact);

// Returns the direction that the key of a stage states: forward, backward or inference. The result is empty if the
// stage has no direction, or exists for each direction.
std::string_view direction_of(std::string_view stage);

// Returns true if the text of the stage is a graph whose nodes are read, so that links from lines of source to kernels
// can pass through the nodes. If `is_linked` returns false for a stage, the stage is displayed only as a text.
bool is_linked(std::string_view stage);

// Returns the record as JSON with a "schema_version". The file docs/record.md describes the form.
std::string to_json(const Run& run);

// Reads the JSON that to_json() returned, in this or an earlier release of depyf. Members that an earlier version lacks
// keep their default values, and unknown members are ignored. Returns the problem if the text is not a record.
std::variant<Run, Problem> from_json(std::string_view text);

// Returns the JSON Schema (draft 2020-12) of the JSON that to_json() returns.
std::string json_schema();

}  // namespace depyf::record
