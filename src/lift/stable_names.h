// Finds the locals that only the code object itself can change, and creates the temporaries of lifting.
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
  StableNames(Context& context, const DecodedCode& decoded, Row<const Instruction, InstructionIndex> code)
      : context_(context), decoded_(decoded), code_(code) {}

  // True if only the code object itself can change the variable `id`.
  bool is_fast(std::string_view id) const;
  // True if a later or second evaluation of `expr` has the same value, whatever code runs in between, except for a
  // store to a local that `expr` uses. Returns false for an expression of very many parts, so that repeated copies of
  // expressions do not grow without bound.
  bool stable(const ast::Expr* expr) const;

  // Returns the name of a new temporary.
  std::string_view fresh_name();
  bool has_temporaries() const { return temporaries_ > 0; }
  ast::Expr* fresh() { return context_.name(fresh_name()); }
  // Records the name of a variable that lifting introduces and that no other code can change.
  void note(std::string_view id) { made_.insert(id.data()); }

 private:
  bool stable(const ast::Expr* expr, int& parts) const;
  void collect() const;
  void add_installed() const;

  Context& context_;
  const DecodedCode& decoded_;
  const Row<const Instruction, InstructionIndex> code_;
  // The names of locals that only the code object itself can change, sorted by address. Names are interned, so an
  // address identifies a name. The names are collected at the first query, because much code makes no query.
  mutable Table<const char*> fast_;
  mutable bool is_collected_ = false;
  // The addresses of the names of variables that lifting introduced.
  std::set<const char*, std::less<>> made_;
  int temporaries_ = 0;
};

}  // namespace depyf::lifting
