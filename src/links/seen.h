// Plain data: the chains from captured nodes to kernels that link_seen() derives from the graphs, operations and output
// code that depyf saw in the process of a compilation (`Seen`).
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

// Returns the name of the file without its folders.
std::string name_of(const SeenLine& line);

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
  std::unordered_map<std::string, const SeenLine*> lines;  // of each node
  NamesOf captured;  // the captured nodes of each node
  std::unordered_map<std::string, std::string> kernel_of;  // by operation
  Names kernels;  // in the order of the first operation that each kernel computes
  std::map<std::pair<std::string, std::string>, std::vector<SeenPlace>> places;  // by kernel and buffer that it writes
};

struct SeenLinks {
  std::vector<SeenChain> chains;
  std::vector<DirectionLinks> directions;

  const DirectionLinks* find(std::string_view direction) const;
  // Returns the captured nodes from which a node of the joint graph was made; null if they are unknown.
  const Names* captured_anywhere(const std::string& node) const;
};

// Derives the links from captured nodes to kernels. The result contains pointers into `seen`.
SeenLinks link_seen(const Seen& seen, const ReplacedBy& replaced);

// Returns for each buffer the kernel or library function that writes it in output code: that of the first call that
// names the buffer. Allocations of a buffer and new names for the same memory do not count as calls that write the
// buffer. Returns an empty map for output code of Inductor's C++ wrapper.
std::unordered_map<std::string, std::string> buffer_writers(std::string_view code);

// Appends the name, or those of `names`, that `list` does not contain yet.
void append_new(const std::string& name, Names& list);
void append_new(const Names& names, Names& list);

// Returns the names in the text that have the form buf12, from left to right.
std::vector<std::string_view> buffers_in(std::string_view text);

}  // namespace depyf::links
