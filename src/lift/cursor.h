// Defines the cursor: the current instruction and the code around it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "decode/decode.h"
#include "flow/cfg.h"
#include "lift/lift.h"
#include "support/table.h"

namespace depyf::lifting {

struct Cursor {
  Context& context;
  const DecodedCode& decoded;
  const Cfg& cfg;
  const Row<const Instruction, InstructionIndex> code;
  const bool flat;  // true if each block is lifted separately
  // The indices of the instructions that are simulated literally, which means that the values they move are first
  // stored in temporaries.
  const std::set<int>& literal;
  const Split split;
  NodeIndex block = 0;  // the current block
  int at = 0, end = 0;  // the index of the current instruction, and the end of its block
  // The offset of the first instruction of the current statement.
  std::uint32_t first_offset = 0;
  int first_at = 0;  // the index of the first instruction of the current statement

  // Returns the current instruction.
  const Instruction& now() const { return code[at]; }
  // True if the values that the current instruction moves are first stored in temporaries.
  bool literal_here() const { return flat || split == Split::effects_and_tests || literal.contains(at); }
  // Returns the index of the first instruction from `from` on that is not NOP or RESUME, or the end of the block.
  int skip(int from) const;
  // Moves the start of the current statement behind the instruction at `offset`, which belongs to an earlier statement.
  void begin_behind(std::uint32_t offset);
  // Returns the column where the current statement begins, as the positions of its instructions show; -1 if it is
  // unknown.
  std::int32_t first_column() const;
  // Returns a node with the position of the current instruction.
  template <class Node>
  ast::Expr* make(const Node& node) const {
    ast::Expr* const expr = context.expr(node);
    expr->offset = now().offset, expr->line = now().line;
    return expr;
  }
  // Returns the name with index `index` in co_names; throws InternalError if there is no such name.
  std::string_view name_of(int index) const {
    if (index < 0 || index >= int(decoded.names.size())) fail("no such name");
    return decoded.names[std::size_t(index)];
  }
  // Returns the name of the variable with index `index` in localsplus; throws InternalError if there is no such
  // variable.
  std::string_view local_name(int index) const {
    if (index < 0 || index >= int(decoded.localsplus.size())) fail("no such local");
    return decoded.localsplus[index];
  }
  // Returns the variable with index `index` in localsplus as an expression.
  ast::Expr* local(int index) const { return make(ast::Name{local_name(index)}); }
  // Returns the variable of a store or delete instruction as an expression.
  ast::Expr* target_name(const Instruction& instruction) const;
  // Throws InternalError with the offset of the current instruction.
  [[noreturn]] void fail(std::string_view what) const;
};

}  // namespace depyf::lifting
