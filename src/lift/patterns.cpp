// Handles MATCH_CASE, which represents the test of one case clause: a branch on a pattern. The subject is stored in a
// temporary, which all cases of the match statement share.
#include "decode/op.h"
#include "flow/cfg.h"
#include "lift/block_ends.h"
#include "lift/operations.h"
#include "lift/stores.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {

// Returns the expression that the instructions [begin, end) load for a pattern: a constant, or a dotted name.
Expr* pattern_expression(Context& context, const Cursor& cursor, int begin, int end) {
  Expr* value = nullptr;
  for (int at = begin; at < end; ++at) {
    const Instruction& instruction = cursor.decoded.instructions[at];
    constexpr OpSet loads_local = {Op::load_fast_, Op::load_deref_, Op::load_class_deref_};
    constexpr OpSet loads_name = {Op::load_name_, Op::load_global_};
    if (instruction.op == Op::load_const_) value = cursor.make(ConstantExpr{&cursor.decoded.constant(instruction.arg)});
    else if (instruction.op == Op::load_int_)
      value = context.constant(Constant::Kind::integer, std::to_string(instruction.arg));
    else if (loads_local.has(instruction.op)) value = cursor.local(instruction.arg);
    else if (loads_name.has(instruction.op)) value = cursor.make(Name{cursor.name_of(instruction.arg)});
    else if (instruction.op == Op::load_attr_) value = cursor.make(Attribute{value, cursor.name_of(instruction.arg)});
  }
  if (!value) cursor.fail("a pattern without its value");
  return value;
}

// Returns the pattern that the element `index` of `nodes` represents, and appends the variables that the pattern binds
// to `bound`.
Pattern* pattern_of(Context& context, const Cursor& cursor, const Table<PatternNode>& nodes, int index,
                    Table<Expr*>& bound) {
  const PatternNode& node = nodes[index];
  auto new_pattern = [&](const auto& info) { return context.arena.make<Pattern>(held(context.arena, info)); };
  auto name = [&](int store) {
    bound.push_back(cursor.target_name(cursor.decoded.instructions[store]));
    return as<Name>(bound.back())->id;
  };
  auto constant = [&](int load) -> const Constant& {
    return cursor.decoded.constant(cursor.decoded.instructions[load].arg);
  };
  Table<Pattern*> children;
  for (int child : node.children) {
    const PatternNode& info = nodes[child];
    // One child of a sequence pattern may be a star pattern: `*name` or `*_`.
    bool star = node.kind == PatternNode::Kind::sequence && int(children.size()) == node.star;
    if (star)
      children.push_back(new_pattern(MatchStar{info.stores.empty() ? std::string_view{} : name(info.stores[0])}));
    else children.push_back(pattern_of(context, cursor, nodes, child, bound));
  }
  Pattern* result = nullptr;
  switch (node.kind) {
    case PatternNode::Kind::wildcard:
      // A wildcard whose subject is both popped and stored is `_ as name`.
      if (node.dropped && !node.stores.empty()) result = new_pattern(MatchAs{nullptr, {}});
      break;
    case PatternNode::Kind::value:
      result =
          new_pattern(MatchValue{pattern_expression(context, cursor, node.expression.first, node.expression.second)});
      break;
    case PatternNode::Kind::singleton: {
      Expr* none = node.constant < 0 ? context.none() : cursor.make(ConstantExpr{&constant(node.constant)});
      result = new_pattern(MatchSingleton{as<ConstantExpr>(none)->value});
      break;
    }
    case PatternNode::Kind::sequence: result = new_pattern(MatchSequence{context.arena.copy(children)}); break;
    case PatternNode::Kind::alternatives: result = new_pattern(MatchOr{context.arena.copy(children)}); break;
    case PatternNode::Kind::mapping: {
      Table<Expr*> keys;
      for (auto [begin, end] : node.keys) keys.push_back(pattern_expression(context, cursor, begin, end));
      if (node.keys_constant >= 0)
        for (const Constant& key : constant(node.keys_constant).items) keys.push_back(cursor.make(ConstantExpr{&key}));
      std::string_view rest = node.rest >= 0 ? name(node.rest) : std::string_view{};
      result = new_pattern(MatchMapping{context.arena.copy(keys), context.arena.copy(children), rest});
      break;
    }
    case PatternNode::Kind::class_pattern: {
      Table<Pattern*> positional(children.begin(), children.begin() + node.positional);
      Table<Pattern*> keyword(children.begin() + node.positional, children.end());
      Table<std::string_view> attributes;
      for (const Constant& attribute : constant(node.constant).items) attributes.push_back(attribute.text);
      result = new_pattern(
          MatchClass{pattern_expression(context, cursor, node.expression.first, node.expression.second),
                     context.arena.copy(positional), context.arena.copy(attributes), context.arena.copy(keyword)});
      break;
    }
  }
  // If the whole subject of the pattern is stored in a variable, the result is `pattern as name`.
  for (int store : node.stores) result = new_pattern(MatchAs{result, name(store)});
  return result ? result : new_pattern(MatchAs{nullptr, {}});
}

}  // namespace

void match_case(Simulation& sim, const Instruction& instruction) {
  flush_unpackings(sim);
  const CasePattern& wanted = sim.cursor.cfg.patterns[instruction.arg];
  Table<Expr*> bound;
  Pattern* pattern = pattern_of(sim.context, sim.cursor, wanted.nodes, 0, bound);
  Expr* subject = sim.pop();
  // An earlier case of the match statement may already have stored the subject in a temporary.
  auto* known = as<Name>(subject);
  if (!known || !sim.rare->subjects.contains(known->id)) {
    sim.stack.push_back({subject, sim.graph.node, -1});
    sim.spill_all(sim.stack.size() - 1);
    subject = sim.pop_entry().expr;
    sim.settle(subject);
    std::string_view id = sim.names.fresh_name();
    sim.rare->subjects.insert(id);
    sim.emit_raw(Assign{sim.context.list({sim.context.name(id)}), subject});
    subject = sim.context.name(id);
  }
  // If the value of a variable is still on the stack, it is stored in a temporary, because the pattern may bind the
  // variable to a new value.
  for (Entry& entry : sim.stack)
    if (auto* waiting = as<Name>(entry.expr); waiting && !waiting->id.starts_with("__temp_")) sim.spill(entry);
  const BasicBlock& block = sim.cursor.cfg.blocks[sim.cursor.block];
  Node& node = sim.graph.nodes[sim.graph.node];
  node.end = Node::End::branch, node.a = block.next, node.b = block.jump, node.line = instruction.line;
  node.value = sim.cursor.make(Internal{Marker::match_case, int(sim.context.cases.size()), subject});
  sim.context.cases.push_back({pattern, wanted.guard, instruction.aux != 0, instruction.line});
  // The subject stays on the stack if the match statement has more cases.
  if (instruction.aux) sim.push(subject->node);
  sim.graph.ended = true;
}

}  // namespace depyf::lifting
