// Defines the list of the statements of a node.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ast/node.h"
#include "support/arena.h"

namespace depyf {

// A list that grows at its end. The memory of the list belongs to an arena and is not freed with the list: the test
// whether a list has memory to free would take longer than using the list, because the processor cannot predict the
// result of the test. A copy refers to the memory of the original, so only one of the two may change until the other is
// destroyed or cleared.
class StatementList {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  ast::Stmt** begin() const { return items_; }
  ast::Stmt** end() const { return items_ + size_; }
  ast::Stmt* back() const { return items_[size_ - 1]; }
  ast::Stmt* operator[](std::size_t index) const { return items_[index]; }
  // Returns the statements. The block refers to the memory of the list.
  ast::Block block() const { return {items_, size_}; }

  void push_back(Arena& arena, ast::Stmt* stmt) {
    if (size_ == capacity_) [[unlikely]]
      grow(arena, 1);
    items_[size_++] = stmt;
  }
  void append(Arena& arena, const StatementList& other) {
    if (capacity_ - size_ < other.size_) grow(arena, other.size_);
    std::copy(other.begin(), other.end(), end());
    size_ += other.size_;
  }
  void pop_back() { --size_; }
  void clear() { *this = {}; }

 private:
  // Makes room for at least `count` more statements.
  void grow(Arena& arena, std::size_t count) {
    constexpr std::size_t usual = 4;
    const std::size_t capacity = std::max({usual, 2 * std::size_t{capacity_}, size_ + count});
    ast::Stmt** const items = arena.list<ast::Stmt*>(capacity).data();
    std::copy(begin(), end(), items);
    items_ = items, capacity_ = static_cast<std::uint32_t>(capacity);
  }

  ast::Stmt** items_ = nullptr;
  std::uint32_t size_ = 0, capacity_ = 0;
};

}  // namespace depyf
