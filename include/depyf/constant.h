// Defines the version of CPython, and a constant of a code object.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace depyf {

struct Version {
  int major = 3;
  int minor = 11;
  friend bool operator==(const Version&, const Version&) = default;
  friend auto operator<=>(const Version&, const Version&) = default;
};

struct CodeObject;

// One entry of co_consts. The comment at each `Kind` names the members that contain the value.
struct Constant {
  enum class Kind : std::uint8_t {
    none,
    true_,
    false_,
    ellipsis,
    integer,  // `text`: decimal digits, or 0x and hexadecimal digits if it is large; '-' in front if it is negative
    real,  // `real`
    complex,  // `real` and `imag`
    string,  // `text`: the string as UTF-8, in which each lone surrogate takes three bytes (WTF-8)
    bytes,  // `text`: the bytes
    tuple,
    frozenset,
    slice,  // `items`: the start, the stop and the step of the slice
    code,  // `code`
    // An object without a literal, which a live code object contains. The source contains a name in place of an opaque
    // constant; `text` is the name of the constant's type.
    opaque,
  };
  Kind kind = Kind::none;
  double real = 0, imag = 0;
  std::string text;
  std::vector<Constant> items;
  std::shared_ptr<const CodeObject> code;
  // The address of the live object that the constant was read from; 0 if it is unknown, or if the constant was changed.
  std::uintptr_t identity = 0;
};

}  // namespace depyf
