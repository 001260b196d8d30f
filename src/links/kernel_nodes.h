// Finds the nodes of a graph that each call of its output code computes.
//
//     cpp_fused_gelu_1(buf5, buf6)                             reads buf5, writes buf6
//     extern_kernels.addmm(b, buf6, w, out=buf7)               the node addmm_1, so buf6 holds its second argument, mul_4
//
// A value of the code is the same as a node if both are the same input or output, or if a library call and a node do
// the same with the same values. A kernel computes the nodes between the values that it reads and those that it writes.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "depyf/record.h"
#include "links/index.h"

namespace depyf::links {

// Fills in the nodes and the evidence of each call. `captured_of` gives the known captured nodes of each node; comments
// above library calls name some of these.
void find_nodes(record::OutputCode& code, const Index& graph,
                const std::unordered_map<std::string, std::vector<std::string>>& captured_of);

}  // namespace depyf::links
