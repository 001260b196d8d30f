// match_case: a branch on a pattern. The subject gets a name of its own, which all cases of the statement share.
#include "flow/cfg.h"
#include "lift/lifter.h"

namespace depyf {
using namespace ast;

// LOAD_CONST, or a name and its attributes.
Expr* Lifter::pattern_expression(int begin, int end) {
  Expr* value = nullptr;
  for (int at = begin; at < end; ++at) {
    const Instruction& instruction = decoded_.instructions[at];
    constexpr OpSet loads_local = {Op::load_fast_, Op::load_deref_, Op::load_class_deref_};
    constexpr OpSet loads_name = {Op::load_name_, Op::load_global_};
    if (instruction.op == Op::load_const_) value = make(ConstantExpr{&decoded_.constant(instruction.arg)});
    else if (instruction.op == Op::load_int_)
      value = context_.constant(Constant::Kind::integer, std::to_string(instruction.arg));
    else if (loads_local.has(instruction.op)) value = local(instruction.arg);
    else if (loads_name.has(instruction.op)) value = make(Name{name_of(instruction.arg)});
    else if (instruction.op == Op::load_attr_) value = make(Attribute{value, name_of(instruction.arg)});
  }
  if (!value) fail("a pattern without its value");
  return value;
}

Pattern* Lifter::pattern(const std::vector<PatternNode>& nodes, int index, std::vector<Expr*>& bound) {
  const PatternNode& node = nodes[index];
  auto made = [&](auto info) { return context_.arena.make<Pattern>(Pattern{info}); };
  auto name = [&](int store) {
    bound.push_back(target_name(decoded_.instructions[store]));
    return as<Name>(bound.back())->id;
  };
  auto constant = [&](int load) -> const Constant& { return decoded_.constant(decoded_.instructions[load].arg); };
  std::vector<Pattern*> children;
  for (int child : node.children) {
    const PatternNode& info = nodes[child];
    bool star = node.kind == PatternNode::Kind::sequence && int(children.size()) == node.star;
    if (star) children.push_back(made(MatchStar{info.stores.empty() ? std::string_view{} : name(info.stores[0])}));
    else children.push_back(pattern(nodes, child, bound));
  }
  Pattern* result = nullptr;
  switch (node.kind) {
    case PatternNode::Kind::wildcard:
      if (node.dropped && !node.stores.empty()) result = made(MatchAs{nullptr, {}});
      break;
    case PatternNode::Kind::value:
      result = made(MatchValue{pattern_expression(node.expression.first, node.expression.second)});
      break;
    case PatternNode::Kind::singleton: {
      Expr* none = node.constant < 0 ? context_.none() : make(ConstantExpr{&constant(node.constant)});
      result = made(MatchSingleton{as<ConstantExpr>(none)->value});
      break;
    }
    case PatternNode::Kind::sequence: result = made(MatchSequence{context_.arena.copy(children)}); break;
    case PatternNode::Kind::alternatives: result = made(MatchOr{context_.arena.copy(children)}); break;
    case PatternNode::Kind::mapping: {
      std::vector<Expr*> keys;
      for (auto [begin, end] : node.keys) keys.push_back(pattern_expression(begin, end));
      if (node.keys_constant >= 0)
        for (const Constant& key : constant(node.keys_constant).items) keys.push_back(make(ConstantExpr{&key}));
      std::string_view rest = node.rest >= 0 ? name(node.rest) : std::string_view{};
      result = made(MatchMapping{context_.arena.copy(keys), context_.arena.copy(children), rest});
      break;
    }
    case PatternNode::Kind::class_pattern: {
      std::vector<Pattern*> positional(children.begin(), children.begin() + node.positional);
      std::vector<Pattern*> keyword(children.begin() + node.positional, children.end());
      std::vector<std::string_view> attributes;
      for (const Constant& attribute : constant(node.constant).items) attributes.push_back(attribute.text);
      result = made(MatchClass{pattern_expression(node.expression.first, node.expression.second),
                               context_.arena.copy(positional), context_.arena.copy(attributes),
                               context_.arena.copy(keyword)});
      break;
    }
  }
  for (int store : node.stores) result = made(MatchAs{result, name(store)});
  return result ? result : made(MatchAs{nullptr, {}});
}

void Lifter::match_case(const Instruction& instruction) {
  flush_unpackings();
  const CasePattern& wanted = cfg_.patterns[instruction.arg];
  std::vector<Expr*> bound;
  Pattern* pattern = this->pattern(wanted.nodes, 0, bound);
  Expr* subject = pop();
  auto* known = as<Name>(subject);
  if (!known || !subjects_.contains(known->id)) {
    stack_.push_back({subject, node_, -1});
    spill_all(stack_.size() - 1);
    subject = pop_entry().expr;
    settle(subject);
    std::string_view id = fresh_name();
    subjects_.insert(id);
    emit_raw(Assign{context_.list({context_.name(id)}), subject});
    subject = context_.name(id);
  }
  // What waits below must not see the names that are bound.
  for (Entry& entry : stack_)
    if (auto* waiting = as<Name>(entry.expr); waiting && !waiting->id.starts_with("__temp_")) spill(entry);
  const BasicBlock& block = cfg_.blocks[current_block_];
  Node& node = nodes_[node_];
  node.end = Node::End::branch, node.a = block.next, node.b = block.jump, node.line = instruction.line;
  node.value = make(Internal{Marker::match_case, int(context_.cases.size()), subject});
  context_.cases.push_back({pattern, wanted.guard, instruction.aux != 0, instruction.line});
  if (instruction.aux) push(subject->node);
  ended_ = true;
}

}  // namespace depyf
