// Tests of the control flow graphs of small code objects.
#include <doctest/doctest.h>

#include "assemble.h"
#include "decode/decode.h"
#include "flow/cfg.h"

namespace depyf {
namespace {

constexpr Version version{3, 12};

CodeObject branch() {
  return assemble(version, {{Opcode::LOAD_FAST, 0},
                            {Opcode::POP_JUMP_IF_FALSE, 2},
                            {Opcode::LOAD_CONST, 1},
                            {Opcode::RETURN_VALUE},
                            {Opcode::LOAD_CONST, 2},
                            {Opcode::RETURN_VALUE}});
}

}  // namespace

TEST_CASE("flow: a branch has a block for its test and one for each way") {
  const CodeObject code = branch();
  const Result<DecodedCode> decoded = decode(code);
  REQUIRE(decoded);
  const Cfg cfg = build_cfg(*decoded, GraphForm::statements);
  REQUIRE(cfg.blocks.size() == 3);
  const BasicBlock& test = cfg.blocks[cfg.entry];
  REQUIRE(test.next >= 0);
  REQUIRE(test.jump >= 0);
  CHECK(test.next != test.jump);
  CHECK(cfg.blocks[test.next].preds.size() == 1);
  CHECK(cfg.blocks[test.jump].preds.size() == 1);
  CHECK_FALSE(cfg.irreducible);
}

TEST_CASE("flow: code that nothing reaches has no block") {
  const CodeObject code = assemble(
      version, {{Opcode::LOAD_CONST, 1}, {Opcode::RETURN_VALUE}, {Opcode::LOAD_CONST, 2}, {Opcode::RETURN_VALUE}});
  const Result<DecodedCode> decoded = decode(code);
  REQUIRE(decoded);
  CHECK(build_cfg(*decoded, GraphForm::statements).blocks.size() == 1);
}

TEST_CASE("flow: the loop that 3.14 adds to a call of all() is not reached") {
  const CodeObject code = assemble({3, 14}, {{Opcode::LOAD_FAST, 0},
                                             {Opcode::COPY, 1},
                                             {Opcode::LOAD_COMMON_CONSTANT, std::uint8_t(CommonName::all)},
                                             {Opcode::IS_OP, 0},
                                             {Opcode::POP_JUMP_IF_FALSE, 3},
                                             {Opcode::POP_TOP},
                                             {Opcode::LOAD_CONST, 1},
                                             {Opcode::RETURN_VALUE},
                                             {Opcode::RETURN_VALUE}});
  const Result<DecodedCode> decoded = decode(code);
  REQUIRE(decoded);
  const Cfg cfg = build_cfg(*decoded, GraphForm::statements);
  REQUIRE(cfg.blocks.size() == 2);
  CHECK(cfg.blocks[cfg.entry].next == 1);
  CHECK(cfg.blocks[cfg.entry].jump == -1);
}

}  // namespace depyf
