#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "depyf/dump.h"
#include "depyf/links.h"
#include "depyf/texts.h"
#include "record/graph.h"
#include "texts/lines.h"
#include "texts/markdown.h"
#include "texts/tables.h"
#include "trace/output_code.h"

using namespace depyf;

namespace {

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Returns the beginning of transformed code for `layers` layers.
std::string layers(int count) {
  std::string text = "def forward(self):\n    modules = self._modules\n";
  for (int i = 0; i < count; ++i) {
    const std::string number = i ? "_" + std::to_string(i) : "";
    text += "    layer" + number + " = modules[\"" + std::to_string(i) + "\"]\n";
    text += "    weight" + number + " = layer" + number + ".weight\n";
    text += "    bias" + number + " = layer" + number + ".bias\n";
  }
  return text + "    return run(weight, bias)\n";
}

}  // namespace

TEST_CASE("layers that differ in numbers alone stand once") {
  const std::string text = folded(layers(24), "code.py", 3);
  CHECK(text ==
        "def forward(self):\n"
        "    modules = self._modules\n"
        "    layer = modules[\"0\"]\n"
        "    weight = layer.weight\n"
        "    bias = layer.bias\n"
        "    # ... and the same 3 lines 23 times more, for 1 to 23 in place of 0: lines 8 to 76 of code.py\n"
        "    return run(weight, bias)\n");
  CHECK(lines_in(folded(layers(1000), "code.py", 1)) == 7);
  // Two layers are shown in full, because folding would not shorten the text.
  CHECK(folded(layers(2), "code.py", 3) == layers(2));
}

TEST_CASE("links of lines to kernels keep no layers apart") {
  std::string text;
  for (int i = 0; i < 9; ++i)
    text += "    add = relu(x)  #~ forward: kernel_" + std::string(1, static_cast<char>('a' + i)) + "\n";
  CHECK(folded(text, "graph.py", 1) ==
        "    add = relu(x)  #~ forward: kernel_a\n"
        "    # ... and a line like it 8 times more: lines 2 to 9 of graph.py\n");
}

TEST_CASE("what is not the same is not folded") {
  std::string text = layers(9);
  text.replace(text.find("layer_4.bias"), 12, "layer_4.gain");
  const std::string shown = folded(text, "code.py", 1);
  CHECK(shown.find("layer_4.gain") != std::string::npos);
  CHECK(lines_in(shown) < lines_in(text));
  // Lines with open brackets are no complete statements, so they are not folded.
  std::string nested;
  for (int i = 0; i < 20; ++i) nested += "f" + std::to_string(i) + "(\n";
  CHECK(folded(nested, "", 1) == nested);
  CHECK(folded("", "code.py", 1).empty());
}

TEST_CASE("a long head has a parameter in each line, which fold") {
  std::string head = "    def forward(self";
  for (int i = 0; i < 40; ++i) head += ", L_blocks_" + std::to_string(i) + "_weight_: \"f32[4, 4][4, 1]cpu\"";
  const std::string text = folded(head + "):\n        return 1", "graph.py", 5);
  CHECK(text ==
        "    def forward(\n"
        "        self,\n"
        "        L_blocks_0_weight_: \"f32[4, 4][4, 1]cpu\",\n"
        "        # ... and a line like it 39 times more, for 1 to 39 in place of 0: line 5 of graph.py\n"
        "    ):\n"
        "        return 1\n");
  CHECK(folded("def f(a, b):\n    pass", "", 1) == "def f(a, b):\n    pass\n");
}

TEST_CASE("one index that runs through numbers folds conditions") {
  using Lines = std::vector<std::string>;
  Lines heads;
  for (int i = 0; i < 24; ++i) {
    heads.push_back("self.blocks[" + std::to_string(i) + "].heads == 4");
    heads.push_back("self.blocks[" + std::to_string(i) + "].mlp[1].p == 0.1");
  }
  heads.push_back("self.blocks[30].heads == 4");
  heads.push_back("self.blocks[5].heads == 8");
  CHECK(folded_conditions(heads) == Lines{"self.blocks[0..23].heads == 4", "self.blocks[0..23].mlp[1].p == 0.1",
                                          "self.blocks[30].heads == 4", "self.blocks[5].heads == 8"});
  CHECK(folded_conditions({"x.shape[0] == 2", "x.shape[1] == 2"}) == Lines{"x.shape[0] == 2", "x.shape[1] == 2"});
  CHECK(folded_conditions({"x[", "x[1", "", "x[99999999999999999999] == 1"}).size() == 4);
}

TEST_CASE("text is shown in Markdown as it is") {
  using namespace texts;
  CHECK(code("x") == "`x`");
  CHECK(code("a`b") == "``a`b``");
  CHECK(code("`a``") == "``` `a`` ```");
  CHECK(prose("*no* `code` <b> &amp; a_b_ c") == "\\*no\\* `code` \\<b> \\&amp; a_b\\_ c");
  CHECK(prose("# no heading") == "\\# no heading");
  CHECK(prose("1. no list") == "1\\. no list");
  CHECK(literal("f`g") == "f\\`g");
  CHECK(literal("a\nb\x1b") == "a\\nb\\x1b");
  CHECK(cell("a|b") == "a\\|b");
}

