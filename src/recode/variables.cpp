#include "recode/variables.h"

#include <algorithm>

#include "dialect/dialect.h"
#include "recode/nested.h"
#include "support/class_cells.h"

namespace depyf {
namespace {

using Order = std::vector<std::string>;
using Followers = std::map<std::string, NameSet, std::less<>>;  // maps a name to the names that directly follow it

constexpr const char* prefix = "depyf_";

Order without_fixed(const std::vector<std::string>& names) {
  Order order;
  std::remove_copy_if(names.begin(), names.end(), std::back_inserter(order), is_class_cell);
  return order;
}

// Returns the cell variables whose order depends on their names. From 3.11 on, cells that are also locals come first,
// in the order of the locals.
Order cells_in_order(const CodeObject& code) {
  Order cells = without_fixed(code.cellvars);
  if (dialect_of(code.version).cells_apart) return cells;
  std::erase_if(cells, [&](const std::string& name) {
    return std::find(code.varnames.begin(), code.varnames.end(), name) != code.varnames.end();
  });
  return cells;
}

// Returns all names in `followers`, each in front of the names that follow it; an empty list if the order contains a
// cycle.
Order topological(const Followers& followers) {
  std::map<std::string_view, std::size_t> before;  // maps a name to the number of names that must precede it
  for (const auto& [name, behind] : followers) {
    before[name];
    for (const std::string& follower : behind) ++before[follower];
  }
  std::vector<std::string_view> ready;
  for (const auto& [name, count] : before) {
    if (count == 0) ready.push_back(name);
  }
  Order order;
  for (std::size_t i = 0; i < ready.size(); ++i) {  // `ready` grows in the loop
    order.emplace_back(ready[i]);
    const auto behind = followers.find(ready[i]);
    if (behind == followers.end()) continue;
    for (const std::string& follower : behind->second) {
      const auto entry = before.find(follower);
      if (--entry->second == 0) ready.push_back(entry->first);
    }
  }
  if (order.size() != before.size()) order.clear();
  return order;
}

std::string numbered(std::size_t position, const std::string& name) {
  constexpr std::size_t digits_count = 6;
  std::string digits = std::to_string(position);
  digits.insert(0, digits_count - std::min(digits.size(), digits_count), '0');
  return prefix + digits + "_" + name;
}

std::string own_name(const std::string& name, const NewNames& own) {
  const auto restored = own.find(name);
  return restored == own.end() ? name : restored->second;
}

std::string own_qualified_name(std::string_view name, const NewNames& own) {
  std::string result;
  while (true) {
    const std::size_t end = std::min(name.find('.'), name.size());
    result += own_name(std::string(name.substr(0, end)), own);
    if (end == name.size()) return result;
    result += '.';
    name.remove_prefix(end + 1);
  }
}

}  // namespace

NewNames names_that_sort(const CodeObject& code) {
  std::vector<Order> orders;
  for_each_code(code, [&](const CodeObject& each) {
    for (Order& order : std::vector<Order>{without_fixed(each.freevars), cells_in_order(each)}) {
      if (order.size() > 1) orders.push_back(std::move(order));
    }
  });
  auto is_sorted = [](const Order& order) { return std::is_sorted(order.begin(), order.end()); };
  if (std::all_of(orders.begin(), orders.end(), is_sorted)) return {};
  Followers followers;
  Order sequence;
  for (const Order& order : orders) {
    Followers more = followers;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) more[order[i]].insert(order[i + 1]);
    Order sorted = topological(more);
    if (sorted.empty()) continue;  // the earlier orders contradict `order`
    followers = std::move(more);
    sequence = std::move(sorted);
  }
  NewNames names;
  for (std::size_t i = 0; i < sequence.size(); ++i) names.emplace(sequence[i], numbered(i, sequence[i]));
  return names;
}

void restore_variables(CodeObject& code, const NewNames& sorted) {
  NewNames own;
  for (const auto& [name, numbered_name] : sorted) own.emplace(numbered_name, name);
  change_each_code(code, [&](CodeObject& each) {
    for (auto* names : {&each.names, &each.varnames, &each.freevars, &each.cellvars}) {
      for (std::string& name : *names) name = own_name(name, own);
    }
    each.name = own_name(each.name, own);
    each.qualname = own_qualified_name(each.qualname, own);
    for (Constant& constant : each.constants) {
      if (constant.kind != Constant::Kind::string || constant.text.find(prefix) == std::string::npos) continue;
      constant.text = own_qualified_name(constant.text, own);
      constant.identity = 0;
    }
    return true;
  });
}

}  // namespace depyf
