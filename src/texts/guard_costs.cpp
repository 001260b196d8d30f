#include "depyf/guard_costs.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "dumps/members.h"
#include "json/json.h"
#include "support/words.h"
#include "texts/guard_costs.h"
#include "texts/lines.h"

namespace depyf {
namespace texts {
namespace {

using dumps::number_of, dumps::text_of, dumps::texts_of;

constexpr std::size_t groups_shown = 8;      // the most groups with a row of their own; the JSON has all groups
constexpr std::size_t redundant_shown = 20;  // the most redundant guards that are listed; the JSON has all of them
constexpr std::string_view indent = "    ";

std::string microseconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f us", value);
  return text;
}

std::string count_of(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string group_row(const record::GuardGroup& group) {
  return microseconds(group.us) + "  " +
         (group.source.empty() ? "the state of the process, and conditions on several values" : group.source) + " (" +
         count_of(static_cast<std::size_t>(std::max<std::int64_t>(group.values, 0)), "value") + ", " +
         count_of(static_cast<std::size_t>(std::max<std::int64_t>(group.guards, 0)), "guard") + ")";
}

// Returns the rows of the largest groups of guards, and a row for all other groups together.
std::vector<std::string> group_rows(const std::vector<record::GuardGroup>& groups) {
  std::vector<std::string> rows;
  double rest = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i < groups_shown) rows.push_back(group_row(groups[i]));
    else rest += groups[i].us;
  }
  if (groups.size() > groups_shown)
    rows.push_back(microseconds(rest) + "  " + count_of(groups.size() - groups_shown, "other group"));
  return rows;
}

std::vector<std::string> entry_rows(json::Value entry) {
  const bool accepts = entry["accepts"].is_true();
  std::vector<std::string> rows{"entry " + text_of(entry["compile_id"]) + ": " +
                                microseconds(number_of(entry["microseconds"])) + " per check, which " +
                                (accepts ? "accepts the call" : "refuses the call")};
  append(indented(group_rows(dumps::guard_groups_of(entry["groups"])), indent), rows);
  if (const std::optional<double> pregraph = entry["pregraph_microseconds"].number())
    rows.push_back(std::string(indent) + "then the code of the entry takes " + microseconds(*pregraph) +
                   " until it calls its first graph");
  else if (const std::string why = text_of(entry["why_no_pregraph"]); !why.empty())
    rows.push_back(std::string(indent) + "the time until its code calls the first graph was not measured: " + why);
  const std::size_t redundant = entry["redundant"].size();
  if (redundant > 0) rows.push_back(std::string(indent) + count_of(redundant, "guard") + " that other guards imply:");
  std::size_t number = 0;
  entry["redundant"].for_each_item([&](json::Value guard) {
    if (++number > redundant_shown) return;
    std::string premises;
    for (const std::string& premise : texts_of(guard["implied_by"]))
      premises += (premises.empty() ? "" : " and ") + premise;
    rows.push_back(std::string(indent) + "  " + text_of(guard["guard"]) + "  because " + premises);
  });
  if (redundant > redundant_shown)
    rows.push_back(std::string(indent) + "  and " + std::to_string(redundant - redundant_shown) + " more");
  return rows;
}

}  // namespace

std::vector<std::string> guard_cost_rows(json::Value costs) {
  const auto passed = static_cast<std::size_t>(number_of(costs["passed"]));
  std::vector<std::string> rows{
      "Guards of " + text_of(costs["function"]) + ": " + microseconds(number_of(costs["lookup_microseconds"])) +
      " until the entry of this call is found, past " +
      (passed == 1 ? "1 entry that refuses it" : std::to_string(passed) + " entries that refuse it")};
  costs["entries"].for_each_item([&](json::Value entry) { append(indented(entry_rows(entry), indent), rows); });
  return rows;
}

std::vector<std::string> guard_time_rows(const record::Compilation& compilation) {
  if (!compilation.guard_us) return {};
  const bool is_measured = !compilation.guard_groups.empty();
  std::vector<std::string> rows{
      (is_measured ? microseconds(*compilation.guard_us) : guard_time_cell(compilation) + " us") + " per check" +
      (is_measured ? "" : ", as PyTorch measured it once, with cold caches")};
  append(indented(group_rows(compilation.guard_groups), indent), rows);
  return rows;
}

std::string guard_time_cell(const record::Compilation& compilation) {
  if (!compilation.guard_us) return {};
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", *compilation.guard_us);
  return *compilation.guard_us < 0.5 ? "under 1" : text;
}

}  // namespace texts

std::string guard_costs_text(std::string_view costs) {
  json::Document document;
  if (document.parse(costs)) return {};
  return joined(texts::guard_cost_rows(document.root()), "\n");
}

}  // namespace depyf
