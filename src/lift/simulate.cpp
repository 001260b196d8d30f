// The driver of the simulation: block after block in reverse postorder, instruction after instruction, and how blocks end.
//
//   v; POP_JUMP_IF_FALSE n        branch on v
//   v; FOR_ITER n; STORE x        loop: for x in v
//   v; RETURN_VALUE               leave: return v
#include <algorithm>
#include <functional>

#include "decode/op_info.h"
#include "depyf/code_object.h"
#include "flow/cfg.h"
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

Lifter::Lifter(Context& context, const DecodedCode& decoded, const Cfg& cfg, bool flat, const std::set<int>& literal,
               Split split)
    : context_(context),
      decoded_(decoded),
      cfg_(cfg),
      code_(cfg.code),
      flat_(flat),
      literal_(literal),
      split_(split),
      nodes_(cfg.blocks.size()),
      states_(cfg.blocks.size()) {
  const CodeObject& code = *decoded.code;
  comprehension_ =
      decoded.is_comprehension || code.name == "<listcomp>" || code.name == "<setcomp>" || code.name == "<dictcomp>";
  const std::set<std::string_view> cells(code.cellvars.begin(), code.cellvars.end());
  stack_.reserve(8);
  fast_.reserve(code.varnames.size() + 1);
  for (std::size_t index = 0; index < code.varnames.size() && index < decoded.localsplus.size(); ++index)
    if (cells.empty() || !cells.contains(decoded.localsplus[index])) fast_.push_back(decoded.localsplus[index].data());
  if (!context.options.installed.empty()) add_installed();
  if (decoded.is_comprehension) fast_.push_back(decoded.localsplus.back().data());
  std::sort(fast_.begin(), fast_.end(), std::less<>());
  for (const BasicBlock& block : cfg.blocks)
    if (block.setup_of >= 0 && cfg.regions[block.setup_of].kind == Region::Kind::with) {
      int& region = with_at_.try_emplace(block.begin, -1).first->second;
      region = std::max(region, block.setup_of);
    }
}

// A global that is there and keeps its value may be read at any time, as a local may.
void Lifter::add_installed() {
  std::set<std::string_view> changed;
  const std::vector<std::string>& names = decoded_.code->names;
  for (const Instruction& instruction : code_)
    if (instruction.op == Op::store_global_ || instruction.op == Op::delete_global_)
      changed.insert(names[std::size_t(instruction.arg)]);
  for (const std::string& name : names)
    if (context_.options.installed.contains(name) && !changed.contains(name)) fast_.push_back(name.data());
}

Lifted Lifter::run() {
  for (int block : cfg_.order) {
    if (!chains_.empty() && only_after_chains(block)) chains_.insert(block);
    if (!chains_.contains(block)) lift_block(block);
  }
  settle_ends();
  Lifted lifted;
  lifted.entry = find(cfg_.entry);
  for (int index = 0; index < int(nodes_.size()); ++index) {
    Node& node = nodes_[index];
    if (node.end == Node::End::none) continue;
    if (node.a >= 0) node.a = find(node.a);
    if (node.b >= 0) node.b = find(node.b);
  }
  lifted.nodes = std::move(nodes_);
  return lifted;
}

void Lifter::fail(std::string what) const {
  throw InternalError{std::move(what), at_ < int(code_.size()) ? now().offset : 0};
}

// What only the cleanup of a chained comparison leads to is a copy of what its last test leads to.
bool Lifter::only_after_chains(int block) const {
  const std::span<const int> preds = cfg_.blocks[block].preds;
  return !preds.empty() && std::ranges::all_of(preds, [&](int pred) { return chains_.contains(pred); });
}

int Lifter::skip(int at) const {
  while (at < end_ && (code_[at].op == Op::nop_ || code_[at].op == Op::resume_)) ++at;
  return at;
}

