// A vector whose copies share its elements.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "support/table.h"

namespace depyf {

// A copy refers to the same elements, so copying takes the same time for any number of elements. The first change of a
// copy copies the elements.
template <class T>
class SharedTable {
 public:
  std::size_t size() const { return items_ ? items_->size() : 0; }
  decltype(auto) operator[](auto index) const { return std::as_const(*items_)[index]; }
  const T& back() const { return items_->back(); }
  auto begin() const { return items().begin(); }
  auto end() const { return items().end(); }
  bool operator==(const std::vector<T>& other) const { return items() == other; }

  void reserve(std::size_t count) { own().reserve(count); }
  void push_back(T item) { own().push_back(std::move(item)); }
  void assign(auto first_or_count, auto last_or_value) { own().assign(first_or_count, last_or_value); }

 private:
  const Table<T>& items() const {
    static const Table<T> none;
    return items_ ? *items_ : none;
  }
  Table<T>& own() {
    if (!items_) items_ = std::make_shared<Table<T>>();
    else if (items_.use_count() > 1) items_ = std::make_shared<Table<T>>(*items_);
    return *items_;
  }

  std::shared_ptr<Table<T>> items_;
};

}  // namespace depyf
