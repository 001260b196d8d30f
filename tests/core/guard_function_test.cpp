#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "depyf/guard_function.h"
#include "support/words.h"

using depyf::GuardToPrint;

namespace {

GuardToPrint guard(const std::string& value, std::vector<std::string> conditions) {
  GuardToPrint result;
  result.kind = "EQUALS_MATCH";
  result.value = value;
  result.conditions = std::move(conditions);
  return result;
}

std::string printed(std::vector<GuardToPrint> guards) {
  return guard_function("guard_0", "quiet()", std::move(guards), {});
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (const std::string_view line : depyf::lines_of(text)) longest = std::max(longest, line.size());
  return longest;
}

const std::string block = "list(dict.values(L['self'].__dict__['_modules']['blocks'].__dict__['_modules']))[0]";

}  // namespace

TEST_CASE("guard function: a value that several conditions read gets a name where the first of them reads it") {
  const std::string text = printed({guard(block, {"type(" + block + ") is Block", block + ".__dict__['heads'] == 4"})});
  CHECK(text.find("type(blocks_0 := " + block + ") is Block\n") != std::string::npos);
  CHECK(text.find("and blocks_0.__dict__['heads'] == 4\n") != std::string::npos);
}

TEST_CASE("guard function: no name is defined where the condition may end before it") {
  const std::string either = "torch.is_grad_enabled() or " + block + " is None";
  const std::string text = printed({guard(block, {either, either, "type(" + block + ") is Block"})});
  CHECK(text.find("(" + either + ")\n") != std::string::npos);
  CHECK(text.find("type(blocks_0 := ") != std::string::npos);
  const std::string each = "[" + block + " for item in L['items']] == []";
  CHECK(printed({guard(block, {each, each})}).find(":=") == std::string::npos);
}

TEST_CASE("guard function: a new name is no word of the code, and no word of Python") {
  const std::string path = "L['self'].__dict__['_modules']['blocks']['is'].__dict__['a']";
  const std::string name = "L['self'].__dict__['_modules']['long_enough_for_a_name']";
  const std::string text = printed({guard(name, {"f(" + name + ")", name + " is long_enough_for_a_name"}),
                                    guard("L['self'].__dict__['is'].__dict__", {path + " == 1", path + " == 2"})});
  CHECK(text.find("f(long_enough_for_a_name_2 := ") != std::string::npos);
}

TEST_CASE("guard function: text in strings is no path, and calls are none") {
  const std::string text =
      printed({guard("L['x']", {"f(\"L['x'].a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s\", L['x'].size())"})});
  CHECK(text.find("f(\"L['x'].a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s\", L['x'].size())\n") != std::string::npos);
}

TEST_CASE("guard function: long conditions, strings and comments are broken") {
  std::string ids, words;
  for (int number = 0; number < 200; ++number)
    ids += (number ? ", " : "") + ("id(L['x" + std::to_string(number) + "'])");
  for (int number = 0; number < 100; ++number) words += "\\u00e9\\n";
  GuardToPrint aliasing = guard("", {"len({" + ids + "}) == 200", "L['name'] == '" + words + "'"});
  aliasing.line = "x.py:1 " + std::string(500, 'y') + " " + std::string(150, 'z');
  const std::string text = printed({aliasing});
  CHECK(longest_line(text) <= 200);
  CHECK(text.find("\\u00e9\\n' \n") == std::string::npos);
  CHECK(text.find("\\u00e9\\n'\n") != std::string::npos);
}

TEST_CASE("guard function: long parts of conditions get a definition if they occur") {
  const std::vector<depyf::GuardShorthand> shorthands{
      {"keys(", " | all)", "short(", ")", "def short(x):\n    return keys(x | all)"},
      {"never", "", "nothing", "", "import nothing"}};
  const std::string text =
      guard_function("guard_0", "quiet()", {guard("L['x']", {"keys(L['x'] | all) == keys(L['y'] | all)"})}, shorthands);
  CHECK(text.find("short(L['x']) == short(L['y'])\n") != std::string::npos);
  CHECK(text.find("def short(x):") != std::string::npos);
  CHECK(text.find("import nothing") == std::string::npos);
}

TEST_CASE("guard function: PyTorch's own objects come first, as a third parameter") {
  GuardToPrint live = guard("", {"live[1](L, G)"});
  live.is_live = true;
  live.text = "a  check\nof PyTorch";
  const std::string text = printed({guard("L['x']", {"L['x'] == 1"}), live});
  CHECK(text.find("def guard_0(L, G, live):") != std::string::npos);
  CHECK(text.find("# PyTorch's own object decides: a check of PyTorch\n            live[1](L, G)\n") !=
        std::string::npos);
  CHECK(text.find("live[1]") < text.find("L['x'] == 1"));
}
