#include <doctest/doctest.h>

#include <string>

#include "depyf/texts.h"
#include "depyf/trace.h"
#include "texts/shown.h"
#include "trace/md5.h"
#include "trace/output_code.h"
#include "trace/phases.h"
#include "trace/reasons.h"

using namespace depyf;
using namespace depyf::record;

namespace {

std::string md5(std::string_view text) {
  trace::Md5 sum;
  sum.add(text);
  return sum.hexadecimal();
}

// Returns one record as PyTorch writes it. `members` are the members of the header, including the kind.
std::string record_text(const std::string& members, const std::string& payload = "") {
  std::string text = "V1123 02:17:10.130000 4711 torch/a b.py:23] {" + members;
  if (!payload.empty()) text += ", \"has_payload\": \"" + md5(payload) + "\"";
  text += "}\n";
  if (payload.empty()) return text;
  text += '\t';
  for (char character : payload) text += character == '\n' ? std::string("\n\t") : std::string(1, character);
  return text + '\n';
}

std::string id_text(int frame, int compilation, int attempt = 0) {
  return ", \"frame_id\": " + std::to_string(frame) + ", \"frame_compile_id\": " + std::to_string(compilation) +
         ", \"attempt\": " + std::to_string(attempt);
}

std::string event_text(const char* phase, const char* name, double us, const std::string& id = "") {
  return record_text("\"chromium_event\": {}" + id, "{\n\"name\": \"" + std::string(name) +
                                                        "\",\n\"ts\": " + std::to_string(us) + ",\n\"ph\": \"" + phase +
                                                        "\",\n\"tid\": 0\n}");
}

const Phase* find(const std::vector<Phase>& phases, std::string_view name) {
  for (const Phase& phase : phases)
    if (phase.name == name) return &phase;
  return nullptr;
}

}  // namespace

TEST_CASE("md5: the values of RFC 1321, and every length about a block's end") {
  CHECK(md5("") == "d41d8cd98f00b204e9800998ecf8427e");
  CHECK(md5("abc") == "900150983cd24fb0d6963f7d28e17f72");
  CHECK(md5("12345678901234567890123456789012345678901234567890123456789012345678901234567890") ==
        "57edf4a22be3c955ac49da2e2107b67a");
  for (std::size_t size = 50; size < 140; ++size) {
    trace::Md5 in_parts;
    for (std::size_t i = 0; i < size; ++i) in_parts.add("x");
    CHECK(in_parts.hexadecimal() == md5(std::string(size, 'x')));
  }
}

TEST_CASE("trace: a compilation with its function, its break, its reason and its time") {
  std::string log = record_text("\"str\": [\"/a/model.py\", 0]");
  log += event_text("B", "dynamo", 1000, id_text(0, 1));
  log += record_text(
      "\"dynamo_start\": {\"stack\": [{\"line\": 9, \"name\": \"main\", \"filename\": 0, \"loc\": \"f(x)\"}, "
      "{\"line\": 3, \"name\": \"f\", \"filename\": 0}]}" +
      id_text(0, 1));
  log += record_text("\"artifact\": {\"name\": \"recompile_reasons\", \"encoding\": \"json\"}" + id_text(0, 1),
                     "0/0: n == 1      # x + n  # model.py:4 in f");
  log +=
      record_text("\"artifact\": {\"name\": \"dynamo_graph_break_reason\", \"encoding\": \"string\"}" + id_text(0, 1),
                  "Graph break in user code at /a/model.py:5\nGraph Break Reason: Data-dependent branching\n"
                  "  Explanation: Detected\n  more of it.\n\n  Hint: Use `torch.cond`.\n\nUser code traceback:\n"
                  "  File \"/a/model.py\", line 5, in f\n    if x.sum():\n");
  log += event_text("B", "backend_compile", 2000, id_text(0, 1, 1));
  log += event_text("E", "backend_compile", 5000, id_text(0, 1, 1));
  log += event_text("E", "dynamo", 9000, id_text(0, 1, 1));
  log += record_text(
      "\"compilation_metrics\": {\"co_name\": \"f\", \"co_filename\": \"/a/model.py\", \"co_firstlineno\": 3, "
      "\"guard_count\": 12, \"duration_us\": 8000, \"has_guarded_code\": true}" +
      id_text(0, 1, 1));
  const Process process = read_trace(log, "trace.log");
  CHECK(process.problems.empty());
  CHECK_FALSE(process.is_cut);
  CHECK(process.pid == 4711);
  REQUIRE(process.compilations.size() == 1);
  const Compilation& compilation = process.compilations[0];
  CHECK(compilation.id == "0/1");
  CHECK(compilation.attempts == 2);
  CHECK(compilation.status == Status::compiled);
  CHECK(compilation.place.function == "f");
  CHECK(compilation.place.line == 3);
  CHECK(compilation.guards == 12);
  CHECK(compilation.seconds == doctest::Approx(0.008));
  REQUIRE(compilation.called_from.size() == 2);
  CHECK(compilation.called_from[0].text == "f(x)");
  REQUIRE(compilation.reasons.size() == 1);
  CHECK(compilation.reasons[0].compilation == "0/0");
  CHECK(compilation.reasons[0].guard == "n == 1");
  CHECK(compilation.reasons[0].place.line == 4);
  REQUIRE(compilation.breaks.size() == 1);
  CHECK(compilation.breaks[0].place.file == "/a/model.py");
  CHECK(compilation.breaks[0].place.line == 5);
  CHECK(compilation.breaks[0].place.function == "f");
  CHECK(compilation.breaks[0].reason == "Data-dependent branching");
  CHECK(compilation.breaks[0].explanation == "Detected more of it.");
  CHECK(compilation.breaks[0].hints == std::vector<std::string>{"Use `torch.cond`."});
  REQUIRE(find(compilation.phases, "dynamo"));
  CHECK(find(compilation.phases, "dynamo")->total_us == doctest::Approx(8000));
  CHECK(find(compilation.phases, "dynamo")->self_us == doctest::Approx(5000));
  CHECK(process.records.at("artifact:recompile_reasons") == 1);
}