TEST_CASE("a code span of Markdown holds any text") {
  using texts::code;
  CHECK(code("f") == "`f`");
  CHECK(code("a`b") == "``a`b``");
  CHECK(code("`") == "`` ` ``");
  CHECK(code("a\nb") == "`a\\nb`");
  constexpr std::string_view characters = "ab`*_|<>[]()\\!&#~-+=.1:;\"x/";
  std::mt19937 chance(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::size_t size = 1 + chance() % 11; size; --size) text += characters[chance() % characters.size()];
    // By CommonMark's rules the span ends at the first run of as many backticks as it begins with.
    const std::string span = code(text);
    const std::size_t fence = span.find_first_not_of('`');
    std::size_t end = fence;
    while (end < span.size()) {
      end = span.find('`', end);
      const std::size_t run_end = std::min(span.find_first_not_of('`', end), span.size());
      if (run_end - end == fence) break;
      end = run_end;
    }
    REQUIRE(end + fence == span.size());
    std::string content = span.substr(fence, end - fence);
    if (content.starts_with(' ') && content.ends_with(' ')) content = content.substr(1, content.size() - 2);
    REQUIRE(content == text);
  }
}

TEST_CASE("Markdown is shown character by character outside of code spans") {
  using texts::prose;
  CHECK(prose("a break at f.py:3: `x`. See torch._dynamo.config") ==
        "a break at f.py:3: `x`. See torch._dynamo.config");
  CHECK(prose("f.<locals>.g of <b>") == "f.\\<locals>.g of \\<b>");
  CHECK(prose("*bold* and __init__ and 2 * 3") == "\\*bold\\* and __init\\_\\_ and 2 * 3");
  CHECK(prose("[here](http://x)") == "\\[here]\\(http://x)");
  CHECK(prose("one ` backtick") == "one \\` backtick");
  CHECK(prose("a \\n and a \\*") == "a \\n and a \\\\\\*");
  CHECK(prose("1. no list") == "1\\. no list");
}

TEST_CASE("texts become lines as Python's own library makes them") {
  using texts::python_lines;
  using texts::wrapped;
  using Lines = std::vector<std::string>;
  CHECK(python_lines("") == Lines{});
  CHECK(python_lines("a\n\nb\r\nc\x0c"
                     "d\xe2\x80\xa8"
                     "e\n") == Lines{"a", "", "b", "c", "d", "e"});
  CHECK(wrapped("the re-used value of a well-known x-1 long-named --option -b and e--f that --- goes on", 20) ==
        Lines{"the re-used value of", "a well-known x-1", "long-named --option", "-b and e--f that ---", "goes on"});
  CHECK(wrapped("  indented words that go on for some time", 16, "        ") ==
        Lines{"  indented words", "        that go", "        on for", "        some", "        time"});
  CHECK(wrapped("averyveryverylongword_that-cannot_be_broken_but_at_its-hyphens", 24, "  ") ==
        Lines{"averyveryverylongword_th", "  at-cannot_be_broken_bu", "  t_at_its-hyphens"});
  CHECK(wrapped("a\tb \n c \xc3\xa9t\xc3\xa9-\xc3\xa0-la-carte and more", 12) ==
        Lines{"a       b", "c \xc3\xa9t\xc3\xa9-\xc3\xa0-la-", "carte and", "more"});
  CHECK(wrapped("", 10) == Lines{});
  CHECK(wrapped("   ", 10) == Lines{});
  CHECK(wrapped("short", 10) == Lines{"short"});
  CHECK(wrapped("L['self'].blocks[0].attn.heads == 4 or L['x'].size()[0] -- see model.py:12", 30, "    ") ==
        Lines{"L['self'].blocks[0].attn.heads", "    == 4 or L['x'].size()[0]", "    -- see model.py:12"});
}

