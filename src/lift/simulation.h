// The state of the stack simulation, and the functions that emit statements. A value on the stack was evaluated before
// the statement that is emitted, so it is first stored in a temporary, unless no code can change the value.
#pragma once

#include <map>
#include <set>
#include <string_view>

#include "lift/cursor.h"
#include "lift/lifted_graph.h"
#include "lift/stable_names.h"
#include "support/lazy.h"
#include "support/table.h"

namespace depyf::lifting {

// Thrown to restart lifting with instruction `at` simulated literally: the values that the instruction moves are first
// stored in temporaries.
struct Restart {
  int at;
};

// One unpacking, whose targets are set by the stores behind it.
struct Unpacking {
  Entry source;
  // The markers on the stack, and the target of each marker, which is null until the store of the marker is reached.
  Table<ast::Expr*> markers, targets;
  int star = -1;  // index of the starred target, or -1
  std::size_t filled = 0;  // number of targets that are known
  bool open = true;  // not emitted yet
  int at = 0;  // the index of the UNPACK instruction
};

// Values that SWAP exchanges in front of stores: `a, b = x, y`.
struct SwapGroup {
  Table<ast::Expr*> values;  // in order of evaluation
  Table<ast::Expr*> targets;  // in order of the stores
};

// Assignments of which some stores are not reached yet.
struct PendingStores {
  Table<Unpacking> unpackings;
  Table<SwapGroup> swaps;
  // True if no assignment waits for a store. It remains false after the last store until the lists have been cleared.
  bool is_complete() const { return unpackings.empty() && swaps.empty(); }
};

// The state of chained comparisons (`a < b < c`).
struct Chains {
  // True if some block only pops the middle operand of a chained comparison (see State::is_chain_end).
  bool have_ends = false;
  // The block to which control goes if a comparison of the current chain other than the last one is false, or -1.
  int fails = -1;
};

// The state of simulating a function that evaluates the type parameters of a definition and returns the definition.
struct GenericScope {
  bool is_open = false;
  ast::Expr* class_params = nullptr;  // the tuple in `.type_params`, or null
};

// Tables that few code objects need. They are created together, on first use, so that other code objects do not spend
// time on them.
struct RareTables {
  // Maps a value to the index of its group in PendingStores::swaps.
  std::map<const ast::Expr*, int> swap_of;
  std::map<int, Stack> header_stacks;  // maps a loop header to the stack at its start
  // Maps the first instruction of the body of a with statement to the region of the statement.
  std::map<int, RegionIndex> with_at;
  std::set<std::string_view> bound_names;  // the names that exception handlers bind
  // The temporaries that contain the subjects of match statements.
  std::set<std::string_view> subjects;
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
  void push(ast::Expr* expr) { stack.push_back(expr, graph.node, -1); }
  // Pops an operand. Throws Restart if the value was moved out of the order of evaluation.
  ast::Expr* pop() {
    const Entry entry = pop_entry();
    if (needs_check(entry)) check_operand(entry);
    return entry.expr;
  }
  // Pops an entry without a check of its order of evaluation.
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

  // Adds a statement. Values on the stack that the statement could change are first stored in temporaries.
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
  // Called behind an instruction that ends a statement. If the stack is empty and no assignment waits for further
  // stores, later statements contain only nodes that are created from here on, so no node that exists has to be settled
  // any more.
  void forget_settled() {
    if (has_unsettled_ && stack.empty() && !keeps_unsettled_ && stores.is_complete() && !generics.is_open)
      has_unsettled_ = false;
  }
  // Called before the stack is stored for other blocks, whose statements may contain nodes that have to be settled.
  void keep_unsettled() { keeps_unsettled_ |= has_unsettled_; }
  // Stores the value of an entry in a temporary.
  void spill(Entry& entry);
  // Emits a comment that the next statement calls the builtin function `name` by its name, which the bytecode does not
  // look up.
  void mark_builtin(const char* name, std::uint32_t offset);
  // Returns a call of the builtin function `name`, and emits the comment of `mark_builtin`.
  ast::Call builtin_call(const char* name, std::span<ast::Expr*> args, std::uint32_t offset);
  // Among the lowest `count` stack entries, stores in temporaries the values that other code may change.
  void spill_all(std::size_t count);
  // Among the lowest `count` stack entries at the end of `node`, stores in temporaries the values that other code may
  // change, in the order of evaluation.
  void spill_at_end(NodeIndex node, std::size_t count);

  Context& context;
  Cursor cursor;
  StableNames names;
  LiftedGraph graph;
  Stack stack;
  PendingStores stores;
  Chains chains;
  GenericScope generics;
  Lazy<RareTables> rare;
  Table<ast::Expr*> items;  // the items that for loops bind

 private:
  // True if the expression is a marker that represents a value of an unpacking.
  static bool is_unpacked(const ast::Expr* expr) {
    auto* internal = ast::as<ast::Internal>(expr);
    return internal && internal->marker == ast::Marker::unpacked;
  }
  static bool needs_check(const Entry& entry) { return entry.mover >= 0 || is_unpacked(entry.expr); }
  void check_operand(const Entry& entry);
  // False for null, and for a name or a constant, which are no markers and have no parts.
  static bool has_parts(const ast::Expr* expr) {
    return expr && !ast::is<ast::Name>(expr) && !ast::is<ast::ConstantExpr>(expr);
  }
  // True for a node that no statement may contain, even inside another node: `settle` replaces it, or restarts lifting.
  static constexpr bool has_to_settle(const ast::Slice&) { return true; }
  static constexpr bool has_to_settle(const ast::BinOp& binary) { return binary.in_place; }
  static constexpr bool has_to_settle(const ast::Internal& internal);
  void settle_parts(ast::Expr*& expr);
  // Replaces the node in `slot`, which is no Python expression. Returns true if the parts of the new node have to be
  // settled too.
  bool settle_node(ast::Expr*& slot, const ast::Internal& internal);
  bool settle_node(ast::Expr*& slot, const ast::Slice& slice);

  // True if an expression that is not part of a statement yet may contain a node that has to be settled. Most
  // statements contain no such node, so `settle` need not search them.
  bool has_unsettled_ = false;
  // True if the stacks at the ends of nodes may contain such an expression.
  bool keeps_unsettled_ = false;
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
