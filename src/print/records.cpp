#include "print/records.h"

#include <algorithm>

#include "print/breaks.h"
#include "print/expression.h"

namespace depyf::print {

template <class T>
void Records<T>::make_room() {
  constexpr std::size_t least = 64;
  const std::size_t used = records_.size();
  records_.resize(std::max(2 * used, least));
  end_ = records_.data() + used;
  room_end_ = records_.data() + records_.size();
}

template class Records<Mark>;
template class Records<Part>;
template class Records<Open>;

}  // namespace depyf::print
