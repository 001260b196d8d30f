// Tests of the rows of output code on the page, whose source lines are those that the chains of a dump
// (provenance.json) name.
#include <doctest/doctest.h>

#include "page/rows.h"

using namespace depyf;

namespace {

record::Place line_of(int line) { return {"/a/net.py", "f", "", line}; }

// Two calls of one library function. Data flow suggests line 3 for the first call and line 9 for the second call.
record::Compilation two_calls() {
  record::Compilation compilation;
  record::OutputCode& code = compilation.output_codes.emplace_back();
  code.direction = "forward";
  for (const int row : {1, 2}) {
    record::KernelCall& call = code.calls.emplace_back();
    call.kernel = "extern_kernels.addmm";
    call.line = row;
    call.writes = {row == 1 ? "buf4" : "buf7"};
    call.places = {line_of(row == 1 ? 3 : 9)};
  }
  return compilation;
}

void add_chain(record::Compilation& compilation, int line, const std::string& kernel,
               const std::vector<std::string>& operations) {
  record::Chain& chain = compilation.chains.emplace_back();
  chain.place = line_of(line);
  chain.directions["forward"].kernels = {kernel};
  chain.directions["forward"].operations = operations;
}

// Returns the numbers of the source lines of each row.
std::vector<std::vector<int>> lines_of_rows(const record::Compilation& compilation) {
  page::Lines lines;
  std::vector<std::vector<int>> result;
  for (const page::Row& row :
       page::rows_of({"kernel", "forward", "", "addmm(buf4)\naddmm(buf7)\n"}, compilation, lines)) {
    CHECK(row.lines.empty() != row.why.empty());
    std::vector<int>& numbers = result.emplace_back();
    for (const int line : row.lines) numbers.push_back(lines.lines()[static_cast<std::size_t>(line)].line);
  }
  return result;
}

using Numbers = std::vector<std::vector<int>>;

}  // namespace

TEST_CASE(
    "page rows: a call has a line that a chain names, at the call that writes what the operation of the line makes") {
  record::Compilation compilation = two_calls();
  add_chain(compilation, 3, "extern_kernels.addmm", {"op4"});
  add_chain(compilation, 5, "extern_kernels.addmm", {"op7"});
  CHECK(lines_of_rows(compilation) == Numbers{{3}, {5}});  // no chain names line 9
}

TEST_CASE("page rows: a line whose operation no call writes is at all calls of the kernel") {
  record::Compilation compilation = two_calls();
  add_chain(compilation, 3, "extern_kernels.addmm", {"op4"});
  add_chain(compilation, 5, "extern_kernels.addmm", {"op99"});
  CHECK(lines_of_rows(compilation) == Numbers{{3, 5}, {5}});
}

TEST_CASE("page rows: a kernel that no chain names has no line, and says why") {
  record::Compilation compilation = two_calls();
  add_chain(compilation, 3, "extern_kernels.mm", {"op4"});
  CHECK(lines_of_rows(compilation) == Numbers{{}, {}});
}

TEST_CASE("page rows: in a log, which has no operations, calls have the lines that the flow of data gives") {
  record::Compilation compilation = two_calls();
  add_chain(compilation, 5, "extern_kernels.addmm", {});
  CHECK(lines_of_rows(compilation) == Numbers{{3}, {9}});
}
