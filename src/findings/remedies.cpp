#include "findings/remedies.h"

#include <algorithm>

#include "conditions/expression.h"
#include "findings/insertion.h"
#include "support/words.h"

namespace depyf::findings {
namespace {

constexpr int context_lines = 3;  // the number of unchanged lines in a unified diff on each side of a change

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view indentation_of(std::string_view line) {
  return line.substr(0, line.size() - stripped_start(line).size());
}

// True if a line is a call of the function whose arguments are only literals and variables. Dynamo can postpone a call
// with literals and variables until the graph has run. Dynamo may be unable to postpone a call with more complex
// arguments, because their values may be objects that Dynamo cannot keep until the graph has run.
bool is_plain_call(std::string_view line, std::string_view function) {
  using Kind = conditions::Expression::Kind;
  const std::optional<conditions::Expression> tree = conditions::parse(line);
  if (!tree || !tree->is(Kind::call) || conditions::unparse(tree->parts[0]) != function) return false;
  return std::all_of(tree->parts.begin() + 1, tree->parts.end(), [](const conditions::Expression& argument) {
    return argument.is(Kind::name) || argument.is(Kind::string) || argument.is(Kind::number);
  });
}

// Returns a change of one place of a file as a unified diff. The lines of `text_before` may end in CRLF, and the last
// line may lack its line break.
std::string unified_diff(const Patch& patch, std::string_view text_before) {
  const std::vector<std::string_view> lines = lines_of(text_before);
  const bool has_last_end = text_before.ends_with('\n');

  const int first = std::max(1, patch.line - context_lines);
  const int last = std::min(static_cast<int>(lines.size()), patch.line + patch.removed - 1 + context_lines);
  const int before = last - first + 1;
  const int after = before - patch.removed + static_cast<int>(patch.inserted.size());
  std::string text = "--- " + patch.file + "\n+++ " + patch.file + "\n@@ -" + std::to_string(first) + "," +
                     std::to_string(before) + " +" + std::to_string(first) + "," + std::to_string(after) + " @@\n";
  const auto add = [&](char sign, int number) {
    text += sign + std::string(lines[static_cast<std::size_t>(number - 1)]) + "\n";
    if (number == static_cast<int>(lines.size()) && !has_last_end) text += "\\ No newline at end of file\n";
  };
  const auto add_inserted = [&] {
    for (const std::string& line : patch.inserted) text += "+" + line + "\n";
  };
  for (int number = first; number <= last; ++number) {
    if (number == patch.line && !patch.removed) add_inserted();
    const bool is_removed = number >= patch.line && number < patch.line + patch.removed;
    add(is_removed ? '-' : ' ', number);
    if (is_removed && number == patch.line + patch.removed - 1) add_inserted();
  }
  if (patch.line > last && !patch.removed) add_inserted();
  return text;
}

// Returns the character to add to inserted lines: CR if the first line of the file ends in CRLF; otherwise an empty
// text.
std::string line_end_of(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end != std::string_view::npos && end > 0 && text[end - 1] == '\r' ? "\r" : "";
}

// True for a file of an installed package. depyf never proposes an edit of an installed file: a setting applies to the
// whole process, so the statement that sets it belongs in the user's program.
bool is_installed(std::string_view file) { return has(file, "/site-packages/") || has(file, "/dist-packages/"); }

}  // namespace

std::string setting_for_break(const record::GraphBreak& graph_break) {
  const std::string_view line = graph_break.place.text, reason = graph_break.reason;
  const std::string all = graph_break.reason + " " + graph_break.explanation + " " + joined(graph_break.hints, " ");
  if (is_plain_call(line, "print") && has(all, "print"))
    return "torch._dynamo.config.reorderable_logging_functions.add(print)";
  if (is_plain_call(line, "warnings.warn") && has(all, "warn"))
    return "torch._dynamo.config.reorderable_logging_functions.add(__import__('warnings').warn)";
  // PyTorch also hints at `capture_scalar_outputs` for a branch on data, but the graph ends at a branch on data even
  // with the setting.
  if (has(reason, "Tensor.item") || (has(all, "capture_scalar_outputs") && !has(reason, "branching")))
    return "torch._dynamo.config.capture_scalar_outputs = True";
  if (has(all, "capture_dynamic_output_shape_ops"))
    return "torch._dynamo.config.capture_dynamic_output_shape_ops = True";
  return {};
}

bool is_whole_number_of_module(const diff::Cause& cause) {
  const bool is_attribute = cause.subject.find('.') != std::string::npos;
  // In a cause such as `expected 2, was 3`, both numbers are whole numbers if the second number is a whole number.
  const std::size_t was = cause.text.find(", was ");
  const std::string_view now =
      was == std::string::npos ? std::string_view() : std::string_view(cause.text).substr(was + 6);
  const bool is_integer = !now.empty() && (now[0] == '-' || (now[0] >= '0' && now[0] <= '9')) &&
                          now.substr(0, now.find(' ')).find('.') == std::string_view::npos;
  return cause.kind == "value" && is_attribute && is_integer;
}

std::string setting_for_recompilation(const diff::Cause& cause, bool is_first) {
  if (cause.kind == "size") return "torch._dynamo.config.assume_static_by_default = False";
  // Even with the setting, Dynamo treats an integer attribute of a module as a constant until the attribute has changed
  // once.
  if (!is_first && is_whole_number_of_module(cause)) return "torch._dynamo.config.allow_unspec_int_on_nn_module = True";
  return {};
}

std::string setting_for_limit(const record::Compilation& compilation) {
  if (!compilation.limit_reached) return {};
  const std::size_t used = std::max<std::size_t>(compilation.limit_reached->compilations.size(), 1);
  return "torch._dynamo.config.recompile_limit = " + std::to_string(4 * used);
}

std::optional<Patch> edit_for_break(const record::GraphBreak& graph_break, const ReadSource& source) {
  if (graph_break.place.text != "torch._dynamo.graph_break()" || is_installed(graph_break.place.file))
    return std::nullopt;
  const std::optional<std::string> text = source(graph_break.place.file);
  if (!text) return std::nullopt;
  const std::vector<std::string_view> lines = lines_of(*text);
  const auto index = static_cast<std::size_t>(graph_break.place.line) - 1;
  if (index >= lines.size() || stripped(lines[index]) != graph_break.place.text) return std::nullopt;
  Patch patch{graph_break.place.file, graph_break.place.line, 1, {}, {}};
  // The call `torch._dynamo.graph_break()` is replaced by `pass` and not deleted, because it may be the only statement
  // of its block.
  patch.inserted.push_back(std::string(indentation_of(lines[index])) + "pass" + line_end_of(*text));
  patch.diff = unified_diff(patch, *text);
  return patch;
}

std::optional<Patch> edit_for_setting(const std::string& setting, const std::string& file, const ReadSource& source) {
  const std::optional<std::string> text = setting.empty() || is_installed(file) ? std::nullopt : source(file);
  if (!text || !text->ends_with('\n')) return std::nullopt;
  const std::optional<int> line = line_behind_import(*text);
  if (!line) return std::nullopt;
  Patch patch{file, *line, 0, {}, {}};
  for (const std::string& statement : {std::string("import torch._dynamo"), setting})
    patch.inserted.push_back(statement + line_end_of(*text));
  patch.diff = unified_diff(patch, *text);
  return patch;
}

}  // namespace depyf::findings
