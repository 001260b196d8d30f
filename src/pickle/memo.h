// Stores the memo of a pickle, which contains the values to which the pickle refers by number.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "pickle/pickle.h"

namespace depyf::pickle {

// Picklers number the entries of the memo from zero, so entries with consecutive numbers are kept in a list. Entries
// whose numbers leave gaps, which CPython's picklers do not write, are kept in a table.
class Memo {
 public:
  explicit Memo(const Limits& limits) : limits_(limits) {}

  std::uint64_t size() const { return in_order_.size() + out_of_order_.size(); }

  // Sets the entry `index`. Returns false if the memo would have more entries than the limits allow.
  bool put(std::uint64_t index, NodeId id) {
    if (index < in_order_.size()) in_order_[index] = id;
    else if (index == in_order_.size() && index < limits_.memo) in_order_.push_back(id), out_of_order_.erase(index);
    else if (out_of_order_.size() < limits_.sparse_memo || out_of_order_.contains(index)) out_of_order_[index] = id;
    else return false;
    return true;
  }

  // Returns the value of the entry `index`; `no_node` if there is no such entry.
  NodeId get(std::uint64_t index) const {
    if (index < in_order_.size()) return in_order_[index];
    const auto entry = out_of_order_.find(index);
    return entry == out_of_order_.end() ? no_node : entry->second;
  }

 private:
  const Limits& limits_;
  std::vector<NodeId> in_order_;
  std::unordered_map<std::uint64_t, NodeId> out_of_order_;
};

}  // namespace depyf::pickle
