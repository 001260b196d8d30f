#include "depyf/conditions.h"

#include <doctest/doctest.h>

#include "conditions/expression.h"

namespace depyf::conditions {
namespace {

std::string printed(std::string_view text) {
  const std::optional<Expression> tree = parse(text);
  return tree ? unparse(*tree) : "no expression";
}

TEST_CASE("an expression is printed as ast.unparse prints it") {
  for (const std::string_view text : {
           "2 <= L['x'].size()[0] <= 64",
           "a is not None and (b or not c)",
           "x[1:, ::2, ...]",
           "f(*args, key=1, **rest)",
           "[i + j for i, j in pairs if i if j]",
           "{'a': 1, **b}",
           "lambda x, y=(1, 2): x if y else -x ** 2",
           "(a + b) * c // d @ e",
           "{k: v for k, v in d.items()}",
           "(x := y) not in {1, 2}",
           "()",
           "(1,)",
           "1e-05 < 0x1f",
           "b'a' != rb'\\d'",
       })
    CHECK(printed(text) == text);
  CHECK(printed("\"text\"  ==( a )") == "'text' == a");
  CHECK(printed("x [ 0 ] . y") == "x[0].y");
}

TEST_CASE("a text that is no expression, or nests too deeply, is refused") {
  for (const std::string_view text :
       {"", "x +", "L['x'", "not python at all", "f'{x}'", "await x", "a b", "x = 1", "{1: }"})
    CHECK(printed(text) == "no expression");
  CHECK(printed(std::string(1000, '(') + "x" + std::string(1000, ')')) == "no expression");
  CHECK(printed(std::string(1000, '{')) == "no expression");
  std::string chain = "x";
  for (int i = 0; i < 1000; ++i) chain += ".y";
  CHECK(printed(chain) == "no expression");
}

TEST_CASE("a list of many items is an expression") {
  std::string keys = "list(d) == ['k0'";
  for (int i = 1; i < 5000; ++i) keys += ", 'k" + std::to_string(i) + "'";
  keys += "]";
  CHECK(printed(keys) == keys);
}

TEST_CASE("values are named as the user reaches them") {
  CHECK(in_terms("L['self'].__dict__['_modules']['b1'].__dict__['_modules']['0']") == "self.b1[0]");
  CHECK(in_terms("list(dict.values(L['self']._modules))[2].scale") == "self[2].scale");
  CHECK(in_terms("G['__import_torch_dot_nn'].relu") == "torch.nn.relu");
  CHECK(in_terms("__import__('a')") == "a");
  CHECK(in_terms("L['x'].size(1)") == "x.shape[1]");
  CHECK(in_terms("L['x'") == "L['x'");
  CHECK(owner_in_terms("L['self']._modules['b']._modules") == "self.b");
}

Guard guard_with(std::vector<std::string> conditions) {
  Guard guard;
  guard.kind = "EQUALS_MATCH";
  guard.conditions = std::move(conditions);
  guard.has_line = true;
  return guard;
}

TEST_CASE("the bounds of one size become one limit, before the limits on other values") {
  const std::vector<Limit> limits = frontier(
      {guard_with({"L['n'] == 3"}), guard_with({"2 <= L['x'].size()[0]"}), guard_with({"L['x'].size()[0] <= 64"})},
      std::vector<SymbolBounds>{{{"L['x'].size()[0]"}, "", "a.py:3 in f"}});
  REQUIRE(limits.size() == 2);
  CHECK(limits[0].condition == "2 <= x.shape[0] <= 64");
  CHECK(limits[0].origin.starts_with("<= 64: a.py:3"));
  CHECK(limits[1].condition == "n == 3");
  CHECK(limits[1].guard == 0);
}

TEST_CASE("entries accept together what each of them accepts") {
  CHECK(together({{{"n == 2", "n", "a.py:1"}}, {{"n == 3", "n", "a.py:1"}}}, 8) ==
        std::vector<std::string>{"n == 2 or n == 3  # a.py:1",
                                 "After 6 more compilations Dynamo gives the function up (recompile_limit 8)."});
  CHECK(together({{{"n == 2", "n", ""}}, {}}, std::nullopt).empty());
}

std::vector<int> positions(std::vector<std::vector<std::string>> conditions) {
  std::vector<Guard> guards;
  for (std::vector<std::string>& each : conditions) guards.push_back(guard_with(std::move(each)));
  std::vector<int> result;
  for (const Redundant& guard : redundant(guards, 1)) result.push_back(guard.position);
  return result;
}

TEST_CASE("a guard is redundant if the others imply it") {
  CHECK(positions({{"a == 1"}, {"a == 1"}}) == std::vector{1});
  CHECK(positions({{"type(a) is int", "a == 5"}, {"a >= 2"}, {"a != 7"}, {"a < 5"}}) == std::vector{1, 2});
  CHECK(positions({{"type(a) is int", "a >= 5"}, {"a > 4"}, {"a != 4"}, {"a != 5"}}) == std::vector{1, 2});
  CHECK(positions({{"type(x) is torch.Tensor", "x.size() == (2, 3)"}, {"x.size()[1] == 3"}, {"x.numel() == 6"}}) ==
        std::vector{1, 2});
  CHECK(positions({{"id(a) == 94"}, {"a is not None"}}) == std::vector{1});
  CHECK(positions({{"id(a) == 1"}, {"a is not None"}}).empty());
  CHECK(positions({{"list(dict.keys(d)) == ['a', 'b']"}, {"dict.__len__(d) == 2"}, {"'a' in d"}}) == std::vector{1});
  CHECK(positions({{"a"}, {"a or b"}}) == std::vector{1});
}

TEST_CASE("a guard is not redundant if some input tells it from the others") {
  CHECK(positions({{"a == 5"}, {"a >= 2"}}).empty());  // `a` may be of a class with comparisons of its own
  CHECK(positions({{"b"}, {"a or b"}}).empty());       // reading `a` may raise an exception
  CHECK(positions({{"x.size() == (2, 3)"}, {"x.size()[1] == 3"}}).empty());
  CHECK(positions({{"isinstance(a, int)", "a == 1"}, {"a is True"}}).empty());
}

}  // namespace
}  // namespace depyf::conditions
