#include "load/marshal_reader.h"

#include <bit>
#include <optional>
#include <vector>

#include "load/marshal_text.h"

namespace depyf {

std::string MarshalReader::long_integer(std::size_t start) {
  std::int64_t count = i32();
  const bool negative = count < 0;
  if (negative) count = -count;
  if (static_cast<std::size_t>(count) * 2 > remaining()) fail("truncated");
  if (!ok() || !charge(static_cast<std::size_t>(count) * 6)) return {};
  std::vector<std::uint16_t> digits(static_cast<std::size_t>(count));
  for (std::uint16_t& digit : digits) {
    digit = u16();
    if (digit > 0x7fff) fail_at("a digit of the integer is out of range", start);
  }
  if (!digits.empty() && digits.back() == 0) fail_at("the integer has a leading zero", start);
  return integer_text(digits, negative);
}

double MarshalReader::binary_float() { return std::bit_cast<double>(u64()); }

double MarshalReader::text_float() {
  const std::size_t start = offset();
  const std::optional<double> value = parse_float(bytes(u8()));
  if (!value) fail_at("the float is malformed", start);
  return value.value_or(0);
}

}  // namespace depyf
