#include "depyf/contract.h"

#include <doctest/doctest.h>

namespace depyf::contract {
namespace {

using record::Compilation, record::GraphBreak, record::Run;

record::Place place_at(int line, std::string text) {
  record::Place place;
  place.file = "/a/model.py";
  place.line = line;
  place.function = "forward";
  place.text = std::move(text);
  return place;
}

Compilation compiled(std::string name, int line) {
  Compilation compilation;
  compilation.name = name;
  compilation.place = place_at(line, "def f(x):");
  compilation.place.function = name.substr(name.rfind('.') + 1);
  compilation.status = record::Status::compiled;
  compilation.id = "0/0";
  return compilation;
}

GraphBreak break_at(int line, std::string text, std::string reason) {
  GraphBreak graph_break;
  graph_break.place = place_at(line, std::move(text));
  graph_break.reason = std::move(reason);
  return graph_break;
}

Run run_of(std::vector<Compilation> compilations) {
  Run run;
  run.processes.emplace_back().compilations = std::move(compilations);
  return run;
}

Run run_with_break(int line, std::string text) {
  Compilation compilation = compiled("Net.forward", 3);
  compilation.breaks.push_back(break_at(line, std::move(text), "Call to print"));
  return run_of({std::move(compilation)});
}

TEST_CASE("a contract that was written holds for its run, also read back") {
  const Run run = run_with_break(5, "print(x)");
  const std::string text = to_json(contract_of(run, {}, {}));
  CHECK(text.find("{\"line\": \"print(x)\", \"reason\": \"Call to print\"}") != std::string::npos);
  const auto read = from_json(text);
  REQUIRE(std::holds_alternative<Contract>(read));
  CHECK(to_json(std::get<Contract>(read)) == text);
  CHECK(check(std::get<Contract>(read), run).broken.empty());
}

TEST_CASE("a break that moved is allowed, and one at another line is not") {
  const Contract contract = contract_of(run_with_break(5, "print(x)"), {}, {});
  CHECK(check(contract, run_with_break(50, "print(x)")).broken.empty());
  const Verdict verdict = check(contract, run_with_break(5, "print(y)"));
  REQUIRE(verdict.broken.size() == 1);
  CHECK(verdict.broken[0].code == "break-new");
  CHECK(verdict.broken[0].place.line == 5);
  CHECK(verdict.better.size() == 1);
}

TEST_CASE("a function that is gone, or new and broken, breaks the contract") {
  const Contract contract = contract_of(run_of({compiled("Net.forward", 3)}), {}, {});
  const Verdict gone = check(contract, run_of({compiled("g", 9)}));
  REQUIRE(gone.broken.size() == 1);
  CHECK(gone.broken[0].code == "function-gone");
  Compilation broken = compiled("g", 9);
  broken.breaks.push_back(break_at(10, "print(x)", "Call to print"));
  const Verdict verdict = check(contract, run_of({compiled("Net.forward", 3), broken}));
  REQUIRE(verdict.broken.size() == 1);
  CHECK(verdict.broken[0].sentence.find("does not contain this function") != std::string::npos);
}

TEST_CASE("a section that is left out is not checked") {
  const Contract contract = contract_of(run_of({compiled("Net.forward", 3)}), {"breaks"}, {});
  CHECK(to_json(contract).find("breaks") == std::string::npos);
  CHECK(check(contract, run_with_break(5, "print(x)")).broken.empty());
}

TEST_CASE("a file that is no contract is refused with the member that is wrong") {
  const auto problem = [](const std::string& text) {
    const auto result = from_json(text);
    return std::holds_alternative<std::string>(result) ? std::get<std::string>(result) : std::string();
  };
  const std::string head = "{\"depyf_contract\": 1, \"functions\": ";
  CHECK(problem("{\n\n,").starts_with("line 3"));
  CHECK(problem("[]").find("is not a contract") != std::string::npos);
  CHECK(problem("{\"depyf_contract\": 9, \"functions\": {}}").find("reads versions up to 1") != std::string::npos);
  CHECK(problem("{\"depyf_contract\": 1}") == "functions is missing");
  CHECK(problem(head + "{\"f (a.py)\": {\"kernls\": 1}}}") ==
        "functions[\"f (a.py)\"].kernls is not a member of a function");
  CHECK(problem(head + "{\"f\": {\"breaks\": [{\"line\": 3}]}}}") ==
        "functions[\"f\"].breaks[0].line has to be a string");
  CHECK(problem(head + "{\"f\": {\"guards\": -1}}}").find("non-negative") != std::string::npos);
}

}  // namespace
}  // namespace depyf::contract
