// Collects facts about names for the folding passes: the names that only this frame can change, and the statements that
// read each name.
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

// The locals of one code object.
class Locals {
 public:
  Locals(const Scope& scope, const Options& options);

  // True if `name` is a local that no other code can change or see, or a global that is known to keep its value.
  bool is_fast(std::string_view name) const {
    return is_temporary(name) || fast_.contains(name) || installed_.contains(name);
  }
  // True if stores of `name` may be removed: it is a temporary, or a local of code that Dynamo generated.
  bool foldable(std::string_view name) const { return is_temporary(name) || (generated_ && fast_.contains(name)); }
  // True if Dynamo generated the code.
  bool generated() const { return generated_; }

 private:
  std::set<std::string_view> fast_, installed_;
  bool generated_ = false;
};

// Calls `visit` with each name that is read when `expr` is evaluated. `inner` is true for reads in lambdas and
// comprehensions.
void for_each_read(ast::Expr* expr, FunctionRef<void(std::string_view, bool inner)> visit, bool inner = false);
// Calls `visit` with each name that `stmt` reads outside of its nested blocks.
void for_each_read(ast::Stmt* stmt, FunctionRef<void(std::string_view, bool inner)> visit);
// Calls `visit` with each target of `stmt`, which is an expression to which `stmt` stores or that it deletes.
void for_each_target(const ast::Stmt* stmt, FunctionRef<void(ast::Expr*)> visit);
// True if some statement of `body` outside of nested definitions stores a temporary.
bool stores_temporary(ast::Block body);
// Renames each variable that is a key of `names` to the value of that key, in all of `body` except in nested
// definitions.
void rename(ast::Block body, const std::map<std::string_view, std::string_view>& names);
// Calls `visit` with each name that `target` binds.
void for_each_bound(const ast::Expr* target, FunctionRef<void(std::string_view)> visit);

// Numbers statements in the order of the text, and records the statements that read each name.
class Reads {
 public:
  explicit Reads(ast::Block body) { number(body); }

  // An interval of the numbers of statements, which includes both ends.
  using Interval = std::pair<int, int>;

  int number_of(const ast::Stmt* stmt) const { return numbers_.at(stmt).first; }
  // Returns the interval of the numbers of `stmt` and all statements nested in it.
  Interval extent(const ast::Stmt* stmt) const { return numbers_.at(stmt); }
  // True if a statement in the interval `within` reads `name`.
  bool any(std::string_view name, Interval within) const;
  // Returns the number of reads of `name` by statements in the interval `within`.
  int count(std::string_view name, Interval within) const;

 private:
  void number(ast::Block body);

  int next_ = 0;
  std::map<const ast::Stmt*, Interval> numbers_;
  std::map<std::string_view, std::vector<int>> reads_;  // maps a name to the numbers of the statements that read it
};

}  // namespace depyf
