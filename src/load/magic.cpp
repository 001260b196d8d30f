#include "load/magic.h"

#include <string>

namespace depyf {
namespace {

struct Magic {
  std::uint16_t first;     // lowest number that any pre-release of the version used
  std::uint16_t released;  // number of all its releases
  int minor;
};

constexpr Magic magics[] = {
    {3400, 3413, 8},  {3420, 3425, 9},  {3430, 3439, 10}, {3450, 3495, 11},
    {3500, 3531, 12}, {3550, 3571, 13}, {3600, 3627, 14}, {3650, 3666, 15},
};

}  // namespace

Result<Version> version_of_magic(std::uint16_t magic) {
  std::string number = "magic number " + std::to_string(magic);
  int minor = 0;
  for (const Magic& row : magics) {
    if (magic == row.released) return Version{3, row.minor};
    if (magic >= row.first) minor = row.minor;
  }
  if (minor && magic < 3700) return Error{number + " is of a pre-release of Python 3." + std::to_string(minor), 0};
  return Error{number + " is of no known version of Python (3.8 to 3.15 are)", 0};
}

}  // namespace depyf
