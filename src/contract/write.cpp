#include <algorithm>
#include <cstdio>
#include <map>

#include "contract/facts.h"
#include "json/writer.h"

namespace depyf::contract {
namespace {

bool is_in(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

void keep_larger(std::optional<std::int64_t>& bound, const std::optional<std::int64_t>& other) {
  if (bound && other) bound = std::max(*bound, *other);
  else bound.reset();
}

// Merges `other`, the facts that another process has about the same function, into `function`. The result has all
// breaks and kinds of eager runs of both processes, the longer of their two lists of recompilations, and the larger
// bound of each pair of bounds.
void merge(Function& function, Function other) {
  const auto add = [](auto& known, auto& more, auto is_same) {
    for (auto& item : *more)
      if (std::ranges::none_of(*known, [&](const auto& it) { return is_same(it, item); }))
        known->push_back(std::move(item));
  };
  add(function.breaks, other.breaks,
      [](const Break& one, const Break& two) { return one.line == two.line && one.reason == two.reason; });
  add(function.eager, other.eager, [](const std::string& one, const std::string& two) { return one == two; });
  if (other.recompilations->size() > function.recompilations->size())
    function.recompilations = std::move(other.recompilations);
  keep_larger(function.kernels, other.kernels);
  keep_larger(function.saved_bytes, other.saved_bytes);
  keep_larger(function.guards, other.guards);
  if (!function.library_calls || !other.library_calls) return function.library_calls.reset();
  std::map<std::string, std::int64_t> calls(function.library_calls->begin(), function.library_calls->end());
  for (const auto& [name, count] : *other.library_calls) calls[name] = std::max(calls[name], count);
  function.library_calls->assign(calls.begin(), calls.end());
}

void leave_out(Function& function, const std::vector<std::string>& without) {
  if (is_in(without, "breaks")) function.breaks.reset();
  if (is_in(without, "recompilations")) function.recompilations.reset();
  if (is_in(without, "eager")) function.eager.reset();
  if (is_in(without, "kernels")) function.kernels.reset();
  if (is_in(without, "library_calls")) function.library_calls.reset();
  if (is_in(without, "saved_bytes")) function.saved_bytes.reset();
  if (is_in(without, "guards")) function.guards.reset();
}

// Returns one value as compact JSON.
template <class Write>
std::string compact(Write write) {
  json::Writer out(true);
  write(out);
  std::string text = out.take();
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string quoted(std::string_view text) {
  return compact([&](json::Writer& out) { out.string(text); });
}

// Writes JSON with each member or item on a line of its own; the values that `add` gets are written unchanged.
class Sheet {
 public:
  void open(const std::string& key, char bracket) {
    begin_member(key);
    text_ += bracket;
    is_first_ = true;
    indent_ += 2;
  }

  void close(char bracket) {
    indent_ -= 2;
    if (!is_first_) text_ += "\n" + std::string(indent_, ' ');
    text_ += bracket;
    is_first_ = false;
  }

  // Adds a member whose value is a JSON text. If the key is empty, an item of an array is added.
  void add(const std::string& key, const std::string& value) {
    begin_member(key);
    text_ += value;
  }

  std::string take() { return std::move(text_) + "\n"; }

 private:
  void begin_member(const std::string& key) {
    if (indent_) text_ += (is_first_ ? "\n" : ",\n") + std::string(indent_, ' ');
    is_first_ = false;
    if (!key.empty()) text_ += quoted(key) + ": ";
  }

  std::string text_;
  std::size_t indent_ = 0;
  bool is_first_ = true;
};

std::string number(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}

void write_list(Sheet& sheet, const std::string& key, const std::vector<std::string>& items) {
  if (items.empty()) return sheet.add(key, "[]");
  sheet.open(key, '[');
  for (const std::string& item : items) sheet.add({}, item);
  sheet.close(']');
}

void write_function(Sheet& sheet, const std::string& key, const Function& function) {
  sheet.open(key, '{');
  if (function.breaks) {
    std::vector<std::string> items;
    for (const Break& it : *function.breaks)
      items.push_back("{\"line\": " + quoted(it.line) + ", \"reason\": " + quoted(it.reason) + "}");
    write_list(sheet, "breaks", items);
  }
  if (function.recompilations) {
    std::vector<std::string> items;
    for (const Recompilation& it : *function.recompilations)
      items.push_back("{\"kind\": " + quoted(it.kind) + ", \"subject\": " + quoted(it.subject) + "}");
    write_list(sheet, "recompilations", items);
  }
  if (function.eager) {
    std::vector<std::string> items;
    for (const std::string& it : *function.eager) items.push_back(quoted(it));
    write_list(sheet, "eager", items);
  }
  if (function.kernels) sheet.add("kernels", std::to_string(*function.kernels));
  if (function.library_calls) {
    std::string calls;
    for (const auto& [name, count] : *function.library_calls)
      calls += (calls.empty() ? "" : ", ") + quoted(name) + ": " + std::to_string(count);
    sheet.add("library_calls", "{" + calls + "}");
  }
  if (function.saved_bytes) sheet.add("saved_bytes", std::to_string(*function.saved_bytes));
  if (function.guards) sheet.add("guards", std::to_string(*function.guards));
  sheet.close('}');
}

double seconds_of(const diff::Facts& facts) {
  double seconds = 0;
  for (const diff::Function& function : facts.functions) seconds += function.seconds;
  return seconds;
}

}  // namespace

Contract contract_of(const record::Run& run, const std::vector<std::string>& without,
                     std::optional<double> seconds_ratio) {
  Contract contract;
  contract.operators.emplace();
  double seconds = 0;
  for (const record::Process& process : run.processes) {
    const diff::Facts facts = diff::facts_of(process);
    contract.is_of_dump = facts.is_dump;
    if (facts.reach) contract.backend = name_of(*facts.reach);
    if (contract.made_with.empty() && !process.torch_version.empty())
      contract.made_with = "PyTorch " + process.torch_version +
                           (process.python_version.empty() ? "" : ", Python " + process.python_version);
    seconds = std::max(seconds, seconds_of(facts));
    std::map<std::string, std::size_t> counts;
    for (Function& function : functions_of(facts)) {
      // Functions with the same name and file are distinguished by their order.
      std::size_t left = counts[title_of(function)]++;
      const auto known = std::ranges::find_if(
          contract.functions, [&](const Function& it) { return title_of(it) == title_of(function) && left-- == 0; });
      if (known == contract.functions.end()) contract.functions.push_back(std::move(function));
      else merge(*known, std::move(function));
    }
    for (const LineOperators& row : operators_of(facts))
      if (std::ranges::find(*contract.operators, row.line, &std::pair<std::string, std::string>::first) ==
          contract.operators->end())
        contract.operators->emplace_back(row.line, row.operators);
  }
  for (Function& function : contract.functions) leave_out(function, without);
  if (is_in(without, "operators")) contract.operators.reset();
  if (is_in(without, "backend")) contract.backend.clear();
  if (seconds_ratio) contract.seconds = seconds, contract.seconds_ratio = seconds_ratio;
  return contract;
}

std::string to_json(const Contract& contract) {
  Sheet sheet;
  sheet.open({}, '{');
  sheet.add("depyf_contract", std::to_string(schema_version));
  if (!contract.made_with.empty()) sheet.add("made_with", quoted(contract.made_with));
  sheet.add("source", contract.is_of_dump ? "\"dump\"" : "\"log\"");
  if (!contract.backend.empty()) sheet.add("backend", quoted(contract.backend));
  sheet.open("functions", '{');
  std::map<std::string, int> counts;
  for (const Function& function : contract.functions) {
    const std::string title = title_of(function);
    const int count = ++counts[title];
    write_function(sheet, count > 1 ? title + " #" + std::to_string(count) : title, function);
  }
  sheet.close('}');
  if (contract.operators) {
    sheet.open("operators", '{');
    for (const auto& [line, operators] : *contract.operators) sheet.add(line, quoted(operators));
    sheet.close('}');
  }
  if (contract.seconds && contract.seconds_ratio)
    sheet.add("seconds", "{\"measured\": " + number(*contract.seconds) +
                             ", \"at_most_times\": " + number(*contract.seconds_ratio) + "}");
  sheet.close('}');
  return sheet.take();
}

}  // namespace depyf::contract
