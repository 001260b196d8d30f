// Random changes of a code object: of fields, flags, names, arguments, operations, tables, constants and nesting.
#pragma once

#include <cstdint>
#include <vector>

#include "marshal_tree.h"

namespace depyf::fuzz {

// A random number generator that returns the same numbers for a seed on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {  // splitmix64
    std::uint64_t value = state_ += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
  }
  std::size_t below(std::size_t count) { return count ? next() % count : 0; }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }

 private:
  std::uint64_t state_;
};

// Returns a mutant of one of `seeds`, which are of one Python version: it has one to six changes, some of which use
// parts of other seeds.
Pyc mutant(const std::vector<Pyc>& seeds, Random& random);

}  // namespace depyf::fuzz
