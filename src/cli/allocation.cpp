// The command's operator new: small blocks from lists of equal size, one set of lists for each thread.
//
// Decompiling makes some 200 small vectors for each code object and frees them at once. A list whose first block is taken
// and put back costs a few instructions, which is a quarter of all time less than with the system's malloc.
//
//   | size class, 0: malloc's | block ............ |
//   8 bytes before the block    16 bytes aligned
//
// A block goes to the lists of the thread that frees it. Memory of small blocks is kept until the process ends: at most what
// was in use at once, for each size.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t header = 8, step = 16, classes = 64, chunk_size = std::size_t(1) << 16;
constexpr std::size_t largest = (classes - 1) * step - header;  // of the small blocks

struct FreeBlock {
  FreeBlock* next;
};

// Plain data, so that a thread's may be used before its constructors have run and after its destructors.
struct Lists {
  FreeBlock* first[classes];
  std::byte *at, *end;  // of the chunk that new blocks are cut from
};
constinit thread_local Lists lists{};

std::uint64_t& class_of(void* block) { return static_cast<std::uint64_t*>(block)[-1]; }

void* from_system(std::size_t size) {
  for (;;) {
    if (void* found = size <= SIZE_MAX - step ? std::malloc(size + step) : nullptr) {
      void* block = static_cast<std::byte*>(found) + step;
      class_of(block) = 0;
      return block;
    }
    std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

void* cut(std::size_t number) {
  const std::size_t size = number * step;
  if (std::size_t(lists.end - lists.at) < size) {
    lists.at = static_cast<std::byte*>(from_system(chunk_size));
    lists.end = lists.at + chunk_size;
    lists.at += step - header;
  }
  void* block = lists.at + header;
  lists.at += size;
  class_of(block) = number;
  return block;
}

}  // namespace

void* operator new(std::size_t size) {
  if (size > largest) [[unlikely]]
    return from_system(size);
  const std::size_t number = (size + header + step - 1) / step;
  FreeBlock*& first = lists.first[number];
  if (!first) [[unlikely]]
    return cut(number);
  void* block = first;
  first = first->next;
  return block;
}

void operator delete(void* block) noexcept {
  if (!block) return;
  const std::uint64_t number = class_of(block);
  if (number == 0) [[unlikely]]
    return std::free(static_cast<std::byte*>(block) - step);
  FreeBlock* freed = static_cast<FreeBlock*>(block);
  freed->next = lists.first[number];
  lists.first[number] = freed;
}

void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
