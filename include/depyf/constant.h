// A version of CPython, and a constant of a code object.
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

// One entry of co_consts.
struct Constant {
  enum class Kind : std::uint8_t {
    none,
    true_,
    false_,
    ellipsis,
    integer,    // text: decimal digits, or 0x and hexadecimal digits where large; a leading '-' where negative
    real,       // real
    complex,    // real, imag
    string,     // text: UTF-8, lone surrogates as three bytes each (WTF-8)
    bytes,      // text: the bytes
    tuple,
    frozenset,
    slice,      // items: start, stop, step
    code,       // code
    opaque,  // any other object of a live code object: has no literal, is shown under a name; text: that of its type
  };
  Kind kind = Kind::none;
  double real = 0, imag = 0;
  std::string text;
  std::vector<Constant> items;
  std::shared_ptr<const CodeObject> code;
  std::uintptr_t identity = 0;  // the address of the live object that this was read from; 0: unknown, or changed since
};

}  // namespace depyf
