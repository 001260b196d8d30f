// Turns a code object that was compiled from source into a code object that can replace another code object, the
// original.
#include <algorithm>
#include <array>
#include <utility>

#include "decode/raw.h"
#include "recode/named_instruction.h"
#include "recode/qualified_names.h"
#include "recode/splice.h"
#include "recode/variables.h"

namespace depyf {
namespace {

NameSet set_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

NameSet without(NameSet names, const std::vector<std::string>& taken) {
  for (const std::string& name : taken) names.erase(name);
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Returns the text that Python prints for a tuple of names.
std::string tuple_of(const std::vector<std::string>& names) {
  std::string text = "(";
  for (std::size_t i = 0; i < names.size(); ++i) text += (i ? ", '" : "'") + names[i] + "'";
  return text + (names.size() == 1 ? ",)" : ")");
}

// The variables that `original` has and `code` lacks.
struct Missing {
  NameSet cells, locals;
};

Missing missing_variables(const CodeObject& code, const StandInRequest& request) {
  const CodeObject& original = *request.original;
  Missing missing{without(set_of(original.cellvars), code.cellvars), set_of(original.varnames)};
  for (const auto* known : {&code.varnames, &code.cellvars, &original.freevars})
    missing.locals = without(std::move(missing.locals), *known);
  for (const auto& [written, hidden] : request.hidden_arguments) missing.locals.erase(hidden);
  return missing;
}

// Adds the variables that the code lacks, or lists the variables that the source has to mention so that the compiler
// creates them.
//
// Dynamo of PyTorch 2.2 copies the values of the original's locals by name, so no local may be missing. A variable that
// is global in the source cannot be added.
void add_variables(const StandInRequest& request, StandIn& result) {
  CodeObject& code = result.code;
  const CodeObject& original = *request.original;
  const Missing missing = missing_variables(code, request);
  if (missing.cells.empty() && missing.locals.empty() && code.freevars == original.freevars) return;
  const NameSet globals = own_global_names(code);
  std::vector<std::string> global_cells, more;
  std::set_intersection(missing.cells.begin(), missing.cells.end(), globals.begin(), globals.end(),
                        std::back_inserter(global_cells));
  if (!global_cells.empty()) {
    result.reason = joined(global_cells) + " is global in the source, but a cell variable of the code";
    return;
  }
  std::set_difference(missing.locals.begin(), missing.locals.end(), globals.begin(), globals.end(),
                      std::back_inserter(more));
  for (std::size_t i = 0; code.varnames.size() + more.size() < original.varnames.size(); ++i)
    more.push_back("__depyf_local_" + std::to_string(i));
  const bool has_cells =
      !(original.freevars.empty() && original.cellvars.empty() && code.freevars.empty() && code.cellvars.empty());
  if (!has_cells) {
    // New locals are appended, so the indices in instructions stay the same, and the source need not be compiled again.
    code.varnames.insert(code.varnames.end(), more.begin(), more.end());
    return;
  }
  for (const auto* names : {&original.freevars, &original.cellvars, &std::as_const(more)})
    result.keep.insert(result.keep.end(), names->begin(), names->end());
}

// Returns the reason why `code` cannot run in a frame that was made for `original`; an empty string if `code` can run
// in it.
std::string difference(const CodeObject& code, const CodeObject& original) {
  constexpr std::array<std::pair<std::uint32_t, const char*>, 3> kinds{{
      {CodeObject::generator, "a generator"},
      {CodeObject::coroutine, "a coroutine"},
      {CodeObject::async_generator, "an asynchronous generator"},
  }};
  for (const auto& [flag, kind] : kinds) {
    if (!((code.flags ^ original.flags) & flag)) continue;
    const bool in_source = (code.flags & flag) != 0;
    return "the source " + std::string(in_source ? "is " : "is not ") + kind + ", but the code " +
           (in_source ? "is not" : "is");
  }
  if (code.freevars != original.freevars)
    return "the free variables differ: " + tuple_of(code.freevars) + " instead of " + tuple_of(original.freevars);
  if (code.cellvars != original.cellvars)
    return "the cell variables differ: " + tuple_of(code.cellvars) + " instead of " + tuple_of(original.cellvars);
  if (code.varnames.size() < original.varnames.size())
    return "there are " + std::to_string(code.varnames.size()) + " local variables instead of at least " +
           std::to_string(original.varnames.size());
  return {};
}

// A comprehension that is written as a function contains a `for` statement, which calls iter() on the function's
// argument. The argument of a comprehension's function is an iterator already, so the call of iter() is removed.
void iterate_over_argument(CodeObject& code) {
  const Result<std::vector<RawInstruction>> raws = read_raw(code);
  for (std::size_t i = 1; raws && i < raws->size(); ++i) {
    const RawInstruction &load = (*raws)[i - 1], &iterate = (*raws)[i];
    const bool loads_first =
        (load.opcode == Opcode::LOAD_FAST || load.opcode == Opcode::LOAD_FAST_BORROW) && load.arg == 0;
    if (!loads_first || (iterate.opcode != Opcode::GET_ITER && iterate.opcode != Opcode::GET_AITER)) continue;
    replace_instructions(code, *raws, {{i, {}}});
    return;
  }
}

void name_hidden_arguments(CodeObject& code, const NewNames& hidden) {
  if (hidden.empty()) return;
  for (std::string& name : code.varnames) {
    if (const auto own = hidden.find(name); own != hidden.end()) name = own->second;
  }
  if (!code.varnames.empty()) iterate_over_argument(code);
}

bool is_comprehension(const std::string& name) {
  return name == "<listcomp>" || name == "<setcomp>" || name == "<dictcomp>" || name == "<genexpr>";
}

}  // namespace

StandIn stand_in(const StandInRequest& request) {
  const CodeObject& original = *request.original;
  StandIn result{.code = *request.compiled, .keep = {}, .reason = {}};
  CodeObject& code = result.code;
  if (!request.sorted.empty()) restore_variables(code, request.sorted);
  if (!request.kept) add_variables(request, result);
  if (!result.reason.empty() || !result.keep.empty()) return result;
  result.reason = difference(code, original);
  if (!result.reason.empty()) return result;
  name_hidden_arguments(code, request.hidden_arguments);
  code.flags = original.flags;
  code.name = original.name;
  const std::string own = qualified_name(original, request.written_name);
  // CPython does not add `.<locals>` to qualified names within comprehensions.
  if (is_comprehension(original.name)) replace_prefix(code, request.prefix + ".<locals>", own);
  replace_prefix(code, request.prefix, own);
  qualify_as(code, original);
  return result;
}

}  // namespace depyf
