// Lifts calls.
//
//   `NULL; f; a; b; ('k',); CALL_KW 2` is `f(a, k=b)`.
//   `f; a; b; CALL_FUNCTION 2` is `f(a, b)` (to 3.10).
//   `x; LOAD_METHOD m; a; CALL 1` is `x.m(a)`.
//   `NULL; f; (1, *a); {'k': b, **c}; CALL_FUNCTION_EX 1` is `f(1, *a, k=b, **c)`.
//   `super; __class__; self; LOAD_SUPER_ATTR m` is `super().m`.
//   A call of the function of a comprehension with an iterator is the comprehension (see comprehensions.cpp).
//   A call of the __exit__ of a context manager with three arguments None is the end of the body of a with statement.
#include <algorithm>

#include "decode/op.h"
#include "dialect/dialect.h"
#include "lift/comprehensions.h"
#include "lift/definitions.h"
#include "lift/generics.h"
#include "lift/operations.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {
bool is_null(const Expr* expr) {
  auto* internal = as<Internal>(expr);
  return internal && internal->marker == Marker::null;
}

// In 3.8: true if the dict display in front of the call at `at` contains `**` and was written as one argument, as in
// f(**{**a, 'k': b}). In f(**{**a, 'k': b}), a later key replaces an equal earlier key. In contrast,
// BUILD_MAP_UNPACK_WITH_CALL, which merges the parts of f(**a, k=b), refuses duplicate keys.
bool is_one_mapping(const Dict& dict, Row<const Instruction, InstructionIndex> code, int at, Version version) {
  if (!dialect_of(version).unpacking_builds || std::ranges::find(dict.keys, nullptr) == dict.keys.end()) return false;
  int before = at - 1;
  while (before > 0 && code[before].op == Op::nop_) --before;
  constexpr int merged_for_call = 5;  // `call_map` in `build_unpack`
  return before < 0 || code[before].op != Op::build_unpack_ || code[before].aux != merged_for_call;
}

// Returns `args` with `first` in front.
List<Expr*> with_first(Context& context, Expr* first, List<Expr*> args) {
  const List<Expr*> all = context.arena.list<Expr*>(args.size() + 1);
  all[0] = first;
  std::ranges::copy(args, all.begin() + 1);
  return all;
}

// Removes the last arguments from `args`, one for each of `names`, and returns them as keywords. If one of the names is
// no identifier, all keywords are passed as one dict: f(**{'a b': c}).
List<Keyword> keywords_of(Context& context, const Cursor& cursor, const Constant& names, List<Expr*>& args) {
  Table<Keyword> keywords;
  std::size_t count = names.items.size();
  if (count > args.size()) cursor.fail("more keyword names than arguments");
  bool plain = true;
  for (const Constant& name : names.items) plain &= name.kind == Constant::Kind::string && is_name(name.text);
  Table<Expr*> keys, values;
  for (std::size_t index = 0; index < count; ++index) {
    Expr* value = args[args.size() - count + index];
    if (plain) keywords.push_back({names.items[index].text, value});
    else keys.push_back(cursor.make(ConstantExpr{&names.items[index]})), values.push_back(value);
  }
  if (!plain) keywords.push_back({"", cursor.make(Dict{context.arena.copy(keys), context.arena.copy(values)})});
  args = args.first(args.size() - count);
  return context.arena.copy(keywords);
}

// Returns the function that a CALL with the arguments `args` calls. On the stack, `first` lies below `second`, and
// `second` lies below the arguments. If `first` is the function of a method and `second` its `self`, puts `self` in
// front of `args`.
Expr* callee(Simulation& sim, Expr* first, Expr* second, List<Expr*>& args) {
  // In nearly all calls, either `first` or `second` is NULL, each about equally often, so the function is selected
  // without a branch.
  Expr* const both[] = {first, second};
  const bool first_is_marker = is<Internal>(first);
  const bool is_usual = int{first_is_marker} + int{is<Internal>(second)} == 1;
  if (is_usual && is_null(both[first_is_marker ? 0 : 1])) return both[first_is_marker ? 1 : 0];
  if (is_null(first) && is_null(second)) sim.cursor.fail("call of NULL");
  if (is_null(first)) return second;
  if (!is_null(second)) args = with_first(sim.context, second, args);
  return first;
}

}  // namespace

