// The page: hashes, bytes of shapes, texts that would end the script element.
#include <doctest/doctest.h>

#include "depyf/page.h"
#include "page/memory.h"
#include "page/sha256.h"

using namespace depyf;

TEST_CASE("page: SHA-256 is that of the standard, at every place of the padding") {
  CHECK(page::sha256_base64("") == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  CHECK(page::sha256_base64("abc") == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  CHECK(page::sha256_base64(std::string(56, 'a')) == "s1Q5pKxvCUi21vnjxq8PX1kM4g8b3nCQ73lwaG7Gc4o=");
  CHECK(page::sha256_base64(std::string(1000, 'a')) == "Qe3s5C1j6Nm/UVqbppMuHCDLyfWl0TRkWttdsblzfqM=");
}

TEST_CASE("page: the bytes of a shape, where all of it is numbers") {
  CHECK(page::bytes_of("f32[8, 256][256, 1]cpu") == 8192);
  CHECK(page::bytes_of("b8[][]cpu") == 1);
  CHECK(page::bytes_of("bf16[3]") == 6);
  CHECK(page::bytes_of("i64[0, 7]") == 0);
  CHECK_FALSE(page::bytes_of("f32[s77, 64][64, 1]cpu"));
  CHECK_FALSE(page::bytes_of("Sym(s77)"));
  CHECK_FALSE(page::bytes_of("f32[8"));
  CHECK_FALSE(page::bytes_of("f32[99999999999, 99999999999]"));
  CHECK_FALSE(page::bytes_of(""));
}

TEST_CASE("page: no text of the record ends the script element that holds it") {
  record::Run run;
  record::Process& process = run.processes.emplace_back();
  process.log = "</script><script>alert(1)</script>";
  record::Compilation& compilation = process.compilations.emplace_back();
  compilation.id = "<!--";
  compilation.place = {"</SCRIPT>.py", "<img>", "\xe2\x80\xa8\x1b", 3};
  const std::string html =
      html_page(run, {{{{"captured", "", "</script>", "\xe2\x80\xa9</script >\x01"}}}}, nullptr, {"<script>"});
  std::size_t elements = 0;
  for (std::size_t at = html.find("<script"); at != std::string::npos; at = html.find("<script", at + 1)) ++elements;
  CHECK(elements == 2);
  CHECK(html.find("<!--") == std::string::npos);
  CHECK(html.find("\xe2\x80\xa8") == std::string::npos);
  CHECK(html.find('\x1b') == std::string::npos);
  CHECK(html.find('\x01') == std::string::npos);
}
