// Memory that is freed as a whole: the tree of one decompilation lives in one arena.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace depyf {

// The exception that is thrown if more memory is requested than an arena may take.
struct OutOfArena : std::bad_alloc {
  const char* what() const noexcept override { return "its tree takes more memory than a file of this size may"; }
};

class Arena {
 public:
  static constexpr std::size_t no_limit = std::size_t(-1);

  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // The number of bytes that the arena has taken from the system, and the limit of this number. Beyond the limit,
  // `allocate` throws OutOfArena.
  std::size_t taken() const { return taken_; }
  std::size_t limit() const { return limit_; }
  void set_limit(std::size_t bytes) { limit_ = bytes; }

  void* allocate(std::size_t size) {
    const std::size_t rounded = (size + alignment - 1) & ~(alignment - 1);
    if (rounded > free_size_) [[unlikely]]
      return allocate_in_new_block(rounded);
    free_size_ -= rounded;
    return free_ + free_size_;
  }

  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "an arena runs no destructors");
    static_assert(alignof(T) <= alignment);
    return ::new (allocate(sizeof(T))) T{std::forward<Args>(args)...};
  }

  // Returns a list of `count` items that the caller has to set.
  template <class T>
  std::span<T> list(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count == 0) return {};
    return {static_cast<T*>(allocate(sizeof(T) * count)), count};
  }

  // Returns a copy of `items` that lives as long as the arena.
  template <class T>
  std::span<T> copy(const std::vector<T>& items) {
    return copy(items.data(), items.size());
  }
  template <class T>
  std::span<T> copy(const T* items, std::size_t count) {
    const std::span<T> copied = list<T>(count);
    if (count) std::memcpy(static_cast<void*>(copied.data()), items, sizeof(T) * count);
    return copied;
  }

  // Returns `list` with `item` added at its end. The memory of a list doubles when it is full, so building a list by
  // repeated `append` takes linear time and memory. The items that the span `list` refers to do not change.
  template <class T>
  std::span<T> append(std::span<T> list, T item) {
    return append(list, std::span<T>(&item, 1));
  }
  // Returns the items of `list` followed by `items`, of which there must be at least one.
  template <class T>
  std::span<T> append(std::span<T> list, std::span<T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t before = list.size(), count = before + items.size();
    T* data = list.data();
    if (auto found = growing_.find(data);
        found != growing_.end() && found->second.used == before && count <= found->second.capacity) {
      found->second.used = count;
    } else {
      const std::size_t capacity = count <= 4 ? 8 : 2 * count;
      data = static_cast<T*>(allocate(sizeof(T) * capacity));
      if (before) std::memcpy(static_cast<void*>(data), list.data(), sizeof(T) * before);
      growing_.insert_or_assign(data, Growing{count, capacity});
    }
    std::memcpy(static_cast<void*>(data + before), items.data(), sizeof(T) * items.size());
    return {data, count};
  }

  std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    char* data = static_cast<char*>(allocate(text.size()));
    std::memcpy(data, text.data(), text.size());
    return {data, text.size()};
  }

 private:
  void* allocate_in_new_block(std::size_t size);

  // All sizes are multiples of the alignment, so that the rest of a block is always aligned.
  static constexpr std::size_t alignment = 8;
  static constexpr std::size_t block_size = 1 << 14;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  // The unused bytes of the last block. Memory is taken from the end of the unused bytes, so that an allocation changes
  // only `free_size_`.
  std::byte* free_ = nullptr;
  std::size_t free_size_ = 0;
  std::size_t taken_ = 0, limit_ = no_limit;  // the bytes of all blocks together, and their limit
  struct Growing {
    std::size_t used, capacity;  // numbers of items
  };
  // Maps the address of the first item of each list that `append` built to the number of items in the list, and to the
  // number for which the list has room.
  std::unordered_map<const void*, Growing> growing_;
};

}  // namespace depyf
