#include "json/json.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "json/writer.h"

using depyf::json::Document;
using depyf::json::Kind;
using depyf::json::Value;

namespace {

// Returns the offset of the error; -1 if the text is valid JSON.
int error_at(std::string_view text) {
  Document document;
  auto error = document.parse(text);
  return error ? static_cast<int>(error->offset) : -1;
}

}  // namespace

TEST_CASE("json: members and items are found") {
  const std::string text = R"( {"a": [1, {"b": "x"}, []], "c": {}, "d": true} )";
  Document document;
  REQUIRE_FALSE(document.parse(text));
  const Value root = document.root();
  CHECK(root.size() == 3);
  CHECK(root["a"].size() == 3);
  CHECK(root["a"].at(0).integer() == 1);
  CHECK(root["a"].at(1)["b"].text() == "x");
  CHECK(root["a"].at(2).is(Kind::array));
  CHECK(root["c"].size() == 0);
  CHECK(root["d"].is_true());
  CHECK_FALSE(root["e"]);
  CHECK_FALSE(root["a"].at(3));
  CHECK(root["e"]["f"].at(7).text().empty());
}

TEST_CASE("json: what Python writes beyond the standard") {
  Document document;
  const std::string text =
      R"([NaN, Infinity, -Infinity, 1e400, 12345678901234567890, "\ud83d\ude00 \udc80", "\ud83d"])";
  REQUIRE_FALSE(document.parse(text));
  const Value root = document.root();
  CHECK(std::isnan(*root.at(0).number()));
  CHECK(*root.at(1).number() > 1e308);
  CHECK(*root.at(2).number() < -1e308);
  CHECK_FALSE(root.at(4).integer());
  CHECK(root.at(5).text() == "\xf0\x9f\x98\x80 \xed\xb2\x80");
  CHECK(root.at(6).text() == "\xed\xa0\xbd");
}

TEST_CASE("json: escapes in keys and strings") {
  Document document;
  REQUIRE_FALSE(document.parse(R"({"a\"b": "\n\t\\\/\u0041", "k\u0065y": 2})"));
  CHECK(document.root()["a\"b"].text() == "\n\t\\/A");
  CHECK(document.root()["key"].integer() == 2);
}

TEST_CASE("json: an error has its offset") {
  CHECK(error_at("") == 0);
  CHECK(error_at("[1, 2") == 5);
  CHECK(error_at("{\"a\" 1}") == 5);
  CHECK(error_at("{1: 2}") == 1);
  CHECK(error_at("[1 2]") == 3);
  CHECK(error_at("\"abc") == 4);
  CHECK(error_at("\"abc\\") == 5);
  CHECK(error_at("1 2") == 2);
  CHECK(error_at("nul") == 0);
  CHECK(error_at("[]") == -1);
}

TEST_CASE("json: nesting is bounded and costs no recursion") {
  CHECK(error_at(std::string(100000, '[')) == 1000);
  CHECK(error_at(std::string(900, '[') + std::string(900, ']')) == -1);
}

TEST_CASE("json: what the writer writes is read back") {
  depyf::json::Writer writer;
  writer.begin_object();
  writer.member("text", "a\n\"\\\x01 \xf0\x9f\x98\x80 \xed\xb2\x80 \xff");
  writer.key("empty");
  writer.begin_array();
  writer.end_array();
  writer.key("nan");
  writer.number(NAN);
  writer.key("list");
  writer.begin_array();
  writer.integer(-1);
  writer.number(0.5);
  writer.boolean(false);
  writer.end_array();
  writer.end_object();
  const std::string text = writer.take();
  CHECK(std::all_of(text.begin(), text.end(), [](char it) { return it == '\n' || (it >= ' ' && it < 0x7f); }));
  Document document;
  REQUIRE_FALSE(document.parse(text));
  const Value root = document.root();
  CHECK(root["text"].text() == "a\n\"\\\x01 \xf0\x9f\x98\x80 \xed\xb2\x80 \xef\xbf\xbd");
  CHECK(root["empty"].size() == 0);
  CHECK(root["nan"].is(Kind::null));
  CHECK(root["list"].at(0).integer() == -1);
  CHECK(root["list"].at(1).number() == 0.5);
}

TEST_CASE("json: members with lists, and null for values that are unknown") {
  depyf::json::Writer writer(true);
  writer.begin_object();
  writer.strings("texts", std::vector<std::string>{"a", ""});
  writer.list("squares", std::vector<int>{2, 3}, [&](int item) { writer.integer(item * item); });
  writer.optional("pid", 7);
  writer.optional("rank", std::nullopt);
  writer.optional("file", "x.py");
  writer.optional("function", "");
  writer.end_object();
  CHECK(writer.take() ==
        "{\"texts\":[\"a\",\"\"],\"squares\":[4,9],\"pid\":7,\"rank\":null,\"file\":\"x.py\",\"function\":null}\n");
}
