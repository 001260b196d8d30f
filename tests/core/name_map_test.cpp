#include "lower/name_map.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace depyf::lowering;

TEST_CASE("names are numbered in the order in which they are added") {
  NameMap<int> map;
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("name" + std::to_string(i * i));
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(map.number(names[i].c_str()) == i);
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(map.number(names[i].c_str()) == i);
  CHECK(map.entries().size() == names.size());
  CHECK(map.entries()[7].name.text() == "name49");
}

TEST_CASE("names are equal if their texts are, whatever their length") {
  NameMap<int> map;
  std::string text;
  for (int size = 0; size < 40; ++size, text += "x") {
    const std::string copy = text;
    map[std::string_view(copy)] = size;
    REQUIRE(map.find(std::string_view(text)));
    CHECK(*map.find(std::string_view(text)) == size);
    CHECK(!map.find(std::string_view(text + "y")));
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string other = text;
      other[at] = 'y';
      CHECK(!map.find(std::string_view(other)));
    }
    map.clear();
  }
}

TEST_CASE("a map without names has none") {
  NameMap<int> map;
  CHECK(!map.find("a"));
  map["a"] = 1;
  map.clear();
  CHECK(!map.find("a"));
  CHECK(map["a"] == 0);
}
