// Finds neighbouring operations in Inductor's IR that were not fused, and the reasons.
#pragma once

#include <string>
#include <vector>

#include "texts/operations.h"

namespace depyf::texts {

// Two groups of fused operations in different kernels, of which the second reads a buffer that the first writes.
struct Neighbours {
  std::string direction;
  Operations first, second;
  links::Names buffers;  // the buffers that the first group writes and the second reads
  std::string why;  // in plain words
  std::string reason;  // in Inductor's words; empty if Inductor stated no reason
  std::string first_subject, second_subject;  // the two groups in the user's terms
};

// Returns all neighbours of a direction. The operations belong to `links.seen`, which must outlive the result.
std::vector<Neighbours> neighbours_not_fused(const links::DirectionLinks& links);

}  // namespace depyf::texts
