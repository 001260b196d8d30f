// Locals that nothing but the code itself can change, and the temporaries that lifting makes.
#pragma once

#include <functional>
#include <set>
#include <string_view>

#include "decode/instruction.h"
#include "lift/lift.h"
#include "support/table.h"

namespace depyf::lifting {

class StableNames {
 public:
  StableNames(Context& context, const DecodedCode& decoded, const Table<Instruction, InstructionIndex>& code)
      : context_(context), decoded_(decoded), code_(code) {}

  // True if only the code itself can change the variable.
  bool is_fast(std::string_view id) const;
  // True if evaluating `expr` later or twice gives the same value, whatever happens in between (except a store to the
  // local itself). False for an expression of very many parts: copies of copies would grow without bound.
  bool stable(const ast::Expr* expr) const;

  // Returns the name of a temporary that has not been used.
  std::string_view fresh_name();
  bool has_temporaries() const { return temporaries_ > 0; }
  ast::Expr* fresh() { return context_.name(fresh_name()); }
  // Records a name that lifting made and that nothing else can change.
  void note(std::string_view id) { made_.insert(id.data()); }

 private:
  bool stable(const ast::Expr* expr, int& parts) const;
  void collect() const;
  void add_installed() const;

  Context& context_;
  const DecodedCode& decoded_;
  const Table<Instruction, InstructionIndex>& code_;
  // The names of locals that nobody else can change, sorted by address. The names are interned, so addresses identify
  // them. Much code never asks for a name, so they are collected for the first question.
  mutable Table<const char*> fast_;
  mutable bool is_collected_ = false;
  // The same for names that lifting made.
  std::set<const char*, std::less<>> made_;
  int temporaries_ = 0;
};

}  // namespace depyf::lifting
