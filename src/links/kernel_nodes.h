// Which nodes of a graph each call of its output code computes.
//
//     cpp_fused_gelu_1(buf5, buf6)                             reads buf5, writes buf6
//     extern_kernels.addmm(b, buf6, w, out=buf7)               the node addmm_1, so buf6 holds its second argument, mul_4
//
// A value of the code is the same as a node where both have it as an input or an output, or where a library call and a node
// do the same with the same values. What lies between the values that a kernel writes and those that it reads is what the
// kernel computes.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "depyf/record.h"
#include "links/index.h"

namespace depyf::links {

// Fills nodes and evidence of each call. `captured_of`: the captured nodes of each node, as far as they are known; the
// comments above library calls name some of them.
void find_nodes(record::OutputCode& code, const Index& graph,
                const std::unordered_map<std::string, std::vector<std::string>>& captured_of);

}  // namespace depyf::links
