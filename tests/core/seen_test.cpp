#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "depyf/seen.h"
#include "links/seen.h"

using namespace depyf;
using links::buffer_writers;

TEST_CASE("seen: the first call that names a buffer writes it") {
  const auto writers = buffer_writers(R"(
async_compile = AsyncCompile()
def call(args):
    arg0_1, = args
    buf0 = empty_strided_cpu((8,), (1,), torch.float32)
    buf1 = buf0; del buf0  # reuse
    cpp_fused_a_0(arg0_1, buf1)
    buf2 = empty_strided_cpu((8,), (1,), torch.float32)
    extern_kernels.mm(buf1, arg0_1, out=buf2)
    buf3 = torch.ops.aten.sort.default(buf2)
    buf4 = reinterpret_tensor(buf2, (4, 2), (2, 1), 0)
    with torch.cuda._DeviceGuard(0):
        triton_b_1.run(buf4, buf5, 8, stream=stream0)
        kernels[0](buf5,  # buf7 is in a comment
                   buf6)
    buf8 = buf6 + f(buf7)
    assert_size_stride(buf9, (8,), (1,))
    return (buf5, )
cpp_fused_a_0 = async_compile.cpp_pybinding(['float*'], r''' ''')
other(buf10)
)");
  CHECK(writers.at("buf1") == "cpp_fused_a_0");
  CHECK(writers.at("buf2") == "extern_kernels.mm");
  CHECK(writers.at("buf3") == "torch.ops.aten.sort.default");
  CHECK(writers.at("buf5") == "triton_b_1");
  CHECK(writers.at("buf6") == "?");
  for (const char* buffer : {"buf0", "buf7", "buf8", "buf9", "buf10"}) CHECK_FALSE(writers.contains(buffer));
  CHECK(buffer_writers("#include <cpp>").empty());
}

namespace {

// A captured node h of line 7, its nodes a_h and b_h in the forward graph, and their kernel, which the output code
// defines and calls.
Seen seen_by_depyf() {
  const auto line = std::make_shared<const SeenLine>(SeenLine{"/x/m.py", 7, "h = gelu(x)", "f"});
  Seen seen{{{"h", "gelu", line, {}, {}, false, "blocks.0"}}, {}, 5, {}};
  seen.directions.push_back({"forward",
                             {{"a_h", "aten.erf", line, {{"h", 5}}, 3, false, "blocks.0"}},
                             {{"b_h", "aten.erf", {}, {}, 3, false, ""}},
                             {{{"op0", "loops", {"buf0"}, {}, {"b_h"}, ""}}},
                             {},
                             "\ncpp_fused_0 = async_compile.x('')\ndef call(args):\n    cpp_fused_0(arg, buf0)\n"});
  return seen;
}

}  // namespace

TEST_CASE("seen: a captured node leads to its kernel, and output code back to its line and module") {
  Provenance provenance(seen_by_depyf(),
                        [](const std::string&) { return std::map<std::string, std::vector<std::string>>(); });
  CHECK(provenance.story() == std::vector<std::string>{"- m.py:7 `h` (gelu): forward cpp_fused_0"});
  CHECK(provenance.annotated("k.py", "kernel", "forward",
                             "import x\n#~ older\ncpp_fused_0 = async_compile.x('')\ndef call(args):\n"
                             "    # Topologically Sorted Source Nodes: [a, b, c], Original ATen: [aten.erf]\n"
                             "    # buffer buf0 (op: op0) is assumed to be not aligned\n"
                             "    cpp_fused_0(arg, buf0)  #~ older\n") ==
        "import x\n#~ blocks.0 (m.py:7) h = gelu(x)\ncpp_fused_0 = async_compile.x('')\ndef call(args):\n"
        "    # Source Nodes: [..., c]  #~ blocks.0 (m.py:7)\n    # buffer buf0 is assumed to be not aligned\n"
        "    cpp_fused_0(arg, buf0)\n");
  CHECK(provenance.annotated("k.py", "kernel", "forward", "def call(args):\n    cpp_fused_0(arg, buf0)\n") ==
        "def call(args):\n    cpp_fused_0(arg, buf0)  #~ blocks.0 (m.py:7)\n");
  CHECK(provenance.annotated(
            "k.py", "kernel", "forward",
            "def call(args):\n    # Topologically Sorted Source Nodes: [a, b, c]\n    cpp_other_1(arg)\n") ==
        "def call(args):\n    # Source Nodes: [..., c]\n    cpp_other_1(arg)\n");
  CHECK(provenance.annotated("c.py", "Captured_Graph", "", "def forward(self, x):\n    h = gelu(x)\n") ==
        "def forward(self, x):\n    h = gelu(x)  #~ forward: cpp_fused_0\n");
  const std::string json = provenance.to_json({"0/0", "f", 1, {}});
  CHECK(json.find(R"("post_grad":["b_h"],"operations":["op0"],"kernels":["cpp_fused_0"],"not_recorded":[])") !=
        std::string::npos);
  CHECK(json.find(R"("lines":{"h":2})") != std::string::npos);
}

TEST_CASE("seen: nodes that a pass replaced are asked for, and a missing stage is said with its reason") {
  std::vector<std::string> asked;
  Seen seen{{{"h", "gelu", {}, {}, {}, false, ""}}, {}, 5, {}};
  seen.directions.push_back({"forward",
                             {{"n", "aten.erf", {}, {{"h", 5}}, {}, false, ""}},
                             {{"new", "aten.x", {}, {}, {}, false, ""}},
                             {},
                             {},
                             ""});
  Provenance provenance(std::move(seen), [&](const std::string& direction) {
    asked.push_back(direction);
    return std::map<std::string, std::vector<std::string>>{{"new", {"n"}}};
  });
  CHECK(asked == std::vector<std::string>{"forward"});
  const std::string json =
      provenance.to_json({"0/0", "f", std::nullopt, {{"ir_post_fusion", "forward", "it came from a cache"}}});
  CHECK(json.find(R"("post_grad":["new"])") != std::string::npos);
  CHECK(json.find("kernels are not linked: it came from a cache") != std::string::npos);
  CHECK(json.find("operations: depyf did not see Inductor's IR") != std::string::npos);
}
