// Defines chains as plain data. A chain leads from a captured node to the kernels that were generated from the node.
// link_seen() derives the chains from the graphs, operations and output code that depyf saw in the process of a
// compilation (`Seen`).
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

// The line of source, and the module, of a node that a kernel computes.
struct SeenPlace {
  std::string module;
  SeenLine line;
  bool operator==(const SeenPlace&) const = default;
};

// The nodes, operations and kernels that were made from a captured node in one direction (forward or backward), by
// stage.
struct SeenLink {
  Names graph, post_grad, operations, kernels;
  Names not_recorded;  // the stages whose link is unknown, each with the reason
};

struct SeenChain {
  const SeenNode* node = nullptr;
  Names joint;
  // Pairs of a direction, and the core operators into which the captured node was decomposed.
  std::vector<std::pair<std::string, Names>> decomposed;
  std::vector<std::pair<std::string, SeenLink>> directions;
  Names not_recorded;  // the reason why `directions` is empty
};

// The data of one direction (forward or backward) from which the chains from captured nodes to kernels are derived.
struct DirectionLinks {
  const SeenDirection* seen = nullptr;
  std::unordered_map<std::string, const SeenLine*> lines;  // maps a node to its line
  NamesOf captured;  // maps a node to its captured nodes
  std::unordered_map<std::string, std::string> kernel_of;  // maps an operation to its kernel
  Names kernels;  // the kernels, in the order of the first operation of each kernel
  std::map<std::pair<std::string, std::string>, std::vector<SeenPlace>> places;  // by kernel and written buffer
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

// Returns a map from each buffer to the kernel or library function that writes the buffer in output code. The first
// call that names a buffer is assumed to write the buffer. A statement that allocates a buffer, or gives the memory of
// a buffer a new name, does not count as a call that writes the buffer. Returns an empty map for output code of
// Inductor's C++ wrapper.
std::unordered_map<std::string, std::string> buffer_writers(std::string_view code);

// Appends `name`, or each of `names`, unless `list` already contains the name.
void append_new(const std::string& name, Names& list);
void append_new(const Names& names, Names& list);

// Returns the names in the text that have the form buf12, from left to right.
std::vector<std::string_view> buffers_in(std::string_view text);

}  // namespace depyf::links
