#include "support/arena.h"

#include <algorithm>

namespace depyf {

void* Arena::allocate_in_new_block(std::size_t size) {
  const std::size_t capacity = std::max(size, block_size);
  if (capacity > limit_ - std::min(limit_, taken_)) throw OutOfArena();
  blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(capacity));
  taken_ += capacity;
  free_ = blocks_.back().get();  // new[] aligns for every fundamental type
  free_size_ = capacity - size;
  return free_ + free_size_;
}

}  // namespace depyf