TEST_CASE("trace: a call beyond the limit of compilations is of the function of its frame") {
  const std::string metrics =
      R"("compilation_metrics": {"co_name": "limited", "co_filename": "/a/net.py", "co_firstlineno": 7})";
  const std::string unnamed = R"("compilation_metrics": {"co_name": null, "fail_type": "FailOnRecompileLimitHit"})";
  const Process process = read_trace(record_text(metrics + id_text(2, 0)) + record_text(unnamed + id_text(2, 1)) +
                                         record_text(unnamed + id_text(3, 0)),
                                     "a.log");
  REQUIRE(process.compilations.size() == 3);
  CHECK(process.compilations[1].place.function == "limited");
  CHECK(process.compilations[1].place.line == 7);
  CHECK(process.compilations[2].place.function.empty());  // no record names the frame of this compilation
}

TEST_CASE("trace: records without an id belong to what the open event is about") {
  std::string log = event_text("B", "fullgraph_capture", 0);
  log += event_text("B", "bytecode_tracing", 10, id_text(0, 0));
  log += event_text("E", "bytecode_tracing", 20, id_text(0, 0));
  log += event_text("B", "code_gen", 30);
  log += record_text("\"aot_inference_graph\": {}, \"stack\": []", "class G:\n    pass");
  log += event_text("E", "code_gen", 90);
  log += event_text("E", "fullgraph_capture", 100);
  log += record_text("\"compilation_metrics\": {\"duration_us\": 1}, \"stack\": []");
  const Process process = read_trace(log, "aot.log");
  REQUIRE(process.compilations.size() == 1);
  const Compilation& compilation = process.compilations[0];
  REQUIRE(compilation.artifacts.size() == 1);
  CHECK(payload_of(log, compilation.artifacts[0]) == "class G:\n    pass");
  CHECK(find(compilation.phases, "fullgraph_capture")->self_us == doctest::Approx(30));
  CHECK(compilation.seconds == doctest::Approx(100e-6));
  CHECK(process.phases.empty());
}

TEST_CASE("trace: events of worker threads overlap the others and are summed apart") {
  trace::Phases phases;
  phases.begin(0, "dynamo", 0, 0, true);
  phases.begin(0, "compile_file", 10, 0, false);
  phases.begin(0, "wait", 20, 0, true);
  phases.begin(0, "compile_file", 30, 0, false);
  CHECK(phases.end(0, "compile_file", 50, false, 0));
  CHECK(phases.end(0, "compile_file", 60, false, 0));
  CHECK(phases.end(0, "wait", 70, true, 0));
  CHECK(phases.end(0, "dynamo", 100, true, 0));
  CHECK_FALSE(phases.end(0, "dynamo", 100, true, 0));
  double sum = 0;
  for (const Phase& phase : phases.of(0))
    if (!phase.is_parallel) sum += phase.self_us;
  CHECK(sum == doctest::Approx(100));
  CHECK(find(phases.of(0), "compile_file")->count == 2);
  CHECK(find(phases.of(0), "compile_file")->is_parallel);
}

