// Tests of the values on the stack before each instruction.
#include <doctest/doctest.h>

#include "assemble.h"
#include "depyf/stack_map.h"

namespace depyf {

TEST_CASE("stack: depth and expressions in front of each instruction") {
  for (Version version : {Version{3, 9}, Version{3, 12}, Version{3, 14}}) {
    CAPTURE(version.minor);
    const CodeObject code = assemble(
        version, {{Opcode::LOAD_FAST, 0}, {Opcode::LOAD_FAST, 1}, {Opcode::BUILD_TUPLE, 2}, {Opcode::RETURN_VALUE}});
    const StackMap stack(code);
    CHECK(stack.error().empty());
    CHECK(stack.depth(0) == 0);
    CHECK(stack.depth(4) == 2);
    CHECK(stack.pops(4) == 2);
    const std::vector<StackSlot> slots = stack.slots(6);
    REQUIRE(slots.size() == 1);
    CHECK(slots[0].expression == "v0, v1");
    CHECK(slots[0].made_at == 4);
  }
}

}  // namespace depyf
