// Tests of parts of the page: hashes, bytes of shapes, texts that would end the script element.
#include <doctest/doctest.h>

#include "depyf/page.h"
#include "page/compare_texts.h"
#include "page/highlight.h"
#include "page/redact_text.h"
#include "page/sha256.h"
#include "record/memory.h"

using namespace depyf;

TEST_CASE("page: SHA-256 is that of the standard, at every place of the padding") {
  CHECK(page::sha256_base64("") == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  CHECK(page::sha256_base64("abc") == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  CHECK(page::sha256_base64(std::string(56, 'a')) == "s1Q5pKxvCUi21vnjxq8PX1kM4g8b3nCQ73lwaG7Gc4o=");
  CHECK(page::sha256_base64(std::string(1000, 'a')) == "Qe3s5C1j6Nm/UVqbppMuHCDLyfWl0TRkWttdsblzfqM=");
}

TEST_CASE("page: the bytes of a shape, where all of it is numbers") {
  CHECK(record::bytes_of("f32[8, 256][256, 1]cpu") == 8192);
  CHECK(record::bytes_of("b8[][]cpu") == 1);
  CHECK(record::bytes_of("bf16[3]") == 6);
  CHECK(record::bytes_of("i64[0, 7]") == 0);
  CHECK_FALSE(record::bytes_of("f32[s77, 64][64, 1]cpu"));
  CHECK_FALSE(record::bytes_of("Sym(s77)"));
  CHECK_FALSE(record::bytes_of("f32[8"));
  CHECK_FALSE(record::bytes_of("f32[99999999999, 99999999999]"));
  CHECK_FALSE(record::bytes_of(""));
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

TEST_CASE("page: names count as equal whatever numbers they end on, and hashes and comments are none of the row") {
  CHECK(page::normalised("  mul_3: \"f32[8]\" = aten.mul(buf7, primals_12);  # File: a.py:3") ==
        "  mul: \"f32[8]\" = aten.mul(buf, primals);");
  CHECK(page::normalised("call __compiled_fn_5(x, 64, s77) 0123456789abcdef0123") == "call __compiled_fn(x, 64, s77)");
  CHECK(page::normalised("f64 = conv2d(x1)") == "f64 = conv2d(x1)");
}

TEST_CASE("page: the rows that two texts share are in order and equal, and none is missed where they are few") {
  auto count = [](std::string_view first, std::string_view second) {
    int sum = 0;
    int last_first = -1, last_second = -1;
    for (const page::SameRows& run : page::same_rows(first, second)) {
      CHECK(run.first > last_first);
      CHECK(run.second > last_second);
      last_first = run.first + run.count - 1, last_second = run.second + run.count - 1;
      sum += run.count;
    }
    return sum;
  };
  CHECK(count("a\nb\nc\n", "a\nb\nc\n") == 3);
  CHECK(count("a\nb\nc\nd", "b\nx\nd\na") == 2);
  CHECK(count("", "a") == 0);
  CHECK(count("a\nmul_1 = b\n", "mul_7 = b\nz\n") == 1);
  std::string many, others;  // too many lines for a table of all pairs of lines
  for (int i = 0; i < 4000; ++i) {
    many += "row " + std::to_string(i * 7) + " x\n";
    if (i % 2) others += "other " + std::to_string(i) + " y\n";
    else others += "row " + std::to_string(i * 7) + " x\n";
  }
  CHECK(count(many, others) == 2000);
}

TEST_CASE("page: a redacted text keeps public words, sizes and places, and nothing else") {
  page::TextRedactor text;
  text.add_path("/mnt/secret project/train.py");
  text.add_shape("f32[8, 640][640, 1]cpu");
  CHECK(text.path("/mnt/secret project/train.py") == "file1.py");
  CHECK(text.path("/usr/lib/python3/site-packages/torch/nn/modules/linear.py") == "/torch/nn/modules/linear.py");
  CHECK(text.code("y: \"f32[8, 640][640, 1]cpu\" = torch.nn.functional.gelu(zebra_1, 0.75, 641, 640)") ==
        "y: \"f32[8, 640][640, 1]cpu\" = torch.nn.functional.gelu(name1_1, \xe2\x80\xa6, \xe2\x80\xa6, 640)");
  CHECK(text.code("# File: /mnt/secret project/train.py:7 in zebra, code: y = relu(x)") == "# File: file1.py:7");
  CHECK(text.code("and L['zebra'].mode == 'zebra'  # y = relu(x)  # train.py:7 in zebra") ==
        "and L['name1'].mode == '\xe2\x80\xa6'  # \xe2\x80\xa6 # file1.py:7");
  CHECK(text.code("import zebra as z\nreturn 5120") == "import \xe2\x80\xa6\nreturn 5120");  // 8 * 640 elements
  CHECK(text.code("name4 = 'it ends nowhere") == "name2 = it name3 name4");
  CHECK(text.name("blocks.12.zebra.weight") == "blocks.12.name1.weight");
  text.add_private_name("ostrich");
  CHECK(text.sentence("the ostrich is a library call (extern_kernels.mm) of `zebra`") ==
        "the name5 is a library call (extern_kernels.mm) of `name1`");
}

TEST_CASE("page: the colours of code") {
  CHECK(page::highlights("def f(x):  # why\n  return 'a' + 1.5e-3") == "w0.3c8.5\nw2.6s1.3n3.6");
  CHECK(page::highlights("x = _for\nis_not = f1") == "\n");  // a keyword within a name is no keyword
  CHECK(page::highlights("it's # it") == "c5.4");  // a quote that nothing closes
  CHECK(page::highlights("rb'\\'' + f(\"\\\")") == "s0.6");
  // A string over several rows, so that a row may begin inside a string.
  CHECK(page::highlights("\"\"\"First\nif\n\nlast\"\"\" + 1") == "s\nS\nS\nS0.7n3.1");
  CHECK(page::highlights("'''never closed\nfor") == "s\nS");
  // C++ kernels have the keywords and comments of C++, Triton kernels those of Python.
  CHECK(page::highlights("k = async_compile.cpp_pybinding([], r'''\n#include <x>\n  for (int i) // 1\n''')\nfor") ==
        "s36.4\nw0.12\nw2.3w2.3c4.4\ns0.3\nw0.3");
  CHECK(page::highlights("k = async_compile.triton('k', '''\nimport x\n''', device='y')") ==
        "s25.3s2.3\nw0.6\ns0.3s9.3");
  // JavaScript counts a character above U+FFFF as two.
  CHECK(page::highlights("\xf0\x9f\x98\x80 = 1") == "n5.1");
  CHECK(page::highlights("\"\xc3\xa9\xe2\x82\xac\" 2") == "s0.4n1.1");
  CHECK(page::highlights("") == "");
}
