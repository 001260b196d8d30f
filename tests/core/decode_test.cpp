#include "decode/decode.h"
#include "decode/op.h"

#include <doctest/doctest.h>

#include <utility>

#include "assemble.h"

namespace depyf {
namespace {

std::string text(const CodeObject& code) {
  Result<DecodedCode> decoded = decode(code);
  if (!decoded) return decoded.error().message;
  std::string out;
  for (const Instruction& it : decoded->instructions) {
    if (!out.empty()) out += "; ";
    out += op_name(it.op);
    out += " " + std::to_string(it.arg);
    if (it.aux) out += "," + std::to_string(it.aux);
    if (it.target >= 0) out += " -> " + std::to_string(it.target);
  }
  return out;
}

constexpr Version v38{3, 8}, v310{3, 10}, v311{3, 11}, v312{3, 12}, v313{3, 13}, v314{3, 14}, v315{3, 15};

TEST_CASE("the NULL of a call lies where the version puts it") {
  CHECK(text(assemble(v311, {{Opcode::LOAD_GLOBAL, 3}, {Opcode::RETURN_VALUE}})) ==
        "push_null 0; load_global 1; return_value 0");
  CHECK(text(assemble(v313, {{Opcode::LOAD_GLOBAL, 3}, {Opcode::RETURN_VALUE}})) ==
        "load_global 1; push_null 0; return_value 0");
}

TEST_CASE("keyword names join their call") {
  auto code = [](std::initializer_list<Unit> units) {
    CodeObject result = assemble(v311, units);
    result.constants[2].kind = Constant::Kind::tuple;
    result.constants[2].items.resize(1);
    return result;
  };
  CHECK(text(code(
            {{Opcode::KW_NAMES, 2}, {Opcode::NOP}, {Opcode::PRECALL, 1}, {Opcode::CALL, 1}, {Opcode::RETURN_VALUE}})) ==
        "nop 0; call 1,2; return_value 0");
  CHECK(text(code({{Opcode::CALL, 1}, {Opcode::RETURN_VALUE}})) == "call 1,-1; return_value 0");
  CHECK(text(code({{Opcode::KW_NAMES, 2}, {Opcode::CALL, 0}, {Opcode::RETURN_VALUE}})) ==
        "more keyword names than arguments");
  CHECK(text(code({{Opcode::KW_NAMES, 2}, {Opcode::JUMP_FORWARD, 0}, {Opcode::CALL, 1}, {Opcode::RETURN_VALUE}})) ==
        "KW_NAMES is not followed by its CALL");
  CHECK(text(code({{Opcode::KW_NAMES, 1}, {Opcode::CALL, 1}, {Opcode::RETURN_VALUE}})) == "KW_NAMES without names");
}

TEST_CASE("a jump to a dropped instruction leads to the next one") {
  // The jumps lead to PRECALL and NOT_TAKEN, which are dropped.
  CHECK(text(assemble(v311,
                      {{Opcode::JUMP_FORWARD, 0}, {Opcode::PRECALL, 0}, {Opcode::CALL, 0}, {Opcode::RETURN_VALUE}})) ==
        "jump 0 -> 1; call 0,-1; return_value 0");
  CHECK(text(assemble(v314, {{Opcode::JUMP_FORWARD, 0}, {Opcode::NOT_TAKEN}, {Opcode::RETURN_VALUE}})) ==
        "jump 0 -> 1; return_value 0");
}

TEST_CASE("jumps are absolute or relative, in bytes or in units, before or behind caches") {
  CHECK(text(assemble(v38, {{Opcode::JUMP_ABSOLUTE, 4}, {Opcode::NOP}, {Opcode::RETURN_VALUE}})) ==
        "jump 0 -> 2; nop 0; return_value 0");
  CHECK(text(assemble(v310, {{Opcode::JUMP_ABSOLUTE, 2}, {Opcode::NOP}, {Opcode::RETURN_VALUE}})) ==
        "jump 0 -> 2; nop 0; return_value 0");
  CHECK(text(assemble(v312, {{Opcode::NOP}, {Opcode::JUMP_BACKWARD, 2}})) == "nop 0; jump 0 -> 0");
  CHECK(text(assemble(v313, {{Opcode::NOP}, {Opcode::JUMP_BACKWARD, 3}})) == "nop 0; jump 0 -> 0");
}

TEST_CASE("superinstructions are split, slots of cells give the cell") {
  CodeObject code = assemble(v313, {{Opcode::STORE_FAST_LOAD_FAST, 0x01}, {Opcode::RETURN_VALUE}});
  CHECK(text(code) == "store_fast 0; load_fast 1; return_value 0");
  code.cellvars = {"v1"};
  CHECK(text(code) == "store_fast 0; load_closure 1; return_value 0");
}

TEST_CASE("to 3.10 an argument that is a cell has one slot, another local of its name has its own") {
  CodeObject code = assemble(
      v310, {{Opcode::LOAD_DEREF, 0}, {Opcode::LOAD_DEREF, 1}, {Opcode::LOAD_DEREF, 2}, {Opcode::RETURN_VALUE}});
  code.argcount = 1;
  code.cellvars = {"v1", "v0"};
  code.freevars = {"f"};
  CHECK(text(code) == "load_deref 2; load_deref 0; load_deref 3; return_value 0");
  Result<DecodedCode> decoded = decode(code);
  REQUIRE(decoded);
  CHECK(decoded->localsplus == std::vector<std::string_view>{"v0", "v1", "v1", "f"});
  CHECK(decoded->is_cell == std::vector<bool>{true, false, true, true});
  CHECK(decoded->first_cell == 2);
  CHECK(decoded->first_free == 3);
}

TEST_CASE("cells are found among more than 64 variables") {
  CodeObject code = assemble(v312, {{Opcode::RETURN_CONST, 0}});
  code.varnames.clear();
  for (int number = 0; number < 70; ++number) code.varnames.push_back("v" + std::to_string(number));
  code.cellvars = {"v3", "v63", "v64", "v69"};
  Result<DecodedCode> decoded = decode(code);
  REQUIRE(decoded);
  std::vector<bool> cells(70);
  cells[3] = cells[63] = cells[64] = cells[69] = true;
  CHECK(decoded->is_cell == cells);
}

TEST_CASE("iteration ends at END_FOR") {
  CHECK(text(assemble(v312, {{Opcode::FOR_ITER, 0}, {Opcode::END_FOR}, {Opcode::RETURN_VALUE}})) ==
        "for_iter 0,1 -> 1; end_for 0; pop_top 0; return_value 0");
  CHECK(text(assemble(v312, {{Opcode::FOR_ITER, 0}, {Opcode::RETURN_VALUE}})) == "FOR_ITER does not lead to END_FOR");
  CHECK(text(assemble(v313, {{Opcode::FOR_ITER, 0}, {Opcode::END_FOR}, {Opcode::RETURN_VALUE}})) ==
        "FOR_ITER does not lead to END_FOR");
}

TEST_CASE("formatting is one operation where its parts are neighbours") {
  CHECK(text(assemble(v313, {{Opcode::CONVERT_VALUE, 2}, {Opcode::FORMAT_SIMPLE}, {Opcode::RETURN_VALUE}})) ==
        "format_value 2; return_value 0");
  CHECK(text(assemble(
            v313, {{Opcode::CONVERT_VALUE, 2}, {Opcode::NOP}, {Opcode::FORMAT_WITH_SPEC}, {Opcode::RETURN_VALUE}})) ==
        "convert_value 2; nop 0; format_value 0,1; return_value 0");
  // FORMAT_SIMPLE is a jump target here, so it is not merged with CONVERT_VALUE.
  CHECK(
      text(assemble(
          v313,
          {{Opcode::JUMP_FORWARD, 1}, {Opcode::CONVERT_VALUE, 2}, {Opcode::FORMAT_SIMPLE}, {Opcode::RETURN_VALUE}})) ==
      "jump 0 -> 2; convert_value 2; format_value 0; return_value 0");
}

TEST_CASE("imports of 3.15 say whether they are lazy") {
  CHECK(text(assemble(v315, {{Opcode::IMPORT_NAME, 9}, {Opcode::RETURN_VALUE}})) == "import_name 2,1; return_value 0");
}

TEST_CASE("what runs off the end ends in a raise") {
  CHECK(text(assemble(v38, {{Opcode::RETURN_VALUE}, {Opcode::POP_TOP}})) == "return_value 0; pop_top 0; raise 0");
  CHECK(text(assemble(v314, {{Opcode::RETURN_VALUE}, {Opcode::NOT_TAKEN}})) == "return_value 0; raise 0");
}

TEST_CASE("malformed bytecode is an error with its offset") {
  auto error_at = [](const CodeObject& code, std::string_view message, std::size_t offset) {
    Result<DecodedCode> decoded = decode(code);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().message == message);
    CHECK(decoded.error().offset == offset);
  };
  CodeObject code = assemble(v311, {{Opcode::NOP}, {Opcode::RETURN_VALUE}});
  SUBCASE("no bytecode") {
    code.bytecode.clear();
    error_at(code, "bytecode of impossible size", 0);
  }
  SUBCASE("half a unit") {
    code.bytecode.push_back(9);
    error_at(code, "bytecode of impossible size", 5);
  }
  SUBCASE("unknown opcode") {
    code.bytecode[2] = 255;
    error_at(code, "unknown opcode 255", 2);
  }
  SUBCASE("unknown version") {
    code.version = {3, 7};
    error_at(code, "a version of Python that is not known", 0);
  }
  SUBCASE("caches cut off") {
    code = assemble(v311, {{Opcode::NOP}, {Opcode::LOAD_GLOBAL, 0}});
    code.bytecode.resize(8);
    error_at(code, "an instruction that is cut off", 2);
  }
  SUBCASE("prefix without an instruction") {
    error_at(assemble(v311, {{Opcode::NOP}, {Opcode::EXTENDED_ARG, 1}}), "EXTENDED_ARG without an instruction", 2);
  }
  SUBCASE("into caches") {
    error_at(assemble(v311, {{Opcode::JUMP_FORWARD, 1}, {Opcode::LOAD_GLOBAL, 0}, {Opcode::RETURN_VALUE}}),
             "a jump to where no instruction starts", 0);
  }
  SUBCASE("behind a prefix") {
    error_at(
        assemble(v311, {{Opcode::JUMP_FORWARD, 1}, {Opcode::EXTENDED_ARG, 0}, {Opcode::NOP}, {Opcode::RETURN_VALUE}}),
        "a jump to where no instruction starts", 0);
  }
  SUBCASE("out of the bytecode") {
    error_at(assemble(v311, {{Opcode::JUMP_FORWARD, 1}, {Opcode::RETURN_VALUE}}), "a jump out of the bytecode", 0);
    error_at(assemble(v311, {{Opcode::NOP}, {Opcode::JUMP_BACKWARD, 9}}), "a jump out of the bytecode", 2);
  }
  SUBCASE("a handler out of the bytecode") {
    code.exceptions = {{0, 2, 40, 0, false}};
    error_at(code, "an exception handler where no instruction starts", 40);
  }
  SUBCASE("an index out of range") {
    error_at(assemble(v311, {{Opcode::NOP}, {Opcode::LOAD_CONST, 3}, {Opcode::RETURN_VALUE}}),
             "load_const: argument 3 out of range", 2);
    error_at(assemble(v311, {{Opcode::LOAD_FAST, 2}, {Opcode::RETURN_VALUE}}), "load_fast: argument 2 out of range", 0);
    error_at(assemble(v311, {{Opcode::UNPACK_SEQUENCE, 33}, {Opcode::RETURN_VALUE}}),
             "unpack_sequence: argument 33 out of range", 0);
    error_at(assemble(v311, {{Opcode::LOAD_DEREF, 0}, {Opcode::RETURN_VALUE}}), "load_deref of what is no cell", 0);
  }
}

TEST_CASE("exception ranges are those of instructions") {
  CodeObject code =
      assemble(v311, {{Opcode::NOP}, {Opcode::LOAD_GLOBAL, 1}, {Opcode::POP_TOP}, {Opcode::RETURN_VALUE}});
  // push_null and load_global are decoded from one LOAD_GLOBAL. The second range ends within its caches; the third
  // range covers only caches.
  code.exceptions = {{0, 2, 14, 1, true}, {2, 6, 14, 0, false}, {4, 6, 14, 0, false}};
  Result<DecodedCode> decoded = decode(code);
  REQUIRE(decoded);
  REQUIRE(decoded->ranges.size() == 2);
  CHECK(decoded->ranges[0].begin == 0);
  CHECK(decoded->ranges[0].end == 1);
  CHECK(decoded->ranges[0].target == 3);
  CHECK(decoded->ranges[0].depth == 1);
  CHECK(decoded->ranges[0].lasti);
  CHECK(decoded->ranges[1].begin == 1);
  CHECK(decoded->ranges[1].end == 3);
}

}  // namespace
}  // namespace depyf
