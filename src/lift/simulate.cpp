// Simulates the code block by block in reverse postorder. The instruction that ends a block determines the end of a
// node (`Node::End`).
//
//   `v; POP_JUMP_IF_FALSE n` becomes a branch on `v`.
//   `v; FOR_ITER n; STORE x` becomes the head of the loop `for x in v`.
//   `v; RETURN_VALUE` becomes a return of `v`.
#include <algorithm>
#include <functional>

#include "decode/op.h"
#include "decode/op_info.h"
#include "flow/cfg.h"
#include "lift/block_ends.h"
#include "lift/generics.h"
#include "lift/lifter.h"
#include "lift/operations.h"

namespace depyf::lifting {
using namespace ast;

namespace {

// True if `name` is the name of the code object of a list, set or dict comprehension.
bool makes_display(std::string_view name) {
  return name == "<listcomp>" || name == "<setcomp>" || name == "<dictcomp>";
}

constexpr bool does_nothing(Op op) { return op == Op::nop_ || op == Op::resume_; }

}  // namespace

Lifter::Lifter(Context& context, const DecodedCode& decoded, const Cfg& cfg, bool flat, const std::set<int>& literal,
               Split split)
    : sim_(context, decoded, cfg, flat, literal, split),
      context_(context),
      cursor_(sim_.cursor),
      graph_(sim_.graph),
      stack_(sim_.stack),
      comprehension_(decoded.is_comprehension || makes_display(decoded.name)) {}

// Lifts all blocks in reverse postorder, so that a block comes after the blocks that lead to it, except along back
// edges.
Lifted Lifter::run() {
  for (NodeIndex block : cursor_.cfg.order) {
    // Blocks that only clean up after chained comparisons are not lifted.
    if (sim_.chains.have_ends) {
      bool& is_chain_end = graph_.states[block].is_chain_end;
      is_chain_end = is_chain_end || only_after_chains(block);
      if (is_chain_end) continue;
    }
    lift_block(block);
  }
  settle_ends();
  Lifted lifted;
  lifted.has_temporaries = sim_.names.has_temporaries();
  lifted.entry = graph_.find(cursor_.cfg.entry);
  // An edge to a block leads to the node that the block was merged into.
  for (Node& node : graph_.nodes) node.a = graph_.target(node.a), node.b = graph_.target(node.b);
  lifted.nodes = std::move(graph_.nodes);
  return lifted;
}

// True if only the cleanup code of a chained comparison leads to `block`, which means that `block` is a copy of the
// code behind the last test of the chain.
bool Lifter::only_after_chains(NodeIndex block) const {
  const Row<const NodeIndex> preds = cursor_.cfg.blocks[block].preds;
  return !preds.empty() && std::ranges::all_of(preds, [&](NodeIndex pred) { return graph_.states[pred].is_chain_end; });
}

void Lifter::lift_block(NodeIndex block) {
  const BasicBlock& info = cursor_.cfg.blocks[block];
  cursor_.block = block;
  enter(block);
  graph_.states[block].lifted = true;
  graph_.ended = false;
  // A setup block has no instructions, and ends by entering a region.
  if (info.kind == BasicBlock::Kind::setup) {
    Node& node = graph_.nodes[graph_.node];
    sim_.spill_all(stack_.size());
    node.end = Node::End::setup, node.index = info.setup_of, node.a = info.next, node.b = info.jump;
    if (cursor_.cfg.regions[info.setup_of].kind == Region::Kind::with) {
      // The top of the stack is the result of __enter__, and the exit method is below that result.
      if (stack_.size() < 2) cursor_.fail("with without a context manager");
      auto* entered = as<Internal>(stack_.back().expr);
      if (!entered || entered->marker != Marker::enter_result) cursor_.fail("with without a context manager");
      node.value = entered->value, node.is_async = cursor_.cfg.regions[info.setup_of].is_async;
      sim_.settle(node.value);
    }
    graph_.ended = true;
  } else {
    // The stack at a loop header is kept, because `check_back_edge` compares it with the stacks along the back edges.
    if (!cursor_.flat && info.is_loop_header) sim_.rare->header_stacks[block] = stack_;
    // If no for loop has been lifted yet, the stack contains no iterator of a for loop.
    const bool has_loops = !sim_.items.empty() && !cursor_.flat;
    const bool may_hold_iterators = has_loops & (!stack_.empty() | graph_.nodes[graph_.node].pops_iterator);
    const bool may_start = (graph_.node == block) | graph_.states[graph_.node].pops;
    if (int{may_hold_iterators} + int{may_start} == 2) count_iterators(block);
    simulate(info.begin, info.end);
  }
  finish_block(block);
}

// Counts the iterators of for loops on the stack at the start of the current node, without those that the node pops
// first. Several blocks of one node may pop iterators, for example if `break` follows an inner loop directly.
void Lifter::count_iterators(NodeIndex block) {
  Node& node = graph_.nodes[graph_.node];
  State& state = graph_.states[graph_.node];
  state.pops = false;
  auto in_loop = [](const Entry& entry) {
    auto* internal = as<Internal>(entry.expr);
    return internal && internal->marker == Marker::iterator && !internal->value;
  };
  node.iterators = int(std::count_if(stack_.begin(), stack_.end(), in_loop));
  std::size_t depth = stack_.size();
  for (int at = cursor_.cfg.blocks[block].begin; at < cursor_.cfg.blocks[block].end; ++at) {
    if (cursor_.code[at].op == Op::nop_ || cursor_.code[at].op == Op::resume_ || cursor_.code[at].op == Op::jump_)
      // Skip instructions that may precede the POP_TOP of an iterator.
      continue;
    if (cursor_.code[at].op != Op::pop_top_ || depth == 0 || !in_loop(stack_[depth - 1])) return;
    --depth, --node.iterators;
    node.pops_iterator = true;
  }
  state.pops = node.pops_iterator;
}

// Simulates the instructions [begin, end) of the current block.
void Lifter::simulate(int begin, int end) {
  Cursor& cursor = sim_.cursor;
  // The exact style assigns the result of each operation with a side effect to a temporary at once.
  const bool names_effects = cursor.split != Split::none;
  const bool is_generic = sim_.generics.is_open;
  cursor.end = end;
  cursor.first_offset = begin < int(cursor.code.size()) ? cursor.code[begin].offset : 0;
  cursor.first_at = begin;
  const Row<const Instruction> code(cursor.code);
  for (cursor.at = begin; cursor.at < end; ++cursor.at) {
    const Instruction& instruction = code[cursor.at];
    if (!is_generic || !run_generics(sim_, instruction)) operations[std::size_t(instruction.op)](sim_, instruction);
    if (names_effects && !sim_.graph.ended && !does_nothing(instruction.op)) name_effects(sim_);
  }
  cursor.at = std::max(begin, end - 1);
}

}  // namespace depyf::lifting
