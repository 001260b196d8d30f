// Where blocks meet: straight lines become one node, conditions with a common target become and/or/ternary, values that
// differ by the way taken become `x if c else y`, `x and y`, `x or y`; what is left gets a temporary.
#include <algorithm>

#include "lift/lifter.h"
#include "lift/restarts.h"

namespace depyf {
using namespace ast;

int Lifter::find(int block) {
  while (states_[block].alias >= 0) block = states_[block].alias;
  return block;
}

bool Lifter::is_loop_header(int block) const {
  for (int pred : cfg_.blocks[block].preds)
    if (cfg_.is_back_edge(pred, block)) return true;
  return false;
}

std::vector<std::pair<int, bool>> Lifter::edges_to(int block) {
  std::vector<std::pair<int, bool>> edges;
  for (int pred : cfg_.blocks[block].preds) {
    if (!states_[pred].lifted) continue;
    int node = find(pred);
    const Node& info = nodes_[node];
    if (info.end == Node::End::none) continue;
    for (bool along_b : {false, true}) {
      if ((along_b ? info.b : info.a) != block) continue;
      if (std::find(edges.begin(), edges.end(), std::pair(node, along_b)) == edges.end())
        edges.push_back({node, along_b});
    }
  }
  return edges;
}

std::optional<std::pair<int, bool>> Lifter::only_edge_to(int block) {
  std::optional<std::pair<int, bool>> only;
  for (int pred : cfg_.blocks[block].preds) {
    if (!states_[pred].lifted) continue;
    const int node = find(pred);
    const Node& info = nodes_[node];
    if (info.end == Node::End::none || (only && only->first == node)) continue;
    if ((info.a == block) + (info.b == block) == 0) continue;
    if (only || info.a == info.b) return std::nullopt;
    only = {node, info.b == block};
  }
  return only;
}

std::vector<Lifter::Entry> Lifter::stack_on_edge(int node, bool along_b) {
  std::vector<Entry> stack = states_[node].stack;
  Node& info = nodes_[node];
  auto drop = [&](std::size_t count) {
    if (stack.size() < count) throw InternalError{"the stack is not that deep", info.offset};
    stack.resize(stack.size() - count);
  };
  switch (info.end) {
    case Node::End::branch:
      if (along_b ? states_[node].keep_b : states_[node].keep_a) {
        std::string_view id = fresh_name();
        auto* statement =
            context_.stmt(Assign{context_.list({context_.name(id)}), info.value}, info.value->offset, info.value->line);
        info.statements.push_back(statement);
        info.value = context_.name(id);
        stack.push_back({context_.name(id), node, -1});
      }
      break;
    case Node::End::loop:
      if (along_b) drop(2);
      break;
    case Node::End::setup:
      if (along_b) {
        const Region& region = cfg_.regions[info.index];
        if (region.kind == Region::Kind::with) {
          // exit, [self,] result of enter
          auto* below = stack.size() < 2 ? nullptr : as<Internal>(stack[stack.size() - 2].expr);
          drop(below && below->marker == Marker::null ? 3 : 2);
        } else {
          if (int(stack.size()) < region.depth) throw InternalError{"the stack is not that deep", info.offset};
          stack.resize(region.depth);
          if (region.lasti) stack.push_back({context_.expr(Internal{Marker::other, 0, nullptr}), node, -1});
          stack.push_back({context_.expr(Internal{Marker::exception, info.index, nullptr}), node, -1});
        }
      }
      break;
    default: break;
  }
  return stack;
}

// Gives names to the unstable values at the end of `node`, in the order in which they were made.
void Lifter::spill_at_end(int node, std::size_t count) {
  std::vector<Entry>& stack = states_[node].stack;
  for (std::size_t index = 0; index < count && index < stack.size(); ++index) {
    if (stable(stack[index].expr)) continue;
    if (auto* internal = as<Internal>(stack[index].expr);
        internal && internal->marker == Marker::iterator && !internal->value)
      continue;
    int owner = find(stack[index].block);
    if (owner != node) spill_at_end(owner, states_[owner].stack.size());
    if (stable(stack[index].expr)) continue;
    if (stack[index].mover >= 0) throw Restart{stack[index].mover};
    spill(stack[index]);
  }
}

// Does `node`, of which `block` is the last part, end in `break`: statements, then POP_TOP of the iterator? What follows the
// loop is a node of its own, though only this way may lead there, as where the else clause returns.
bool Lifter::ends_in_break(int node, int block) const {
  if (nodes_[node].end != Node::End::go) return false;
  int at = cfg_.blocks[block].end - 1;
  while (at >= cfg_.blocks[block].begin && (code_[at].op == Op::nop_ || code_[at].op == Op::jump_)) --at;
  if (at < cfg_.blocks[block].begin || code_[at].op != Op::pop_top_) return false;
  int iterators = 0;
  for (const Entry& entry : states_[node].stack) {
    auto* internal = as<Internal>(entry.expr);
    if (!internal) return false;
    iterators += internal->marker == Marker::iterator && !internal->value;
  }
  return iterators < nodes_[node].iterators;
}

void Lifter::enter(int block) {
  const BasicBlock& info = cfg_.blocks[block];
  Node& fresh_node = nodes_[block];
  fresh_node.region = info.region;
  fresh_node.offset = info.begin < int(code_.size()) ? code_[info.begin].offset : 0;
  fresh_node.line = info.begin < int(code_.size()) ? code_[info.begin].line : -1;
  unpackings_.clear();
  if (flat_) {
    node_ = block;
    return;
  }
  while (split_ != Split::effects_and_tests && reduce_values(block)) {}
  const auto only = only_edge_to(block);
  if (only && !is_loop_header(block) && info.kind == BasicBlock::Kind::code) {
    int node = only->first;
    if (nodes_[node].end == Node::End::go && nodes_[node].region == info.region) {
      if (ends_in_break(node, info.preds[0])) {
        nodes_[block].pops_iterator = true;
        node_ = block;
        stack_.clear();
        return enter_merge(block, {*only});
      }
      states_[block].alias = node;
      node_ = node;
      nodes_[node].end = Node::End::none;
      stack_ = states_[node].stack;
      return;
    }
  }
  node_ = block;
  stack_.clear();
  if (auto edges = only ? std::vector{*only} : edges_to(block); !edges.empty()) enter_merge(block, edges);
}

void Lifter::enter_merge(int block, const std::vector<std::pair<int, bool>>& edges) {
  auto brings_nothing = [&](std::pair<int, bool> edge) {
    const auto [node, along_b] = edge;
    const State& state = states_[node];
    const Node::End end = nodes_[node].end;
    return state.stack.empty() &&
           (end == Node::End::go || (end == Node::End::branch && !(along_b ? state.keep_b : state.keep_a)));
  };
  if (std::ranges::all_of(edges, brings_nothing)) return;  // the stack is empty
  bool header = is_loop_header(block);
  int first = cfg_.blocks[block].begin;
  while (first < cfg_.blocks[block].end && code_[first].op == Op::nop_) ++first;
  bool is_for = header && first < cfg_.blocks[block].end && code_[first].op == Op::for_iter_;
  if (header) {
    for (auto [node, along_b] : edges) {
      std::vector<Entry>& stack = states_[node].stack;
      std::size_t keep = is_for && edges.size() == 1 && nodes_[node].end == Node::End::go ? 1 : 0;
      for (std::size_t index = 0; index + keep < stack.size(); ++index) {
        Entry& entry = stack[index];
        if (comprehension_) {
          auto* list = as<ListExpr>(entry.expr);
          auto* set = as<SetExpr>(entry.expr);
          auto* dict = as<Dict>(entry.expr);
          if ((list && list->elts.empty()) || (set && set->elts.empty()) || (dict && dict->keys.empty()))
            *entry.expr = Expr{Internal{Marker::result, 0, nullptr}, entry.expr->offset, entry.expr->line};
        }
        // A local may change in the loop; a temporary does not.
        auto* name = as<Name>(entry.expr);
        bool local = name && !name->id.starts_with("__temp_");
        if (local && stable(entry.expr)) {
          std::string_view id = fresh_name();
          auto* value = context_.arena.make<Expr>(*entry.expr);
          *entry.expr = Expr{Name{id}, value->offset, value->line};
          nodes_[node].statements.push_back(
              context_.stmt(Assign{context_.list({context_.name(id)}), value}, value->offset, value->line));
        }
      }
      spill_at_end(node, stack.size() - std::min(keep, stack.size()));
    }
  }
  std::vector<std::vector<Entry>> stacks;
  for (auto [node, along_b] : edges) stacks.push_back(stack_on_edge(node, along_b));
  stack_ = stacks[0];
  for (const auto& other : stacks)
    if (other.size() != stack_.size())
      throw InternalError{"paths meet with stacks of different depth", nodes_[block].offset};
  for (std::size_t slot = 0; slot < stack_.size(); ++slot) {
    bool same = true;
    for (const auto& other : stacks) {
      if (other[slot].expr == stack_[slot].expr) continue;
      auto *a = as<Internal>(other[slot].expr), *b = as<Internal>(stack_[slot].expr);
      if (a && b && a->marker == b->marker && !a->value && !b->value) continue;
      auto *x = as<Name>(other[slot].expr), *y = as<Name>(stack_[slot].expr);
      if (x && y && x->id == y->id && x->id.starts_with("__temp_")) continue;
      same = false;
    }
    if (same) continue;
    // Each way sets the same temporary at its end.
    std::string_view id = fresh_name();
    for (std::size_t way = 0; way < edges.size(); ++way) {
      int node = edges[way].first;
      Entry entry = stacks[way][slot];
      if (as<Internal>(entry.expr) && as<Internal>(entry.expr)->marker == Marker::null)
        throw InternalError{"NULL on one way only", nodes_[block].offset};
      if (slot < states_[node].stack.size() && find(entry.block) == node) spill_at_end(node, slot);
      if (!stable(entry.expr) && find(entry.block) != node)
        spill_at_end(find(entry.block), states_[find(entry.block)].stack.size());
      if (entry.mover >= 0 && !stable(entry.expr)) throw Restart{entry.mover};
      Expr* value = context_.arena.make<Expr>(*entry.expr);
      int saved = node_;
      node_ = node;
      settle(value);
      node_ = saved;
      nodes_[node].statements.push_back(
          context_.stmt(Assign{context_.list({context_.name(id)}), value}, value->offset, value->line));
      // Made there, and not again where what waits at the end of the node is made.
      if (slot < states_[node].stack.size() && states_[node].stack[slot].expr == entry.expr)
        states_[node].stack[slot] = {context_.name(id), node, -1};
    }
    stack_[slot] = {context_.name(id), node_, -1};
  }
}

bool Lifter::pushes_one(int node, int test) {
  const auto &stack = states_[node].stack, &before = states_[test].stack;
  if (nodes_[node].end != Node::End::go || !nodes_[node].statements.empty() || stack.size() != before.size() + 1)
    return false;
  for (std::size_t index = 0; index < before.size(); ++index)
    if (stack[index].expr != before[index].expr) return false;
  auto* internal = as<Internal>(stack.back().expr);
  return nodes_[node].region == nodes_[test].region && (!internal || internal->marker == Marker::function);
}

// `left or right` or `left and right`, as one list where either is of the same kind.
Expr* Lifter::bool_op(bool is_or, Expr* left, Expr* right) {
  auto* chain = as<BoolOp>(left);
  List<Expr*> values = chain && chain->is_or == is_or ? chain->values : context_.list({left});
  auto* more = as<BoolOp>(right);
  if (more && more->is_or == is_or)
    for (Expr* value : more->values) values = context_.arena.append(values, value);
  else values = context_.arena.append(values, right);
  return context_.expr(BoolOp{is_or, values}, left->offset, left->line);
}

// What stands first in the code stands first in the expression.
Expr* Lifter::conditional(Expr* test, Expr* if_true, Expr* if_false, bool true_first) {
  if (!true_first && !negation_changes(context_, test))
    return context_.expr(IfExp{negate(context_, test), if_false, if_true}, test->offset, test->line);
  return context_.expr(IfExp{test, if_true, if_false}, test->offset, test->line);
}

// One step towards a single value where ways to `block` meet.
bool Lifter::reduce_values(int block) {
  if (cfg_.blocks[block].preds.size() < 2) return false;
  auto edges = edges_to(block);
  if (edges.size() < 2) return false;
  std::sort(edges.begin(), edges.end(),
            [&](auto a, auto b) { return cfg_.order_index[a.first] > cfg_.order_index[b.first]; });
  for (auto [node, along_b] : edges) {
    if (nodes_[node].end != Node::End::go || !nodes_[node].statements.empty() || is_loop_header(node)) continue;
    const auto from = only_edge_to(node);
    if (!from) continue;
    int test = from->first;
    Node& branch = nodes_[test];
    if (branch.end != Node::End::branch || !pushes_one(node, test)) continue;
    Expr* value = states_[node].stack.back().expr;
    Expr* made = nullptr;
    int other = -1;
    if (branch.a == block && branch.b == node && states_[test].keep_a) {
      made = bool_op(true, branch.value, value);
    } else if (branch.b == block && branch.a == node && states_[test].keep_b) {
      made = bool_op(false, branch.value, value);
    } else {
      other = branch.a == node ? branch.b : branch.a;
      if (other == block || other == node || other < 0 || states_[other].alias >= 0 || nodes_[other].a != block)
        continue;
      if (!states_[other].lifted || !only_edge_to(other) || !pushes_one(other, test) || is_loop_header(other)) continue;
      if (states_[test].keep_a || states_[test].keep_b) continue;
      Expr* alternative = states_[other].stack.back().expr;
      made = conditional(branch.value, branch.a == node ? value : alternative, branch.a == node ? alternative : value,
                         cfg_.blocks[branch.a].begin < cfg_.blocks[branch.b].begin);
    }
    for (int gone : {node, other})
      if (gone >= 0) nodes_[gone].end = Node::End::none, states_[gone].alias = test;
    branch.end = Node::End::go, branch.value = nullptr, branch.a = block, branch.b = -1;
    states_[test].keep_a = states_[test].keep_b = false;
    states_[test].stack.push_back({made, test, -1});
    return true;
  }
  return false;
}

// `node` has become a branch: is it part of the condition before it?
bool Lifter::merge_condition(int node) {
  bool changed = false;
  while (nodes_[node].end == Node::End::branch) {
    Node& second = nodes_[node];
    if (!second.statements.empty() || is_loop_header(node)) break;
    const auto from = only_edge_to(node);
    if (!from) break;
    const auto [before, along_b] = *from;
    Node& first = nodes_[before];
    State &one = states_[before], &two = states_[node];
    if (first.end != Node::End::branch || first.region != second.region || first.a == first.b) break;
    if (along_b ? one.keep_b : one.keep_a) break;
    if (one.stack.size() != two.stack.size()) break;
    bool same_stack = true;
    for (std::size_t index = 0; index < one.stack.size(); ++index)
      same_stack &= one.stack[index].expr == two.stack[index].expr;
    if (!same_stack) break;
    auto handles = [](const Expr* test) {
      auto* internal = as<Internal>(test);
      return internal && (internal->marker == Marker::exc_match || internal->marker == Marker::eg_match ||
                          internal->marker == Marker::match_case);
    };
    if (handles(first.value) || handles(second.value)) break;
    // The test of a while loop stands again at its end: what comes before it there is another statement.
    auto goes_back = [&](int to) {
      if (to < 0 || cfg_.order_index[to] < 0 || !cfg_.is_back_edge(node, to)) return false;
      int start = cfg_.blocks[to].begin;
      while (start + 1 < cfg_.blocks[to].end && code_[start].op == Op::nop_) ++start;
      return code_[start].op != Op::for_iter_;
    };
    if (second.line >= 0 && second.line < first.line && (goes_back(second.a) || goes_back(second.b))) break;
    // A jump back that was not turned around stands for itself: `if c: continue`, then another statement.
    if (const int far = along_b ? first.a : first.b;
        first.turned == Turned::no && far >= 0 && cfg_.order_index[far] >= 0 && cfg_.is_back_edge(before, far))
      break;
    auto absorb = [&](Expr* test, int a, bool keep_a, int b, bool keep_b) {
      first.value = test, first.a = a, first.b = b, first.turned = second.turned;
      one.keep_a = keep_a, one.keep_b = keep_b;
      second.end = Node::End::none;
      two.alias = before;
      node = before;
      changed = true;
    };
    if (!along_b && first.b == second.b && one.keep_b == two.keep_b) {
      absorb(bool_op(false, first.value, second.value), second.a, two.keep_a, second.b, two.keep_b);
    } else if (along_b && first.a == second.a && one.keep_a == two.keep_a) {
      absorb(bool_op(true, first.value, second.value), second.a, two.keep_a, second.b, two.keep_b);
    } else if ((!along_b && first.b == second.a && !one.keep_b && !two.keep_a) ||
               (along_b && first.a == second.b && !one.keep_a && !two.keep_b)) {
      // One of the two is negated: the one that can be; the condition is true where what stands first in the code runs.
      int shared = along_b ? first.a : first.b, rest = along_b ? second.a : second.b;
      bool keep_rest = along_b ? two.keep_a : two.keep_b;
      int cost_first = negation_cost(context_, first.value), cost_second = negation_cost(context_, second.value);
      const bool changes_first = negation_changes(context_, first.value);
      const bool changes_second = negation_changes(context_, second.value);
      // Neither can be negated without another instruction: two statements. From 3.14 on `not a in b` turns the jump: that is
      // one statement where the rest jumps over an else.
      if (changes_first && changes_second) {
        const int end = cfg_.blocks[shared].begin - 1;
        const bool over = end >= 0 && code_[end].op == Op::jump_ && code_[end].target > end;
        if (context_.version < Version{3, 14} || !over) break;
      }
      bool negate_first = cost_first >= other_operator || cost_second >= other_operator ? cost_first < cost_second
                          : along_b ? cfg_.blocks[rest].begin < cfg_.blocks[shared].begin
                                    : cfg_.blocks[shared].begin < cfg_.blocks[rest].begin;
      if (changes_first != changes_second) negate_first = changes_second;
      if (keep_rest) negate_first = true;
      if (negate_first) {
        Expr* left = negate(context_, first.value);
        absorb(bool_op(!along_b, left, second.value), second.a, two.keep_a, second.b, two.keep_b);
      } else {
        second.value = negate(context_, second.value);
        absorb(bool_op(along_b, first.value, second.value), second.b, false, second.a, false);
      }
    } else {
      // c ? (x: T, F) : (y: T, F)
      int other = along_b ? first.a : first.b;
      if (other < 0 || other == node || !states_[other].lifted || states_[other].alias >= 0) break;
      Node& third = nodes_[other];
      State& three = states_[other];
      if (third.end != Node::End::branch || !third.statements.empty() || third.region != first.region ||
          is_loop_header(other))
        break;
      if (!only_edge_to(other) || one.keep_a || one.keep_b) break;
      if (third.a != second.a || third.b != second.b || two.keep_a != three.keep_a || two.keep_b != three.keep_b) break;
      if (three.stack.size() != one.stack.size()) break;
      Expr* test = conditional(first.value, along_b ? third.value : second.value, along_b ? second.value : third.value,
                               cfg_.blocks[first.a].begin < cfg_.blocks[first.b].begin);
      third.end = Node::End::none;
      three.alias = before;
      absorb(test, second.a, two.keep_a, second.b, two.keep_b);
    }
  }
  return changed;
}

void Lifter::finish_block(int block) {
  if (!ended_ || nodes_[node_].end == Node::End::none) {
    if (!ended_) {
      flush_unpackings();
      Node& node = nodes_[node_];
      node.a = cfg_.blocks[block].next;
      node.end = node.a >= 0 ? Node::End::go : Node::End::stop;
    }
  } else {
    flush_unpackings();
  }
  states_[node_].stack = stack_;
  swap_of_.clear(), swaps_.clear();
  if (flat_) return flat_end(block);
  // Along a back edge the stack must be what it was at the loop's start.
  if (nodes_[node_].end == Node::End::go && cfg_.order_index[nodes_[node_].a] >= 0 &&
      cfg_.is_back_edge(block, nodes_[node_].a) && states_[nodes_[node_].a].lifted) {
    int header = find(nodes_[node_].a);
    if (header != nodes_[node_].a) throw InternalError{"a loop into the middle of a block", nodes_[node_].offset};
    const std::vector<Entry>& wanted = header_stacks_[header];
    if (wanted.size() != stack_.size())
      throw InternalError{"a loop changes the depth of the stack", nodes_[node_].offset};
    for (std::size_t slot = 0; slot < stack_.size(); ++slot) {
      if (wanted[slot].expr == stack_[slot].expr) continue;
      auto *a = as<Internal>(wanted[slot].expr), *b = as<Internal>(stack_[slot].expr);
      if (a && b && a->marker == b->marker) continue;
      if (b && b->marker == Marker::iterator && !b->value)
        continue;  // what the loop iterates over, seen from its inside
      auto *x = as<Name>(wanted[slot].expr), *y = as<Name>(stack_[slot].expr);
      if (x && y && x->id == y->id) continue;
      if (!x) throw InternalError{"a loop changes the stack", nodes_[node_].offset};
      spill_at_end(node_, slot);
      Expr* value = context_.arena.make<Expr>(*stack_[slot].expr);
      settle(value);
      nodes_[node_].statements.push_back(
          context_.stmt(Assign{context_.list({context_.name(x->id)}), value}, value->offset, value->line));
    }
  }
  if (nodes_[node_].end == Node::End::branch && split_ != Split::effects_and_tests) merge_condition(node_);
}

// What still waits where control parts, or where a statement's region ends, is made there.
void Lifter::settle_ends() {
  for (int index = 0; index < int(nodes_.size()); ++index) {
    Node& node = nodes_[index];
    node_ = index;
    if (node.end == Node::End::branch) {
      for (bool along_b : {false, true})
        if (along_b ? states_[index].keep_b : states_[index].keep_a) {
          auto stack = stack_on_edge(index, along_b);  // a temporary for the kept value
          (along_b ? states_[index].keep_b : states_[index].keep_a) = false;
        }
      spill_at_end(index, states_[index].stack.size());
    } else if (node.end == Node::End::setup) {
      spill_at_end(index, states_[index].stack.size());
    } else if (node.end == Node::End::loop) {
      std::size_t count = states_[index].stack.size();
      spill_at_end(index, count >= 2 ? count - 2 : 0);
    } else if (node.end == Node::End::go) {
      int to = find(node.a);
      const Node& next = nodes_[to];
      bool markers = std::all_of(next.statements.begin(), next.statements.end(),
                                 [](const Stmt* s) { return is<InternalStmt>(s); });
      bool tail = markers && ((next.end == Node::End::leave && next.inherited) || next.end == Node::End::go);
      if (next.region != node.region && !tail) spill_at_end(index, states_[index].stack.size());
      for (const Entry& entry : states_[index].stack)
        node.carries |= find(entry.block) == index && !is<Internal>(entry.expr) && !is<ConstantExpr>(entry.expr);
    }
  }
  for (int index = 0; index < int(nodes_.size()); ++index) {
    Node& node = nodes_[index];
    if (node.end != Node::End::loop) continue;
    if (auto* internal = as<Internal>(node.value); internal && internal->marker == Marker::iterator && internal->value)
      node.value = internal->value;
    if (!node.target) {
      // The item is used where it lies: it gets a name in the loop's head.
      for (Expr* item : items_)
        if (auto* internal = as<Internal>(item);
            internal && internal->marker == Marker::item && internal->index == index) {
          std::string_view id = fresh_name();
          *item = Expr{Name{id}, item->offset, item->line};
          node.target = context_.name(id);
        }
    }
  }
}

Lifted lift(Context& context, const DecodedCode& decoded, const Cfg& cfg, Split split) {
  return with_restarts(context, cfg, [&](const std::set<int>& literal) {
    return Lifter(context, decoded, cfg, false, literal, split).run();
  });
}

}  // namespace depyf
