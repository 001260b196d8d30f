// What the folding passes ask about names: which are this frame's alone, and where each is read.
#pragma once

#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "refine/refine.h"
#include "support/function_ref.h"

namespace depyf {

inline bool is_temporary(std::string_view name) { return name.starts_with("__temp_"); }

class Locals {
 public:
  Locals(const Scope& scope, const Options& options);

  // True for a local that nobody else can change or see, and for a global that keeps its value.
  bool is_fast(std::string_view name) const {
    return is_temporary(name) || fast_.contains(name) || installed_.contains(name);
  }
  // May its stores go? Those of temporaries, and all in code that no person wrote, of which nobody knows the names.
  bool foldable(std::string_view name) const { return is_temporary(name) || (generated_ && fast_.contains(name)); }
  bool generated() const { return generated_; }

 private:
  std::set<std::string_view> fast_, installed_;
  bool generated_ = false;
};

// Calls `visit` with each name that is read where `expr` is evaluated; with inner scopes (lambdas, comprehensions) too.
void for_each_read(ast::Expr* expr, FunctionRef<void(std::string_view, bool inner)> visit, bool inner = false);
// The same for the expressions of one statement, its nested blocks left out.
void for_each_read(ast::Stmt* stmt, FunctionRef<void(std::string_view, bool inner)> visit);
// Calls `visit` with each target of a statement: what it stores to or deletes.
void for_each_target(const ast::Stmt* stmt, FunctionRef<void(ast::Expr*)> visit);
// Gives names others, everywhere but in nested definitions.
void rename(ast::Block body, const std::map<std::string_view, std::string_view>& names);
// Calls `visit` with each name that a target binds.
void for_each_bound(const ast::Expr* target, FunctionRef<void(std::string_view)> visit);

// Statements in the order of the text, and the reads of each name by them.
class Reads {
 public:
  explicit Reads(ast::Block body) { number(body); }

  using Interval = std::pair<int, int>;  // of statement numbers, both ends within

  int number_of(const ast::Stmt* stmt) const { return numbers_.at(stmt).first; }
  // The statement and all that is nested in it.
  Interval extent(const ast::Stmt* stmt) const { return numbers_.at(stmt); }
  bool any(std::string_view name, Interval within) const;
  int count(std::string_view name, Interval within) const;

 private:
  void number(ast::Block body);

  int next_ = 0;
  std::map<const ast::Stmt*, Interval> numbers_;
  std::map<std::string_view, std::vector<int>> reads_;  // ascending
};

}  // namespace depyf
