#include "print/spelled_number.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>

namespace depyf::print {

namespace {

__extension__ using Wide = unsigned __int128;

// The number of digits up to which every number fits into 128 bits, the largest size that the compiler folds.
constexpr std::size_t most_digits = 38;

// Returns the value of at most `most_digits` digits.
Wide value_of(std::string_view digits) {
  // Most numbers have at most 64 bits, and are multiplied faster as such than as numbers of 128 bits.
  const std::string_view head = digits.substr(0, std::numeric_limits<std::uint64_t>::digits10);
  std::uint64_t low = 0;
  for (const char digit : head) low = low * 10 + std::uint64_t(digit - '0');
  Wide value = low;
  for (const char digit : digits.substr(head.size())) value = value * 10 + Wide(digit - '0');
  return value;
}

// Returns the exponent `e` for which `base ** e` is `value`; nothing if there is no such exponent, or if `e` is less
// than `least`.
template <class Number>
std::optional<int> exponent(Number value, unsigned base) {
  int result = 0;
  while (value > 1 && value % base == 0) value /= base, ++result;
  // Small powers of 2 do not count as powers, because the source may have had a hexadecimal number of the same width.
  const int least = base == 2 ? 8 : 2;
  return value == 1 && result >= least ? std::optional(result) : std::nullopt;
}

// True if the compiler folds base ** by, which it decides by the bits of the base, before it computes the result.
bool is_folded(unsigned base, int by) {
  constexpr int most_bits = 128;
  return int(std::bit_width(base)) * by <= most_bits;
}

// The greatest power of `base` that has 64 bits.
constexpr std::uint64_t greatest_power(std::uint64_t base) {
  std::uint64_t power = base;
  while (power <= std::numeric_limits<std::uint64_t>::max() / base) power *= base;
  return power;
}

// False if `value` is no power of a base in the list of `power`, which most numbers are not. The divisions by constants
// come first, because they take less time than the other divisions. They include powers of 10, which are divisible by 5.
// The other divisions are exact for 3, 5 and 7: a power of a base divides all greater powers of the base.
bool may_be_power(std::uint64_t value) {
  constexpr auto threes = greatest_power(3), fives = greatest_power(5), sevens = greatest_power(7),
                 tens = greatest_power(10);
  if ((value & (value - 1)) == 0) return true;  // a power of 2, or 0
  if (value % 3 && value % 5 && value % 7) return false;
  return threes % value == 0 || fives % value == 0 || sevens % value == 0 || tens % value == 0;
}

// Returns a power such as `2**64` or a shift such as `1 << 64` that has the value `value` and `width` columns; an
// empty text if neither fits.
SpelledNumber power(Wide value, std::size_t width) {
  if (const auto low = std::uint64_t(value); value == low && !may_be_power(low)) return {};
  for (const unsigned base : {2U, 10U, 3U, 5U, 7U, 8U, 16U}) {
    // Numbers of at most 64 bits are not divided as numbers of 128 bits, because a division of 128 bits takes long.
    const bool is_wide = value >> 64 != 0;
    const std::optional<int> by = is_wide ? exponent(value, base) : exponent(std::uint64_t(value), base);
    if (!by) continue;
    const std::string left = std::to_string(base), right = std::to_string(*by);
    std::string tight = left + "**" + right, shift = "1 << " + right, wide = left + " ** " + right;
    const bool may_be_folded = is_folded(base, *by);
    if (may_be_folded && tight.size() == width) return {std::move(tight), Level::power};
    // A shift without blanks (`1<<64`) is as wide as the power without blanks (`2**64`).
    const bool is_shift = base == 2 && (shift.size() == width || tight.size() == width);
    if (is_shift) return {std::move(shift), Level::shift};
    if (may_be_folded && wide.size() == width) return {std::move(wide), Level::power};
  }
  return {};
}

}  // namespace

SpelledNumber spelled_number(std::string_view digits, std::size_t width) {
  constexpr std::string_view less_one = " - 1";
  constexpr std::size_t group = 3, least_width = 4;  // the width of the shortest power, `3**2`
  if (digits.size() == width || digits.size() > most_digits || width < least_width) return {};
  if (digits.starts_with('-')) {
    const SpelledNumber positive = spelled_number(digits.substr(1), width - 1);
    return positive.level == Level::power ? SpelledNumber{"-" + positive.text, Level::factor} : SpelledNumber{};
  }
  if (!std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) return {};
  const Wide value = value_of(digits);
  if (SpelledNumber found = power(value, width); !found.text.empty()) return found;
  // A number with fewer than `least_digits` digits is not printed as one less than a power. For example, 255 with a
  // width of 8 columns may have been `0x0000ff` instead of `2**8 - 1`.
  constexpr std::size_t least_digits = 5;
  if (width > less_one.size() && digits.size() >= least_digits) {
    if (SpelledNumber found = power(value + 1, width - less_one.size()); found.level == Level::power)
      return {found.text + std::string(less_one), Level::arithmetic};
    constexpr std::size_t brackets = 2;
    if (width > less_one.size() + brackets)
      if (SpelledNumber found = power(value + 1, width - less_one.size() - brackets); found.level == Level::shift)
        return {"(" + found.text + ")" + std::string(less_one), Level::arithmetic};
  }
  if (width != digits.size() + (digits.size() - 1) / group) return {};
  std::string grouped;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at > 0 && (digits.size() - at) % group == 0) grouped += '_';
    grouped += digits[at];
  }
  return {std::move(grouped), Level::atom};
}

std::string spelled_sum(std::string_view digits, std::size_t width, std::string_view near) {
  // Numbers with more digits than `most_bound_digits` are rare as bounds of slices.
  constexpr std::size_t most_bound_digits = 9;
  const std::string otherwise = std::string(digits) + " + 0";
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.size() <= most_bound_digits &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!is_number(digits)) return otherwise;
  const auto value = std::int64_t(value_of(digits));
  const auto beside = is_number(near) ? std::int64_t(value_of(near)) : 0;
  // Returns the text of the operation if it has `width` columns; otherwise an empty text.
  const auto fitting = [&](std::int64_t left, std::string_view op, std::int64_t right) {
    std::string text = std::to_string(left) + std::string(op) + std::to_string(right);
    return left >= 0 && right >= 0 && text.size() == width ? text : std::string();
  };
  for (const bool blanks : {true, false}) {
    const std::string_view plus = blanks ? " + " : "+", minus = blanks ? " - " : "-", times = blanks ? " * " : "*";
    if (beside > 0) {
      if (std::string text = fitting(beside, plus, value - beside); !text.empty()) return text;
      if (std::string text = fitting(value / beside, times, beside); !text.empty() && value % beside == 0) return text;
    }
    std::int64_t least = 1;  // the least number with `count` digits
    for (std::size_t count = 1; count <= digits.size() + 1; ++count, least *= 10) {
      if (std::string text = fitting(value - least, plus, least); !text.empty()) return text;
      if (std::string text = fitting(value + least, minus, least); !text.empty()) return text;
    }
  }
  return otherwise;
}

}  // namespace depyf::print
