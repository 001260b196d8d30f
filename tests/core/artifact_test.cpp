#include "depyf/artifact.h"

#include <doctest/doctest.h>

#include <string>

#include "artifact/bundle.h"
#include "artifact/code.h"
#include "artifact/guards.h"
#include "artifact/harmless.h"
#include "artifact/stages.h"
#include "load/checksum.h"

using namespace depyf;
using namespace std::string_literals;

namespace {

std::string big_endian(std::uint64_t number, int bytes) {
  std::string text;
  while (bytes--) text += static_cast<char>(number >> 8 * bytes & 0xff);
  return text;
}

// A bundle with one entry of kind "pgo" ("cGdv" in base64) and key "k" ("aw==").
std::string bundle(const std::string& content) {
  const std::string body = big_endian(1, 8) + big_endian(4, 8) + "cGdv" + big_endian(1, 8) + big_endian(4, 8) +
                           "aw==" + big_endian(content.size(), 8) + content;
  return big_endian(checksum_of(body), 4) + body;
}

std::string expression(const std::string& pickled) {
  const auto document = pickle::read(pickled);
  REQUIRE(document);
  return artifact::source_expression(document->root());
}

}  // namespace

TEST_CASE("artifact: bundles are read entry by entry") {
  const std::string file = bundle("text");  // the entries refer to this string
  const auto entries = artifact::read_bundle(file);
  REQUIRE(entries);
  REQUIRE(entries->size() == 1);
  CHECK((*entries)[0].kind == "pgo");
  CHECK((*entries)[0].key == "k");
  CHECK((*entries)[0].content == "text");
  std::string damaged = bundle("text");
  damaged.back() = 'x';
  CHECK(artifact::read_bundle(damaged).error().message.find("checksum") != std::string::npos);
  const std::string body = big_endian(1, 8) + big_endian(~0ull, 8);  // a length beyond the end of the file
  const auto cut = artifact::read_bundle(big_endian(checksum_of(body), 4) + body);
  REQUIRE_FALSE(cut);
  CHECK(cut.error().offset == 20);
  const artifact::Artifact read = artifact::read(bundle("{\"a\": 1}"), "f");
  REQUIRE(read.parts.size() == 1);
  CHECK(read.parts[0].key == "k");
  REQUIRE(read.parts[0].stages.size() == 1);
  CHECK(read.parts[0].stages[0].text == "{\"a\": 1}");
}

TEST_CASE("artifact: versions of Python whose bytecode is known") {
  CHECK(artifact::version_of("3.11.7") == Version{3, 11});
  CHECK(artifact::version_of("3.14.0rc1") == Version{3, 14});
  CHECK_FALSE(artifact::version_of("3.7.1"));
  CHECK_FALSE(artifact::version_of("3.99.0"));
  CHECK_FALSE(artifact::version_of("3"));
  CHECK_FALSE(artifact::version_of(""));
}

TEST_CASE("artifact: sources of guards as expressions") {
  const std::string local = "ctorch._dynamo.source\nLocalSource\n(S'x'\ntR";
  CHECK(expression(local + ".") == "L['x']");
  CHECK(expression("ctorch._dynamo.source\nAttrSource\n(" + local + "S'y'\ntR.") == "L['x'].y");
  CHECK(expression("ctorch._dynamo.source\nDictGetItemSource\n(" + local + "S'y'\ntR.") == "L['x']['y']");
  CHECK(expression("ctorch._dynamo.source\nUnspecializedNNModuleSource\n(" + local + "tR.") == "L['x']");
  CHECK(expression("ctorch._dynamo.source\nTypeSource\n(" + local + "tR.") == "type(L['x'])");
  CHECK(expression("ctorch._dynamo.source\nAttrSource\n(" + local + "S'no name'\ntR.").empty());
  CHECK(expression("ctorch._dynamo.source\nGlobalStateSource\n(tR.").empty());
  const std::string itself = "ctorch._dynamo.source\nAttrSource\n)\x81q\x01}(S'base'\nh\x01S'member'\nS'a'\nub.";
  CHECK(expression(itself).empty());
}

TEST_CASE("artifact: types of guards") {
  const auto check = artifact::type_check("___check_type_id(L['x'], 94), type=<class 'a.B'>");
  REQUIRE(check);
  CHECK(check->value == "L['x']");
  CHECK(check->type == "a.B");
  CHECK_FALSE(artifact::type_check("L['x'] == 3"));
  CHECK(artifact::has_type("x", "dict") == "type(x) is dict");
  CHECK(artifact::has_type("x", "torch.Tensor") == "type(x) is torch.Tensor");
  CHECK(artifact::has_type("x", "a.B") == "(type(x).__module__, type(x).__qualname__) == ('a', 'B')");
}

TEST_CASE("artifact: lines of a text") {
  CHECK(artifact::lines_between("a\nb\nc\n", 2, 3) == "b\n");
  CHECK(artifact::lines_between("a\nb\nc", 3, 4) == "c");
  CHECK(artifact::lines_between("a\nb\nc", 2, 99) == "b\nc");
  CHECK(artifact::lines_between("a\n", 5, 6).empty());
  CHECK(artifact::lines_between("a\n", -1, 6).empty());
  CHECK(artifact::lines_between("", 1, 2).empty());
}

TEST_CASE("artifact: a pickle of no known kind says what it would do") {
  const artifact::Artifact read = artifact::read("cos\nsystem\n(S'true'\ntR.", "f");
  CHECK(read.outline == "os.system('true')");
  CHECK(read.called == std::vector<std::string>{"os.system"});
  CHECK(artifact::to_text(read).find("calls os.system") != std::string::npos);
  const artifact::Artifact cut = artifact::read("\x80\x04N", "f");
  CHECK(cut.error_offset == 3);
  CHECK(artifact::to_text(cut).find("at byte 3") != std::string::npos);
}

TEST_CASE("artifact: conditions that do more than guards do are told apart") {
  for (const char* harmless :
       {"L['x'] == 3", "len(L['xs']) == 2", "list(dict.keys(L['d'])) == ['a(b)', 'exec(']",
        "not (6 <= L['x'].size()[0])", "type(L['n']) is type(3)", "L['x'].device == torch.device('cuda', 0)",
        "is_state('{\"a\": [1]}')", "hasattr(L['x'], '_dynamo_dynamic_indices') == False",
        "L['f'].__code__.co_name == 'f'", "L['x'] in (1, 2)",
        "((getattr(L['x'], 'a', set()).issubset({0})) if hasattr(L['x'], 'a') else True)",
        "__import__('sys').modules['a'].b == 1"})
    CHECK_MESSAGE(artifact::is_harmless(harmless), harmless);
  for (const char* harmful :
       {"__import__('os').system('x')", "eval('x')", "exec ('x')", "L['f']()", "(lambda: 1)()", "[f for f in L][0](1)",
        "L['x'].__class__.__base__.__subclasses__()", "f'{print(1)}'", "L['x'] == 1 # ", "L['x'] == 'a", "(y := 1)",
        "open('x')", "L['x'].a()", "a; b", "__import__('sys').modules['os'].system('x')", "type(L)('x', (), {})(1)",
        "x\n", "__builtins__"})
    CHECK_MESSAGE(!artifact::is_harmless(harmful), harmful);
  CHECK(artifact::is_dotted_name("torch.float32"));
  CHECK_FALSE(artifact::is_dotted_name("torch.float32 or 1"));
  CHECK_FALSE(artifact::is_dotted_name(""));
  CHECK(artifact::has_type("x", "torch.f(1)") == "(type(x).__module__, type(x).__qualname__) == ('torch', 'f(1)')");
}
