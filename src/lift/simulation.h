// Defines the state of the stack simulation, and the functions that emit statements. Before a statement is emitted,
// each value on the stack that other code can change is stored in a temporary, because the value was evaluated earlier
// than the statement.
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

// Thrown to restart lifting with the instruction whose index is `at` simulated literally: the values that the
// instruction moves are first stored in temporaries. If `at` is negative, it is -1 - n, where n is the bytecode offset
// of the instruction that is simulated literally.
struct Restart {
  int at;
};

// An unpacking. The stores behind the UNPACK instruction set the targets of the unpacking.
struct Unpacking {
  Entry source;
  // The `ast::Internal` markers that were pushed on the stack, and the target of each marker: null until the store that
  // pops the marker is reached.
  Table<ast::Expr*> markers, targets;
  int star = -1;  // the index of the starred target, or -1
  std::size_t filled = 0;  // the number of targets that are known
  bool open = true;  // true until the assignment is emitted
  int at = 0;  // the index of the UNPACK instruction
};

// The values that SWAP exchanges in front of stores, as for `a, b = x, y`.
struct SwapGroup {
  Table<ast::Expr*> values;  // in order of evaluation
  Table<ast::Expr*> targets;  // in order of the stores
};

// The assignments that wait for further stores.
struct PendingStores {
  Table<Unpacking> unpackings;
  Table<SwapGroup> swaps;
  // True if no assignment with several targets waits for a store. After the last store of an assignment, `is_complete`
  // returns false until the lists `unpackings` and `swaps` have been cleared.
  bool is_complete() const { return unpackings.empty() && swaps.empty(); }
};

// The state of chained comparisons (`a < b < c`).
struct Chains {
  // True if some block only pops the middle operand of a chained comparison (see State::is_chain_end).
  bool have_ends = false;
  // The block to which control goes if a comparison of the current chain, other than the last comparison, is false; -1
  // if it is unknown.
  int fails = -1;
};

// The state of simulating a function that evaluates the type parameters of a definition and returns the definition.
struct GenericScope {
  bool is_open = false;
  ast::Expr* class_params = nullptr;  // the tuple in `.type_params`, or null
};

// Tables that few code objects need. All tables are created on the first use of any table, so that a code object that
// uses no table spends no time on the tables.
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

// True if a marker of the kind `marker` represents a function, a class or a type alias that the code has created.
constexpr bool is_definition(ast::Marker marker) {
  return marker == ast::Marker::function || marker == ast::Marker::build_class || marker == ast::Marker::type_alias;
}

// False if `expr` is null, a name or a constant, because a name or a constant has no parts and is no marker.
inline bool has_parts(const ast::Expr* expr) {
  return expr && !ast::is<ast::Name>(expr) && !ast::is<ast::ConstantExpr>(expr);
}

// The state of lifting one code object.
class Simulation {
 public:
  Simulation(Context& context, const DecodedCode& decoded, const Cfg& cfg, bool flat, const std::set<int>& literal,
             Split split);

  // Returns a node with the position of the current instruction.
  template <class Node>
  ast::Expr* make(const Node& node) {
    if constexpr (requires { has_to_settle(node); }) has_unsettled_ |= has_to_settle(node);
    if constexpr (std::is_same_v<Node, ast::Internal>) has_definitions |= is_definition(node.marker);
    return cursor.make(node);
  }
  template <class Node>
  void push(const Node& node) {
    push(make(node));
  }
  void push(ast::Expr* expr) { stack.push_back(expr, graph.node, -1); }
  // Pops an operand. Throws Restart if SWAP or ROTATE moved the operand out of the order of evaluation.
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
  // Adds a statement without storing values of the stack in temporaries first.
  template <class Node>
  void emit_raw(const Node& node) {
    emit_raw(context.stmt(node));
  }
  void emit_raw(ast::Stmt* stmt);
  // Replaces each node in `expr` that Python source cannot contain, such as an `ast::Internal` marker, by a Python
  // expression. Throws Restart if there is no such expression.
  void settle(ast::Expr*& expr) {
    if (has_unsettled_ && has_parts(expr)) settle_parts(expr);
  }
  // This function is called behind an instruction that ends a statement. If the stack is empty and no assignment waits
  // for further stores, `settle` has nothing to replace until a new expression is created, because no later statement
  // contains an expression that exists already.
  void forget_settled() {
    if (has_unsettled_ && stack.empty() && !keeps_unsettled_ && stores.is_complete() && !generics.is_open)
      has_unsettled_ = false;
  }
  // This function is called before the stack is stored for other blocks, because the statements of those blocks may
  // contain nodes that `settle` has to replace.
  void keep_unsettled() { keeps_unsettled_ |= has_unsettled_; }
  // Stores the value of `entry` in a temporary.
  void spill(Entry& entry);
  // Emits a comment, which states that the next statement looks up the builtin function `name` by its name, whereas the
  // bytecode does not. Emits nothing for a state machine.
  void mark_builtin(const char* name, std::uint32_t offset);
  // Returns a call of the builtin function `name`, and emits the comment of `mark_builtin`.
  ast::Call builtin_call(const char* name, std::span<ast::Expr*> args, std::uint32_t offset);
  // Stores in temporaries those of the lowest `count` values on the stack that other code may change.
  void spill_all(std::size_t count);
  // Stores in temporaries, in the order of evaluation, those of the lowest `count` values on the stack at the end of
  // `node` that other code may change.
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
  // True if the code has created a function, a class or a type alias. If `has_definitions` is false, as in most
  // functions, a store does not search the stored value for a definition.
  bool has_definitions = false;

 private:
  // True if the expression is a marker that represents a value of an unpacking.
  static bool is_unpacked(const ast::Expr* expr) {
    auto* internal = ast::as<ast::Internal>(expr);
    return internal && internal->marker == ast::Marker::unpacked;
  }
  // True if `check_operand` may have something to do: a SWAP or ROTATE moved the value of `entry`, or an unpacking
  // waits for its stores. Both conditions are nearly always false.
  bool needs_check(const Entry& entry) const { return (entry.mover >= 0) | !stores.unpackings.empty(); }
  void check_operand(const Entry& entry);
  // True for a node that `settle` has to look at, even inside another node: `settle` replaces the node, keeps it (a
  // slice in a subscript), or restarts lifting.
  static constexpr bool has_to_settle(const ast::Slice&) { return true; }
  static constexpr bool has_to_settle(const ast::BinOp& binary) { return binary.in_place; }
  static constexpr bool has_to_settle(const ast::Internal& internal);
  void settle_parts(ast::Expr*& expr);
  // Replaces the node in `slot`, which Python source cannot express, by a node that Python source can express. Returns
  // true if `settle` also has to visit the parts of the new node.
  bool settle_node(ast::Expr*& slot, const ast::Internal& internal);
  bool settle_node(ast::Expr*& slot, const ast::Slice& slice);

  // True if an expression that is not part of a statement yet may contain a node that `settle` has to replace. The flag
  // is false for most statements, which saves `settle` the search.
  bool has_unsettled_ = false;
  // True if a stack at the end of a node may contain an expression with a node that `settle` has to replace.
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