void Lifter::lift_block(int block) {
  const BasicBlock& info = cfg_.blocks[block];
  current_block_ = block;
  enter(block);
  states_[block].lifted = true;
  ended_ = false;
  if (info.kind == BasicBlock::Kind::setup) {
    Node& node = nodes_[node_];
    spill_all(stack_.size());
    node.end = Node::End::setup, node.index = info.setup_of, node.a = info.next, node.b = info.jump;
    if (cfg_.regions[info.setup_of].kind == Region::Kind::with) {
      // stack: ..., exit, result of enter
      if (stack_.size() < 2) fail("with without a context manager");
      auto* entered = as<Internal>(stack_.back().expr);
      if (!entered || entered->marker != Marker::enter_result) fail("with without a context manager");
      node.value = entered->value, node.is_async = cfg_.regions[info.setup_of].is_async;
      settle(node.value);
    }
    ended_ = true;
  } else {
    if (!flat_ && is_loop_header(block)) header_stacks_[block] = stack_;
    if (!flat_ && (node_ == block || states_[node_].pops)) count_iterators(block);
    simulate(info.begin, info.end);
  }
  finish_block(block);
}

// What pops iterators may be several blocks: a `break` right behind a loop.
void Lifter::count_iterators(int block) {
  auto in_loop = [](const Entry& entry) {
    auto* internal = as<Internal>(entry.expr);
    return internal && internal->marker == Marker::iterator && !internal->value;
  };
  Node& node = nodes_[node_];
  node.iterators = int(std::count_if(stack_.begin(), stack_.end(), in_loop));
  std::size_t depth = stack_.size();
  states_[node_].pops = false;
  for (int at = cfg_.blocks[block].begin; at < cfg_.blocks[block].end; ++at) {
    if (code_[at].op == Op::nop_ || code_[at].op == Op::resume_ || code_[at].op == Op::jump_) continue;
    if (code_[at].op != Op::pop_top_ || depth == 0 || !in_loop(stack_[depth - 1])) return;
    --depth, --node.iterators;
    node.pops_iterator = true;
  }
  states_[node_].pops = node.pops_iterator;
}

void Lifter::simulate(int begin, int end) {
  end_ = end;
  first_offset_ = begin < int(code_.size()) ? code_[begin].offset : 0;
  first_at_ = begin;
  for (at_ = begin; at_ < end; ++at_) {
    const Instruction& instruction = code_[at_];
    if (instruction.op == Op::nop_ || instruction.op == Op::resume_) continue;
    step(instruction);
    if (split_ != Split::none && !ended_) name_effects();
  }
  at_ = std::max(begin, end - 1);
}

void Lifter::push(Expr::Node node) { push(make(std::move(node))); }
void Lifter::push(Expr* expr) { stack_.push_back({expr, node_, -1}); }

Lifter::Entry& Lifter::peek(int from_top) {
  if (from_top < 1 || from_top > int(stack_.size())) fail("the stack is not that deep");
  return stack_[stack_.size() - from_top];
}

Lifter::Entry Lifter::pop_entry() {
  if (stack_.empty()) fail("the stack is empty");
  Entry entry = stack_.back();
  stack_.pop_back();
  return entry;
}

Expr* Lifter::pop() {
  Entry entry = pop_entry();
  if (entry.mover >= 0 && !stable(entry.expr)) throw Restart{entry.mover};
  if (auto* internal = as<Internal>(entry.expr); internal && internal->marker == Marker::unpacked) flush_unpackings();
  return entry.expr;
}

std::vector<Expr*> Lifter::pop_many(int count) {
  if (count < 0 || count > int(stack_.size())) fail("the stack is not that deep");
  std::vector<Expr*> items(count);
  for (int index = count - 1; index >= 0; --index) items[index] = pop();
  return items;
}

std::string_view Lifter::name_of(int index) const {
  if (index < 0 || index >= int(decoded_.code->names.size())) fail("no such name");
  return decoded_.code->names[index];
}

Expr* Lifter::local(int index) {
  if (index < 0 || index >= int(decoded_.localsplus.size())) fail("no such local");
  return make(Name{decoded_.localsplus[index]});
}

