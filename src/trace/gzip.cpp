// Reads the gzip format (RFC 1952): a sequence of members, each a header, a deflate stream, a checksum and a size.
#include <cstdint>

#include "depyf/trace.h"
#include "load/checksum.h"
#include "load/inflate.h"

namespace depyf {
namespace {

// Compression shrinks a log to a tenth, or to a hundredth if the log is repetitive. A file that expands to more than
// 200 times its size was written to exhaust memory.
constexpr std::size_t expansion_max = 200, least_limit = std::size_t{64} << 20;

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 4; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// Returns the offset of the deflate stream of the member at `at`; npos if the bytes at `at` are no complete header.
std::size_t behind_header(std::string_view bytes, std::size_t at) {
  constexpr std::size_t fixed_size = 10;
  constexpr unsigned has_checksum = 2, has_extra = 4, has_name = 8, has_comment = 16;
  if (!is_compressed(bytes.substr(at)) || bytes.size() - at < fixed_size || bytes[at + 2] != 8)
    return std::string_view::npos;
  const unsigned flags = static_cast<unsigned char>(bytes[at + 3]);
  at += fixed_size;
  if (flags & has_extra) {
    if (bytes.size() - at < 2) return std::string_view::npos;
    at += 2u + static_cast<unsigned char>(bytes[at]) + 256u * static_cast<unsigned char>(bytes[at + 1]);
  }
  for (unsigned flag : {has_name, has_comment})
    if (flags & flag) {
      at = bytes.find('\0', at);
      if (at == std::string_view::npos) return at;
      ++at;
    }
  if (flags & has_checksum) at += 2;
  return at <= bytes.size() ? at : std::string_view::npos;
}

}  // namespace

bool is_compressed(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

Unpacked unpack(std::string_view compressed) {
  Unpacked result;
  const std::size_t limit = least_limit + expansion_max * compressed.size();
  for (std::size_t at = 0; at < compressed.size();) {
    const std::size_t start = behind_header(compressed, at);
    if (start == std::string_view::npos) {
      result.problem = record::Problem{at, "the compressed log ends here, and what follows is no gzip data"};
      return result;
    }
    Inflated member = inflate_all_that_can_be_read(compressed.substr(start), limit - result.bytes.size());
    const std::size_t end = start + member.size;
    constexpr std::size_t trailer_size = 8;
    if (member.error) {
      result.problem = record::Problem{end, "the compressed log is cut or damaged here: " + member.error->message};
    } else if (compressed.size() - end < trailer_size) {
      result.problem = record::Problem{end, "the compressed log is cut here, before its checksum"};
    } else if (number_at(compressed, end) != checksum_of(member.bytes) ||
               number_at(compressed, end + 4) != static_cast<std::uint32_t>(member.bytes.size())) {
      result.problem = record::Problem{end, "the compressed log is damaged before here: its checksum is another"};
    }
    if (result.bytes.empty()) result.bytes = std::move(member.bytes);
    else result.bytes += member.bytes;
    if (result.problem) return result;
    at = end + trailer_size;
  }
  return result;
}

}  // namespace depyf