// Handles the CALL instructions with a fixed number of arguments.
void call(Simulation& sim, const Instruction& instruction) {
  const Constant* names = nullptr;
  if (instruction.op == Op::call_kw_ || instruction.op == Op::call_function_kw_) {
    names = constant_of(sim.pop(), Constant::Kind::tuple);
    if (!names) sim.cursor.fail("keyword names are no tuple");
  } else if (instruction.op == Op::call_ && instruction.aux >= 0) {
    if (instruction.aux >= int(sim.cursor.decoded.constants.size())) sim.cursor.fail("no such constant");
    names = &sim.cursor.decoded.constants[std::size_t(instruction.aux)];
  }
  List<Expr*> args = sim.pop_many(instruction.arg);
  List<Keyword> keywords;
  if (names) keywords = keywords_of(sim.context, sim.cursor, *names, args);
  Expr* function = sim.pop();
  if (instruction.op == Op::call_ || instruction.op == Op::call_kw_) {
    // The two stack slots below the arguments contain NULL and a function, a function and NULL, or the function of a
    // method and its `self`.
    function = callee(sim, sim.pop(), function, args);
  }
  finish_call(sim, function, args, keywords);
}

// Handles LOAD_SUPER_ATTR; bit 1 of aux is set if super had arguments, bit 0 if the attribute is loaded for a call.
void super_attribute(Simulation& sim, const Instruction& instruction) {
  Expr *self = sim.pop(), *cls = sim.pop(), *super = sim.pop();
  bool given = (instruction.aux & 2) != 0;
  Expr* made = sim.cursor.make(Call{super, given ? sim.context.list({cls, self}) : List<Expr*>{}, {}});
  sim.push(Attribute{made, sim.cursor.name_of(instruction.arg)});
  if (instruction.aux & 1) sim.push(Internal{Marker::null, 1, nullptr});
}

// Pushes the call, or the construct that the call implements: a comprehension, a generic definition, a long f-string or
// the end of a with statement.
void finish_call(Simulation& sim, Expr* function, List<Expr*> args, List<Keyword> keywords) {
  if (auto* internal = as<Internal>(function)) {
    // The call of __exit__ at the normal end of a with statement belongs to the with statement, so the call becomes a
    // marker.
    if (internal->marker == Marker::with_exit && args.size() == 3 && std::all_of(args.begin(), args.end(), is_none)) {
      sim.emit(InternalStmt{StmtMarker::with_exit, internal->index, nullptr, nullptr});
      return sim.push(Internal{Marker::with_exit, internal->index, nullptr});
    }
    if (is_generic(sim.context, function)) {
      // If the generated function cannot be turned into a definition, it is printed as a function that is called, so
      // that it fails by itself, and not with the code around it.
      try {
        return sim.push(evaluate_generic(sim.context, sim.cursor, sim.context.functions[internal->index], args));
      } catch (const InternalError&) {
        return sim.push(Call{function, args, keywords});
      }
    }
    if (internal->marker == Marker::function && args.size() == 1 && keywords.empty()) {
      auto* iterator = as<Internal>(args[0]);
      const FunctionValue called = sim.context.functions[internal->index];
      Expr *made = nullptr, *iterable = nullptr;
      if (iterator && iterator->marker == Marker::iterator) iterable = iterator->value;
      // From 3.15 on, the function of a comprehension calls iter() on its argument by itself.
      else if (dialect_of(sim.cursor.decoded.version).iterating_generators) iterable = args[0];
      if (iterable && comprehension(sim.context, sim.cursor, made, called, iterable)) return sim.push(made);
    }
  }
  if (!args.empty() && is<ListExpr>(args[0]) && args.size() == 1 && keywords.empty())
    if (Expr* text = long_fstring(sim.context, sim.cursor, function, args)) return sim.push(text);
  sim.push(Call{function, args, keywords});
}