TEST_CASE("trace: unknown kinds are kept, and what follows damage is read") {
  std::string log = record_text("\"str\": [\"m.py\", 0]");
  log += "\tlost\nnot a record\n";
  log += record_text("\"vllm_piecewise\": {\"name\": \"split\"}" + id_text(0, 0), "text");
  log += "V1123 02:17:10.130000 4711 torch/a.py:1] {\"broken\n";
  log += record_text("\"aot_joint_graph\": {}" + id_text(0, 0), "graph");
  const Process process = read_trace(log, "x_rank_7_y.log");
  CHECK(process.rank == 7);
  CHECK(process.problems.size() == 2);
  REQUIRE(process.compilations.size() == 1);
  REQUIRE(process.compilations[0].artifacts.size() == 2);
  CHECK(process.compilations[0].artifacts[0].kind == "vllm_piecewise");
  CHECK_FALSE(process.compilations[0].artifacts[0].is_known);
  CHECK(process.compilations[0].artifacts[1].is_known);
  CHECK(process.compilations[0].status == Status::unfinished);
  CHECK(process.problems[1].offset > log.find("broken"));
}

TEST_CASE("trace: a log that is cut anywhere gives what stands before the cut") {
  std::string log = event_text("B", "dynamo", 1000, id_text(0, 0));
  const std::size_t first = log.size();
  log += record_text("\"aot_joint_graph\": {}" + id_text(0, 0), "graph\nof several\nlines");
  for (std::size_t size = first + 1; size + 1 < log.size(); ++size) {
    const Process process = read_trace(std::string_view(log).substr(0, size), "cut.log");
    CHECK(process.is_cut);
    CHECK_FALSE(process.problems.empty());
    REQUIRE(process.compilations.size() == 1);
  }
}

TEST_CASE("trace: a forked child's file names are unknown, never guessed") {
  const std::string log =
      record_text("\"dynamo_start\": {\"stack\": [{\"line\": 3, \"name\": \"f\", \"filename\": 2}]}" + id_text(0, 0));
  const Process process = read_trace(log, "child.log");
  CHECK(process.unknown_strings == 1);
  CHECK(process.compilations[0].place.file.empty());
  CHECK(process.compilations[0].place.function == "f");
}

TEST_CASE("trace: a payload that was edited is said") {
  std::string log = record_text("\"aot_joint_graph\": {}" + id_text(0, 0), "graph");
  log += record_text("\"aot_forward_graph\": {}" + id_text(0, 0), "graph");
  log.replace(log.find("\tgraph"), 6, "\tgrape");
  const Process process = read_trace(log, "edited.log");
  REQUIRE(process.problems.size() == 1);
  CHECK(process.problems[0].offset == 0);
  CHECK(process.compilations[0].artifacts.size() == 2);
}

TEST_CASE("trace: kernels and library calls of output code") {
  const std::vector<Kernel> kernels = trace::kernels_of(R"(# AOT ID: ['0_backward']
cpp_fused_add_0 = async_compile.cpp_pybinding(['float*'], r'''
extern_kernels.not_a_call(1)
''')
triton_poi_1 = async_compile.triton('triton_poi_1', ''',
''')
def call(args):
    # Topologically Sorted Source Nodes: [linear, add], Original ATen: [aten.addmm]
    extern_kernels.addmm(a, b, out=c)
    cpp_fused_add_0(buf0)
    triton_poi_1.run(buf1, 4)
    cpp_fused_add_0(buf2)
    buf3 = torch.ops.aten.sort.stable(buf2)
    aten = torch.ops.aten
)");
  REQUIRE(kernels.size() == 4);
  CHECK(kernels[0].name == "cpp_fused_add_0");
  CHECK(kernels[0].kind == "cpp");
  CHECK(kernels[0].direction == "backward");
  CHECK(kernels[0].calls == 2);
  CHECK(kernels[1].kind == "triton");
  CHECK(kernels[1].calls == 1);
  CHECK(kernels[2].name == "extern_kernels.addmm");
  CHECK(kernels[2].kind == "library");
  CHECK(kernels[2].source_nodes == std::vector<std::string>{"linear", "add"});
  CHECK(kernels[3].name == "torch.ops.aten.sort.stable");
}

TEST_CASE("trace: reasons of graph breaks in the words of older releases") {
  const GraphBreak old = read_graph_break(
      "Graph break in user code at /m.py:7\nReason: Unsupported: builtin: print\nUser code traceback:\n"
      "  File \"/m.py\", line 7, in g\n    print(x)\n    ^^^^^^^^\n");
  CHECK(old.reason == "Unsupported: builtin: print");
  CHECK(old.place.text == "print(x)");
  const GraphBreak announced = read_graph_break(
      "Graph break in user code at /m.py:7\nGraph Break Reason: Encountered graph break when attempting to trace CALL:\n\n"
      "Failed to trace builtin operator\n  Explanation: because\n");
  CHECK(announced.reason == "Failed to trace builtin operator");
  CHECK(trace::failed_guard_of("tensor 'x' size mismatch").compilation.empty());
  CHECK(trace::failed_guard_of("!1/0/0: a: b").guard == "a: b");
}

