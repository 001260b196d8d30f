#include <doctest/doctest.h>
#include "costs/attention.h"
#include "costs/compile_time.h"
#include "costs/library_call.h"
#include "costs/plan.h"
#include "costs/run_time.h"
#include "costs/sizes.h"

using namespace depyf;
using namespace depyf::costs;

TEST_CASE("costs: sizes are evaluated with the symbols that are known") {
  const Symbols symbols{{"s77", 5}};
  CHECK(size_of("8*s77 + (2 - 1)", symbols) == 41);
  CHECK(size_of("(s77 + 3)//2", symbols) == 4);
  CHECK(size_of("-3", symbols) == -3);
  CHECK_FALSE(size_of("s3", symbols));
  CHECK_FALSE(size_of("8//0", symbols));
  CHECK_FALSE(size_of("2**3", symbols));
  CHECK_FALSE(size_of("", symbols));
  CHECK_FALSE(size_of(std::string(10'000, '('), symbols));
  CHECK_FALSE(size_of("999999999999999*999999999999999", symbols));
}

TEST_CASE("costs: a tensor with gaps takes the bytes up to its last element") {
  CHECK(strided_bytes("(2, 3)", "(8, 1)", 4, {}) == (8 + 2 + 1) * 4);
  CHECK(strided_bytes("(0, 3)", "(3, 1)", 4, {}) == 0);
  CHECK(strided_bytes("()", "()", 8, {}) == 8);
  CHECK_FALSE(strided_bytes("(2, 3)", "(1, )", 4, {}));
  CHECK(element_bytes_of("torch.bfloat16") == 2);
  CHECK(element_bytes_of("torch.new") == 0);
}

TEST_CASE("costs: the plan follows buffers from allocation to end") {
  const std::string_view code =
      "def call(args):\n"
      "    arg0_1, arg1_1 = args\n"
      "    args.clear()\n"
      "    buf0 = empty_strided_cpu((4, 8), (8, 1), torch.float32)\n"
      "    cpp_fused_0(arg0_1, buf0)\n"
      "    buf1 = buf0; del buf0  # reuse\n"
      "    buf2 = empty_strided_cpu((8, 8), (8, 1), torch.float32)\n"
      "    cpp_fused_1(buf1, buf2)\n"
      "    del buf1\n"
      "    buf3 = torch.ops.aten.cumsum.default(buf2, dim=0)\n"
      "    del buf2\n"
      "    buf4 = buf3\n"
      "    assert_size_stride(buf4, (8, 8), (8, 1))\n"
      "    del buf3\n"
      "    return (reinterpret_tensor(buf4, (64, ), (1, ), 0), arg1_1, None, )\n";
  const Plan plan = plan_of(code, {}, {}, 1, {});
  REQUIRE(plan.buffers.size() == 3);
  CHECK(plan.buffers[0].names == std::vector<std::string>{"buf0", "buf1"});
  CHECK(plan.buffers[0].bytes == 128);
  CHECK(plan.buffers[0].first_line == 4);
  CHECK(plan.buffers[0].last_line == 9);
  CHECK(plan.buffers[2].is_output);
  CHECK(plan.peak == 512);  // the bytes of buf2 and of cumsum's result
  CHECK(plan.peak_line == 10);
  CHECK(plan.reused == 128);
  CHECK(plan.unknown == 0);
  CHECK(plan.returned == std::vector<int>{2, -1, -2});
  CHECK(plan.returned_names[1] == "arg1_1");
}

TEST_CASE("costs: a fused attention has memory of its own while it runs") {
  const std::string_view name = "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default",
                         backward = "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default";
  REQUIRE(is_attention(name));
  REQUIRE(is_attention(backward));
  CHECK_FALSE(is_attention("torch.ops.aten.mm.default"));
  // The bytes are those that the profiler of PyTorch 2.13 shows for these calls.
  const Layout query{{2, 4, 64, 16}, {4096, 1024, 16, 1}}, key{{2, 4, 128, 16}, {8192, 2048, 16, 1}};
  CHECK(attention_bytes(name, {query, key, key}, 4, 2) == 37376);
  CHECK(attention_bytes(backward, {query, query, key, key}, 4, 2) == 65536 + 128 + 32768);
  CHECK(attention_bytes(backward, {{{2, 4, 64, 16}, {4096, 16, 64, 1}}, query, key, key}, 4, 2) == 65536 + 128);
  CHECK(attention_bytes(name, {Layout(), key}, 4, 2) == 0);
  CHECK(attention_bytes(name, {}, 4, 2) == 0);
  const std::string_view code =
      "def call(args):\n"
      "    arg0_1, = args\n"
      "    assert_size_stride(arg0_1, (2, 4, 64, 16), (4096, 1024, 16, 1))\n"
      "    buf0 = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(arg0_1, arg0_1, arg0_1)\n"
      "    del arg0_1\n"
      "    buf1 = buf0[0]\n"
      "    assert_size_stride(buf1, (2, 4, 64, 16), (4096, 16, 64, 1))\n"
      "    return (buf1, )\n";
  const Plan plan = plan_of(code, {}, {}, 2, {});
  CHECK(plan.peak == 32768 + 2 * 4 * (32 * 64 + 64 + 32 * 16));
  CHECK(plan.peak_line == 4);
}

TEST_CASE("costs: what a library allocates is measured on a CPU alone") {
  const auto plan = [](const std::string& guard) {
    return plan_of("def call(args):\n    arg0_1, = args\n    assert_size_stride(arg0_1, (8, 8), (8, 1))\n" + guard +
                       "        buf0 = empty_strided((8, 8), (8, 1), torch.float32)\n"
                       "        extern_kernels.mm(buf0, buf0, out=buf0)\n        return (buf0, )\n",
                   {}, {}, 1, {});
  };
  const Plan on_cpu = plan("    if True:\n"), on_gpu = plan("    with torch.cuda._DeviceGuard(0):\n");
  REQUIRE(on_cpu.library_calls.size() == 1);
  CHECK(on_cpu.library_calls[0].expression.starts_with("extern_kernels.mm(tensor((8, 8, ), (8, 1, ), torch.float32)"));
  CHECK(on_gpu.library_calls.empty());
  CHECK(on_gpu.unmeasured == 1);
  CHECK(on_gpu.peak == on_cpu.peak);
}

TEST_CASE("costs: code that is no plan gives an empty one") {
  CHECK(plan_of("", {}, {}, 1, {}).buffers.empty());
  CHECK(
      plan_of("def call(args):\n    buf0 = empty_strided_cpu((s0, ), (1, ), torch.float32)\n", {}, {}, 1, {}).unknown ==
      1);
  CHECK(plan_of("def call(args):\n    return (((((", {}, {}, 1, {}).buffers.empty());
  CHECK(plan_of("def call(args):\n    del buf7\n    buf1 = buf1[0]\n    return ()\n", {}, {}, 1, {}).buffers.empty());
}

TEST_CASE("costs: self times sum to the wall, and attempts that were given up are restarts") {
  record::Process process;
  record::Compilation& compilation = process.compilations.emplace_back();
  compilation.id = "0/0";
  compilation.attempts = 2;
  compilation.phases = {{"dynamo", 100, 10, 1, false},
                        {"compile_attempt_0", 30, 30, 1, false},
                        {"compile_attempt_1", 60, 60, 1, false},
                        {"compile_file", 50, 50, 2, true}};
  process.events = {{"compile_attempt_0", 0, 30, 0, false},
                    {"compile_attempt_1", 35, 60, 0, false},
                    {"compile_file", 40, 25, 0, true},
                    {"compile_file", 50, 25, 0, true},
                    {"dynamo", 0, 100, 0, false}};
  const CompileTime time = compile_time(process);
  CHECK(time.wall_us == 100);
  CHECK(time.serial_us == 100);
  CHECK(time.restarts_us == 30);
  CHECK(time.compilers_us == 35);
  CHECK(time.compilers_sum_us == 50);
  CHECK(time.compiled_files == 2);
  REQUIRE(time.savings.size() == 1);
  CHECK(time.savings[0].kind == "restart");
  CHECK(compile_time({}).wall_us == 0);
}

TEST_CASE("costs: the time of a call is divided among parts, lines and functions") {
  // A call of `f` calls a graph of one kernel, breaks at line 7, and goes on in a resume function.
  Measured measured;
  measured.wall_us = 1000;
  measured.sites = {{"", false, {}},
                    {"cpp_fused_0", false, {{{"a.py", "f", "x + y", 5}, "m"}, {{"a.py", "f", "z * 2", 6}, ""}}},
                    {"extern_kernels.mm", true, {{{"a.py", "f", "x + y", 5}, "m"}}}};
  measured.frames = {{"0/0", "f", {"a.py", "f", "", 4}, {"a.py", "f", "print()", 7}, true},
                     {"1/0", "f", {"a.py", "f", "", 7}, {}, true}};
  const auto range = [](RangeKind kind, double start, double end, std::string id = "", std::size_t site = 0) {
    return Range{kind, site, std::move(id), 1, start, end, 0};
  };
  measured.ranges = {
      range(RangeKind::region, 20, 300, "0/0"), range(RangeKind::lookup, 0, 20),
      range(RangeKind::pregraph, 20, 30),       range(RangeKind::graph, 40, 140),
      range(RangeKind::site, 50, 130, "", 0),   range(RangeKind::site, 60, 120, "", 1),
      range(RangeKind::lookup, 200, 210),       range(RangeKind::region, 210, 290, "1/0"),
      range(RangeKind::compiling, 400, 500),    range(RangeKind::backward, 600, 700),
      range(RangeKind::site, 610, 690, "", 2),
  };
  const RunTime time = run_time(measured);
  CHECK(time.inside_us == 20 + 280 + 100);
  CHECK(time.compiling_us == 100);
  double sum = 0;
  for (const PartOfRun& part : time.parts) sum += part.us;
  CHECK(sum == time.inside_us);
  REQUIRE(time.lines.size() == 3);
  CHECK(time.lines[0].place.line == 5);
  CHECK(time.lines[0].forward_us == 30 + 5);  // half of the kernel's time, and half of the allocations before it
  CHECK(time.lines[0].count == 2);
  CHECK(time.lines[0].backward_us == 80);
  CHECK(time.lines[1].place.line == 7);
  CHECK(time.lines[1].eager_us == 60 + 10);  // from the graph to the resume function, and after that function
  CHECK(time.with_line_us == 30 + 30 + 10 + 80 + 70);
  REQUIRE(time.frames.size() == 2);
  CHECK(time.frames[0].guards_us == 20);
  CHECK(time.frames[1].guards_us == 10);
  CHECK(time.modules[0].us() == 115);
  CHECK(time.callees[0].name == "extern_kernels.mm");
}

TEST_CASE("a library call is an expression that depends on no other line") {
  const TensorOf tensor_of = [](std::string_view text) -> std::optional<TensorFacts> {
    if (text == "buf0") return TensorFacts{{{8, 4}, {4, 1}}, "torch.float32"};
    if (text == "arg1_1") return TensorFacts{{{}, {}}, "torch.int64"};
    return std::nullopt;
  };
  const auto expression = [&](std::string_view call) {
    return expression_of(call, {{"s0", 3}}, tensor_of).value_or("");
  };
  CHECK(expression("extern_kernels.mm(buf0, arg1_1, out=buf0)") ==
        "extern_kernels.mm(tensor((8, 4, ), (4, 1, ), torch.float32), tensor((), (), torch.int64), "
        "out=tensor((8, 4, ), (4, 1, ), torch.float32))");
  CHECK(expression("torch.ops.aten.f.default([buf0, None], [1, s0*2], 0.5, True, 'constant', dtype=torch.int8)") ==
        "torch.ops.aten.f.default([tensor((8, 4, ), (4, 1, ), torch.float32), None], [1, 6], 0.5, True, 'constant', "
        "dtype=torch.int8)");
  CHECK(expression("aten.g(size=(1, ), device=device(type='cpu'), alpha=-1e-05)") ==
        "aten.g(size=(1, ), device=device(type='cpu'), alpha=-1e-05)");
  CHECK(
      expression("torch.ops.higher_order.run_with_rng_state(fwd_rng_state_0, torch.ops.aten.f.default, 0.5, [buf0])") ==
      "torch.ops.aten.f.default(0.5, [tensor((8, 4, ), (4, 1, ), torch.float32)])");
  for (const std::string_view call : {"torch.ops.mine.f(buf0)", "aten.f(buf7)", "aten.f(__import__('os').system('x'))",
                                      "aten.f", "aten.f(buf0, *args)", "aten.f(lambda: 0)", "aten.f)(buf0)",
                                      "aten.f([buf0 for _ in 'x'])", "aten.f('a' 'b')", "aten.f(torch.save(1))"})
    CHECK(expression(call).empty());
}