std::string_view Lifter::fresh_name() {
  std::string_view id = context_.arena.copy("__temp_" + std::to_string(++temporaries_));
  made_.insert(id.data());
  return id;
}

bool Lifter::is_fast(std::string_view id) const {
  return std::binary_search(fast_.begin(), fast_.end(), id.data(), std::less<>()) ||
         (!made_.empty() && made_.contains(id.data()));
}

// Its target stands behind `for `; -1: unknown.
std::int32_t Lifter::column_of_for(const Instruction& instruction, int body) const {
  const std::vector<Position>& positions = decoded_.code->positions;
  const int first = cfg_.blocks[body].begin;
  const std::size_t unit = first < int(code_.size()) ? code_[first].offset / 2 : positions.size();
  if (unit >= positions.size() || positions[unit].line != instruction.line || instruction.aux == 2) return -1;
  return positions[unit].column < 4 ? -1 : positions[unit].column - 4;
}

void Lifter::step(const Instruction& instruction) {
  if (may_be_generic(instruction.op) && generics(instruction)) return;
  operation(instruction);
}

// Ends the block with a test of the value on top.
void Lifter::branch(const Instruction& instruction) {
  flush_unpackings();
  const bool keeps = info_of(instruction.op).control == Control::keeping_test;
  bool on_true = instruction.op == Op::pop_jump_if_true_ || instruction.op == Op::pop_jump_if_none_ ||
                 instruction.op == Op::jump_if_true_or_pop_;
  if (instruction.op == Op::pop_jump_if_none_ || instruction.op == Op::pop_jump_if_not_none_)
    on_true = test_for_none(on_true);
  Expr* test = pop();
  const BasicBlock& block = cfg_.blocks[current_block_];
  settle(test);
  Node& node = nodes_[node_];
  node.end = Node::End::branch, node.value = test;
  node.a = on_true ? block.jump : block.next, node.b = on_true ? block.next : block.jump;
  node.line = instruction.line, node.turned = keeps ? Turned::unknown : instruction.turned;
  node.inherited = is<BoolOp>(test);  // its operands were joined to a value before
  states_[node_].keep_a = keeps && on_true, states_[node_].keep_b = keeps && !on_true;
  ended_ = true;
}

// Ends the block with the head of a for loop.
void Lifter::loop(const Instruction& instruction) {
  const BasicBlock& block = cfg_.blocks[current_block_];
  Entry iterator = pop_entry();
  Node& node = nodes_[node_];
  node.end = Node::End::loop, node.a = block.next, node.b = block.jump, node.line = instruction.line;
  node.is_async = instruction.aux == 2;
  node.column = column_of_for(instruction, block.next);
  auto* internal = as<Internal>(iterator.expr);
  if (internal && internal->marker == Marker::iterator && internal->value) settle(internal->value);
  else settle(iterator.expr);
  node.value = iterator.expr;
  push(Internal{Marker::iterator, current_block_, nullptr});
  if (flat_) stack_.back() = iterator;
  push(Internal{Marker::item, node_, nullptr});
  items_.push_back(stack_.back().expr);
  ended_ = true;
}

// Ends the block with a return of the value on top.
void Lifter::leave(const Instruction& instruction) {
  flush_unpackings();
  bool inherited = !stack_.empty() && find(stack_.back().block) != node_;
  Expr* value = pop();
  if (!generic_) settle(value);
  nodes_[node_].value = value;
  nodes_[node_].inherited = inherited;
  nodes_[node_].end = Node::End::leave;
  nodes_[node_].line = instruction.line;
  nodes_[node_].offset = first_offset_;
  nodes_[node_].column = first_column();
  if (const std::size_t unit = instruction.offset / 2; unit < decoded_.code->positions.size()) {
    const Position& position = decoded_.code->positions[unit];
    if (position.end_line == position.line) nodes_[node_].width = position.end_column - position.column;
  }
  ended_ = true;
}

}  // namespace depyf
