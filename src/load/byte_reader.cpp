#include "load/byte_reader.h"

#include <string>

namespace depyf {

// The function is not inlined, because the many reads that may fail would become slower.
void ByteReader::fail_at(std::string_view message, std::size_t offset) {
  if (!error_) error_ = Error{std::string(message), offset};
  offset_ = input_.size();
}

}  // namespace depyf
