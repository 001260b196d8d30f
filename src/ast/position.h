// Looks up where an expression stood in the source.
#pragma once

#include <span>

#include "ast/node.h"
#include "depyf/position.h"

namespace depyf::ast {

// Returns the positions of all code units of `code`, in their order.
std::span<const Position> positions_of(const CodeObject& code);

// Returns the position of the instruction in `code` that made `expr`, as 3.11 and later record it. Returns null if the
// instruction has no position, or none on the line of `expr`. The columns of the position may be unknown (-1).
const Position* position_in(const CodeObject& code, const Expr* expr);

}  // namespace depyf::ast
