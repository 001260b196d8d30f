#include "pickle/pickle.h"

#include <doctest/doctest.h>

#include <string>

#include "pickle/outline.h"

using namespace depyf::pickle;
using namespace std::string_literals;

namespace {

std::string read_as_text(const std::string& input) {
  const auto document = read(input);
  return document ? outline(document->root()) : "error: " + document.error().message;
}

// Returns the offset of the error; -1 if there is no error.
int error_at(const std::string& input, const Limits& limits = {}) {
  const auto document = read(input, limits);
  return document ? -1 : static_cast<int>(document.error().offset);
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string result;
  while (count--) result += text;
  return result;
}

}  // namespace

TEST_CASE("pickle: plain values of each protocol") {
  CHECK(read_as_text("I42\n.") == "42");
  CHECK(read_as_text("I01\n.") == "True");
  CHECK(read_as_text("L123456789012345678901234567890L\n.") == "123456789012345678901234567890");
  CHECK(read_as_text("F1.5\n.") == "1.5");
  CHECK(read_as_text("(lp0\nI1\naI2\na.") == "[1, 2]");
  CHECK(read_as_text("S'a\\x41\\n'\n.") == "'aA\\n'");
  CHECK(read_as_text("Va\\u00e9\n.") == "'a\\xe9'");
  CHECK(read_as_text("\x80\x02]q\x00(K\x01K\x02"
                     "e."s) == "[1, 2]");
  CHECK(read_as_text("\x80\x04\x95\x03\0\0\0\0\0\0\0K\x07."s) == "7");
  CHECK(read_as_text("\x80\x05\x96\x02\0\0\0\0\0\0\0ab."s) == "bytearray(b'ab')");
  CHECK(read_as_text("G\x3f\xf8\0\0\0\0\0\0."s) == "1.5");
  CHECK(read_as_text("\x8a\x01\xff."s) == "-1");
  CHECK(read_as_text("\x8a\x09\0\0\0\0\0\0\0\0\xff."s) == "-18446744073709551616");
  CHECK(read_as_text("\x8a\0."s) == "0");
  CHECK(read_as_text("(K\x01K\x02K\x03K\x04"
                     "d.") == "{1: 2, 3: 4}");
  CHECK(read_as_text("\x8f(K\x01\x90.") == "{1}");
  CHECK(read_as_text("(K\x01\x91.") == "frozenset([1])");
}

TEST_CASE("pickle: names and calls stay names and calls") {
  CHECK(read_as_text("cos\nsystem\n(S'touch canary'\ntR.") == "os.system('touch canary')");
  CHECK(read_as_text("\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.") == "os.system('true')");
  CHECK(read_as_text("(S'true'\nios\nsystem\n.") == "os.system('true')");
  CHECK(read_as_text("(cos\nsystem\nS'true'\no.") == "os.system('true')");
  CHECK(read_as_text("cm\nC\n)\x81}S'a'\nI1\nsb.") == "m.C(state={'a': 1})");
  CHECK(read_as_text("cm\nC\n)}S'a'\nI1\ns\x92.") == "m.C(**{'a': 1})");
  CHECK(read_as_text("Pan id\n.") == "<persistent id>");
  CHECK(read_as_text("\x82\x07.") == "<extension 7>");
  CHECK(read_as_text("\x97\x98.") == "<buffer 0>");
  const std::string method = "c__builtin__\ngetattr\n(cm\nC\nS'f'\ntR.";
  CHECK(read_as_text(method) == "__builtin__.getattr(m.C, 'f')");
  CHECK(read_as_text("cbuiltins\ngetattr\n(cm\nC\nS'f'\ntR.") == "m.C.f");
}

TEST_CASE("pickle: an object is asked for its parts") {
  const std::string input =
      "\x80\x02"
      "cm\nC\n)\x81}(U\x01"
      "aK\x01U\x01"
      "bK\x02ub.";
  const auto document = read(input);
  REQUIRE(document);
  const Value object = document->root();
  CHECK(object.class_name() == "m.C");
  CHECK(object.is_a("C"));
  CHECK_FALSE(object.is_a(""));
  CHECK(object.attribute("b").integer() == 2);
  CHECK_FALSE(object.attribute("c"));
  CHECK(object.argument(0).kind() == Kind::none);
  const std::string slots = "cm\nC\n)\x81(NS'a'\nI3\nI1\n\x86tb.";
  CHECK_FALSE(read(slots)->root().attribute("a"));
  const std::string pair = "cm\nC\n)\x81(N}S'a'\nI3\nstb.";
  CHECK(read(pair)->root().attribute("a").integer() == 3);
  CHECK(read("ccopy_reg\n_reconstructor\n(cm\nC\nc__builtin__\nobject\nNtR.")->root().class_name() == "m.C");
}

TEST_CASE("pickle: of several states of an object the last one that has an attribute counts") {
  // The pickle creates an object of m.C without arguments, and then sets its state twice.
  const auto document = read("cm\nC\n)\x81}(S'a'\nI1\nS'b'\nI2\nub}(S'b'\nI3\nub.");
  REQUIRE(document);
  CHECK(document->root().attribute("a").integer() == 1);
  CHECK(document->root().attribute("b").integer() == 3);
  const auto many = read("cm\nC\n)\x81" + repeated("}S'a'\nI1\nsb", 200) + "}S'a'\nI2\nsb" + ".");
  REQUIRE(many);
  CHECK(many->root().attribute("a").integer() == 2);
}

