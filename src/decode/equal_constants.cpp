#include "decode/equal_constants.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <ranges>

namespace depyf {
namespace {

using Kind = Constant::Kind;

bool is_number(const Constant& value) {
  return value.kind == Kind::integer || value.kind == Kind::real || value.kind == Kind::complex ||
         value.kind == Kind::true_ || value.kind == Kind::false_;
}

}  // namespace

bool equal_constants(const Constant& one, const Constant& two, bool is_order_free) {
  if (one.kind != two.kind) return false;
  // A comparison by bits distinguishes 0.0 from -0.0, and treats a NaN as equal to itself.
  const auto same_bits = [](double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  };
  switch (one.kind) {
    case Kind::none:
    case Kind::true_:
    case Kind::false_:
    case Kind::ellipsis: return true;
    case Kind::integer:
    case Kind::string:
    case Kind::bytes: return one.text == two.text;
    case Kind::real: return same_bits(one.real, two.real);
    case Kind::complex: return same_bits(one.real, two.real) && same_bits(one.imag, two.imag);
    case Kind::tuple:
    case Kind::slice:
      return std::ranges::equal(one.items, two.items,
                                [](const Constant& a, const Constant& b) { return equal_constants(a, b); });
    case Kind::frozenset: {
      if (one.items.size() != two.items.size()) return false;
      if (std::ranges::equal(one.items, two.items,
                             [](const Constant& a, const Constant& b) { return equal_constants(a, b); }))
        return true;
      // A set of numbers has the same order in every process, so a program may rely on it. A set of strings has a
      // random order, because string hashes are randomised.
      constexpr std::size_t most_compared = 32;
      if (one.items.size() > most_compared || (!is_order_free && std::ranges::all_of(one.items, is_number)))
        return false;
      return std::ranges::is_permutation(one.items, two.items,
                                         [](const Constant& a, const Constant& b) { return equal_constants(a, b); });
    }
    case Kind::code: return false;
    case Kind::opaque: return one.identity != 0 && one.identity == two.identity;
  }
  return false;
}

}  // namespace depyf
