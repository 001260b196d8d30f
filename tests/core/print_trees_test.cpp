// Prints the trees in the file DEPYF_TREES into the file DEPYF_PRINTED; test_print.py runs it on trees of real programs.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "ast/equal.h"
#include "print/print.h"
#include "tree_reader.h"

namespace {
std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
}  // namespace

TEST_CASE("print trees from a file" * doctest::skip()) {
  const char* in = std::getenv("DEPYF_TREES");
  const char* out = std::getenv("DEPYF_PRINTED");
  REQUIRE(in);
  REQUIRE(out);
  const std::string input = read_file(in);
  std::ofstream output(out, std::ios::binary);
  depyf::testing::TreeReader reader(input), again(input);
  while (!reader.done()) {
    const int minor = reader.read<int>();
    again.read<int>();
    auto tree = reader.read<depyf::ast::Block>();
    CHECK(depyf::ast::equal(tree, again.read<depyf::ast::Block>()));
    const std::string text = depyf::print_block(tree, {3, minor}).source;
    output << text.size() << '\n' << text;
  }
}

TEST_CASE("print constants from a file" * doctest::skip()) {
  const char* in = std::getenv("DEPYF_TREES");
  const char* out = std::getenv("DEPYF_PRINTED");
  REQUIRE(in);
  REQUIRE(out);
  const std::string input = read_file(in);
  std::ofstream output(out, std::ios::binary);
  depyf::testing::TreeReader reader(input);
  while (!reader.done()) output << depyf::literal(*reader.read<const depyf::Constant*>()) << '\n';
}
