#include "decode/folded_constants.h"

#include <cmath>

namespace depyf {

bool is_folded(const Constant& constant) {
  switch (constant.kind) {
    case Constant::Kind::integer: return constant.text.starts_with('-');
    case Constant::Kind::real: return std::signbit(constant.real);
    case Constant::Kind::complex: return std::signbit(constant.imag) || constant.real != 0;
    case Constant::Kind::tuple:
    case Constant::Kind::frozenset: return true;
    case Constant::Kind::none:
    case Constant::Kind::true_:
    case Constant::Kind::false_:
    case Constant::Kind::ellipsis:
    case Constant::Kind::string:
    case Constant::Kind::bytes:
    case Constant::Kind::slice:
    case Constant::Kind::code:
    case Constant::Kind::opaque: return false;
  }
  return false;
}

}  // namespace depyf
