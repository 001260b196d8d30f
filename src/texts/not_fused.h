// Finds neighbouring operations in Inductor's IR that were not fused, and the reasons.
#pragma once

#include <string>
#include <vector>

#include "texts/operations.h"

namespace depyf::texts {

// Two groups of fused operations in different kernels. The second group reads a buffer that the first group writes.
struct Neighbours {
  std::string direction;
  Operations first, second;
  links::Names buffers;  // the buffers that the first group writes and the second reads
  std::string why;  // the reason, described for users
  std::string reason;  // the reason in Inductor's log; empty if Inductor stated no reason
  std::string first_subject, second_subject;  // descriptions of both groups in the user's terms
};

// Returns all pairs of neighbouring groups that were not fused in one direction (forward or backward). The operations
// belong to `links.seen`, which must outlive the result.
std::vector<Neighbours> neighbours_not_fused(const links::DirectionLinks& links);

}  // namespace depyf::texts
