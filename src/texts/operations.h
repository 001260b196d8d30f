// Describes operations of Inductor's IR in the user's terms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "links/seen.h"

namespace depyf::texts {

// Operations that were fused into one kernel; the record of the compilation owns the operations.
using Operations = std::vector<const SeenOperation*>;

struct Subjects {
  links::Names nodes;  // the captured nodes; "code of PyTorch" if there are no captured nodes
  links::Names places;  // the user's lines
};

Subjects subjects_of(const Operations& operations, const links::DirectionLinks& links);

// Returns the captured nodes of the operations, with the user's lines, such as "gelu, mul (train.py:12)".
std::string subject_text(const Operations& operations, const links::DirectionLinks& links);

// Returns the file and the number of the line, such as "train.py:12".
std::string place_text(const SeenLine& line);

// `names_in_group` splits the name of a group, such as `op0_op1`, into the names of the operations in the group.
// `group_name` returns the name of a group.
links::Names names_in_group(std::string_view group);
std::string group_name(const Operations& operations);

}  // namespace depyf::texts
