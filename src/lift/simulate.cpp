#include <algorithm>
#include <functional>

#include "lift/lifter.h"

namespace depyf {
using namespace ast;

namespace {

// How many `not` stand in `test`, or in its negation with each `not` pushed down as far as it goes. Much where `in` becomes
// `not in` or `is` becomes `is not`: those are other instructions, while a `not` before a condition is none.
int count_not(const Context& context, const Expr* test, bool negated) {
  if (auto* unary = as<UnaryExpr>(test); unary && unary->op == UnaryOp::not_) {
    int inner = count_not(context, unary->operand, !negated);
    return is<BoolOp>(unary->operand) ? std::min(inner, 1 + count_not(context, unary->operand, negated)) : inner;
  }
  if (auto* chain = as<BoolOp>(test)) {
    int parts = 0;
    for (const Expr* part : chain->values) parts += count_not(context, part, negated);
    return parts;
  }
  if (!negated) return 0;
  // From 3.11 on a test for None is a jump of its own, either way.
  if (auto* compare = as<Compare>(test); compare && compare->ops.size() == 1 && context.version >= Version{3, 11}) {
    bool identity = compare->ops[0] == CompareOp::is || compare->ops[0] == CompareOp::is_not;
    if (identity && is_none(compare->comparators[0])) return 0;
  }
  if (auto* compare = as<Compare>(test); compare && compare->ops.size() == 1) switch (compare->ops[0]) {
      case CompareOp::in:
      case CompareOp::not_in:
      case CompareOp::is:
      case CompareOp::is_not: return other_operator;
      default: return 1;
    }
  return 1;
}

}  // namespace

int negation_cost(const Context& context, const Expr* test) { return count_not(context, test, true); }

bool negation_changes(const Context& context, const Expr* test) {
  auto* compare = as<Compare>(test);
  return compare && compare->ops.size() == 1 && count_not(context, test, true) >= other_operator;
}

// Two parts of which neither is `a < b` or the like, whose negation reads badly.
bool reads_well_negated(const BoolOp& chain) {
  return chain.values.size() == 2 && std::ranges::all_of(chain.values, [](const Expr* part) {
           auto* compare = as<Compare>(part);
           if (!compare) return true;
           const CompareOp op = compare->ops[0];
           return compare->ops.size() == 1 &&
                  (op == CompareOp::is || op == CompareOp::is_not || op == CompareOp::in || op == CompareOp::not_in);
         });
}

// In a condition `not (a and b)` and `not a or not b` are the same jumps: people write the second of two names, calls and
// the like; else the one with fewer `not` is shown.
Expr* negate(Context& context, Expr* test) {
  if (auto* unary = as<UnaryExpr>(test); unary && unary->op == UnaryOp::not_) return unary->operand;
  auto* chain = as<BoolOp>(test);
  const int pushed_down = chain ? count_not(context, test, true) : 0;
  if (chain && (pushed_down <= count_not(context, test, false) ||
                (pushed_down < other_operator && reads_well_negated(*chain)))) {
    std::vector<Expr*> values;
    for (Expr* part : chain->values) values.push_back(negate(context, part));
    return context.expr(BoolOp{!chain->is_or, context.arena.copy(values)}, test->offset, test->line);
  }
  // From 3.14 on `not a in b` is no `a not in b`, but a jump the other way.
  const bool turns_jump = context.version >= Version{3, 14} && negation_changes(context, test);
  if (auto* compare = as<Compare>(test); compare && compare->ops.size() == 1 && !turns_jump) {
    CompareOp other = compare->ops[0];
    switch (compare->ops[0]) {
      case CompareOp::in: other = CompareOp::not_in; break;
      case CompareOp::not_in: other = CompareOp::in; break;
      case CompareOp::is: other = CompareOp::is_not; break;
      case CompareOp::is_not: other = CompareOp::is; break;
      default: return context.expr(UnaryExpr{UnaryOp::not_, test}, test->offset, test->line);
    }
    return context.expr(Compare{compare->left, context.list({other}), compare->comparators}, test->offset, test->line);
  }
  return context.expr(UnaryExpr{UnaryOp::not_, test}, test->offset, test->line);
}

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
  if (decoded.is_comprehension) fast_.push_back(decoded.localsplus.back().data());
  std::sort(fast_.begin(), fast_.end(), std::less<>());
  for (const BasicBlock& block : cfg.blocks)
    if (block.setup_of >= 0 && cfg.regions[block.setup_of].kind == Region::Kind::with) {
      int& region = with_at_.try_emplace(block.begin, -1).first->second;
      region = std::max(region, block.setup_of);
    }
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

// A test that runs only after another: what follows an `and` or `or`.
bool Lifter::part_of_condition() const {
  auto tests = [&](int block) { return cfg_.blocks[block].jump >= 0 && cfg_.blocks[block].next >= 0; };
  const BasicBlock& block = cfg_.blocks[current_block_];
  return block.kind == BasicBlock::Kind::code && tests(current_block_) && !block.preds.empty() &&
         std::ranges::all_of(block.preds, tests);
}

// What the instruction gave gets a name where making it did something; what waits below it is made before. Displays of
// what has a name wait: nobody sees when they are made.
void Lifter::name_effects() {
  if (now().op == Op::load_closure_) return;  // the cell of a function that is about to be made
  if (split_ == Split::effects && part_of_condition()) return;
  auto definition = [&](const Expr* expr) {
    auto* call = as<Call>(expr);
    if (auto* name = call ? as<Name>(call->func) : nullptr; name && name->id == "AssertionError")
      return true;  // assert
    while (!is_function(expr) && !is_class(expr)) {
      auto* decorated = as<Call>(expr);
      if (!decorated || decorated->args.size() != 1) return false;
      expr = decorated->args[0];
    }
    return true;
  };
  auto named = [&](Expr* part) { return !part || stable(part); };
  auto pure = [&](const Expr* expr) {
    if (auto* list = as<ListExpr>(expr)) return std::ranges::all_of(list->elts, named);
    if (auto* dict = as<Dict>(expr))
      return std::ranges::all_of(dict->keys, [&](Expr* key) { return key && stable(key); }) &&
             std::ranges::all_of(dict->values, named);
    return stable(expr) || is<Internal>(expr) || is<Slice>(expr) || is<Tuple>(expr) || definition(expr);
  };
  auto waits = [&](const Expr* expr) {
    return pure(expr) || is<ListExpr>(expr) || is<SetExpr>(expr) || is<Dict>(expr) || is<JoinedStr>(expr);
  };
  std::size_t count = stack_.size(), lowest = count - std::min<std::size_t>(count, 2);
  while (count > lowest && waits(stack_[count - 1].expr)) --count;
  if (count == lowest) return;
  // What lies above is evaluated within the same statement: bases of a class, message of an assertion, parts of an f-string
  // or of a chained comparison.
  auto goes_on = [](const Entry& entry) {
    auto* internal = as<Internal>(entry.expr);
    auto* name = as<Name>(entry.expr);
    return (internal && (internal->marker == Marker::build_class || internal->marker == Marker::chain)) ||
           (name && name->id == "AssertionError") || is<JoinedStr>(entry.expr);
  };
  if (std::ranges::any_of(stack_, goes_on)) return;
  for (std::size_t index = 0; index < count; ++index) {
    Entry& entry = stack_[index];
    if (pure(entry.expr)) continue;
    if (find(entry.block) != node_) spill_at_end(find(entry.block), stack_.size());
    if (!pure(entry.expr)) spill(entry);
  }
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

// Can it be evaluated later, whatever happens in between (but a store to the local itself)?
bool Lifter::stable(const Expr* expr) const {
  int parts = 1000;
  return stable(expr, parts);
}

bool Lifter::stable(const Expr* expr, int& parts) const {
  if (--parts < 0) return false;
  if (is<ConstantExpr>(expr)) return true;
  if (auto* name = as<Name>(expr)) return is_fast(name->id);
  if (auto* internal = as<Internal>(expr)) {
    switch (internal->marker) {
      case Marker::iterator: return internal->value == nullptr;
      case Marker::function: {
        const FunctionValue& function = context_.functions[internal->index];
        for (Expr* part : {function.defaults, function.kw_defaults, function.deferred ? nullptr : function.annotations})
          if (part && !stable(part, parts)) return false;
        return true;
      }
      case Marker::copied:
      case Marker::chain:
      case Marker::awaitable:
      case Marker::import_module: return false;
      default: return true;
    }
  }
  if (auto* tuple = as<Tuple>(expr))
    return std::all_of(tuple->elts.begin(), tuple->elts.end(), [&](Expr* e) { return stable(e, parts); });
  // It stands for itself only in a subscript: elsewhere it is a call of slice().
  if (auto* slice = as<Slice>(expr)) {
    for (Expr* part : {slice->lower, slice->upper, slice->step})
      if (part && !stable(part, parts)) return false;
    return true;
  }
  return false;
}

namespace {
std::string_view stored_name(const Stmt::Node& node) {
  const Expr* target = nullptr;
  if (auto* assign = std::get_if<Assign>(&node)) target = assign->targets.size() == 1 ? assign->targets[0] : nullptr;
  if (auto* augmented = std::get_if<AugAssign>(&node)) target = augmented->target;
  if (auto* remove = std::get_if<Delete>(&node)) target = remove->targets[0];
  if (auto* name = as<Name>(target)) return name->id;
  return {};
}
bool mentions(const Expr* expr, std::string_view id) {
  if (auto* name = as<Name>(expr)) return name->id == id;
  if (auto* tuple = as<Tuple>(expr))
    return std::any_of(tuple->elts.begin(), tuple->elts.end(), [&](Expr* e) { return mentions(e, id); });
  return false;
}
}  // namespace

void Lifter::spill(Entry& entry) {
  Expr* expr = entry.expr;
  if (auto* internal = as<Internal>(expr)) {
    if (internal->marker == Marker::copied) throw Restart{internal->index};
    if (internal->marker == Marker::iterator && internal->value) {
      *expr = Expr{Call{context_.name("iter"), context_.list({internal->value}), {}}, expr->offset, expr->line};
    } else if (internal->marker == Marker::unpacked) {
      return flush_unpackings();
    } else if (internal->marker == Marker::chain) {
      throw Restart{internal->index};
    } else if (internal->marker == Marker::function || internal->marker == Marker::code) {
      return;
    }
  }
  Expr* value = context_.arena.make<Expr>(*expr);
  std::string_view id = fresh_name();
  *expr = Expr{Name{id}, expr->offset, expr->line};
  entry.mover = -1;
  settle(value);
  auto* statement = context_.stmt(Assign{context_.list({context_.name(id)}), value}, expr->offset, expr->line);
  nodes_[find(entry.block)].statements.push_back(statement);
}

void Lifter::spill_all(std::size_t count) {
  for (std::size_t index = 0; index < count && index < stack_.size(); ++index) {
    Entry& entry = stack_[index];
    if (stable(entry.expr)) continue;
    if (find(entry.block) != node_) spill_at_end(find(entry.block), stack_.size());
    if (!stable(entry.expr)) spill(entry);
  }
}

// Where the statement being made begins in its line, by the positions of its instructions; -1: unknown.
std::int32_t Lifter::first_column() const {
  const std::vector<Position>& positions = decoded_.code->positions;
  std::int32_t column = -1;
  for (int at = first_at_; at <= at_ && at < int(code_.size()); ++at) {
    const std::size_t unit = code_[at].offset / 2;
    if (unit >= positions.size() || positions[unit].line != now().line || positions[unit].column < 0) continue;
    if (column < 0 || positions[unit].column < column) column = positions[unit].column;
  }
  return column;
}

// Its target stands behind `for `; -1: unknown.
std::int32_t Lifter::column_of_for(const Instruction& instruction, int body) const {
  const std::vector<Position>& positions = decoded_.code->positions;
  const int first = cfg_.blocks[body].begin;
  const std::size_t unit = first < int(code_.size()) ? code_[first].offset / 2 : positions.size();
  if (unit >= positions.size() || positions[unit].line != instruction.line || instruction.aux == 2) return -1;
  return positions[unit].column < 4 ? -1 : positions[unit].column - 4;
}

void Lifter::emit_raw(Stmt::Node node) {
  const bool decorated = std::holds_alternative<FunctionDef>(node) || std::holds_alternative<ClassDef>(node);
  const std::int32_t column = decorated ? -1 : first_column();
  std::vector<Stmt*>& statements = nodes_[node_].statements;
  if (statements.empty()) statements.reserve(4);
  statements.push_back(context_.stmt(std::move(node), first_offset_, now().line, column));
  if (at_ + 1 < int(code_.size())) first_offset_ = code_[at_ + 1].offset;
  first_at_ = at_ + 1;
}

void Lifter::emit(Stmt::Node node) {
  flush_unpackings();
  if (auto* marker = std::get_if<InternalStmt>(&node); marker && marker->marker != StmtMarker::append)
    return emit_raw(node);
  std::string_view stored = stored_name(node);
  Stmt holder{std::move(node)};
  for_each_expr(&holder, [&](Expr*& expr) { settle(expr); });
  for (std::size_t index = 0; index < stack_.size(); ++index) {
    Entry& entry = stack_[index];
    bool overwritten = !stored.empty() && mentions(entry.expr, stored);
    if (stable(entry.expr) && !overwritten) continue;
    if (entry.mover >= 0) throw Restart{entry.mover};
    if (find(entry.block) != node_) spill_at_end(find(entry.block), states_[find(entry.block)].stack.size());
    if (!stable(entry.expr) || (overwritten && mentions(entry.expr, stored))) spill(entry);
  }
  emit_raw(std::move(holder.node));
}

// What only the simulation knows becomes something that Python has.
void Lifter::settle(Expr*& expr) {
  if (!expr || is<Name>(expr) || is<ConstantExpr>(expr)) return;
  std::vector<Expr**>& todo = settling_;
  const std::size_t base = todo.size();  // what stands below belongs to who asked for this
  todo.push_back(&expr);
  while (todo.size() > base) {
    Expr*& slot = *todo.back();
    todo.pop_back();
    if (!slot) continue;
    if (auto* internal = as<Internal>(slot)) {
      switch (internal->marker) {
        case Marker::copied:
        case Marker::chain: throw Restart{internal->index};
        case Marker::function:
        case Marker::type_alias: hoist(slot); continue;
        case Marker::code: slot->node = named_constant(internal->index)->node; continue;
        case Marker::unpacked: flush_unpackings(); continue;
        case Marker::awaitable: *slot = Expr{Await{internal->value}, slot->offset, slot->line}; break;
        case Marker::iterator:
          if (internal->value)
            *slot = Expr{Call{context_.name("iter"), context_.list({internal->value}), {}}, slot->offset, slot->line};
          break;
        default: continue;
      }
    }
    if (is_class(slot)) {
      hoist(slot);
      continue;
    }
    if (auto* subscript = as<Subscript>(slot)) {
      todo.push_back(&subscript->value);
      auto in_subscript = [&](Expr*& part) {
        if (is<Slice>(part)) for_each_child(part, [&](Expr*& child) { todo.push_back(&child); });
        else todo.push_back(&part);
      };
      if (auto* tuple = as<Tuple>(subscript->slice))
        for (Expr*& part : tuple->elts) in_subscript(part);
      else in_subscript(subscript->slice);
      continue;
    }
    if (auto* slice = as<Slice>(slot)) {
      auto part = [&](Expr* value) { return value ? value : context_.none(); };
      Expr *lower = part(slice->lower), *upper = part(slice->upper);
      auto args = slice->step ? context_.list({lower, upper, slice->step}) : context_.list({lower, upper});
      slot->node = Call{context_.name("slice"), args, {}};
    }
    if (auto* binary = as<BinOp>(slot); binary && binary->in_place) throw Restart{-1 - int(slot->offset)};
    if (auto* named = as<NamedExpr>(slot); named && !is<Name>(named->target)) throw Restart{-1 - int(slot->offset)};
    for_each_child(slot, [&](Expr*& child) { todo.push_back(&child); });
  }
}

void Lifter::step(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::jump_: return;
    case Op::pop_jump_if_true_:
    case Op::pop_jump_if_false_:
    case Op::pop_jump_if_none_:
    case Op::pop_jump_if_not_none_:
    case Op::jump_if_true_or_pop_:
    case Op::jump_if_false_or_pop_: {
      flush_unpackings();
      bool keeps = instruction.op == Op::jump_if_true_or_pop_ || instruction.op == Op::jump_if_false_or_pop_;
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
      states_[node_].keep_a = keeps && on_true, states_[node_].keep_b = keeps && !on_true;
      ended_ = true;
      return;
    }
    case Op::match_case_: match_case(instruction); return;
    case Op::for_iter_: {
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
      return;
    }
    case Op::return_value_: {
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
      return;
    }
    default:
      if (may_be_generic(instruction.op) && generics(instruction)) return;
      if (!operation(instruction) && !call(instruction) && !matching(instruction) && !template_string(instruction))
        fail("no Python for " + std::string(op_name(instruction.op)));
  }
}

}  // namespace depyf
