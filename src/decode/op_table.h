// A table with one value for each operation.
#pragma once

#include "decode/op.h"

namespace depyf {

// A value for each operation, such as the function that handles it. Each row assigns one value to a set of operations;
// operations that are in no set have the value `others`.
template <class T>
class OpTable {
 public:
  struct Row {
    OpSet ops;
    T value;
  };
  constexpr OpTable(T others, std::initializer_list<Row> rows) {
    values_.fill(others);
    for (const Row& row : rows)
      for (std::size_t op = 0; op < values_.size(); ++op)
        if (row.ops.has(static_cast<Op>(op))) values_[op] = row.value;
  }
  constexpr const T& operator[](Op op) const { return values_[static_cast<std::size_t>(op)]; }

 private:
  std::array<T, op_count> values_{};
};

}  // namespace depyf
