#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "depyf/links.h"
#include "links/captured.h"
#include "links/index.h"
#include "record/graph.h"
#include "support/words.h"
#include "trace/output_code.h"

using namespace depyf;
using namespace depyf::record;

namespace {

// A layer as PyTorch 2.13 prints it: linear and gelu are on one line, so that the line alone does not distinguish them.
constexpr const char* captured_text = R"(class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[8, 64][64, 1]cpu", L_self_modules_b1_modules_fc1_parameters_weight_: "f32[256, 64][64, 1]cpu"):
        l_x_ = L_x_
        l_w_ = L_self_modules_b1_modules_fc1_parameters_weight_

        # File: /a/train.py:12 in forward, code: h = gelu(self.fc1(x))
        linear: "f32[8, 256][256, 1]cpu" = torch._C._nn.linear(l_x_, l_w_, None);  l_x_ = l_w_ = None
        h: "f32[8, 256][256, 1]cpu" = torch._C._nn.gelu(linear, approximate = 'linear');  linear = None

        # File: /a/train.py:13 in forward, code: return h + 1
        out: "f32[8, 256][256, 1]cpu" = h + 1;  h = None
        return (out,)
)";

constexpr const char* joint_text = R"(class inner_f(torch.nn.Module):
    def forward(
        self,
        primals,
        tangents,
    ):
        primals_1: "f32[8, 64][64, 1]cpu"  # PlainAOTInput(idx=0)
        primals_2: "f32[256, 64][64, 1]cpu"  # PlainAOTInput(idx=1)
        tangents_1: "f32[8, 256][256, 1]cpu"  # TangentAOTInput(output=PlainAOTOutput(idx=0))
        primals_1, primals_2, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)
        # File: /a/train.py:12 in forward, code: h = gelu(self.fc1(x))
        permute: "f32[64, 256][1, 64]cpu" = torch.ops.aten.permute.default(primals_2, [1, 0]);  primals_2 = None
        mm: "f32[8, 256][256, 1]cpu" = torch.ops.aten.mm.default(primals_1, permute)
        mul: "f32[8, 256][256, 1]cpu" = torch.ops.aten.mul.Tensor(mm, 0.7)
        erf: "f32[8, 256][256, 1]cpu" = torch.ops.aten.erf.default(mul);  mul = None
        mul_1: "f32[8, 256][256, 1]cpu" = torch.ops.aten.mul.Tensor(mm, erf);  erf = None

        # File: /a/train.py:13 in forward, code: return h + 1
        add: "f32[8, 256][256, 1]cpu" = torch.ops.aten.add.Tensor(mul_1, 1);  mul_1 = None

        # File: /a/train.py:12 in forward, code: h = gelu(self.fc1(x))
        exp: "f32[8, 256][256, 1]cpu" = torch.ops.aten.exp.default(mm);  mm = None
        mul_2: "f32[8, 256][256, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, exp);  tangents_1 = exp = None
        permute_1: "f32[256, 8][1, 256]cpu" = torch.ops.aten.permute.default(mul_2, [1, 0]);  mul_2 = None
        mm_1: "f32[256, 64][64, 1]cpu" = torch.ops.aten.mm.default(permute_1, primals_1);  permute_1 = primals_1 = None
        return pytree.tree_unflatten([
            add,  # PlainAOTOutput(idx=0)
            None,  # None
            mm_1,  # GradAOTOutput(grad_of=PlainAOTInput(idx=1))
        ], self._out_spec)
)";

