// Decompresses the DEFLATE format of zip archives (RFC 1951).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "support/result.h"

namespace depyf {

// Returns the uncompressed bytes, or an error with the offset in `compressed`. An output of more than `limit` bytes is
// an error.
Result<std::string> inflate(std::string_view compressed, std::size_t limit);

// The part of a stream that can be read. `error` is the reason why the rest of the stream cannot be read: it is
// missing, malformed or beyond the limit. `error` is empty if the stream is complete.
struct Inflated {
  std::string bytes;
  std::size_t size = 0;  // size of the stream, in compressed bytes
  std::optional<Error> error;
};
Inflated inflate_all_that_can_be_read(std::string_view compressed, std::size_t limit);

}  // namespace depyf
