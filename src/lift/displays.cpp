// Lifts displays, which are expressions that build lists, tuples, sets and dicts.
//
//   `a; b; BUILD_LIST 2` is `[a, b]`.
//   `a; b; ('x', 'y'); BUILD_CONST_KEY_MAP 2` is `{'x': a, 'y': b}`.
//   `BUILD_LIST 0; a; LIST_APPEND 1; b; LIST_EXTEND 1` is `[a, *b]`.
//   A long display, such as `[a, b, c]` with many more items, is built by one LIST_APPEND for each item.
//   `BUILD_LIST 0; (1, 2, 3); LIST_EXTEND 1` is `[1, 2, 3]`.
//   `BUILD_LIST 0; a; LIST_EXTEND 1; LIST_TO_TUPLE` is `(*a,)`.
//   `BUILD_MAP 0; a; DICT_UPDATE 1; k; v; MAP_ADD 1` is `{**a, k: v}`.
//   `a; b; BUILD_TUPLE_UNPACK 2` is `(*a, *b)` in 3.8.
//   LIST_APPEND to a comprehension's result is `StmtMarker::append`, which becomes `[a for x in y]`.
//   LIST_EXTEND to a comprehension's result is `StmtMarker::append`, which becomes `[*a for x in y]` (3.15).
//   LIST_APPEND to a value that other code may have accessed is `t.append(a)`, where t is a temporary.
#include <algorithm>

#include "decode/op.h"
#include "lift/definitions.h"
#include "lift/operations.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {

// Adds an item to a display under construction, which no other code can access yet. Returns false if `op` does not
// apply to displays of the kind of `display`.
bool extend_display(Context& context, const Cursor& cursor, Expr* display, Op op, Expr* key, Expr* value) {
  auto add = [&](List<Expr*>& items, Expr* item) { items = context.arena.append(items, item); };
  // The compiler folds a list or set display of at least three constant items to a constant tuple or frozenset. A
  // folded frozenset has fewer than three items if some items in the source were equal, while a tuple of fewer than
  // three items was written with a star: `[*(1, 2)]`.
  constexpr std::size_t least_in_constant = 3;
  auto add_all = [&](List<Expr*>& items, Constant::Kind folded) {
    const Constant* constant = items.empty() ? constant_of(value, folded) : nullptr;
    if (!constant || (constant->items.size() < least_in_constant && folded != Constant::Kind::frozenset))
      return add(items, cursor.make(Starred{value}));
    items = context.arena.list<Expr*>(constant->items.size());
    std::ranges::transform(constant->items, items.begin(),
                           [&](const Constant& item) { return cursor.make(ConstantExpr{&item}); });
  };
  if (auto* list = as<ListExpr>(display)) {
    if (op == Op::list_append_) add(list->elts, value);
    else if (op == Op::list_extend_) add_all(list->elts, Constant::Kind::tuple);
    else return false;
  } else if (auto* set = as<SetExpr>(display)) {
    if (op == Op::set_add_) add(set->elts, value);
    else if (op == Op::set_update_) {
      add_all(set->elts, Constant::Kind::frozenset);
      if (constant_of(value, Constant::Kind::frozenset))
        while (!set->elts.empty() && is<ConstantExpr>(set->elts.back()) && set->elts.size() < least_in_constant)
          add(set->elts, set->elts.back());
    } else return false;
  } else if (auto* dict = as<Dict>(display)) {
    auto* inner = as<Dict>(value);
    // The compiler collects the plain items behind a `**` item in a separate dict, which DICT_UPDATE adds.
    const bool next_to = inner && op == Op::dict_update_ && !inner->keys.empty() && !dict->keys.empty() &&
                         std::ranges::find(inner->keys, nullptr) == inner->keys.end();
    if (next_to) {
      dict->keys = context.arena.append(dict->keys, inner->keys);
      dict->values = context.arena.append(dict->values, inner->values);
    } else if (op == Op::map_add_ || op == Op::dict_update_ || op == Op::dict_merge_) {
      add(dict->keys, key), add(dict->values, value);
    } else {
      return false;
    }
  } else {
    return false;
  }
  return true;
}

// Adds the statement object.method(arg).
void call_method(Simulation& sim, Expr* object, std::string_view method, Expr* arg) {
  sim.emit(ExprStmt{sim.cursor.make(
      Call{sim.cursor.make(Attribute{sim.cursor.make(object->node), method}), sim.context.list({arg}), {}})});
}

}  // namespace

// Pushes a dict of `count` values. Each key is on the stack below its value or, with `has_constant_keys`, all keys are
// in one tuple on top of the stack.
void build_dict(Simulation& sim, int count, bool has_constant_keys) {
  List<Expr*> keys, values;
  if (has_constant_keys) {
    auto* names = as<ConstantExpr>(sim.pop());
    if (!names || int(names->value->items.size()) != count) sim.cursor.fail("keys of a dict are no tuple");
    values = sim.pop_many(count);
    keys = sim.context.arena.list<Expr*>(values.size());
    std::ranges::transform(names->value->items, keys.begin(),
                           [&](const Constant& key) { return sim.cursor.make(ConstantExpr{&key}); });
  } else {
    const List<Expr*> items = sim.pop_many(2 * count);
    keys = sim.context.arena.list<Expr*>(items.size() / 2), values = sim.context.arena.list<Expr*>(items.size() / 2);
    for (std::size_t index = 0; index < keys.size(); ++index)
      keys[index] = items[2 * index], values[index] = items[2 * index + 1];
  }
  sim.push(Dict{keys, values});
}

