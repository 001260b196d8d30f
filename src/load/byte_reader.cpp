#include "load/byte_reader.h"

#include <string>

namespace depyf {

// `fail_at` is not inlined, because inlining would slow down the many reads that call it.
void ByteReader::fail_at(std::string_view message, std::size_t offset) {
  if (!error_) error_ = Error{std::string(message), offset};
  offset_ = input_.size();
}

}  // namespace depyf
