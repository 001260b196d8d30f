// The state of the simulation of the stack, and how a statement is made. Values that wait on the stack were evaluated
// before the statement, so they get names first, unless nothing can change their values.
#pragma once

#include <map>
#include <set>
#include <string_view>

#include "lift/cursor.h"
#include "lift/lifted_graph.h"
#include "lift/stable_names.h"
#include "support/table.h"

namespace depyf::lifting {

// Thrown to start lifting again with instruction `at` taken literally: the values that it moves get names first.
struct Restart {
  int at;
};

// The targets of one unpacking, which the stores behind it fill.
struct Unpacking {
  Entry source;
  // The markers on the stack, and the target of each; null until its store is reached.
  Table<ast::Expr*> markers, targets;
  int star = -1;  // index of the starred target, or -1
  std::size_t filled = 0;  // number of targets that are known
  bool open = true;  // not emitted yet
  int at = 0;  // the instruction that unpacks
};

// Values that SWAP exchanges in front of stores: `a, b = x, y`.
struct SwapGroup {
  Table<ast::Expr*> values;  // in order of evaluation
  Table<ast::Expr*> targets;  // in order of the stores
};

// Assignments that wait for more of their stores.
struct PendingStores {
  Table<Unpacking> unpackings;
  Table<SwapGroup> swaps;
  // By value: its group in `swaps`.
  std::map<const ast::Expr*, int> swap_of;
};

// The chained comparisons so far.
struct Chains {
  std::set<int> blocks;  // blocks that only pop the middle of a chain
  // The block to which control goes if a part of the current chain other than the last is false, or -1.
  int fails = -1;
};

// The state while code is simulated that evaluates the type parameters of a definition and returns the definition.
struct GenericScope {
  bool is_open = false;
  ast::Expr* class_params = nullptr;  // the tuple in `.type_params`, or null
};

// The state of lifting one code object.
class Simulation {
 public:
  Simulation(Context& context, const DecodedCode& decoded, const Cfg& cfg, bool flat, const std::set<int>& literal,
             Split split);

  // Returns a node with the position of the current instruction.
  template <class Node>
  ast::Expr* make(const Node& node) {
    if constexpr (requires { has_to_settle(node); }) has_unsettled_ |= has_to_settle(node);
    return cursor.make(node);
  }
  template <class Node>
  void push(const Node& node) {
    push(make(node));
  }
  void push(ast::Expr* expr) { stack.push_back({expr, graph.node, -1}); }
  // Pops an operand. Throws Restart if the value was moved out of the order of evaluation.
  ast::Expr* pop() {
    const Entry entry = pop_entry();
    if (entry.mover >= 0 || is_unpacked(entry.expr)) check_operand(entry);
    return entry.expr;
  }
  // Pops an entry, wherever it was moved.
  Entry pop_entry() {
    if (stack.empty()) cursor.fail("the stack is empty");
    const Entry entry = stack.back();
    stack.pop_back();
    return entry;
  }
  // Pops `count` operands and returns them in the order in which they were pushed.
  ast::List<ast::Expr*> pop_many(int count);
  // Returns the n-th entry from the top, counted from 1.
  Entry& peek(int from_top);

  // Adds a statement. Values on the stack that it could change get names first.
  template <class Node>
  void emit(const Node& node) {
    emit(context.stmt(node));
  }
  void emit(ast::Stmt* stmt);
  // Adds a statement without looking at the stack.
  template <class Node>
  void emit_raw(const Node& node) {
    emit_raw(context.stmt(node));
  }
  void emit_raw(ast::Stmt* stmt);
  // Replaces markers in `expr`, which only the simulation understands, by Python expressions.
  void settle(ast::Expr*& expr) {
    if (has_unsettled_ && has_parts(expr)) settle_parts(expr);
  }
  // Gives a name to the value of an entry.
  void spill(Entry& entry);
  // Puts a mark in front of the statement: it calls the builtin function `name`, which the bytecode does not look up.
  void mark_builtin(const char* name, std::uint32_t offset);
  // Returns a call of the builtin function `name`, and marks it.
  ast::Call builtin_call(const char* name, std::span<ast::Expr*> args, std::uint32_t offset);
  // Gives names to the unstable values among the lowest `count` entries.
  void spill_all(std::size_t count);
  // Gives names to the unstable values among the lowest `count` entries at the end of `node`, in the order in which
  // they were made.
  void spill_at_end(NodeIndex node, std::size_t count);

  Context& context;
  Cursor cursor;
  StableNames names;
  LiftedGraph graph;
  Stack stack;
  PendingStores stores;
  Chains chains;
  GenericScope generics;
  std::set<std::string_view> bound_names;  // the names that exception handlers bind
  // The names that match statements give to their subjects.
  std::set<std::string_view> subjects;
  // By the first instruction of its body: the region of the with statement.
  std::map<int, RegionIndex> with_at;
  Table<ast::Expr*> items;  // the items that for loops bind

 private:
  // True if the expression is a marker that stands for a target of an unpacking.
  static bool is_unpacked(const ast::Expr* expr) {
    auto* internal = ast::as<ast::Internal>(expr);
    return internal && internal->marker == ast::Marker::unpacked;
  }
  void check_operand(const Entry& entry);
  // False for null, and for a name or a constant, which are no markers and have no parts.
  static bool has_parts(const ast::Expr* expr) {
    return expr && !ast::is<ast::Name>(expr) && !ast::is<ast::ConstantExpr>(expr);
  }
  // True for a node that `settle` replaces or refuses, also as a part of another node.
  static constexpr bool has_to_settle(const ast::Slice&) { return true; }
  static constexpr bool has_to_settle(const ast::BinOp& binary) { return binary.in_place; }
  static constexpr bool has_to_settle(const ast::Internal& internal);
  void settle_parts(ast::Expr*& expr);
  // Replace a node that is no Python expression, which `slot` holds. Return true if its parts have to be settled too.
  bool settle_node(ast::Expr*& slot, const ast::Internal& internal);
  bool settle_node(ast::Expr*& slot, const ast::Slice& slice);

  // True once a node has been made that has to be settled. Most code has none, and its statements need no walk.
  bool has_unsettled_ = false;
  Table<ast::Expr**> settling_;  // the slots that calls of `settle` still have to visit
};

constexpr bool Simulation::has_to_settle(const ast::Internal& internal) {
  using ast::Marker;
  switch (internal.marker) {
    case Marker::iterator: return internal.value != nullptr;
    case Marker::awaitable:
    case Marker::code:
    case Marker::chain:
    case Marker::build_class:
    case Marker::function:
    case Marker::type_alias:
    case Marker::unpacked:
    case Marker::copied: return true;
    case Marker::null:
    case Marker::exception:
    case Marker::previous_exception:
    case Marker::with_exit:
    case Marker::enter_result:
    case Marker::item:
    case Marker::result:
    case Marker::unbound:
    case Marker::type_param:
    case Marker::generic_base:
    case Marker::exc_match:
    case Marker::eg_match:
    case Marker::match_case:
    case Marker::import_module:
    case Marker::import_member:
    case Marker::locals:
    case Marker::other: return false;
  }
  return true;
}

}  // namespace depyf::lifting