// Handles LIST_TO_TUPLE, which ends a tuple display with a starred item.
void list_to_tuple(Simulation& sim) {
  Expr* list = sim.pop();
  if (auto* elements = as<ListExpr>(list)) sim.push(Tuple{elements->elts});
  else sim.push(Tuple{sim.context.list({sim.cursor.make(Starred{list})})});
}

// Handles the BUILD_*_UNPACK instructions of 3.8. In 3.8, a display with `*` or `**` is built of parts, and adjacent
// plain items form one part.
void build_unpack(Simulation& sim, const Instruction& instruction) {
  enum { tuple, list, set, map, call_tuple, call_map };
  const List<Expr*> parts = sim.pop_many(instruction.arg);
  Table<Expr*> keys, items;
  // True if the last part that was added consists of plain items. A part behind plain items was written as `*x` or
  // `**x`, even if x is a display, because the compiler would have joined adjacent plain items to one part.
  bool plain = false;
  auto add = [&](Expr* key, Expr* item) { keys.push_back(key), items.push_back(item); };
  auto add_all = [&](std::span<Expr* const> own_keys, std::span<Expr* const> own) {
    plain =
        !plain && !own.empty() && std::none_of(own.begin(), own.end(), [](Expr* item) { return is<Starred>(item); });
    if (plain && !own_keys.empty())
      plain = std::none_of(own_keys.begin(), own_keys.end(), [](Expr* key) { return key == nullptr; });
    for (std::size_t index = 0; plain && index < own.size(); ++index)
      add(own_keys.empty() ? nullptr : own_keys[index], own[index]);
  };
  const bool mapping = instruction.aux == map || instruction.aux == call_map;
  // A call raises TypeError for a keyword that occurs in two parts of the call's keywords, such as `**a` and `k=b`. The
  // items of a dict become plain keywords only if all keys are identifiers.
  auto keywords_only = [&](const Dict& dict) {
    return std::ranges::all_of(dict.keys, [&](const Expr* key) {
      const Constant* text = constant_of(key, Constant::Kind::string);
      return text && is_name(text->text);
    });
  };
  for (Expr* part : parts) {
    if (auto* inner_dict = as<Dict>(part);
        inner_dict && mapping && (instruction.aux == map || keywords_only(*inner_dict))) {
      add_all(inner_dict->keys, inner_dict->values);
    } else if (auto* inner = as<Tuple>(part); inner && !mapping && instruction.aux != set) {
      add_all({}, inner->elts);
    } else if (auto* inner_set = as<SetExpr>(part); inner_set && instruction.aux == set) {
      add_all({}, inner_set->elts);
    } else if (auto* constant = constant_of(part, Constant::Kind::tuple);
               constant && !mapping && instruction.aux != set) {
      Table<Expr*> own;
      for (const Constant& item : constant->items) own.push_back(sim.cursor.make(ConstantExpr{&item}));
      add_all({}, own);
    } else {
      plain = false;
    }
    if (!plain) add(nullptr, mapping ? part : sim.cursor.make(Starred{part}));
  }
  if (mapping) sim.push(Dict{sim.context.arena.copy(keys), sim.context.arena.copy(items)});
  else if (instruction.aux == list) sim.push(ListExpr{sim.context.arena.copy(items)});
  else if (instruction.aux == set) sim.push(SetExpr{sim.context.arena.copy(items)});
  else sim.push(Tuple{sim.context.arena.copy(items)});
}

// Handles the instructions that add an item, or all items of another container, to a container on the stack.
void extend(Simulation& sim, const Instruction& instruction) {
  Expr *value = sim.pop(), *key = instruction.op == Op::map_add_ ? sim.pop() : nullptr;
  Entry& entry = sim.peek(instruction.arg);
  Expr* target = entry.expr;
  // In a comprehension, the instruction adds an item, or all items of a container, to the result of the comprehension.
  if (auto* internal = as<Internal>(target); internal && internal->marker == Marker::result) {
    const Op op = instruction.op;
    const bool is_mapping = op == Op::dict_update_ || op == Op::dict_merge_;
    const bool is_starred = op == Op::list_extend_ || op == Op::set_update_;
    if (key || is_mapping) return sim.emit(InternalStmt{StmtMarker::append, 0, key, value});
    Expr* item = is_starred ? sim.cursor.make(Starred{value}) : value;
    return sim.emit(InternalStmt{StmtMarker::append, 0, item, nullptr});
  }
  const bool unseen = sim.graph.find(entry.block) == sim.graph.node && instruction.arg == 1 && !sim.cursor.flat;
  if (unseen && extend_display(sim.context, sim.cursor, target, instruction.op, key, value)) return;
  // A display that other code may have accessed is stored in a temporary and extended by a method call.
  if (!sim.names.stable(target)) {
    sim.push(value);
    if (key) sim.push(key);
    sim.spill_all(sim.stack.size());
    if (key) key = sim.pop();
    value = sim.pop();
    target = sim.peek(instruction.arg).expr;
  }
  if (instruction.op == Op::map_add_)
    return sim.emit(Assign{sim.context.list({sim.cursor.make(Subscript{target, key})}), value});
  const std::string_view method = instruction.op == Op::list_append_   ? "append"
                                  : instruction.op == Op::set_add_     ? "add"
                                  : instruction.op == Op::list_extend_ ? "extend"
                                                                       : "update";
  call_method(sim, target, method, value);
}

}  // namespace depyf::lifting
