// Where blocks meet: straight lines become one node. Conditions are merged (conditions.cpp); any other value on the stack that
// differs by the way taken is set to the same temporary on each way.
#include <algorithm>

#include "flow/cfg.h"
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
    case Node::End::none:
    case Node::End::go:
    case Node::End::leave:
    case Node::End::stop: break;
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
