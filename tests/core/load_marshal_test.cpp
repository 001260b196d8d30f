#include "load/marshal.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "depyf/code_object.h"
#include "depyf/load.h"
#include "load/magic.h"

namespace depyf {
namespace {

using namespace std::string_literals;
using Kind = Constant::Kind;

std::string little_endian(std::uint32_t value) {
  std::string out;
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 255);
  return out;
}

std::string marshal_bytes(const std::string& text) { return "s" + little_endian(text.size()) + text; }
std::string marshal_string(const std::string& text) {
  return "z" + std::string(1, static_cast<char>(text.size())) + text;
}

std::string marshal_tuple(const std::vector<std::string>& items) {
  std::string out = "(" + little_endian(items.size());
  for (const std::string& item : items) out += item;
  return out;
}

// Returns the marshal data of a code object of 3.11 that returns None, with these constants.
std::string marshal_code(const std::string& constants, const std::string& bytecode = "\x97\0d\0S\0"s) {
  std::string counts = little_endian(0) + little_endian(0) + little_endian(0) + little_endian(1) + little_endian(3);
  return "c" + counts + marshal_bytes(bytecode) + constants + marshal_tuple({}) + marshal_tuple({}) +
         marshal_bytes("") + marshal_string("f.py") + marshal_string("f") + marshal_string("A.f") + little_endian(7) +
         marshal_bytes("") + marshal_bytes("");
}

Result<std::shared_ptr<const CodeObject>> read(const std::string& input) { return read_marshal({3, 11}, input); }

// Returns the constant that a code object has if its only constant is `marshalled`.
Constant constant_of(const std::string& marshalled) {
  auto code = read(marshal_code(marshal_tuple({marshalled})));
  INFO((code ? "" : code.error().message));
  REQUIRE(code);
  REQUIRE((*code)->constants.size() == 1);
  return (*code)->constants[0];
}

std::string error_of(const std::string& input) {
  auto code = read(input);
  REQUIRE(!code);
  CHECK(code.error().offset <= input.size());
  return code.error().message;
}

}  // namespace

TEST_CASE("marshal: fields of a code object") {
  auto code = read(marshal_code(marshal_tuple({"N"})));
  REQUIRE(code);
  CHECK((*code)->name == "f");
  CHECK((*code)->qualname == "A.f");
  CHECK((*code)->filename == "f.py");
  CHECK((*code)->firstlineno == 7);
  CHECK((*code)->bytecode.size() == 6);
  CHECK((*code)->version == Version{3, 11});
}

TEST_CASE("marshal: integers") {
  CHECK(constant_of("i" + little_endian(0xffffffff)).text == "-1");
  CHECK(constant_of("l" + little_endian(0)).text == "0");
  CHECK(constant_of("l" + little_endian(static_cast<std::uint32_t>(-3)) + "\1\0\2\0\3\0"s).text == "-3221291009");
  std::string digits;
  for (int i = 0; i < 8; ++i) digits += "\xff\x7f";
  CHECK(constant_of("l" + little_endian(8) + digits).text == "1329227995784915872903807060280344575");
  CHECK(error_of(marshal_code(marshal_tuple({"l" + little_endian(1) + "\xff\xff"}))).find("range") !=
        std::string::npos);
  CHECK(error_of(marshal_code(marshal_tuple({"l" + little_endian(1) + "\0\0"s}))).find("zero") != std::string::npos);
  CHECK(error_of(marshal_code(marshal_tuple({"l" + little_endian(0x80000000)}))) == "truncated");
}

TEST_CASE("marshal: floats as text and as bits") {
  CHECK(constant_of("f\x03"
                    "1.5")
            .real == 1.5);
  CHECK(constant_of("f\x04-inf").real == -std::numeric_limits<double>::infinity());
  CHECK(constant_of("g" + std::string(7, '\0') + "\x40").real == 2.0);
  Constant complex = constant_of(
      "x\x01"
      "1\x02-2");
  CHECK(complex.kind == Kind::complex);
  CHECK(complex.real == 1);
  CHECK(complex.imag == -2);
  CHECK(error_of(marshal_code(marshal_tuple({"f\x02"
                                             "1x"}))) == "the float is malformed");
}

TEST_CASE("marshal: strings") {
  CHECK(constant_of("z\x02\xe9x").text == "\xc3\xa9x");  // type z has one byte for each character, in Latin-1
  CHECK(constant_of("u" + little_endian(3) + "\xed\xa0\x80").text == "\xed\xa0\x80");
  for (std::string bad : {"\x80", "\xc3", "\xc0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80"}) {
    CHECK(error_of(marshal_code(marshal_tuple({"u" + little_endian(bad.size()) + bad}))) ==
          "the string is not valid UTF-8");
  }
}

