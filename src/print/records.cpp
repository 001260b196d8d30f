#include "print/records.h"

#include <algorithm>
#include <memory>

#include "print/breaks.h"
#include "print/expression.h"

namespace depyf::print {

template <class T>
void Records<T>::make_room() {
  constexpr std::size_t least = 64;
  const std::size_t used = room(), larger = std::max(2 * used, least);
  T* const records = std::allocator<T>().allocate(larger);
  std::uninitialized_copy_n(begin_, used, records);
  if (begin_) std::allocator<T>().deallocate(begin_, used);
  begin_ = records;
  end_ = begin_ + used;
  room_end_ = begin_ + larger;
}

template class Records<Mark>;
template class Records<Part>;
template class Records<Open>;

}  // namespace depyf::print
