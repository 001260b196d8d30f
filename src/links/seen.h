// Plain data: the graphs, operations and output code that depyf saw in the process of a compilation, and the chains
// from captured nodes to kernels that link_seen() derives from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "depyf/record.h"
#include "depyf/seen.h"

namespace depyf::links {

using Names = std::vector<std::string>;
using NamesOf = std::unordered_map<std::string, Names>;

// A line of source as depyf recorded it. Two lines are the same only if all their parts agree.
struct SeenLine {
  std::string file;
  std::int64_t line = 0;
  std::string text, function;
  bool operator==(const SeenLine&) const = default;
};

// Returns the name of the file without its folders.
std::string name_of(const SeenLine& line);

// A node that other nodes were made from, with a number that identifies its graph, or 0 if the graph is unknown.
struct NodeSource {
  std::string name;
  std::int64_t graph = 0;
};

struct SeenNode {
  std::string name, target;
  std::optional<SeenLine> line;
  std::vector<NodeSource> sources;
  std::optional<std::int64_t> number;  // autograd's number; a backward node has that of its forward operation
  bool is_backward = false;
  std::string module;  // the path of the innermost module; empty if none is noted
};

// A node of Inductor's IR.
struct SeenOperation {
  std::string name;
  std::string kind;  // "loops", "library call" or "nothing"
  Names writes, reads;  // buffers
  Names origins;  // the nodes, after the post-grad passes, that the operation was made of
  std::string call;  // of a library call: the name of the called function
};
using OperationGroup = std::vector<SeenOperation>;  // operations that were fused into one kernel

struct NotFused {
  std::string first, second;  // two groups of fused operations, each named like `op0_op1`
  std::string reason;  // in Inductor's words
};

struct SeenDirection {
  std::string name;  // "forward" or "backward"
  std::vector<SeenNode> graph, post_grad;
  std::vector<OperationGroup> operations;
  std::vector<NotFused> not_fused;
  std::string code;  // Inductor's output code
};

struct Seen {
  std::vector<SeenNode> captured, joint;
  std::int64_t graph = 0;  // identifies the captured graph; 0 if unknown
  std::vector<SeenDirection> directions;
};

Seen read_seen(std::string_view json);

// The place in the source of a node that a kernel computes.
struct SeenPlace {
  std::string module;
  SeenLine line;
  bool operator==(const SeenPlace&) const = default;
};

// The nodes, operations and kernels that a captured node became in one direction (forward or backward), by stage.
struct SeenLink {
  Names graph, post_grad, operations, kernels;
  Names not_recorded;  // the stages whose link is unknown, each with the reason
};

struct SeenChain {
  const SeenNode* node = nullptr;
  Names joint;
  // By direction, the core operators that the captured node was decomposed into.
  std::vector<std::pair<std::string, Names>> decomposed;
  std::vector<std::pair<std::string, SeenLink>> directions;
  Names not_recorded;  // the reason why `directions` is empty
};

// The data that the chains of one direction are derived from.
struct DirectionLinks {
  const SeenDirection* seen = nullptr;
  std::unordered_map<std::string, SeenLine> lines;  // of each node
  NamesOf captured;  // the captured nodes of each node
  std::unordered_map<std::string, std::string> kernel_of;  // by operation
  Names kernels;  // in the order of the first operation that each kernel computes
  std::map<std::pair<std::string, std::string>, std::vector<SeenPlace>> places;  // by kernel and buffer that it writes
};

struct SeenLinks {
  std::vector<SeenChain> chains;
  std::vector<DirectionLinks> directions;

  const DirectionLinks* find(std::string_view direction) const;
  // Returns the captured nodes of a node of the joint graph; null if they are unknown.
  const Names* captured_anywhere(const std::string& node) const;
};

// Derives the links from captured nodes to kernels. The result contains pointers into `seen`.
SeenLinks link_seen(const Seen& seen, const ReplacedBy& replaced);

// Returns for each buffer the kernel or library function that writes it in output code: that of the first call that
// names the buffer. Allocations of a buffer and new names for the same memory do not count as calls that write the
// buffer. Returns an empty map for output code of Inductor's C++ wrapper.
std::unordered_map<std::string, std::string> buffer_writers(std::string_view code);

// Appends those of `names` that `list` does not contain yet.
void append_new(const Names& names, Names& list);

// Returns the names in the text that have the form buf12, from left to right.
std::vector<std::string_view> buffers_in(std::string_view text);

}  // namespace depyf::links