namespace {
// In 3.8: true if `display` was written as an argument `**{...}`. In 3.8, a call with plain keywords and without `*`
// and `**` arguments compiles to CALL_FUNCTION_KW.
bool is_written_as_mapping(const Dict& display, const Table<Expr*>& args) {
  const bool is_unpacking = std::ranges::any_of(display.keys, [](const Expr* key) { return key == nullptr; });
  const bool is_starred = std::ranges::any_of(args, [](const Expr* arg) { return is<Starred>(arg); });
  return !is_unpacking && (display.keys.empty() || !is_starred);
}

// True if `display` was written as an argument `*(a, b)`. A call without `*` and `**` arguments compiles to CALL or
// CALL_KW, unless it has more arguments than the compiler leaves on the stack (STACK_USE_GUIDELINE).
bool is_starred_display(const Tuple& display, const Table<Keyword>& keywords) {
  constexpr std::size_t most_on_stack = 30;  // a keyword argument counts as two values
  return display.elts.size() + 2 * keywords.size() <= most_on_stack &&
         std::ranges::none_of(display.elts, [](const Expr* each) { return is<Starred>(each); }) &&
         std::ranges::none_of(keywords, [](const Keyword& each) { return each.arg.empty(); });
}
}  // namespace

// Handles CALL_FUNCTION_EX, which calls a function with a tuple of arguments and maybe a dict of keyword arguments.
void call_ex(Simulation& sim, const Instruction& instruction) {
  Expr* mapping = instruction.arg & 1 ? sim.pop() : nullptr;
  // From 3.14 on, NULL stands for an absent dict.
  if (is_null(mapping)) mapping = nullptr;
  Expr* sequence = sim.pop();
  Expr* function = sim.pop();
  if (instruction.aux) {  // a NULL slot is beside the callable
    Expr* other = sim.pop();
    if (is_null(function)) function = other;
  }
  Table<Expr*> args;
  if (auto* tuple = as<Tuple>(sequence)) args.assign(tuple->elts.begin(), tuple->elts.end());
  else if (auto* constant = constant_of(sequence, Constant::Kind::tuple); constant && mapping)
    for (const Constant& item : constant->items) args.push_back(sim.cursor.make(ConstantExpr{&item}));
  else args.push_back(sim.cursor.make(Starred{sequence}));
  Table<Keyword> keywords;
  if (mapping) {
    auto* dict = as<Dict>(mapping);
    bool plain = dict && !dict->keys.empty() &&
                 !is_one_mapping(*dict, sim.cursor.code, sim.cursor.at, sim.cursor.decoded.version);
    const bool is_mapping =
        dict && dialect_of(sim.cursor.decoded.version).unpacking_builds && is_written_as_mapping(*dict, args);
    plain &= !is_mapping;
    std::set<std::string_view> seen;
    if (dict)
      // Keys become keywords only if all are different identifiers.
      for (Expr* key : dict->keys)
        if (key) {
          auto* text = constant_of(key, Constant::Kind::string);
          plain &= text && is_name(text->text) && seen.insert(text->text).second;
        }
    if (plain) {
      // True if the previous item was a keyword, or there is no previous item. The compiler collects adjacent keywords
      // in one display, so a display behind a keyword was written as `**{...}`.
      bool after_keywords = true;
      for (std::size_t index = 0; index < dict->keys.size(); ++index) {
        Expr* key = dict->keys[index];
        Expr* value = dict->values[index];
        auto* nested = key ? nullptr : as<Dict>(value);
        bool nested_plain =
            nested != nullptr && !after_keywords && !dialect_of(sim.cursor.decoded.version).unpacking_builds;
        if (nested)
          for (Expr* inner : nested->keys) {
            auto* text = inner ? constant_of(inner, Constant::Kind::string) : nullptr;
            nested_plain = nested_plain && text && is_name(text->text) && seen.insert(text->text).second;
          }
        if (key) keywords.push_back({constant_of(key, Constant::Kind::string)->text, value});
        else if (nested_plain)
          for (std::size_t item = 0; item < nested->keys.size(); ++item)
            keywords.push_back({constant_of(nested->keys[item], Constant::Kind::string)->text, nested->values[item]});
        else keywords.push_back({"", value});
        after_keywords = key || nested_plain;
      }
    } else if (!(dict && dict->keys.empty()) || is_mapping) {
      keywords.push_back({"", mapping});
    }
  }
  if (auto* tuple = as<Tuple>(sequence); tuple && is_starred_display(*tuple, keywords))
    args = {sim.cursor.make(Starred{sequence})};
  finish_call(sim, function, sim.context.arena.copy(args), sim.context.arena.copy(keywords));
}

}  // namespace depyf::lifting
