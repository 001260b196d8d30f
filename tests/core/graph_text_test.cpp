#include "depyf/graph_text.h"

#include <doctest/doctest.h>

#include "record/graph.h"

namespace depyf {
namespace {

// A forward graph as PyTorch prints it, with the descriptors of its inputs.
constexpr std::string_view forward = R"(class GraphModule(torch.nn.Module):
    def forward(
        self,
        primals_1: "f32[4, 4][4, 1]cpu",  # PlainAOTInput(idx=0)
        primals_2: "f32[4][1]cpu",  # PlainAOTInput(idx=1)
        primals_3: "f32[4][1]cpu",  # ParamAOTInput(target='L__self___head.weight')
        tangents_1: "f32[4][1]cpu",  # TangentAOTInput(output=PlainAOTOutput(idx=0))
    ):
        # File: a.py:3 in forward, code: x + self.layer(x)
        mm: "f32[4][1]cpu" = torch.ops.aten.mm.default(primals_1, primals_2);  primals_1 = None

        # File: a.py:4 in forward, code: x + 1
        add: "f32[4][1]cpu" = torch.ops.aten.add.Tensor(mm, primals_2, alpha = 2);  mm = None

        # File: a.py:9 in forward, code: x * 2
        mul: "f32[4][1]cpu" = torch.ops.aten.mul.Tensor(add, 2);  add = None
        return (
            mul,  # PlainAOTOutput(idx=0)
            primals_2,  # GradAOTOutput(grad_of=PlainAOTInput(idx=0))
        )
)";

TEST_CASE("an input of a graph gets the name of the user's parameter") {
  CHECK(input_name("l_x_", "L['self']._modules['blocks']._modules['0']._parameters['weight']") == "blocks_0_weight");
  CHECK(input_name("l_x_", "L['batch']['ids']") == "batch_ids");
  CHECK(input_name("s77", "L['x'].size()[0]") == "s77");
  CHECK(input_name("l_self_modules_blocks_modules_0_buffers_mean_", "") == "blocks_0_mean");

  const Renames renames = input_names(forward, {"layer_weight", "add"});
  const std::string text = with_input_names(forward, renames);
  CHECK(text.find("        layer_weight: \"f32[4, 4][4, 1]cpu\",  # PyTorch's primals_1\n") != std::string::npos);
  CHECK(text.find("        head_weight: \"f32[4][1]cpu\",  # PyTorch's primals_3\n") != std::string::npos);
  CHECK(text.find("mm.default(layer_weight, add_);  layer_weight = None\n") != std::string::npos);
  CHECK(text.find("            add_,  # gradient of layer_weight\n") != std::string::npos);
  CHECK(text.find("tangents_1: \"f32[4][1]cpu\",  # TangentAOTInput") != std::string::npos);
  CHECK(input_names_in(text) ==
        Renames{{"primals_1", "layer_weight"}, {"primals_2", "add_"}, {"primals_3", "head_weight"}});
}

TEST_CASE("inputs keep PyTorch's names where another graph was captured") {
  CHECK(input_names(forward, {"a", "b", "c"}).empty());
  CHECK(input_names(forward, {"a"}).empty());
}

TEST_CASE("a name that is no identifier or is taken gets another") {
  const Renames renames = input_names(forward, {"lambda", "lambda"});
  REQUIRE(renames.size() > 1);
  CHECK(renames[0].second == "lambda_");
  CHECK(renames[1].second == "lambda__");
  CHECK(input_names(forward, {"0_weight", "b"})[0].second == "self_0_weight");
}

TEST_CASE("a graph is read by PyTorch's names, whatever names its file shows") {
  const record::Graph plain = record::graph_of(forward);
  const std::string renamed = with_input_names(forward, input_names(forward, {"layer_weight", "add"}));
  const record::Graph graph = record::graph_of(with_headings(renamed, {{"mm", "layer"}, {"mul", "norm"}}));
  REQUIRE(graph.nodes.size() == plain.nodes.size());
  for (std::size_t i = 0; i < plain.nodes.size(); ++i) {
    CHECK(graph.nodes[i].name == plain.nodes[i].name);
    CHECK(graph.nodes[i].inputs == plain.nodes[i].inputs);
    CHECK(graph.nodes[i].place.line == plain.nodes[i].place.line);
  }
  CHECK(graph.outputs == plain.outputs);
}

TEST_CASE("nodes stand under their module, and lines of one module together") {
  const std::string text = with_headings(forward, {{"mm", "layer"}, {"add", "layer"}, {"mul", "norm"}});
  CHECK(text.find("    ):\n        # layer\n        # File: a.py:3") != std::string::npos);
  CHECK(text.find("primals_1 = None\n        # File: a.py:4") != std::string::npos);
  CHECK(text.find("add.Tensor(mm, primals_2, alpha = 2);  mm = None\n\n        # norm\n        # File: a.py:9") !=
        std::string::npos);
  CHECK(with_headings(forward, {}) == forward);
}

TEST_CASE("a comment that names a line of source is cut, within no character") {
  const std::string start = "        # File: a.py:3 in f, code: ";
  const std::string text = "def f():\n" + start + std::string(400, 'x') + "\n        y = x";
  const std::string cut = with_headings(text, {});
  CHECK(cut == "def f():\n" + start + std::string(196 - start.size(), 'x') + " ...\n        y = x");
  std::string wide;
  for (int i = 0; i < 200; ++i) wide += "\u00e9";
  const std::string of_wide = with_headings("def f():\n" + start + " " + wide + "\n        y = x", {});
  CHECK(of_wide.find("\u00e9 ...\n") != std::string::npos);
}

}  // namespace
}  // namespace depyf

TEST_CASE("a remark is as long as there is room, and counts the rest") {
  const depyf::Remark remark{"",
                             {{"forward: ", {"cpp_fused_add_0", "cpp_fused_mul_1"}, 2, "kernel", ""},
                              {"; backward: ", {"cpp_fused_sum_0"}, 9, "kernel", ")"}}};
  CHECK(depyf::remark_text(remark, 100) ==
        "forward: cpp_fused_add_0, cpp_fused_mul_1; backward: cpp_fused_sum_0 and 8 more)");
  CHECK(depyf::remark_text(remark, 79) == "forward: cpp_fused_add_0 and 1 more; backward: cpp_fused_sum_0 and 8 more)");
  CHECK(depyf::remark_text(remark, 60) == "forward: cpp_fused_add_0 and 1 more; backward: 9 kernels)");
  CHECK(depyf::remark_text(remark, 41) == "forward: 2 kernels; backward: 9 kernels)");
  CHECK(depyf::remark_text(remark, 20).empty());
  CHECK(depyf::remark_text({"no kernel: it computes nothing", {}}, 30) == "no kernel: it computes nothing");
  CHECK(depyf::remark_text({"no kernel: it computes nothing", {}}, 25) == "no kernel: it ...");
  CHECK(depyf::remark_text({"no kernel: it computes nothing", {}}, 3).empty());
}
