// Finds the nodes of a graph that each call of its output code computes.
//
// A value of the output code is identified with a node of the graph if the value and the node are the same input or
// output. A value is also identified with a node if a library call computes the value by the operator of the node, from
// values that are identified with the arguments of the node. A kernel computes the nodes between the values that it
// reads and the values that it writes.
//
// For example, the call `cpp_fused_gelu_1(buf5, buf6)` reads buf5 and writes buf6, and the call
// `extern_kernels.addmm(b, buf6, w, out=buf7)` reads buf6. The call of addmm computes the node addmm_1, whose second
// argument is the node mul_4, so buf6, the second argument of the call, is identified with mul_4.
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