TEST_CASE(
    "trace: a break that explains nothing is explained by its context, and the break behind it is a consequence") {
  const GraphBreak found = read_graph_break(
      "Graph break in user code at /m.py:7\nGraph Break Reason: Failed to handle graph break gracefully. Graph break "
      "encountered:\n\nTypeError when making fake tensor call\n  Explanation: \n  Hint: Check\n    the call.\n\n"
      "  Developer debug context: TypeError <built-in function f at 0x7f01>: must be <class 'bool'>\n\n"
      " For more details about this graph break, please visit: https://a.b/gb0112.html\n\n"
      "*** While handling this graph break, another graph break occurred: ***\n\n"
      "graph break in loop\n  Explanation: In a loop. Skipped.\n  Hint: Another.\n\nUser code traceback:\n"
      "  File \"/m.py\", line 7, in g\n    f(x)\n    ^^^^\n\nTraceback (most recent call last):\n"
      "  File \"/torch/exc.py\", line 1, in raiser\n    raise\n");
  CHECK(found.reason == "TypeError when making fake tensor call");
  CHECK(found.explanation == "TypeError f: must be bool");
  CHECK(found.hints == std::vector<std::string>{"Check the call."});
  CHECK(found.link == "https://a.b/gb0112.html");
  CHECK(found.then == "In a loop. Skipped.");
  REQUIRE(found.stack.size() == 1);
  CHECK(found.place.text == "f(x)");
}

TEST_CASE("trace: objects in a reason are named without their addresses") {
  const auto reason = [](const std::string& text) { return read_graph_break(text + "\n  Explanation: e").reason; };
  CHECK(reason("call <bound method A.f of <A object at 0x7f>> now") == "call A.f now");
  CHECK(reason("call <function f.<locals>.g at 0x7f2a>.") == "call f.<locals>.g");
  CHECK(reason("a < b at 0xyz <open") == "a < b at 0xyz <open");
  CHECK(reason("torch._dynamo.exc.Unsupported: call print") == "call print");
}

TEST_CASE("record: ranks are grouped by what they compiled, and the first difference is named") {
  auto process = [](int rank, const std::string& guard) {
    Process result;
    result.rank = rank;
    result.compilations.resize(2);
    result.compilations[0].id = "0/0", result.compilations[1].id = "0/1";
    result.compilations[1].reasons.push_back({"0/0", guard, {}});
    return result;
  };
  const Run run{{process(0, "x == 1"), process(1, "x == 2"), process(2, "x == 1")}};
  const std::vector<RankGroup> groups = compare_ranks(run);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].processes == std::vector<std::size_t>{0, 2});
  CHECK(groups[1].parts_at == "0/1");
  CHECK(groups[1].difference.find("x == 2, elsewhere x == 1") != std::string::npos);
}

TEST_CASE("texts: nothing of the log acts on the terminal") {
  CHECK(texts::shown("a\x1b[31m\n\xe2\x80\xae \xff \xc3\xa9") == "a\\x1b[31m\\x0a\\u202e \\xff \xc3\xa9");
  CHECK(texts::shown("\xc2\x9b") == "\\x9b");
  CHECK(texts::shown("abcdef", 3) == "abc...");
  CHECK(texts::shown("abc", 3) == "abc");
}

TEST_CASE("record: ranks differ in the first collective, and wait for the slowest") {
  Run run;
  for (int rank = 0; rank < 2; ++rank) {
    Process& process = run.processes.emplace_back();
    process.rank = rank;
    Compilation& compilation = process.compilations.emplace_back();
    compilation.id = "0/0";
    compilation.seconds = rank ? 3 : 1;
    compilation.phases.push_back({"backend_compile", 0, rank ? 2.5e6 : 0.5e6, 1, false});
    Graph& graph = compilation.graphs.emplace_back();
    graph.stage = "inference";
    for (const char* size : {"f32[4]", rank ? "f32[8]" : "f32[4]"}) {
      Node& node = graph.nodes.emplace_back();
      node.op = "torch.ops._c10d_functional.all_reduce.default";
      node.name = "all_reduce";
      node.shape = size;
    }
  }
  const std::vector<RankGroup> groups = compare_ranks(run);
  REQUIRE(groups.size() == 2);
  CHECK(groups[1].difference ==
        "collective 2: all_reduce = torch.ops._c10d_functional.all_reduce.default f32[8], elsewhere "
        "all_reduce = torch.ops._c10d_functional.all_reduce.default f32[4] (inference)");
  const std::vector<RankWait> waits = rank_waits(run);
  CHECK(waits[0].seconds == 2);
  REQUIRE(waits[0].phases.size() == 1);
  CHECK(waits[0].phases[0].second == 2);
  CHECK(waits[1].seconds == 0);
  CHECK(summary(run).find("rank 0 waited 2.00 s for the slowest rank of each compilation, which was longer in "
                          "backend_compile 2.00 s.") != std::string::npos);
}
