#include <algorithm>
#include <bit>
#include <cstdint>

#include "depyf/recode.h"

namespace depyf {
namespace {

// True if both numbers have the same bits: 0.0 and -0.0 are different constants, and a NaN is the same as itself.
bool same_bits(double one, double two) {
  return std::bit_cast<std::uint64_t>(one) == std::bit_cast<std::uint64_t>(two);
}

bool same_constants(const std::vector<Constant>& one, const std::vector<Constant>& two);

bool same_constant(const Constant& one, const Constant& two) {
  if (one.kind != two.kind) return false;
  switch (one.kind) {
    case Constant::Kind::none:
    case Constant::Kind::true_:
    case Constant::Kind::false_:
    case Constant::Kind::ellipsis: return true;
    case Constant::Kind::integer:
    case Constant::Kind::string:
    case Constant::Kind::bytes: return one.text == two.text;
    case Constant::Kind::real:
    case Constant::Kind::complex: return same_bits(one.real, two.real) && same_bits(one.imag, two.imag);
    case Constant::Kind::tuple: return same_constants(one.items, two.items);
    case Constant::Kind::frozenset:
    case Constant::Kind::slice:
    case Constant::Kind::code:
    case Constant::Kind::opaque: return false;
  }
  return false;
}

bool same_constants(const std::vector<Constant>& one, const std::vector<Constant>& two) {
  return std::equal(one.begin(), one.end(), two.begin(), two.end(), same_constant);
}

}  // namespace

bool same_code(const CodeObject& one, const CodeObject& two) {
  return one.version == two.version && one.flags == two.flags && one.argcount == two.argcount &&
         one.posonlyargcount == two.posonlyargcount && one.kwonlyargcount == two.kwonlyargcount &&
         one.bytecode == two.bytecode && one.exceptions == two.exceptions && one.names == two.names &&
         one.varnames == two.varnames && one.cellvars == two.cellvars && one.freevars == two.freevars &&
         same_constants(one.constants, two.constants);
}

}  // namespace depyf
