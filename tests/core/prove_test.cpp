#include "depyf/prove.h"

#include <doctest/doctest.h>

#include <limits>
#include <utility>

#include "decode/opcodes.h"
#include "depyf/code_object.h"

namespace depyf {
namespace {

std::uint8_t byte_of(Version version, Opcode opcode) {
  const OpcodeTable& table = *opcode_table(version);
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    if (table[byte].opcode == opcode) return static_cast<std::uint8_t>(byte);
  }
  FAIL("no such opcode in this version");
  return 0;
}

struct Unit {
  Opcode opcode;
  std::uint8_t arg = 0;
};

constexpr Version v310{3, 10}, v311{3, 11};

Constant integer(int value) {
  Constant constant;
  constant.kind = Constant::Kind::integer;
  constant.text = std::to_string(value);
  return constant;
}

// Returns the code of a function of `a` and `b` with the locals `c` and `d`, with the inline caches of the version.
CodeObject assemble(Version version, std::initializer_list<Unit> units) {
  CodeObject code;
  code.version = version;
  code.name = code.qualname = "f";
  code.stacksize = 10;
  code.argcount = 2;
  code.flags = CodeObject::optimized | CodeObject::new_locals;
  code.names = {"n0", "n1", "n2"};
  code.varnames = {"a", "b", "c", "d"};
  code.constants = {Constant(), integer(0), integer(1)};
  for (const Unit& unit : units) {
    std::uint8_t byte = byte_of(version, unit.opcode);
    code.bytecode.insert(code.bytecode.end(), {byte, unit.arg});
    code.bytecode.resize(code.bytecode.size() + 2u * (*opcode_table(version))[byte].caches);
  }
  return code;
}

bool proved(const CodeObject& one, const CodeObject& two) {
  Proof there = prove(one, two), back = prove(two, one);
  CHECK(there.proved == back.proved);
  CHECK(there.reason.empty() == there.proved);
  return there.proved;
}

constexpr std::uint8_t a = 0, b = 1, c = 2, d = 3;

TEST_CASE("temporaries, copies and swaps are nothing") {
  CodeObject plain =
      assemble(v311, {{Opcode::LOAD_FAST, a}, {Opcode::LOAD_FAST, b}, {Opcode::BINARY_OP, 0}, {Opcode::RETURN_VALUE}});
  CodeObject moved = assemble(v311, {{Opcode::LOAD_FAST, b},
                                     {Opcode::STORE_FAST, c},
                                     {Opcode::LOAD_FAST, c},
                                     {Opcode::LOAD_FAST, a},
                                     {Opcode::SWAP, 2},
                                     {Opcode::BINARY_OP, 0},
                                     {Opcode::RETURN_VALUE}});
  CodeObject swapped =
      assemble(v311, {{Opcode::LOAD_FAST, b}, {Opcode::LOAD_FAST, a}, {Opcode::BINARY_OP, 0}, {Opcode::RETURN_VALUE}});
  CHECK(proved(plain, moved));
  CHECK_FALSE(proved(plain, swapped));
}

TEST_CASE("what differs is said in words, with its place") {
  CodeObject one = assemble(v311, {{Opcode::LOAD_FAST, a}, {Opcode::LOAD_ATTR, 0}, {Opcode::RETURN_VALUE}});
  CodeObject two = assemble(v311, {{Opcode::LOAD_FAST, a}, {Opcode::LOAD_ATTR, 1}, {Opcode::RETURN_VALUE}});
  Proof proof = prove(one, two);
  CHECK_FALSE(proof.proved);
  CHECK(proof.reason == "the effects differ");
  CHECK(proof.where.function == "f");
  CHECK(proof.where.offset_one == 2);
  CHECK(proof.where.one == "load attr n0: argument a");
  CHECK(proof.where.two == "load attr n1: argument a");
}

TEST_CASE("an unbound local raises where it raised") {
  CodeObject unbound = assemble(v311, {{Opcode::LOAD_FAST, c}, {Opcode::RETURN_VALUE}});
  CodeObject other = assemble(v311, {{Opcode::LOAD_FAST, d}, {Opcode::RETURN_VALUE}});
  CodeObject bound = assemble(v311, {{Opcode::LOAD_CONST, 0}, {Opcode::RETURN_VALUE}});
  CHECK(proved(unbound, unbound));
  CHECK_FALSE(proved(unbound, other));
  CHECK_FALSE(proved(unbound, bound));
}

TEST_CASE("a display that nobody has seen is its elements") {
  CodeObject display = assemble(v311, {{Opcode::LOAD_FAST, a},
                                       {Opcode::LOAD_FAST, b},
                                       {Opcode::BUILD_LIST, 2},
                                       {Opcode::LOAD_CONST, 1},
                                       {Opcode::BINARY_SUBSCR},
                                       {Opcode::RETURN_VALUE}});
  CodeObject element = assemble(v311, {{Opcode::LOAD_FAST, a}, {Opcode::RETURN_VALUE}});
  CodeObject other = assemble(v311, {{Opcode::LOAD_FAST, b}, {Opcode::RETURN_VALUE}});
  CHECK(proved(display, element));
  CHECK_FALSE(proved(display, other));
  CodeObject twice =
      assemble(v311, {{Opcode::BUILD_LIST, 0}, {Opcode::COPY, 1}, {Opcode::BUILD_TUPLE, 2}, {Opcode::RETURN_VALUE}});
  CodeObject two = assemble(
      v311, {{Opcode::BUILD_LIST, 0}, {Opcode::BUILD_LIST, 0}, {Opcode::BUILD_TUPLE, 2}, {Opcode::RETURN_VALUE}});
  CHECK(proved(twice, twice));
  CHECK_FALSE(proved(twice, two));
}

TEST_CASE("tests may be turned around, their outcomes may not") {
  CodeObject one = assemble(v310, {{Opcode::LOAD_FAST, a},
                                   {Opcode::POP_JUMP_IF_FALSE, 4},
                                   {Opcode::LOAD_CONST, 1},
                                   {Opcode::RETURN_VALUE},
                                   {Opcode::LOAD_CONST, 2},
                                   {Opcode::RETURN_VALUE}});
  CodeObject turned = assemble(v310, {{Opcode::LOAD_FAST, a},
                                      {Opcode::POP_JUMP_IF_TRUE, 4},
                                      {Opcode::LOAD_CONST, 2},
                                      {Opcode::RETURN_VALUE},
                                      {Opcode::LOAD_CONST, 1},
                                      {Opcode::RETURN_VALUE}});
  CodeObject negated = assemble(v310, {{Opcode::LOAD_FAST, a},
                                       {Opcode::UNARY_NOT},
                                       {Opcode::POP_JUMP_IF_FALSE, 5},
                                       {Opcode::LOAD_CONST, 2},
                                       {Opcode::RETURN_VALUE},
                                       {Opcode::LOAD_CONST, 1},
                                       {Opcode::RETURN_VALUE}});
  CodeObject wrong = one;
  std::swap(wrong.bytecode[5], wrong.bytecode[9]);
  CHECK(proved(one, turned));
  CHECK(proved(one, negated));
  CHECK_FALSE(proved(one, wrong));
}

TEST_CASE("handlers count, and what is in the locals when they start") {
  auto code = [](std::uint8_t before, std::uint8_t after) {
    return assemble(v310, {{Opcode::LOAD_CONST, before},
                           {Opcode::STORE_FAST, c},
                           {Opcode::SETUP_FINALLY, 8},
                           {Opcode::LOAD_FAST, a},
                           {Opcode::LOAD_ATTR, 0},
                           {Opcode::POP_TOP},
                           {Opcode::LOAD_CONST, after},
                           {Opcode::STORE_FAST, c},
                           {Opcode::POP_BLOCK},
                           {Opcode::LOAD_CONST, 0},
                           {Opcode::RETURN_VALUE},
                           {Opcode::POP_TOP},
                           {Opcode::POP_TOP},
                           {Opcode::POP_TOP},
                           {Opcode::POP_EXCEPT},
                           {Opcode::LOAD_FAST, c},
                           {Opcode::RETURN_VALUE}});
  };
  CHECK(proved(code(1, 2), code(1, 2)));
  CHECK(proved(code(1, 2), code(1, 0)));  // `c` is not read after its second store
  CHECK_FALSE(proved(code(1, 2), code(2, 2)));
  CodeObject bare = assemble(v310, {{Opcode::LOAD_FAST, a},
                                    {Opcode::LOAD_ATTR, 0},
                                    {Opcode::POP_TOP},
                                    {Opcode::LOAD_CONST, 0},
                                    {Opcode::RETURN_VALUE}});
  CHECK_FALSE(proved(code(1, 2), bare));
}

TEST_CASE("what goes on for ever without an effect is equal to its like alone") {
  CodeObject loop = assemble(v310, {{Opcode::JUMP_ABSOLUTE, 0}});
  CodeObject longer =
      assemble(v310, {{Opcode::NOP}, {Opcode::LOAD_FAST, a}, {Opcode::POP_TOP}, {Opcode::JUMP_ABSOLUTE, 0}});
  CodeObject ends = assemble(v310, {{Opcode::LOAD_CONST, 0}, {Opcode::RETURN_VALUE}});
  CHECK(proved(loop, longer));
  CHECK_FALSE(proved(loop, ends));
}

TEST_CASE("a signal may end an endless loop, so its handler counts") {
  auto code = [](std::uint8_t result) {
    return assemble(v310, {{Opcode::SETUP_FINALLY, 1},
                           {Opcode::JUMP_ABSOLUTE, 1},
                           {Opcode::POP_TOP},
                           {Opcode::POP_TOP},
                           {Opcode::POP_TOP},
                           {Opcode::POP_EXCEPT},
                           {Opcode::LOAD_CONST, result},
                           {Opcode::RETURN_VALUE}});
  };
  CHECK(proved(code(0), code(0)));
  CHECK_FALSE(proved(code(0), code(1)));
  CHECK_FALSE(proved(code(0), assemble(v310, {{Opcode::JUMP_ABSOLUTE, 0}})));
}

TEST_CASE("constants are equal by type and value") {
  auto real = [](double value) {
    CodeObject code = assemble(v311, {{Opcode::LOAD_CONST, 0}, {Opcode::RETURN_VALUE}});
    code.constants[0].kind = Constant::Kind::real;
    code.constants[0].real = value;
    return code;
  };
  CHECK(proved(real(0.0), real(0.0)));
  CHECK_FALSE(proved(real(0.0), real(-0.0)));
  double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(proved(real(nan), real(nan)));
  CodeObject object = real(0);
  object.constants[0].kind = Constant::Kind::opaque;
  CHECK_FALSE(proved(object, object));  // the value of an opaque constant is unknown
  object.constants[0].identity = 8;
  CHECK(proved(object, object));
}

TEST_CASE("malformed code is never proved") {
  CodeObject good = assemble(v311, {{Opcode::LOAD_CONST, 0}, {Opcode::RETURN_VALUE}});
  for (CodeObject bad : {assemble(v311, {{Opcode::POP_TOP}, {Opcode::RETURN_VALUE}}),
                         assemble(v311, {{Opcode::PUSH_NULL}, {Opcode::RETURN_VALUE}}),
                         assemble(v311, {{Opcode::LOAD_CONST, 9}, {Opcode::RETURN_VALUE}}),
                         assemble(v311, {{Opcode::LOAD_CONST, 0}, {Opcode::CHECK_EXC_MATCH}, {Opcode::RETURN_VALUE}}),
                         assemble(v310, {{Opcode::LOAD_CONST, 0}, {Opcode::JUMP_ABSOLUTE, 0}}),
                         assemble(v311, {{Opcode::RERAISE, 0}, {Opcode::RETURN_VALUE}}), CodeObject()}) {
    CHECK_FALSE(proved(good, bad));
    CHECK_FALSE(proved(bad, bad));
  }
}

}  // namespace
}  // namespace depyf
