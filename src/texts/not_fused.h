// Which neighbours in Inductor's IR were not fused, and why.
#pragma once

#include <string>
#include <vector>

#include "texts/operations.h"

namespace depyf::texts {

// Two neighbours in different kernels: one writes what the other reads.
struct Neighbours {
  std::string direction;
  Operations first, second;
  links::Names buffers;  // that the first writes and the second reads
  std::string why;  // in plain words
  std::string reason;  // in Inductor's words; empty if it gave none
  std::string first_subject, second_subject;  // in the user's terms
};

// All neighbours of a direction. The operations are those of `links.seen`, which must outlive them.
std::vector<Neighbours> neighbours_not_fused(const links::DirectionLinks& links);

}  // namespace depyf::texts
