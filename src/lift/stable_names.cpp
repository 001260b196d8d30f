#include "lift/stable_names.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "decode/decode.h"
#include "decode/op.h"
#include "depyf/code_object.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

// Collects the locals that only the code itself can change, which are all locals but cell variables.
void StableNames::collect() const {
  is_collected_ = true;
  const CodeObject& code = *decoded_.code;
  const std::set<std::string_view> cells(code.cellvars.begin(), code.cellvars.end());
  const std::size_t locals = std::min(code.varnames.size(), decoded_.localsplus.size());
  fast_.reserve(locals + 1);
  for (const std::string_view name : Row<const std::string_view>(decoded_.localsplus).part(0, locals))
    if (cells.empty() || !cells.contains(name)) fast_.push_back(name.data());
  if (!context_.options.installed.empty()) add_installed();
  if (decoded_.is_comprehension) fast_.push_back(decoded_.localsplus.back().data());
  std::sort(fast_.begin(), fast_.end(), std::less<>());
}

// Adds the globals of `Options::installed` that the code neither stores nor deletes: such globals are known to exist
// and to keep their values.
void StableNames::add_installed() const {
  std::set<std::string_view> changed;
  const std::span<const std::string> names = decoded_.names;
  for (const Instruction& instruction : code_)
    if (instruction.op == Op::store_global_ || instruction.op == Op::delete_global_)
      changed.insert(names[std::size_t(instruction.arg)]);
  for (const std::string& name : names)
    if (context_.options.installed.contains(name) && !changed.contains(name)) fast_.push_back(name.data());
}

std::string_view StableNames::fresh_name() {
  std::string_view id = context_.arena.copy("__temp_" + std::to_string(++temporaries_));
  made_.insert(id.data());
  return id;
}

bool StableNames::is_fast(std::string_view id) const {
  if (!is_collected_) collect();
  return std::binary_search(fast_.begin(), fast_.end(), id.data(), std::less<>()) ||
         (!made_.empty() && made_.contains(id.data()));
}

// The limit on the number of parts keeps expressions that are copies of copies from growing without bound.
bool StableNames::stable(const Expr* expr) const {
  int parts = 1000;
  return stable(expr, parts);
}

bool StableNames::stable(const Expr* expr, int& parts) const {
  if (--parts < 0) return false;
  if (is<ConstantExpr>(expr)) return true;
  if (auto* name = as<Name>(expr)) return is_fast(name->id);
  if (auto* internal = as<Internal>(expr)) {
    const Marker marker = internal->marker;
    if (marker == Marker::iterator) return internal->value == nullptr;
    // The creation of a function has no effect apart from the evaluation of its defaults and annotations.
    if (marker == Marker::function) {
      const FunctionValue& function = context_.functions[internal->index];
      for (Expr* part : {function.defaults, function.kw_defaults, function.deferred ? nullptr : function.annotations})
        if (part && !stable(part, parts)) return false;
      return true;
    }
    return marker != Marker::copied && marker != Marker::chain && marker != Marker::awaitable &&
           marker != Marker::import_module;
  }
  if (auto* tuple = as<Tuple>(expr))
    return std::all_of(tuple->elts.begin(), tuple->elts.end(), [&](Expr* e) { return stable(e, parts); });
  // A slice in a subscript has no effect of its own; a slice elsewhere becomes a call of slice() before it is
  // evaluated.
  if (auto* slice = as<Slice>(expr)) {
    for (Expr* part : {slice->lower, slice->upper, slice->step})
      if (part && !stable(part, parts)) return false;
    return true;
  }
  return false;
}

}  // namespace depyf::lifting
