#include "refine/locals.h"

#include <algorithm>

#include "ast/visit.h"
#include "decode/op.h"
#include "depyf/code_object.h"

namespace depyf {
using namespace ast;

namespace {

// True if Dynamo generated the code: the code uses names that Dynamo chooses for compiled graphs, resume functions and
// their variables.
bool made_by_dynamo(const CodeObject& code) {
  auto made = [](std::string_view name) {
    return name.starts_with("__compiled_fn_") || name.starts_with("__resume_at_") || name.starts_with("___stack") ||
           name.starts_with("graph_out_") || name.starts_with("__import_torch");
  };
  return std::ranges::any_of(code.names, made) || std::ranges::any_of(code.varnames, made);
}

// Calls `visit` with the names that `target` reads: the names in its subscripts and attributes, but not the names that
// it binds.
void target_reads(Expr* target, FunctionRef<void(std::string_view, bool)> visit) {
  if (is<Name>(target)) return;
  if (is<Tuple>(target) || is<ListExpr>(target) || is<Starred>(target)) {
    for_each_child(target, [&](Expr*& child) { target_reads(child, visit); });
    return;
  }
  for_each_read(target, visit);
}

// Renames each variable in `expr` that is a key of `names` to the value of that key.
void rename(Expr* expr, const std::map<std::string_view, std::string_view>& names) {
  if (auto* name = as<Name>(expr))
    if (auto found = names.find(name->id); found != names.end()) name->id = found->second;
  for_each_child(expr, [&](Expr*& child) { rename(child, names); });
}

}  // namespace

Locals::Locals(const Scope& scope, const Options& options) {
  const CodeObject& code = *scope.decoded.code;
  if (scope.kind != Scope::Kind::function && scope.kind != Scope::Kind::expression) return;
  generated_ = made_by_dynamo(code);
  fast_.insert(code.varnames.begin(), code.varnames.end());
  // Cell variables are not fast locals, because other functions can change them.
  for (const std::string& cell : code.cellvars) fast_.erase(cell);
  if (options.installed.empty()) return;
  // A global that Dynamo installed keeps its value, unless this code stores it.
  for (const std::string& name : code.names)
    if (options.installed.contains(name) && !fast_.contains(name)) installed_.insert(name);
  for (const Instruction& instruction : scope.decoded.instructions)
    if (instruction.op == Op::store_global_ || instruction.op == Op::delete_global_)
      installed_.erase(code.names[std::size_t(instruction.arg)]);
}

void for_each_read(Expr* expr, FunctionRef<void(std::string_view, bool)> visit, bool inner) {
  if (auto* name = as<Name>(expr)) return visit(name->id, inner);
  if (auto* walrus = as<NamedExpr>(expr)) return for_each_read(walrus->value, visit, inner);
  inner = inner || is<Lambda>(expr) || is<ComprehensionExpr>(expr);
  for_each_child(expr, [&](Expr*& child) { for_each_read(child, visit, inner); });
}

void for_each_read(Stmt* stmt, FunctionRef<void(std::string_view, bool)> visit) {
  if (auto* assign = as<Assign>(stmt)) {
    for_each_read(assign->value, visit);
    for (Expr* target : assign->targets) target_reads(target, visit);
  } else if (auto* remove = as<Delete>(stmt)) {
    for (Expr* target : remove->targets) target_reads(target, visit);
  } else if (auto* loop = as<For>(stmt)) {
    for_each_read(loop->iter, visit);
    target_reads(loop->target, visit);
  } else if (auto* with = as<With>(stmt)) {
    for (const WithItem& item : with->items) {
      for_each_read(item.context_expr, visit);
      if (item.optional_vars) target_reads(item.optional_vars, visit);
    }
  } else {
    for_each_expr(stmt, [&](Expr*& expr) { for_each_read(expr, visit); });
  }
}

void for_each_target(const Stmt* stmt, FunctionRef<void(Expr*)> visit) {
  auto all = [&](List<Expr*> targets) {
    for (Expr* target : targets) visit(target);
  };
  if (auto* assign = as<Assign>(stmt)) all(assign->targets);
  if (auto* remove = as<Delete>(stmt)) all(remove->targets);
  if (auto* augmented = as<AugAssign>(stmt)) visit(augmented->target);
  if (auto* annotated = as<AnnAssign>(stmt)) visit(annotated->target);
  if (auto* loop = as<For>(stmt)) visit(loop->target);
  if (auto* with = as<With>(stmt))
    for (const WithItem& item : with->items)
      if (item.optional_vars) visit(item.optional_vars);
}

void for_each_bound(const Expr* target, FunctionRef<void(std::string_view)> visit) {
  if (auto* name = as<Name>(target)) return visit(name->id);
  if (is<Tuple>(target) || is<ListExpr>(target) || is<Starred>(target))
    for_each_child(const_cast<Expr*>(target), [&](Expr*& child) { for_each_bound(child, visit); });
}

bool stores_temporary(Block body) {
  return std::ranges::any_of(body, [](Stmt* stmt) {
    bool found = false;
    for_each_target(stmt, [&](Expr* target) {
      for_each_bound(target, [&](std::string_view name) { found |= is_temporary(name); });
    });
    if (auto* function = as<FunctionDef>(stmt)) found |= is_temporary(function->name);
    if (auto* definition = as<ClassDef>(stmt)) found |= is_temporary(definition->name);
    for_each_block(stmt, [&](Block inner) { found = found || stores_temporary(inner); });
    return found;
  });
}

void rename(Block body, const std::map<std::string_view, std::string_view>& names) {
  for (Stmt* stmt : body) {
    for_each_expr(stmt, [&](Expr*& expr) { rename(expr, names); });
    for_each_block(stmt, [&](Block& inner) { rename(inner, names); });
  }
}

bool Reads::any(std::string_view name, Interval within) const { return count(name, within) > 0; }

int Reads::count(std::string_view name, Interval within) const {
  auto found = reads_.find(name);
  if (found == reads_.end()) return 0;
  auto begin = std::lower_bound(found->second.begin(), found->second.end(), within.first);
  auto end = std::upper_bound(begin, found->second.end(), within.second);
  return int(end - begin);
}

// Numbers the statements of `body`. Each statement has a lower number than the statements nested in it.
void Reads::number(Block body) {
  for (Stmt* stmt : body) {
    int own = next_++;
    for_each_read(stmt, [&](std::string_view name, bool) { reads_[name].push_back(own); });
    for_each_block(stmt, [&](Block& inner) { number(inner); });
    numbers_[stmt] = {own, next_ - 1};
  }
}

}  // namespace depyf
