// The instruction at work, and the code around it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/decode.h"
#include "flow/cfg.h"
#include "lift/lift.h"

namespace depyf::lifting {

struct Cursor {
  Context& context;
  const DecodedCode& decoded;
  const Cfg& cfg;
  const std::vector<Instruction>& code;
  const bool flat;               // each block is lifted by itself
  const std::set<int>& literal;  // instructions whose values are named first
  const Split split;
  int block = 0;                   // being lifted
  int at = 0, end = 0;             // instruction at work, end of its block
  std::uint32_t first_offset = 0;  // of the statement being made
  int first_at = 0;                // the index of its first instruction

  const Instruction& now() const { return code[at]; }
  bool literal_here() const { return flat || split == Split::effects_and_tests || literal.contains(at); }
  // The next instruction from `from` that does something, or the block's end.
  int skip(int from) const;
  // Where the statement being made begins in its line, by the positions of its instructions; -1: unknown.
  std::int32_t first_column() const;
  ast::Expr* make(ast::Expr::Node node) const { return context.expr(std::move(node), now().offset, now().line); }
  std::string_view name_of(int index) const;
  ast::Expr* local(int index) const;
  ast::Expr* target_name(const Instruction& instruction) const;
  [[noreturn]] void fail(std::string what) const;
};

}  // namespace depyf::lifting
