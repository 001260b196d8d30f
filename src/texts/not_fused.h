// Finds neighbours in Inductor's IR that were not fused, and the reasons.
#pragma once

#include <string>
#include <vector>

#include "texts/operations.h"

namespace depyf::texts {

// Two groups in different kernels, of which the second reads what the first writes.
struct Neighbours {
  std::string direction;
  Operations first, second;
  links::Names buffers;  // that the first writes and the second reads
  std::string why;  // in plain words
  std::string reason;  // in Inductor's words; empty if it gave none
  std::string first_subject, second_subject;  // in the user's terms
};

// Returns all neighbours of a direction. The operations belong to `links.seen`, which must outlive the result.
std::vector<Neighbours> neighbours_not_fused(const links::DirectionLinks& links);

}  // namespace depyf::texts
