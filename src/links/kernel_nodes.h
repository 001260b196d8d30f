// Finds the nodes of a graph that each call of its output code computes.
//
//     cpp_fused_gelu_1(buf5, buf6)                             reads buf5, writes buf6
//     extern_kernels.addmm(b, buf6, w, out=buf7)               the node addmm_1, so buf6 is its second argument, mul_4
//
// A value of the code is identified with a node if both are the same input or output, or if a library call that
// computes the value applies the same operator to the same values as the node. A kernel computes the nodes between the
// values that it reads and those that it writes.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "depyf/record.h"
#include "links/index.h"

namespace depyf::links {

// Sets `nodes` and `evidence` of each call of `code`. `captured_of` maps each node to its known captured nodes, because
// comments above library calls name captured nodes.
void find_nodes(record::OutputCode& code, const Index& graph,
                const std::unordered_map<std::string, std::vector<std::string>>& captured_of);

}  // namespace depyf::links
