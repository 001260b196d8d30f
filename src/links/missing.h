// The reasons for missing links that occur both in logs and in dumps. Each reason begins with the stage that is
// missing.
#pragma once

namespace depyf::links {

constexpr const char* no_node_after_passes =
    "post_grad: no node after the passes names this node, because a pass folded, merged or removed it";
constexpr const char* no_graph_with_nodes =
    "graph: no nodes of AOTAutograd's graphs are recorded, because the result came from a cache or from another "
    "backend";
constexpr const char* only_in_joint_graph =
    "graph: only the joint graph contains this node, because neither the forward nor the backward needs its value";
constexpr const char* named_by_no_node =
    "graph: no node names this node, because it computes nothing of its own, or became part of other nodes";

}  // namespace depyf::links
