#include <doctest/doctest.h>

#include "load/inflate.h"
#include "load/zip.h"

using namespace depyf;

namespace {
// The text "hello hello hello hello", compressed by deflate with the fixed codes.
constexpr std::string_view hello("\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\x01", 10);
}  // namespace

TEST_CASE("inflate: fixed codes, a match that overlaps itself, the limit") {
  CHECK(*inflate(hello, 100) == "hello hello hello hello");
  CHECK(*inflate(hello, 23) == "hello hello hello hello");
  CHECK(inflate(hello, 22).error().message == "the compressed data expands to more than the limit");
}

TEST_CASE("inflate: stored blocks") {
  const std::string_view stored(
      "\1\3\0\xfc\xff"
      "abc",
      8);
  CHECK(*inflate(stored, 3) == "abc");
  CHECK_FALSE(inflate(stored, 2));
  CHECK_FALSE(inflate(stored.substr(0, 7), 3));
}

TEST_CASE("inflate: what is cut or damaged is an error") {
  for (std::size_t size = 0; size < hello.size(); ++size) CHECK_FALSE(inflate(hello.substr(0, size), 100));
  CHECK_FALSE(inflate("\x07", 100));                           // a kind of block that does not exist
  CHECK_FALSE(inflate(std::string_view("\x1b\x03\0\0", 4), 100));  // a match before the first byte
}

TEST_CASE("zip: only what has a directory within the file is an archive") {
  CHECK_FALSE(zip_members(""));
  CHECK_FALSE(zip_members("PK\3\4"));
  std::string end("PK\5\6");
  end += std::string(18, '\0');
  CHECK(zip_members(end)->empty());
  end[12] = 1;  // the size of the directory is given as one byte
  CHECK_FALSE(zip_members(end));
}