TEST_CASE("pickle: what unpickling would reach for") {
  const std::string input = "(cos\nsystem\n(S'a'\ntRcm\nC\ncos\nsystem\nPx\n\x82\x01\x97l.";
  const auto document = read(input);
  REQUIRE(document);
  const Reach found = reach(*document);
  CHECK(found.names == std::vector<std::string>{"os.system", "m.C"});
  CHECK(found.name_count == 3);
  CHECK(found.called == std::vector<std::string>{"os.system"});
  CHECK(found.persistent_count == 1);
  CHECK(found.extension_count == 1);
  CHECK(found.buffer_count == 1);
}

TEST_CASE("pickle: an entry of the memo that is put twice counts once") {
  // PUT 1, PUT 0, PUT 1, then MEMOIZE of another string as entry 2.
  CHECK(read_as_text("(K\x01q\x01q\x00q\x01K\x02\x94h\x02t."s) == "(1, 2, 2)");
}

TEST_CASE("pickle: values that contain themselves") {
  CHECK(read_as_text("]q\x00h\x00"
                     "a."s) == "[...]");
  CHECK(read_as_text("}q\x00K\x01h\x00s."s) == "{1: ...}");
  CHECK(read_as_text("cm\nC\n)\x81q\x00h\x00"
                     "b."s) == "m.C(state=...)");
}

TEST_CASE("pickle: errors have the offset of their opcode") {
  CHECK(error_at("") == 0);
  CHECK(error_at("K\x01") == 2);                      // no end
  CHECK(error_at("K\x01\xff.") == 2);                 // no opcode
  CHECK(error_at("\x80\x06.") == 0);                  // a later protocol
  CHECK(error_at("X\xff\xff\xff\x7f"
                 "a.") == 0);     // a length beyond the end of the input
  CHECK(error_at("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
                 "a.") == 0);
  CHECK(error_at("\x95\xff\0\0\0\0\0\0\0."s) == 0);   // a frame beyond the end of the input
  CHECK(error_at("N0.") == 2);                        // an empty stack
  CHECK(error_at("t.") == 0);                         // no mark
  CHECK(error_at("h\x05.") == 0);                     // no memo entry
  CHECK(error_at("NK\x01"
                 "a.") == 3);                // an item for None
  CHECK(error_at("(K\x01"
                 "d.") == 3);                // a key without a value
  CHECK(error_at("NNR.") == 2);                       // arguments that are no tuple
  CHECK(error_at("KKNb.") == 3);                      // a state for a number
  CHECK(error_at("X\x01\0\0\0\xff."s) == 0);          // no UTF-8
  CHECK(error_at("V\\ud8\n.") == 0);
  CHECK(error_at("S'a\n.") == 0);
  CHECK(error_at("Ix\n.") == 0);
  CHECK(error_at("NN\x93.") == 2);                    // a name that is no string
  CHECK(error_at("(N0.") == 3);                       // the mark is no value
  CHECK(error_at("N(0.") == -1);
}

TEST_CASE("pickle: limits hold before memory is taken") {
  Limits limits;
  limits.nodes = 10;
  CHECK(error_at(repeated("N", 20) + ".", limits) == 10);
  limits = {};
  limits.items = 10;
  CHECK(error_at("(" + repeated("N", 20) + "l.", limits) == 21);
  limits = {};
  limits.open_values = 10;
  CHECK(error_at("N" + repeated("2", 20) + ".", limits) == 10);
  CHECK(error_at(repeated("(", 20) + ".", limits) == 10);
  limits = {};
  limits.memo = 0, limits.sparse_memo = 4;
  CHECK(error_at("Nr\1\0\0\1r\2\0\0\1r\3\0\0\1r\4\0\0\1r\5\0\0\1."s, limits) == 21);
  limits = {};
  limits.integer_bytes = 4;
  CHECK(error_at("\x8a\x05"
                 "12345.",
                 limits) == 0);
  CHECK(error_at("I12345\n.", limits) == 0);
  limits = {};
  limits.decoded_text = 4;
  CHECK(error_at("S'12345'\n.", limits) == 0);
  limits = {};
  limits.name = 4;
  CHECK(error_at("cabcde\nf\n.", limits) == 0);
}

TEST_CASE("pickle: shared values expand within the limit of a text") {
  std::string input = "K\x01";
  for (int level = 0; level < 40; ++level) input += "2\x86";  // a pair that contains the same value twice
  const auto document = read(input + ".");
  REQUIRE(document);
  CHECK(document->size() == 41);
  CHECK(outline(document->root(), 200).size() <= 203);
  const auto deep = read("N" + repeated("\x85", 100'000) + ".");  // freed without recursion
  REQUIRE(deep);
  CHECK(outline(deep->root()).size() < 100);
}

TEST_CASE("pickle: what follows a pickle is no part of it") {
  const auto document = read("K\x01.rest");
  REQUIRE(document);
  CHECK(document->end() == 3);
}
