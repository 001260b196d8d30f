#include "load/magic.h"

#include <string>
#include <string_view>

namespace depyf {
namespace {

struct Magic {
  std::uint16_t first;     // lowest number that any pre-release of the version used
  std::uint16_t released;  // magic number of all releases of the version
  int minor;
};

constexpr Magic magics[] = {
    {3400, 3413, 8},  {3420, 3425, 9},  {3430, 3439, 10}, {3450, 3495, 11},
    {3500, 3531, 12}, {3550, 3571, 13}, {3600, 3627, 14}, {3650, 3666, 15},
};

// Magic numbers of interpreters whose files cannot be read. The error message contains the name of the interpreter.
struct OtherMagic {
  std::uint16_t first, last;
  std::string_view name;
};
constexpr OtherMagic other_magics[] = {
    {1, 999, "PyPy"},
    {3000, 3131, "Python 3.0"},
    {3141, 3151, "Python 3.1"},
    {3160, 3180, "Python 3.2"},
    {3187, 3187, "PyPy, for Python 3.2"},
    {3190, 3230, "Python 3.3"},
    {3250, 3310, "Python 3.4"},
    {3320, 3351, "Python 3.5"},
    {3360, 3379, "Python 3.6"},
    {3390, 3394, "Python 3.7"},
    {3700, 3999, "a Python later than 3.15"},
    {62061, 62061, "Python 2.4"},
    {62071, 62131, "Python 2.5"},
    {62151, 62161, "Python 2.6"},
    {62171, 62211, "Python 2.7"},
    {62218, 62218, "PyPy, for Python 2.7"},
};
constexpr std::string_view readable = "; depyf reads the bytecode of CPython 3.8 to 3.15";

}  // namespace

Result<Version> version_of_magic(std::uint16_t magic) {
  std::string number = "magic number " + std::to_string(magic);
  for (const OtherMagic& row : other_magics)
    if (magic >= row.first && magic <= row.last)
      return Error{
          "the file contains bytecode of " + std::string(row.name) + " (" + number + ")" + std::string(readable), 0};
  int minor = 0;
  for (const Magic& row : magics) {
    if (magic == row.released) return Version{3, row.minor};
    if (magic >= row.first) minor = row.minor;
  }
  if (minor && magic < 3700)
    return Error{"the file contains bytecode of a pre-release of Python 3." + std::to_string(minor) +
                     ", an alpha or a beta (" + number + "); depyf reads only the bytecode of its releases",
                 0};
  return Error{number + " belongs to no known version of Python" + std::string(readable), 0};
}

}  // namespace depyf
