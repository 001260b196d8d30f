#include "contract/facts.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "support/words.h"

namespace depyf::contract {
namespace {

// Splits the list of a line's operators at the commas outside of shapes.
std::vector<std::string> split(const std::string& operators) {
  std::vector<std::string> items;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= operators.size(); ++i) {
    if (i < operators.size() && operators[i] != ',') {
      depth += (operators[i] == '[') - (operators[i] == ']');
    } else if (depth == 0 || i == operators.size()) {
      items.emplace_back(stripped(std::string_view(operators).substr(start, i - start)));
      start = i + 1;
    }
  }
  return items;
}

}  // namespace

std::string line_in(const diff::Line& line, const std::string& file) {
  return line.file == file || line.file.empty() ? line.text : line.file + ": " + line.text;
}

std::vector<LineOperators> operators_of(const diff::Facts& facts) {
  std::map<diff::Line, std::string> texts;
  for (const auto& [op, count] : facts.operators) {
    std::string& text = texts[op.line];
    text += (text.empty() ? "" : ", ") + (count > 1 ? std::to_string(count) + " " : "") + op.name;
    const auto shapes = facts.shapes.find(op);
    if (shapes != facts.shapes.end()) text += " " + joined(shapes->second, " or ");
  }
  std::vector<std::tuple<std::string, int, LineOperators>> rows;
  for (const auto& [line, text] : texts) {
    const auto known = facts.places.find(line);
    const record::Place place = known == facts.places.end() ? record::Place() : known->second;
    rows.emplace_back(line.file, place.line, LineOperators{line_in(line, {}), text, place});
  }
  std::ranges::stable_sort(rows, [](const auto& one, const auto& two) {
    return std::tie(std::get<0>(one), std::get<1>(one)) < std::tie(std::get<0>(two), std::get<1>(two));
  });
  std::vector<LineOperators> result;
  for (auto& row : rows) result.push_back(std::move(std::get<2>(row)));
  return result;
}

std::vector<Function> functions_of(const diff::Facts& facts) {
  std::vector<Function> functions;
  for (const diff::Function& fact : facts.functions) {
    Function& function = functions.emplace_back();
    function.name = fact.name;
    function.file = fact.file;
    function.breaks.emplace();
    for (const diff::BreakFact& it : fact.breaks)
      function.breaks->push_back({line_in(it.line, fact.file), it.source->reason});
    function.recompilations.emplace();
    for (const diff::Cause& cause : fact.recompilations)
      function.recompilations->push_back({cause.kind, cause.subject});
    function.eager.emplace();
    for (const diff::EagerFact& it : fact.eager) function.eager->push_back(it.kind);
    if (facts.reach == diff::Reach::kernels) {
      function.kernels = fact.costs.kernels;
      function.library_calls.emplace(fact.costs.library_calls.begin(), fact.costs.library_calls.end());
    }
    if (facts.reach && facts.reach != diff::Reach::captured && !fact.costs.has_unknown_bytes)
      function.saved_bytes = fact.costs.saved_bytes;
    function.guards = fact.costs.guards;
  }
  return functions;
}

std::string only_in(const std::string& these, const std::string& others) {
  std::vector<std::string> items = split(these);
  for (const std::string& other : split(others))
    if (const auto known = std::ranges::find(items, other); known != items.end()) items.erase(known);
  return items.empty() ? "nothing more" : joined(items, ", ");
}

std::string title_of(const Function& function) {
  return function.name + (function.file.empty() ? "" : " (" + function.file + ")");
}

}  // namespace depyf::contract
