// Names that nothing else can change, and the temporaries that lifting makes.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "decode/instruction.h"
#include "lift/lift.h"

namespace depyf::lifting {

class StableNames {
 public:
  StableNames(Context& context, const DecodedCode& decoded, const std::vector<Instruction>& code);

  bool is_fast(std::string_view id) const;
  // Can it be evaluated later, or twice, whatever happens in between (but a store to the local itself)? Not where it has many
  // parts: copies of copies would grow without bound.
  bool stable(const ast::Expr* expr) const;

  std::string_view fresh_name();
  ast::Expr* fresh() { return context_.name(fresh_name()); }
  // Another name that lifting makes, and that nothing else can change.
  void note(std::string_view id) { made_.insert(id.data()); }

 private:
  bool stable(const ast::Expr* expr, int& parts) const;
  void add_installed(const DecodedCode& decoded, const std::vector<Instruction>& code);

  Context& context_;
  std::vector<const char*> fast_;         // ids of locals that nobody else can change, sorted
  std::unordered_set<const char*> made_;  // and of the temporaries
  int temporaries_ = 0;
};

}  // namespace depyf::lifting
