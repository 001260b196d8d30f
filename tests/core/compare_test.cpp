// Tests of the comparison of code objects with equal and different bytecode.
#include <doctest/doctest.h>

#include "assemble.h"
#include "depyf/compare.h"

namespace depyf {
namespace {

constexpr Version version{3, 12};

}  // namespace

TEST_CASE("compare: the layout of blocks does not count") {
  const CodeObject straight = assemble(version, {{Opcode::LOAD_FAST, 0}, {Opcode::RETURN_VALUE}});
  const CodeObject jumping =
      assemble(version, {{Opcode::JUMP_FORWARD, 0}, {Opcode::LOAD_FAST, 0}, {Opcode::RETURN_VALUE}});
  CHECK(compare(straight, straight).empty());
  CHECK(compare(straight, jumping).empty());
}

TEST_CASE("compare: another instruction is a difference with its place") {
  const CodeObject one = assemble(version, {{Opcode::LOAD_FAST, 0}, {Opcode::RETURN_VALUE}});
  const CodeObject two = assemble(version, {{Opcode::LOAD_FAST, 1}, {Opcode::RETURN_VALUE}});
  const std::vector<Difference> differences = compare(one, two);
  REQUIRE(differences.size() == 1);
  CHECK(differences[0].code == &one);
  CHECK(differences[0].what == "load_fast");
  CHECK(differences[0].offset == 0);
}

}  // namespace depyf