TEST_CASE("the index of a dump is one screen, and the pages have the rest") {
  std::string frames;
  for (int i = 0; i < 200; ++i) {
    if (i) frames += ",";
    frames +=
        R"({"compile_id": ")" + std::to_string(i) + R"(/0", "function": "f", "name": "Net.f)" + std::to_string(i) +
        R"(", "filename": "/a/net.py", "line": 7, "status": ")" + (i % 2 ? "compiled" : "not compiled") +
        R"(", "error": )" + (i % 2 ? "null" : R"("RuntimeError: no |pipe| in\nsecond line")") +
        R"(, "breaks": [{"reason": "print", "explanation": "It prints", "hints": ["Do not"], "line": {"file": "/a/net.py", "line": )" +
        std::to_string(8 + i) + R"(, "text": "print x"}}], "frontier": [{"condition": "x.shape[0] == 2"}]})";
  }
  const std::string session =
      R"({"schema_version": 1, "runs": [{"torch_version": "2.13.0", "python_version": "3.11.7", "frames": [)" + frames +
      R"(], "notes": ["a note\nof two lines"], "full_code": []}]})";
  record::Run run;
  run.processes = read_dump(
      "/dump", {},
      [&](const std::string& name) { return name == "session.json" ? std::optional(session) : std::nullopt; }, false);
  auto files = index_files(run);
  const std::string index = files.at("index.md");
  CHECK(lines_in(index) <= 100);
  CHECK(index.find("**Note.** a note\\nof two lines") != std::string::npos);
  CHECK(index.find("`Net.f0 (net.py:7)` runs eagerly, because of an error: RuntimeError: no |pipe| in") !=
        std::string::npos);
  CHECK(index.find("| `Net.f3` | net.py:7 | [3/0](compilation_3_0.md) |") != std::string::npos);
  CHECK(lines_in(files.at("compilations.md")) == 204);
  CHECK(files.size() == 202);
  CHECK(files.at("compilation_3_0.md").find("- `x.shape[0] == 2`") != std::string::npos);
  for (const auto& [name, text] : files)
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      CHECK_MESSAGE((end - at <= 200 || text[at] == '|'), name);
    }
}

TEST_CASE("tables tell what lines cost: copies, saved tensors, library calls, graphs around breaks") {
  using namespace depyf::record;
  Process process;
  process.compilations.resize(2);
  Compilation &first = process.compilations[0], &second = process.compilations[1];
  first.id = "0/0", second.id = "1/0";
  first.place = {"/a/net.py", "forward", "", 3},
  second.place = {"/a/net.py", "torch_dynamo_resume_in_forward_at_5", "", 5};
  first.graph_operators = 4, second.graph_operators = 7;
  GraphBreak graph_break;
  graph_break.place = {"/a/net.py", "forward", "print(x)", 5};
  graph_break.reason = "A call of print";
  first.breaks.push_back(graph_break);
  first.graphs.push_back(graph_of(R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 1024][1024, 1]cpu", w: "f32[1024, 8][8, 1]cpu"):
        # File: /a/net.py:4 in forward, code: y = x.t().contiguous() @ w
        clone: "f32[4, 1024][1024, 1]cpu" = torch.ops.aten.clone.default(x);  x = None
        mm_1: "f32[4, 8][8, 1]cpu" = torch.ops.aten.mm.default(clone, w)
        sin: "f32[4, 8][8, 1]cpu" = torch.ops.aten.sin.default(mm_1)
        mm_2: "f32[4, 8][8, 1]cpu" = torch.ops.aten.mm.default(clone, w)
        return (sin, w, clone, mm_1, mm_2)
)"));
  first.graphs.back().stage = first.graphs.back().direction = "forward";
  first.graphs.push_back(graph_of(R"(class GraphModule(torch.nn.Module):
    def forward(self, w: "f32[1024, 8][8, 1]cpu", clone: "f32[4, 1024][1024, 1]cpu", mm_1: "f32[4, 8][8, 1]cpu", mm_2: "f32[4, 8][8, 1]cpu", tangents_1: "f32[4, 8][8, 1]cpu"):
        cos: "f32[4, 8][8, 1]cpu" = torch.ops.aten.cos.default(mm_1);  mm_1 = None
        return (cos, None)
)"));
  first.graphs.back().stage = first.graphs.back().direction = "backward";
  OutputCode code;
  code.direction = "forward";
  KernelCall call;
  call.kernel = "extern_kernels.mm", call.kind = "library";
  call.places.push_back({"/a/net.py", "forward", "y = x.t().contiguous() @ w", 4});
  code.calls.push_back(call);
  call.kind = "cpp";
  code.calls.push_back(call);
  first.output_codes.push_back(code);

  const std::string text = texts::tables(process);
  CHECK(text.find("| net.py:5 `print(x)` | A call of print | 0/0 (4) | 1/0 (7) |") != std::string::npos);
  CHECK(text.find("| net.py:4 `y = x.t().contiguous() @ w` | `extern_kernels.mm` | 1 | 0 |") != std::string::npos);
  CHECK(text.find("| net.py:4 `y = x.t().contiguous() @ w` | `clone f32[4, 1024]` | 1 | 0 |") != std::string::npos);
  CHECK(
      text.find("3 tensors of 16 KiB that the forward computes and keeps until the backward, in addition to 1 input") !=
      std::string::npos);
  CHECK(text.find("| net.py:4 `y = x.t().contiguous() @ w` | 1 | 16 KiB | `f32[4, 1024]` | `clone` |") !=
        std::string::npos);
  CHECK(text.find("| net.py:4 `y = x.t().contiguous() @ w` | 2 | 256 B | `f32[4, 8]` | `mm_1` |") != std::string::npos);
  CHECK(texts::tables(Process()).empty());
}
