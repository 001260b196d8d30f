// Defines operator new of the command, which takes small blocks from lists of free blocks of equal size. Each thread
// has its own set of lists of free blocks.
//
// Decompiling a code object creates some 200 small vectors, which are freed soon. Taking the first block of a list
// and putting it back costs a few instructions, which saves a quarter of the command's time compared to the system's
// malloc. A block is aligned to 16 bytes. The 8 bytes in front of a block contain its size class, or 0 for a block of
// malloc.
//
// The sizes of blocks are multiples of 16 up to 1 KiB. From 1 KiB to 256 KiB, there are four sizes for each power of
// two. A freed block is added to the lists of the thread that frees it. The memory of small blocks is kept until the
// process ends. If each block is freed by the thread that allocated it, a thread keeps for each size at most the
// memory that was in use at one time.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace {

constexpr std::size_t header = 8, step = 16;
// A thread takes `small_chunks` chunks of `chunk_size`, which are enough for a small file, and then huge chunks, each
// of which has the size of a huge page.
constexpr std::size_t chunk_size = std::size_t(1) << 17, small_chunks = 2, huge_chunk_size = std::size_t(1) << 21;
// The sizes of the first `fine` size classes are the multiples of `step`, and `fine_end` is the largest of these sizes.
constexpr std::size_t fine = 64, fine_end = fine * step;
constexpr std::size_t parts = 4, doublings = 8, classes = fine + 1 + parts * doublings;
// The largest size of a small block, without its header.
constexpr std::size_t largest = (fine_end << doublings) - header;
static_assert(largest + header + step <= huge_chunk_size);

// Returns the size class of a block of `size` bytes, which include the block's header.
constexpr std::size_t class_for(std::size_t size) {
  if (size <= fine_end) [[likely]]
    return (size + step - 1) / step;
  const int doubling = std::bit_width(size - 1) - 1;  // `size` is greater than 1 << doubling
  return fine + parts * (doubling - std::bit_width(fine_end - 1)) + ((size - 1) >> (doubling - 2)) - parts + 1;
}
constexpr std::size_t size_of(std::size_t number) {
  if (number <= fine) return number * step;
  const std::size_t above = number - fine - 1;
  return (fine_end << above / parts) / parts * (parts + 1 + above % parts);
}
static_assert(class_for(fine_end) == fine && class_for(fine_end + 1) == fine + 1 && size_of(fine + 1) == 1280);
static_assert(class_for(largest + header) == classes - 1 && size_of(classes - 1) == largest + header);
static_assert(size_of(class_for(1537)) == 1792 && size_of(class_for(4096)) == 4096 && size_of(class_for(4097)) == 5120);

struct FreeBlock {
  FreeBlock* next;
};

// The lists are plain data, so that a thread can use them before its constructors and after its destructors have run.
struct Lists {
  FreeBlock* first[classes];
  std::byte *at, *end;  // the unused part of the chunk from which new blocks are cut
  std::size_t chunks;  // the number of chunks that the thread has taken
};
constinit thread_local Lists lists{};

std::uint64_t& class_of(void* block) { return static_cast<std::uint64_t*>(block)[-1]; }

// The functions for rare cases are not inlined, so that operator new needs no stack frame in the common case.
[[gnu::noinline]] void* from_system(std::size_t size) {
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

// Returns a huge chunk; null if there is not enough memory. If the system has huge pages, the chunk is one huge page.
// All blocks of a huge page together cause a single page fault, and occupy a single entry of the processor's address
// translation cache (TLB).
std::byte* huge_chunk() {
  void* chunk = std::aligned_alloc(huge_chunk_size, huge_chunk_size);
#ifdef MADV_HUGEPAGE
  if (chunk) ::madvise(chunk, huge_chunk_size, MADV_HUGEPAGE);
#endif
  return static_cast<std::byte*>(chunk);
}

// Allocates a chunk of at least `least` bytes, from which the thread cuts its next blocks.
void take_chunk(std::size_t least) {
  std::size_t size = huge_chunk_size;
  std::byte* chunk = lists.chunks < small_chunks && least <= chunk_size ? nullptr : huge_chunk();
  if (!chunk) size = std::max(least, chunk_size), chunk = static_cast<std::byte*>(from_system(size));
  ++lists.chunks;
  lists.at = chunk + step - header, lists.end = chunk + size;
}

[[gnu::noinline]] void* cut(std::size_t number) {
  const std::size_t size = size_of(number);
  if (std::size_t(lists.end - lists.at) < size) take_chunk(size + step);
  void* block = lists.at + header;
  lists.at += size;
  class_of(block) = number;
  return block;
}

// Returns a block of size class `number`.
void* take(std::size_t number) {
  FreeBlock*& first = lists.first[number];
  if (!first) [[unlikely]]
    return cut(number);
  void* block = first;
  first = first->next;
  return block;
}

// Adds a block of size class `number` to the free blocks.
void put_back(void* block, std::size_t number) {
  FreeBlock* freed = static_cast<FreeBlock*>(block);
  freed->next = lists.first[number];
  lists.first[number] = freed;
}

[[gnu::noinline]] void* take_coarse(std::size_t size) {
  return size > largest ? from_system(size) : take(class_for(size + header));
}

}  // namespace

void* operator new(std::size_t size) {
  if (size > fine_end - header) [[unlikely]]
    return take_coarse(size);
  return take(class_for(size + header));
}

void operator delete(void* block) noexcept {
  if (!block) return;
  const std::uint64_t number = class_of(block);
  if (number == 0) [[unlikely]]
    return std::free(static_cast<std::byte*>(block) - step);
  put_back(block, number);
}

// Computes the size class from `size`, because reading the size class from the memory in front of the block often
// misses the cache. `size` is the size that was passed to operator new; the sanitizers check the size.
void operator delete(void* block, std::size_t size) noexcept {
  if (!block || size > fine_end - header) return operator delete(block);
  put_back(block, class_for(size + header));
}