TEST_CASE("marshal: containers") {
  CHECK(constant_of(")\x02NT").items[1].kind == Kind::true_);
  CHECK(constant_of(">" + little_endian(1) + "F").kind == Kind::frozenset);
  CHECK(constant_of(":NN.").items[2].kind == Kind::ellipsis);
  CHECK(constant_of("[" + little_endian(1) + "N").kind == Kind::opaque);
  CHECK(constant_of("{NTNN0").kind == Kind::opaque);
  CHECK(constant_of(marshal_code(")\0"s)).code->name == "f");
}

TEST_CASE("marshal: references") {
  // Flagged objects are numbered in the order in which they begin. Objects within a repeated object are not numbered
  // again.
  Constant tuple = constant_of("\xa9\x04\xfa\x01xr\1\0\0\0\xfa\x01yr\2\0\0\0"s);
  REQUIRE(tuple.items.size() == 4);
  CHECK(tuple.items[1].text == "x");
  CHECK(tuple.items[3].text == "y");
  tuple = constant_of(")\x04\xa9\x01\xfa\x01xr\0\0\0\0\xfa\x01yr\2\0\0\0"s);
  CHECK(tuple.items[1].items[0].text == "x");
  CHECK(tuple.items[3].text == "y");
  CHECK(error_of(marshal_code("\xa9\x01r\0\0\0\0"s)) == "the object contains itself");
  CHECK(error_of(marshal_code(")\x01r\0\0\0\0"s)).find("does not lead to an object") != std::string::npos);
}

TEST_CASE("marshal: every truncation and every wrong type is an error") {
  std::string whole = marshal_code(marshal_tuple({"N", "\xfa\x01x", "r\0\0\0\0"s, ")\1T", "g12345678"}));
  REQUIRE(read(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK(error_of(whole.substr(0, size)) == "truncated");
  CHECK(error_of("N") == "the object is not a code object");
  CHECK(error_of("?") == "the type of the object is unknown");
  CHECK(error_of(marshal_code("N")) == "the object is not a tuple of constants");
}

TEST_CASE("marshal: hostile sizes and depths end in an error") {
  CHECK(error_of("(" + little_endian(0x7fffffff)) == "truncated");
  CHECK(error_of("s" + little_endian(0xffffffff)) == "the size is negative");
  std::string deep;
  for (int i = 0; i < 1000000; ++i) deep += ")\1";
  CHECK(error_of(marshal_code(deep)) == "the objects are nested too deeply");
  // Each tuple contains the tuple before it twice, so the last one expands to 2 to the power of 60 items.
  std::string doubled = "(" + little_endian(61) + "\xa9\0"s;
  for (std::uint32_t i = 0; i < 60; ++i) doubled += "\xa9\2r" + little_endian(i) + "r" + little_endian(i);
  CHECK(error_of(marshal_code(doubled)).find("more memory") != std::string::npos);
}

TEST_CASE("pyc: header") {
  std::string body = marshal_code(")\1N");
  std::string rest = "\r\n" + std::string(12, '\0') + body;
  CHECK(load_pyc("\xa7\x0d" + rest).code);
  CHECK_FALSE(load_pyc("\xa7\x0d" + rest).hash_based);
  CHECK(load_pyc("\xa7\x0d\r\n\3\0\0\0"s + std::string(8, '\0') + body).hash_based);
  CHECK(load_pyc("\xa7\x0d\r\n\4\0\0\0"s + std::string(8, '\0') + body).error_offset == 4);
  CHECK(load_pyc("\xa7\x0dxx").error == "the file is not a .pyc file");
  CHECK(load_pyc("").error == "truncated");
  LoadedPyc cut = load_pyc("\xa7\x0d" + rest.substr(0, rest.size() - 1));
  CHECK(cut.error == "truncated");
  CHECK(cut.error_offset > 16);
}

TEST_CASE("magic numbers") {
  CHECK(*version_of_magic(3413) == Version{3, 8});
  CHECK(*version_of_magic(3666) == Version{3, 15});
  CHECK(version_of_magic(3530).error().message.find("pre-release of Python 3.12") != std::string::npos);
  CHECK(version_of_magic(3394).error().message.find("bytecode of Python 3.7") != std::string::npos);
  CHECK(version_of_magic(62211).error().message.find("bytecode of Python 2.7") != std::string::npos);
  CHECK(version_of_magic(336).error().message.find("bytecode of PyPy") != std::string::npos);
  CHECK(version_of_magic(3700).error().message.find("later than 3.15") != std::string::npos);
  CHECK(version_of_magic(65535).error().message.find("no known version") != std::string::npos);
}

}  // namespace depyf
