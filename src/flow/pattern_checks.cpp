// Completes the tree of a pattern, and rejects trees that correspond to no pattern of Python.
#include <algorithm>

#include "flow/pattern_execution.h"
#include "support/search_limits.h"
#include "support/table.h"

namespace depyf {

// Completes the node `index` of the tree. If the code takes the parts of a sequence, class or mapping pattern by index,
// or ignores them, the children of the node are added. Returns false if the code tests something that no pattern tests.
bool PatternExecution::finish(int index) {
  PatternNode node = nodes_[index];
  if (node.kind == Kind::sequence && !node.unpacked) {
    // A sequence without a comparison of its length is `[*_]`.
    bool star = node.at_least || node.length < 0;
    int count = std::max(node.length, 0) + star;
    if (count > search_limits::pattern_parts) return false;
    Table<int> children(count, -1);
    // The starred item is in front of the items that are counted from the end.
    int last = star ? count - 1 : count;
    for (auto [from_end, child] : node.from_end) {
      if (from_end > count || from_end < 1) return false;
      children[count - from_end] = child, last = std::min(last, count - from_end - 1);
    }
    for (auto [place, child] : node.from_start) {
      if (place >= last || place >= count || children[place] >= 0) return false;
      children[place] = child;
    }
    if (star && (last < 0 || children[last] >= 0)) return false;
    for (int& child : children)
      if (child < 0) child = fresh();
    node.children = children, node.star = star ? last : -1;
    nodes_[index] = node;
  }
  // The dict for `**rest` must lack exactly the keys of the pattern.
  if (node.rest >= 0 && node.removed != node.length) return false;
  bool parts = node.kind == Kind::class_pattern ||
               (node.kind == Kind::mapping && (!node.keys.empty() || node.keys_constant >= 0));
  if (!parts || node.unpacked) return true;
  // Up to 3.10, the parts of a class or mapping pattern are taken by index, so a part that is a wildcard may have no
  // code.
  if (!tests_are_pushed() || !node.found) return false;
  node.children.assign(node.length, -1);
  for (auto [place, child] : node.from_start) {
    if (node.children[place] >= 0) return false;
    node.children[place] = child;
  }
  for (int& child : node.children)
    if (child < 0) child = fresh();
  nodes_[index] = node;
  return true;
}

// True if the pattern binds no name twice, all alternatives bind the same names, and no alternative but the last
// matches everything; all other patterns are syntax errors.
bool PatternExecution::check(int index, Names& names) const {
  const PatternNode& node = nodes_[index];
  auto bind_name = [&](int store) { return names.insert({code_[store].op, code_[store].arg}).second; };
  for (int store : node.stores)
    if (!bind_name(store)) return false;
  if (node.rest >= 0 && !bind_name(node.rest)) return false;
  if (node.kind != Kind::alternatives)
    return std::all_of(node.children.begin(), node.children.end(), [&](int child) { return check(child, names); });
  Names first;
  for (int child : node.children) {
    Names own;
    if (!check(child, own)) return false;
    if (child == node.children.front()) first = own;
    if (own != first || (child != node.children.back() && matches_always(child))) return false;
  }
  for (const auto& name : first)
    if (!names.insert(name).second) return false;
  return true;
}

// True if the pattern matches every subject.
bool PatternExecution::matches_always(int index) const {
  while (nodes_[index].kind == Kind::alternatives) index = nodes_[index].children.back();
  return nodes_[index].kind == Kind::wildcard;
}

}  // namespace depyf