constexpr const char* code_text = R"(# AOT ID: ['0_forward']
cpp_fused_add_gelu_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''
extern "C"  void  kernel(const float* in_ptr0,
                       float* out_ptr0)
{
}
''')
class Runner:
    def call(self, args):
        primals_1, primals_2 = args
        buf0 = empty_strided_cpu((8, 256), (256, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.t, aten.mm]
        extern_kernels.mm(primals_1, reinterpret_tensor(primals_2, (64, 256), (1, 64), 0), out=buf0)
        buf1 = empty_strided_cpu((8, 256), (256, 1), torch.float32)
        cpp_fused_add_gelu_0(buf0, buf1)
        return (buf1, primals_1, reinterpret_tensor(buf0, (8, 256), (256, 1), 0), )
)";

constexpr const char* post_grad_text = R"(class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[8, 64][64, 1]cpu", primals_2: "f32[256, 64][64, 1]cpu"):
        # File: /a/train.py:12 in forward, code: h = gelu(self.fc1(x))
        permute: "f32[64, 256][1, 64]cpu" = torch.ops.aten.permute.default(primals_2, [1, 0]);  primals_2 = None
        mm: "f32[8, 256][256, 1]cpu" = torch.ops.aten.mm.default(primals_1, permute);  permute = None
        mul: "f32[8, 256][256, 1]cpu" = torch.ops.aten.mul.Tensor(mm, 0.7)
        erf: "f32[8, 256][256, 1]cpu" = torch.ops.aten.erf.default(mul);  mul = None
        mul_1: "f32[8, 256][256, 1]cpu" = torch.ops.aten.mul.Tensor(mm, erf);  erf = None

        # File: /a/train.py:13 in forward, code: return h + 1
        add: "f32[8, 256][256, 1]cpu" = torch.ops.aten.add.Tensor(mul_1, 1);  mul_1 = None
        return (add, primals_1, mm)
)";

Graph graph(const char* text, const char* stage, const char* direction = "") {
  Graph result = graph_of(text);
  result.stage = stage, result.direction = direction;
  return result;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("graph: nodes with operator, shape, place, module and inputs") {
  const Graph captured = graph_of(captured_text);
  REQUIRE(captured.nodes.size() == 5);
  CHECK(captured.nodes[0].name == "l_x_");
  CHECK(captured.nodes[0].op == "placeholder");
  CHECK(captured.nodes[1].module == "b1.fc1");
  const Node& linear = captured.nodes[2];
  CHECK(linear.op == "torch._C._nn.linear");
  CHECK(linear.shape == "f32[8, 256][256, 1]cpu");
  CHECK(linear.module == "b1.fc1");
  CHECK(linear.inputs == Names{"l_x_", "l_w_"});
  CHECK(linear.place.file == "/a/train.py");
  CHECK(linear.place.line == 12);
  CHECK(linear.place.function == "forward");
  CHECK(linear.place.text == "h = gelu(self.fc1(x))");
  CHECK(captured.nodes[3].inputs == Names{"linear"});  // the name in the string argument is no input
  CHECK(captured.nodes[4].op == "operator.add");
  CHECK(captured.outputs == Names{"out"});
}

TEST_CASE("graph: notes of PyTorch in front of a place") {
  const Graph checkpointed = graph_of(R"(class inner_f(torch.nn.Module):
    def forward(self, primals_1: "f32[3]"):
        # ac_graph_id: 3 - PREFER_RECOMPUTE File: /a/net.py:13 in forward, code: return tanh(x) # File: no
        tanh: "f32[3]" = torch.ops.aten.tanh.default(primals_1);  primals_1 = None
        # No stacktrace found for following nodes
        neg: "f32[3]" = torch.ops.aten.neg.default(tanh);  tanh = None
        return (neg,)
)");
  REQUIRE(checkpointed.nodes.size() == 3);
  CHECK(checkpointed.nodes[1].place.file == "/a/net.py");
  CHECK(checkpointed.nodes[1].place.line == 13);
  CHECK(checkpointed.nodes[1].place.text == "return tanh(x) # File: no");
  CHECK(checkpointed.nodes[2].place.file.empty());
}

TEST_CASE("graph: a copy into an input has the line of the value that it copies") {
  const Graph forward = graph_of(R"(class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[3]", primals_2: "f32[3]"):
        # File: /a/net.py:14 in forward, code: x = self.norm(x)
        add_2: "f32[3]" = torch.ops.aten.add.Tensor(primals_1, primals_2)
        # File: /a/net.py:30 in forward, code: return self.head(x)
        mul: "f32[3]" = torch.ops.aten.mul.Tensor(add_2, 2)
        copy_: "f32[3]" = torch.ops.aten.copy_.default(primals_1, add_2);  primals_1 = add_2 = copy_ = None
        copy__1: "f32[3]" = torch.ops.aten.copy_.default(mul, primals_2);  copy__1 = None
        return (mul,)
)");
  REQUIRE(forward.nodes.size() == 6);
  CHECK(forward.nodes[4].name == "copy_");
  CHECK(forward.nodes[4].place.line == 14);
  CHECK(forward.nodes[5].place.line == 30);  // a copy into a value of the graph keeps its own line
}

TEST_CASE("links: a kernel that overwrites inputs computes what is copied into them") {
  Compilation compilation;
  compilation.graphs.push_back(graph(R"(class GraphModule(torch.nn.Module):
    def forward(self, L_state_: "f32[8]", L_grad_: "f32[8]"):
        # File: /a/train.py:30 in step, code: state.lerp_(grad, 0.1)
        lerp_: "f32[8]" = L_state_.lerp_(L_grad_, 0.1);  L_state_ = L_grad_ = lerp_ = None
        return ()
)",
                                     "captured"));
  compilation.graphs.push_back(graph(R"(class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[8][1]cpu", arg1_1: "f32[8][1]cpu"):
        # File: /a/train.py:30 in step, code: state.lerp_(grad, 0.1)
        mul: "f32[8][1]cpu" = torch.ops.aten.mul.Tensor(arg1_1, 0.1)
        add: "f32[8][1]cpu" = torch.ops.aten.add.Tensor(arg0_1, mul);  mul = None
        copy_: "f32[8][1]cpu" = torch.ops.aten.copy_.default(arg0_1, add);  arg0_1 = add = copy_ = None
        return ()
)",
                                     "post_grad", "inference"));
  compilation.output_codes.push_back(trace::read_output_code(R"(# AOT ID: ['0_inference']
cpp_fused_add_mul_0 = async_compile.cpp_pybinding(['const float*', 'const float*', 'float*'], r'''
extern "C"  void  kernel(const float* in_ptr0,
                       const float* in_ptr1,
                       float* out_ptr0)
{
}
''')
def call(args):
    arg0_1, arg1_1 = args
    cpp_fused_add_mul_0(arg0_1, arg1_1, arg0_1)
    return ()
)"));
  link(compilation);
  REQUIRE(compilation.output_codes[0].calls.size() == 1);
  const KernelCall& call = compilation.output_codes[0].calls[0];
  CHECK(joined(call.writes, " ") == "arg0_1'1");
  CHECK(call.nodes == Names{"mul", "add", "copy_"});
  REQUIRE(call.places.size() == 1);
  CHECK(call.places[0].line == 30);
}

TEST_CASE("graph: a joint graph declares its inputs, and returns None for what has no gradient") {
  const Graph joint = graph_of(joint_text);
  CHECK(joint.nodes.size() == 13);
  CHECK(joint.nodes[0].name == "primals_1");
  CHECK(joint.outputs == Names{"add", "", "mm_1"});
}

TEST_CASE("graph: methods, items, attributes, signs and nested graphs") {
  const Graph nested = graph_of(R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]", y: "f32[4]"):
         # File: a.py:1 in f, code: x.sum()
        total = x.sum(dim = 0)
        item = total[0];  total = None
        buffer = self._tensor_constant0
        negative = -item
        power = item ** y
        size = x.shape
        return (power, )

    class cond_true_0(torch.nn.Module):
        def forward(self, z):
            inner = z + 1
            return (inner,)
)");
  REQUIRE(nested.nodes.size() == 8);
  CHECK(nested.nodes[2].op == "Tensor.sum");
  CHECK(nested.nodes[2].place.line == 1);
  CHECK(nested.nodes[3].op == "operator.getitem");
  CHECK(nested.nodes[4].op == "get_attr");
  CHECK(nested.nodes[5].op == "operator.neg");
  CHECK(nested.nodes[6].op == "operator.pow");
  CHECK(nested.nodes[6].inputs == Names{"item", "y"});
  CHECK(nested.nodes[7].op == "getattr");
  CHECK(nested.outputs == Names{"power"});
}

TEST_CASE("graph: of two forward functions the second counts, with its own names alone") {
  const Graph last = graph_of(R"(class GraphModule(torch.nn.Module):
    def forward(self, x, y):
        a = x + y
    def forward(self, z):
        b = a + z
        c = y
        return (b,)
)");
  REQUIRE(last.nodes.size() == 3);
  CHECK(last.nodes[1].inputs == Names{"z"});
  CHECK(last.outputs == Names{"b"});
}

TEST_CASE("output code: what each call reads and writes") {
  const OutputCode code = trace::read_output_code(code_text);
  CHECK(code.direction == "forward");
  REQUIRE(code.calls.size() == 2);
  CHECK(code.calls[0].kernel == "extern_kernels.mm");
  CHECK(code.calls[0].line == 13);
  CHECK(code.calls[0].reads == Names{"primals_1", "primals_2"});
  CHECK(code.calls[0].writes == Names{"buf0"});
  CHECK(code.calls[0].source_nodes == Names{"linear"});
  CHECK(code.calls[1].reads == Names{"buf0"});
  CHECK(code.calls[1].writes == Names{"buf1"});
  CHECK(code.outputs == Names{"buf1", "primals_1", "buf0"});
  CHECK(code.shapes.at("buf1") == "f32[8, 256]");
}

TEST_CASE("output code: memory that is reused, parts of a buffer, results that are tuples") {
  const OutputCode code = trace::read_output_code(R"(# AOT ID: ['3_inference']
triton_poi_0 = async_compile.triton('triton_poi_0', '''
def triton_poi_0(in_out_ptr0, in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
''', device_str='cuda')
def call(args):
    arg0_1, = args
    with torch.cuda._DeviceGuard(0):
        buf0 = empty_strided_cuda((4, ), (1, ), torch.float32)
        extern_kernels.mm(arg0_1, arg0_1, out=buf0)
        buf1 = buf0; del buf0  # reuse
        buf4 = empty_strided_cuda((8, ), (1, ), torch.float32)
        buf2 = reinterpret_tensor(buf4, (4, ), (1, ), 0)  # alias
        triton_poi_0.run(buf1, arg0_1, buf2, 4, stream=stream0)
        buf5 = torch.ops.aten.sort.stable(buf4,
            dim=0)
        buf6 = buf5[0]
    return (buf6, None, )
)");
  CHECK(code.number == 3);
  REQUIRE(code.calls.size() == 3);
  CHECK(code.calls[1].kernel == "triton_poi_0");
  CHECK(code.calls[1].overwrites == Names{"buf0"});
  CHECK(code.calls[1].reads == Names{"arg0_1"});
  CHECK(code.calls[1].writes == Names{"buf1", "buf2", "buf4"});
  CHECK(code.calls[2].reads == Names{"buf4"});
  CHECK(code.calls[2].writes == Names{"buf5", "buf6"});
  CHECK(code.outputs == Names{"buf6", ""});
}

TEST_CASE("links: two calls on one line are told apart by data flow, forward and backward") {
  Graph joint = graph(joint_text, "joint");
  for (Node& node : joint.nodes)
    node.is_backward = node.name == "exp" || node.name == "mul_2" || node.name == "permute_1" || node.name == "mm_1" ||
                       node.name == "tangents_1";
  const Graph captured = graph(captured_text, "captured");
  const links::CapturedOf owners = links::captured_of(links::Index(captured), links::Index(joint), {});
  for (const char* node : {"permute", "mm", "permute_1", "mm_1"}) CHECK(owners.at(node) == Names{"linear"});
  for (const char* node : {"mul", "erf", "mul_1", "exp", "mul_2"}) CHECK(owners.at(node) == Names{"h"});
  CHECK(owners.at("add") == Names{"out"});
  // A link that PyTorch recorded takes precedence over a link that follows from the data flow.
  const links::CapturedOf recorded =
      links::captured_of(links::Index(captured), links::Index(joint), {{"mul", {"linear"}}});
  CHECK(recorded.at("mul") == Names{"linear"});
}

TEST_CASE("links: a line leads to its kernel, and a call back to its lines") {
  Compilation compilation;
  compilation.graphs = {graph(captured_text, "captured"), graph(joint_text, "joint"),
                        graph(post_grad_text, "post_grad", "forward")};
  compilation.output_codes.push_back(trace::read_output_code(code_text));
  link(compilation);
  const KernelCall &mm = compilation.output_codes[0].calls[0], &fused = compilation.output_codes[0].calls[1];
  CHECK(mm.nodes == Names{"mm"});
  CHECK(mm.captured == Names{"linear"});
  CHECK(mm.evidence == "comments");
  CHECK(fused.nodes == Names{"mul", "erf", "mul_1", "add"});
  CHECK(fused.captured == Names{"h", "out"});
  CHECK(fused.evidence == "data flow");
  REQUIRE(fused.places.size() == 2);
  CHECK(fused.places[0].line == 12);
  CHECK(fused.places[1].line == 13);
  auto chain = std::find_if(compilation.chains.begin(), compilation.chains.end(),
                            [](const Chain& candidate) { return candidate.node == "h"; });
  REQUIRE(chain != compilation.chains.end());
  CHECK(chain->directions.at("forward").kernels == Names{"cpp_fused_add_gelu_0"});
  CHECK(chain->directions.at("forward").not_recorded == Names{"operations: a log does not contain Inductor's IR"});
}

TEST_CASE("links: a call without a line has a reason") {
  Compilation compilation;
  compilation.graphs = {graph(captured_text, "captured")};
  compilation.output_codes.push_back(trace::read_output_code(code_text));
  link(compilation);
  for (const KernelCall& call : compilation.output_codes[0].calls) {
    CHECK(call.places.empty());
    CHECK(call.why_no_place == "the log has no graph after Inductor's passes for this code");
  }
}

TEST_CASE("links: names of operators and descriptions of tensors") {
  CHECK(links::base_name("aten.addmm.default") == "addmm");
  CHECK(links::base_name("torch._C._nn.gelu") == "gelu");
  CHECK(links::base_name("operator.add") == "add");
  CHECK(links::base_name("extern_kernels.mm") == "mm");
  CHECK(links::elements_of("f32[8, 256][256, 1]cpu") == links::elements_of("f32[2048]"));
  CHECK(links::elements_of("f32[8, s77]") == "f32 8*s77");
  CHECK(links::elements_of("f32[]") == "f32 1");
  CHECK(links::elements_of("Sym(s77)").empty());
}

TEST_CASE("nodes of a pass stand for what was between the same nodes") {
  // The pass replaces its pattern in two layers; the new nodes have the names of the nodes in the graph that the pass
  // copies.
  constexpr const char* joint = R"(class inner_f(torch.nn.Module):
    def forward(self, primals_1: "f32[8]", primals_2: "f32[8]"):
        view: "f32[8]" = torch.ops.aten.view.default(primals_1, [8])
        div: "f32[8]" = torch.ops.aten.div.Tensor(view, 2)
        exp: "f32[8]" = torch.ops.aten.exp.default(div)
        add: "f32[8]" = torch.ops.aten.add.Tensor(exp, 1)
        view_1: "f32[8]" = torch.ops.aten.view.default(primals_2, [8])
        div_1: "f32[8]" = torch.ops.aten.div.Tensor(view_1, 2)
        exp_1: "f32[8]" = torch.ops.aten.exp.default(div_1)
        add_1: "f32[8]" = torch.ops.aten.add.Tensor(exp_1, add)
        sin: "f32[8]" = torch.ops.aten.sin.default(add_1)
        return (add_1, sin)
)";
  constexpr const char* forward = R"(class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[8]", primals_2: "f32[8]"):
        view: "f32[8]" = torch.ops.aten.view.default(primals_1, [8])
        fused = torch.ops.aten.fused.default(view)
        getitem: "f32[8]" = fused[0]
        add: "f32[8]" = torch.ops.aten.add.Tensor(getitem, 1)
        view_1: "f32[8]" = torch.ops.aten.view.default(primals_2, [8])
        fused_1 = torch.ops.aten.fused.default(view_1)
        getitem_1: "f32[8]" = fused_1[0]
        add_1: "f32[8]" = torch.ops.aten.add.Tensor(getitem_1, add)
        cos: "f32[8]" = torch.ops.aten.cos.default(add_1)
        return (add_1, cos)
)";
  const auto replaced = replaced_nodes(joint, {forward});
  const std::vector<std::string> first{"div", "exp"}, second{"div_1", "exp_1"};
  CHECK(replaced.size() == 5);
  CHECK(replaced.at("fused") == first);
  CHECK(replaced.at("getitem") == first);
  CHECK(replaced.at("fused_1") == second);
  CHECK(replaced.at("getitem_1") == second);
  // `cos` replaces `sin` because both are at the same place among the outputs.
  CHECK(replaced.at("cos") == std::vector<std::string>{"sin"});
  CHECK(replaced_nodes(joint, {joint}).empty());
}
