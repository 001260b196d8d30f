#include "depyf/recode.h"

#include <doctest/doctest.h>

#include <memory>

#include "assemble.h"
#include "depyf/tables.h"
#include "recode/qualified_names.h"
#include "recode/splice.h"
#include "recode/unique_name.h"

namespace depyf {
namespace {

constexpr Version v38{3, 8}, v39{3, 9}, v310{3, 10}, v311{3, 11}, v312{3, 12}, v313{3, 13}, v314{3, 14}, v315{3, 15};
constexpr Version all_versions[] = {v38, v39, v310, v311, v312, v313, v314, v315};

Constant text_constant(const char* text) {
  Constant constant;
  constant.kind = Constant::Kind::string;
  constant.text = text;
  return constant;
}

Constant code_constant(CodeObject code) {
  Constant constant;
  constant.kind = Constant::Kind::code;
  constant.code = std::make_shared<const CodeObject>(std::move(code));
  return constant;
}

std::vector<RawInstruction> raws_of(const CodeObject& code) {
  Result<std::vector<RawInstruction>> raws = read_raw(code);
  REQUIRE(raws);
  return *raws;
}

std::string opcodes_of(const CodeObject& code) {
  std::string text;
  for (const RawInstruction& raw : raws_of(code)) {
    if (raw.opcode == Opcode::LOAD_CONST) text += "LOAD_CONST ";
    else if (raw.opcode == Opcode::PUSH_NULL) text += "PUSH_NULL ";
    else if (raw.opcode == Opcode::LOAD_GLOBAL) text += "LOAD_GLOBAL ";
    else if (raw.opcode == Opcode::NOP) text += "NOP ";
    else text += "? ";
  }
  return text;
}

TEST_CASE("bytecode is sound, or the fault is said with its place") {
  for (Version version : all_versions) {
    CAPTURE(version.minor);
    CHECK(problem(assemble(version, {{Opcode::LOAD_CONST, 1}, {Opcode::RETURN_VALUE}})).empty());
    CHECK(problem(assemble(version, {{Opcode::LOAD_CONST, 9}, {Opcode::RETURN_VALUE}}))
              .starts_with("offset 0: load_const"));
    CHECK(problem(assemble(version, {{Opcode::POP_TOP}, {Opcode::LOAD_CONST, 1}, {Opcode::RETURN_VALUE}})) ==
          "offset 0: pop_top takes more values than the stack holds");
    CHECK(problem(assemble(version, {{Opcode::LOAD_CONST, 1}})) == "control runs past the end of the code");
    CodeObject deep = assemble(version, {{Opcode::LOAD_CONST, 1}, {Opcode::LOAD_CONST, 1}, {Opcode::RETURN_VALUE}});
    deep.stacksize = 1;
    CHECK(problem(deep) == "offset 4: 2 values exceed the stack size of 1");
  }
}

TEST_CASE("a loop that leaves a value on the stack is no endless walk") {
  CodeObject loop = assemble(v312, {{Opcode::LOAD_CONST, 1}, {Opcode::JUMP_BACKWARD, 2}});
  loop.stacksize = 1 << 30;
  CHECK(problem(loop) == "offset 0: a loop leaves values on the stack");
}

TEST_CASE("a fault in nested code is told with its name") {
  CodeObject inner = assemble(v312, {{Opcode::POP_TOP}, {Opcode::RETURN_CONST, 0}});
  inner.name = "inner";
  CodeObject outer = assemble(v312, {{Opcode::RETURN_CONST, 0}});
  outer.constants[1] = code_constant(inner);
  CHECK(first_problem(outer).function == "inner");
  CHECK(problem(outer).empty());
}

TEST_CASE("global names become constants, with the NULL where the version wants it") {
  const ConstantsByName values{{"n1", text_constant("value")}};
  for (Version version : {v311, v312, v313, v314}) {
    CAPTURE(version.minor);
    CodeObject code = assemble(version, {{Opcode::LOAD_GLOBAL, 3}, {Opcode::LOAD_GLOBAL, 2}, {Opcode::RETURN_VALUE}});
    const std::size_t size = code.bytecode.size();
    CHECK(bind_names(code, values));
    CHECK(code.bytecode.size() == size);
    CHECK(code.constants.back().text == "value");
    CHECK(opcodes_of(code).starts_with(version < v313 ? "PUSH_NULL LOAD_CONST NOP" : "LOAD_CONST PUSH_NULL NOP"));
    CHECK(opcodes_of(code).find("LOAD_GLOBAL") == std::string::npos);
  }
  CodeObject code = assemble(v311, {{Opcode::LOAD_GLOBAL, 0}, {Opcode::RETURN_VALUE}});
  CHECK_FALSE(bind_names(code, values));
  CHECK(code.constants.size() == 3);
}

TEST_CASE("what has no room moves all behind it, with jumps, positions and handlers") {
  // In 3.10, a LOAD_GLOBAL, which a jump skips, has no caches that an EXTENDED_ARG could replace.
  CodeObject code = assemble(v310, {{Opcode::LOAD_CONST, 0},
                                    {Opcode::POP_JUMP_IF_FALSE, 4},
                                    {Opcode::LOAD_GLOBAL, 1},
                                    {Opcode::RETURN_VALUE},
                                    {Opcode::LOAD_CONST, 0},
                                    {Opcode::RETURN_VALUE}});
  code.constants.resize(300);
  code.firstlineno = 1;
  for (std::int32_t line = 1; line <= 6; ++line) code.positions.push_back({line, line});
  CHECK(bind_names(code, {{"n1", text_constant("value")}}));
  const std::vector<RawInstruction> raws = raws_of(code);
  CHECK(code.bytecode.size() == 14);
  CHECK(raws[2].opcode == Opcode::LOAD_CONST);
  CHECK(raws[2].arg == 300);
  CHECK(raws[1].target == 4);
  CHECK(code.positions[3].line == 3);
  CHECK(code.positions[4].line == 4);
  CHECK(problem(code).empty());

  // In 3.12, the LOAD_NAME is in a range that a handler protects.
  code = assemble(v312, {{Opcode::LOAD_NAME, 1}, {Opcode::RETURN_VALUE}, {Opcode::RERAISE, 0}});
  code.constants.resize(300);
  code.exceptions = {{0, 4, 4, 0, false}};
  CHECK(bind_names(code, {{"n1", text_constant("value")}}));
  CHECK(code.exceptions == std::vector<ExceptionEntry>{{0, 6, 6, 0, false}});
}

TEST_CASE("a jump grows by EXTENDED_ARG where its target moves too far") {
  CodeObject code;
  code.version = v310;
  code.stacksize = 1;
  code.names = {"n0"};
  code.constants.resize(300);
  auto put = [&](Opcode opcode, std::uint8_t arg) {
    code.bytecode.insert(code.bytecode.end(), {byte_of(v310, opcode), arg});
  };
  put(Opcode::JUMP_FORWARD, 255);
  for (int i = 0; i < 255; ++i) put(i == 7 ? Opcode::LOAD_GLOBAL : Opcode::NOP, 0);
  put(Opcode::LOAD_CONST, 0), put(Opcode::RETURN_VALUE, 0);
  CHECK(bind_names(code, {{"n0", text_constant("value")}}));
  const std::vector<RawInstruction> raws = raws_of(code);
  CHECK(raws[0].arg == 256);
  CHECK(raws[raws[0].target].opcode == Opcode::LOAD_CONST);
  CHECK(raws[raws[0].target].at == code.bytecode.size() - 4);
}

TEST_CASE("cells are loaded in the order of the code that takes the place of another") {
  CodeObject before = assemble(v313, {{Opcode::RETURN_CONST, 0}}), own = before;
  before.freevars = {"a", "b", "c"};
  own.freevars = {"c", "a", "b"};
  auto loads = [&](std::uint8_t pair) {
    CodeObject code = assemble(v313, {{Opcode::LOAD_FAST_LOAD_FAST, pair},
                                      {Opcode::LOAD_FAST, 20},
                                      {Opcode::BUILD_TUPLE, 3},
                                      {Opcode::LOAD_CONST, 0},
                                      {Opcode::MAKE_FUNCTION},
                                      {Opcode::RETURN_VALUE}});
    code.constants[0] = code_constant(before);
    replace_nested(code, {{0, code_constant(own)}});
    CHECK(code.constants[0].code->freevars == own.freevars);
    return code;
  };
  // Slots 1, 2 and 20 become 20, 1 and 2: 20 is too large for half of an instruction.
  const CodeObject code = loads(1 << 4 | 2);
  const std::vector<RawInstruction> raws = raws_of(code);
  CHECK(raws[0].opcode == Opcode::LOAD_FAST);
  CHECK(raws[0].arg == 20);
  CHECK(raws[1].arg == 1);
  CHECK(raws[2].arg == 2);
}

TEST_CASE("tables are written as they read") {
  const std::vector<Position> odd = {
      {},           {5, 5, 0, 3},           {5, 5, 79, 94},           {7, 7, 100, 127}, {8, 8, 128, 300},
      {3, 9, 4, 2}, {200000, 200000, 1, 1}, {200000, 200001, -1, -1}, {1, 1, 5, 2}};
  for (Version version : all_versions) {
    CAPTURE(version.minor);
    CodeObject code;
    code.version = version;
    code.firstlineno = 4;
    for (const Position& each : odd) {
      Position position = each;
      if (version < v310 && position.line == -1) position.line = position.end_line = 4;
      if (version < v311) position = {position.line, position.line};
      else if (position.column == -1) position.end_line = position.line;
      for (int i = 0; i < 19; ++i) code.positions.push_back(position);
    }
    code.bytecode.resize(code.positions.size() * 2);
    if (version >= v311) code.exceptions = {{0, 40, 200, 3, true}, {2, 6, 64, 0, false}, {130, 8200, 270000, 9, true}};
    CodeObject again = code;
    again.positions.clear();
    CHECK(read_tables(again, line_table_of(code), version < v311 ? "" : exception_table_of(code)));
    CHECK(again.positions == code.positions);
    CHECK(again.exceptions == code.exceptions);
  }
}

TEST_CASE("names without the end that makes them unique") {
  const std::string end = "_01234567_89ab_cdef_0123_456789abcdef";
  CHECK(without_unique_ends("f" + end) == "f");
  CHECK(without_unique_ends("f" + end + " g" + end) == "f g");
  CHECK(without_unique_ends("f" + end + "0") == "f" + end + "0");
  CHECK(without_unique_ends("f" + end.substr(1)) == "f" + end.substr(1));
  CodeObject code;
  code.names = {"f" + end, "g" + end, "h" + end, "h_11111111_89ab_cdef_0123_456789abcdef"};
  code.varnames = {"g"};
  CHECK(short_names(code) == NewNames{{"f" + end, "f"}});  // `g` is a local, and two names would be shortened to `h`
}

TEST_CASE("variables get names that sort in the order that the code has") {
  CodeObject inner;
  inner.freevars = {"b", "a"};
  CodeObject code;
  code.version = v312;
  code.cellvars = {"c", "b", "__class__"};
  code.constants = {code_constant(inner)};
  const NewNames names = names_that_sort(code);
  CHECK(names.size() == 3);
  CHECK(names.at("c") < names.at("b"));
  CHECK(names.at("b") < names.at("a"));
  code.cellvars = {"a", "c"};
  inner.freevars = {"c", "d"};
  code.constants = {code_constant(inner)};
  CHECK(names_that_sort(code).empty());
}

TEST_CASE("qualified names get another beginning, as constants too") {
  CodeObject inner;
  inner.version = v312, inner.qualname = "outer.<locals>.f.<locals>.g";
  CodeObject code;
  code.version = v312, code.qualname = "outer.<locals>.f";
  code.constants = {text_constant("outer.<locals>.f.g"), text_constant("outer.<locals>.from"), code_constant(inner)};
  replace_prefix(code, "outer.<locals>.f", "C.f");
  CHECK(code.qualname == "C.f");
  CHECK(code.constants[0].text == "C.f.g");
  CHECK(code.constants[1].text == "outer.<locals>.from");
  CHECK(code.constants[2].code->qualname == "C.f.<locals>.g");
}

TEST_CASE("constants of the program are left out, however deep they lie") {
  Constant object;
  object.kind = Constant::Kind::opaque, object.text = "Tensor", object.identity = 1;
  Constant tuple;
  tuple.kind = Constant::Kind::tuple, tuple.identity = 2, tuple.items = {object, text_constant("x")};
  CodeObject code;
  code.constants = {tuple, object};
  CHECK(keep_data_alone(code));
  CHECK(code.constants[1].text == "<Tensor>");
  CHECK(code.constants[0].items[0].text == "<Tensor>");
  CHECK(code.constants[0].identity == 0);
  CHECK_FALSE(keep_data_alone(code));
}

}  // namespace
}  // namespace depyf
