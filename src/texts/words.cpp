#include "texts/words.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "depyf/texts.h"
#include "support/utf8.h"
#include "support/words.h"
#include "texts/markdown.h"

namespace depyf::texts {

using namespace record;

namespace {

constexpr std::size_t values_named = 5;  // the most values with failing guards that one line names
// The numbers of lines that are shown from the start and the end of a long error. An error of a compiler may quote a
// whole file, so not all of its lines are shown.
constexpr std::size_t first_lines = 12, last_lines = 28;
// The texts that depyf stores as the error of a compilation that had neither ended nor failed when the recording
// stopped.
constexpr std::string_view not_ended[] = {"The block ended before this compilation did.",
                                          "The process died before this compilation ended."};

std::string with_slashes(std::string path) {
  std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

std::string first_line(std::string_view text) {
  for (const std::string_view line : lines_of(text))
    if (!stripped(line).empty()) return std::string(stripped(line));
  return {};
}

std::string why(const std::string& origin, const Place& place) {
  const std::string line = line_text(place);
  return origin + (origin.empty() || line.empty() ? "" : "; ") + line;
}

std::string with_comment(const std::string& text, const std::string& comment) {
  return comment.empty() ? text : text + "  # " + comment;
}

// Returns the condition that failed or the value that differs, with the number of other values that differ in the same
// way.
std::string change_text(const FailedGuard& failure) {
  if (failure.subject.empty()) return failure.guard;
  std::string text =
      failure.is_state ? failure.subject + ": " + failure.actual + ", was " + failure.expected + " when it was compiled"
                       : failure.subject + ": expected " + failure.expected + ", was " + failure.actual;
  if (failure.alike.size() == 1) text += " (and the same for " + failure.alike[0] + ")";
  if (failure.alike.size() > 1) text += " (and the same for " + std::to_string(failure.alike.size()) + " others)";
  return text;
}

std::string failure_text(const FailedGuard& failure) {
  return with_comment(change_text(failure), why(failure.origin, failure.place));
}

// Appends a line with the values that differ in the same way as the value of `failure`, and a line with the values that
// differ only because of `failure`.
void append_folded(const FailedGuard& failure, std::vector<std::string>& lines) {
  auto append = [&](const char* what, const std::vector<std::string>& subjects) {
    const std::size_t named = std::min(subjects.size(), values_named);
    std::string text = std::string("    ") + what + " " + joined(std::span(subjects).first(named), ", ");
    if (subjects.size() > named) text += " and " + std::to_string(subjects.size() - named) + " more";
    lines.push_back(std::move(text));
  };
  if (failure.alike.size() > 1) append("and the same for", failure.alike);
  if (!failure.follows.empty()) append("only as a consequence of this difference:", failure.follows);
}

// Returns the lines of the error that are not blank. The middle of a long error is left out.
std::vector<std::string> error_lines(const Compilation& compilation) {
  std::vector<std::string> lines;
  for (const std::string_view line : lines_of(compilation.failure))
    if (const std::string_view kept = stripped_end(line); !kept.empty()) lines.emplace_back(kept);
  if (lines.size() <= first_lines + last_lines + 1) return lines;
  const std::size_t left_out = lines.size() - first_lines - last_lines;
  const auto first = lines.begin() + static_cast<std::ptrdiff_t>(first_lines);
  *first = "... (" + std::to_string(left_out) + " more lines; session.json contains all lines)";
  lines.erase(first + 1, lines.end() - static_cast<std::ptrdiff_t>(last_lines));
  return lines;
}

std::string limit_headline(const Compilation& compilation, const std::string& title, const LimitReached& limit) {
  const std::string value = limit.value ? " (" + std::to_string(*limit.value) + ")" : "";
  const std::string reached = title + " has reached torch._dynamo.config." + limit.setting + value;
  if (compilation.is_raised) return reached + ", and the call that needed another compilation raised an error.";
  if (!limit.is_still_used || limit.compilations.empty()) return reached + ": from now on, it runs eagerly.";
  return reached +
         ": from now on, every call runs eagerly, including the functions that it calls, unless one of the existing "
         "compilations accepts the call (" +
         joined(limit.compilations, ", ") + ").";
}

std::vector<std::string> used_up(const Compilation& compilation, const LimitReached& limit) {
  std::vector<std::string> lines{"These compilations used up the limit:"};
  for (std::size_t i = 0; i < std::min(limit.compilations.size(), limit.reasons.size()); ++i)
    lines.push_back("  " + limit.compilations[i] + ": " +
                    (limit.reasons[i].empty() ? "compiled before the recording began" : limit.reasons[i]));
  if (limit.is_still_used && !limit.accepted.empty()) {
    lines.push_back("Calls still run compiled if these conditions hold:");
    for (const std::string& accepted : limit.accepted) lines.push_back("  " + accepted);
  }
  if (!compilation.reasons.empty() && !compilation.reasons[0].is_in_words) {
    lines.push_back("The call that exceeded the limit: " + deciding_reason(compilation.reasons));
  } else if (!compilation.reasons_in_words.empty()) {
    const std::string& words = compilation.reasons_in_words[0];
    lines.push_back("The call that exceeded the limit: " + words.substr(0, words.find('\n')));
  }
  return lines;
}

}  // namespace

std::string file_name(const std::string& path) {
  const std::string file = with_slashes(path);
  return file.substr(file.rfind('/') + 1);
}

std::string package_path(const std::string& path) {
  const std::string file = with_slashes(path);
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"})
    if (const std::size_t at = file.rfind(folder); at != std::string::npos) return file.substr(at + folder.size());
  return file_name(path);
}

bool is_known(const Place& place) { return !place.file.empty() || place.line != 0; }

std::string line_text(const Place& place) {
  if (!is_known(place)) return {};
  return std::string(stripped_end(file_name(place.file) + ":" + std::to_string(place.line) + " " + place.text));
}

std::string name_of(const Compilation& compilation) {
  return compilation.name.empty() ? compilation.place.function : compilation.name;
}

std::string title_of(const Compilation& compilation) {
  const std::string file = file_name(compilation.place.file);
  const std::string line = std::to_string(compilation.place.line);
  if (compilation.is_resume && !compilation.name.empty())
    return compilation.name + " after the break at " + (file.empty() ? "line " : file + ":") + line;
  return name_of(compilation) + (file.empty() ? "" : " (" + file + ":" + line + ")");
}

std::string where(const GraphBreak& graph_break) {
  const Place& place = graph_break.place;
  const std::string user = is_known(place) ? file_name(place.file) + ":" + std::to_string(place.line) : "";
  if (!is_known(graph_break.inside)) return user;
  const Place& inside = graph_break.inside;
  std::string text = package_path(inside.file) + ":" + std::to_string(inside.line);
  if (!inside.function.empty()) text += " in " + inside.function;
  if (!user.empty()) text += ", called from " + user + (place.text.empty() ? "" : " " + code(place.text));
  return text;
}

std::string sentence(const GraphBreak& graph_break) {
  const std::string place = where(graph_break);
  std::string text = (place.empty() ? "" : place + ": ") + graph_break.reason + ". " + graph_break.explanation;
  text.resize(text.find_last_not_of(" .") + 1);
  return text + "." + (graph_break.then.empty() ? "" : " " + graph_break.then);
}

std::vector<std::string> hints(const GraphBreak& graph_break) {
  std::vector<std::string> lines;
  if (is_known(graph_break.inside) && !graph_break.inside.text.empty())
    lines.push_back("The line of PyTorch: " + code(graph_break.inside.text));
  else if (!graph_break.place.text.empty()) lines.push_back("The line: " + code(graph_break.place.text));
  lines.insert(lines.end(), graph_break.hints.begin(), graph_break.hints.end());
  if (!graph_break.link.empty()) lines.push_back("More: " + graph_break.link);
  return lines;
}

bool is_same(const GraphBreak& one, const GraphBreak& two) {
  auto is_same_line = [](const Place& a, const Place& b) { return a.file == b.file && a.line == b.line; };
  return one.reason == two.reason && is_same_line(one.place, two.place) && is_same_line(one.inside, two.inside);
}

std::string deciding_reason(const std::vector<FailedGuard>& failures) {
  if (failures.empty()) return {};
  const FailedGuard& first = failures[0];
  const auto of_first = std::count_if(failures.begin(), failures.end(), [&](const FailedGuard& failure) {
    return failure.compilation == first.compilation;
  });
  const std::string more = of_first > 1 ? " and " + std::to_string(of_first - 1) + " more" : "";
  return with_comment(change_text(first) + more, why(first.origin, first.place));
}

std::vector<std::string> failure_lines(const std::vector<FailedGuard>& failures) {
  std::vector<std::string> entries;
  for (const FailedGuard& failure : failures)
    if (std::find(entries.begin(), entries.end(), failure.compilation) == entries.end())
      entries.push_back(failure.compilation);
  std::vector<std::string> lines;
  for (const std::string& entry : entries) {
    const bool is_nearest = &entry == &entries[0] && entries.size() > 1;
    std::string lead =
        "of " + (entry.empty() ? "an earlier compilation" : entry) + (is_nearest ? ", the nearest" : "") + ": ";
    for (const FailedGuard& failure : failures) {
      if (failure.compilation != entry) continue;
      lines.push_back(lead + failure_text(failure));
      append_folded(failure, lines);
      lead = "  and ";
    }
  }
  return lines;
}

std::vector<std::string> reasons(const Compilation& compilation) {
  std::vector<std::string> lines;
  if (!compilation.reasons.empty() && (compilation.reasons_in_words.empty() || !compilation.reasons[0].is_in_words)) {
    const bool is_compiled = compilation.status == Status::compiled;
    lines.push_back((is_compiled ? "Compiled again" : "Would be compiled again") +
                    std::string(" because of the guards that failed:"));
    for (const std::string& line : failure_lines(compilation.reasons)) lines.push_back("  " + line);
  } else {
    for (const std::string& reason : compilation.reasons_in_words)
      lines.push_back("Compiled again because " + first_line(reason));
  }
  for (const GraphBreak& graph_break : compilation.breaks)
    if (!compilation.stopped_by || sentence(*compilation.stopped_by) != sentence(graph_break))
      lines.push_back("Graph break at " + sentence(graph_break));
  return lines;
}

std::string headline(const Compilation& compilation, const std::string& title) {
  if (compilation.limit_reached) return limit_headline(compilation, title, *compilation.limit_reached);
  if (compilation.stopped_by) {
    const GraphBreak& stop = *compilation.stopped_by;
    const std::string kind = compilation.failure.substr(0, compilation.failure.find(':'));
    const bool is_break = kind == "Unsupported" || kind == "UserError" || kind == "SkipFrame";
    GraphBreak alone = stop;
    alone.then.clear();
    const std::string cause =
        "of " + (is_break ? "a graph break" : kind) + (where(stop).empty() ? ": " : " at ") + sentence(alone);
    if (compilation.is_raised) return title + " was not compiled, and its call raised an error, because " + cause;
    return title + " runs eagerly, because " + cause + (stop.then.empty() ? "" : " " + stop.then);
  }
  const std::vector<std::string> lines = error_lines(compilation);
  if (std::find(std::begin(not_ended), std::end(not_ended), compilation.failure) != std::end(not_ended))
    return title + " was not compiled: " + lines[0];
  if (!lines.empty())
    return title +
           (compilation.is_raised ? " was not compiled, and its call raised an error: "
                                  : " runs eagerly, because of an error: ") +
           lines[0];
  if (compilation.status == Status::unfinished) return title + ": the log ends before this compilation does.";
  if (!compilation.breaks.empty())
    return title + " runs eagerly, because of a graph break: " + sentence(compilation.breaks.back());
  if (!compilation.notes.empty()) return title + " was not compiled.";
  return title + " runs eagerly: Dynamo found no operation in it that belongs in a graph.";
}

std::vector<std::string> details(const Compilation& compilation) {
  if (compilation.limit_reached) return used_up(compilation, *compilation.limit_reached);
  if (compilation.stopped_by) {
    std::vector<std::string> lines = hints(*compilation.stopped_by);
    if (!compilation.is_raised)
      lines.push_back("Only this function runs eagerly; the functions that it calls are still compiled separately.");
    return lines;
  }
  std::vector<std::string> lines = error_lines(compilation);
  if (!lines.empty()) lines.erase(lines.begin());
  return lines;
}

std::vector<std::string> symbol_rows(const std::vector<Symbol>& symbols) {
  if (symbols.empty()) return {};
  std::vector<std::array<std::string, 5>> rows{{"symbol", "is", "was", "range", "set by"}};
  for (const Symbol& symbol : symbols) {
    std::string by;
    if (is_known(symbol.place) || !symbol.specialized_to.empty()) {
      by = "specialised to " + symbol.specialized_to;
      if (is_known(symbol.place)) by += " by " + line_text(symbol.place);
      if (!symbol.reason.empty()) by += ": " + first_line(symbol.reason);
    } else {
      for (const std::string* bound : {&symbol.lower_from, &symbol.upper_from}) {
        const std::string origin = bound->empty() ? "" : bound_origin(*bound);
        if (!origin.empty() && origin != by) by += (by.empty() ? "" : "; ") + origin;
      }
    }
    rows.push_back({symbol.name, symbol.source, symbol.value, symbol.range, by});
  }
  std::array<std::size_t, 4> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], characters_in(row[i]));
  std::vector<std::string> lines{"Sizes that may vary:"};
  for (const auto& row : rows) {
    std::string line = "  ";
    for (std::size_t i = 0; i < widths.size(); ++i)
      line += row[i] + std::string(widths[i] - characters_in(row[i]) + 2, ' ');
    lines.emplace_back(stripped_end(line + row[4]));
  }
  return lines;
}

std::vector<std::string> runtime_rows(const Compilation& compilation) {
  std::vector<std::string> lines;
  if (!compilation.runtime_values.empty()) lines.push_back("Values that are known only when the graph runs:");
  for (const RuntimeValue& value : compilation.runtime_values)
    lines.push_back(with_comment("  " + value.name + " in " + value.range, line_text(value.place)));
  if (!compilation.runtime_asserts.empty()) lines.push_back("Conditions that are checked when the graph runs:");
  for (const RuntimeAssert& check : compilation.runtime_asserts) {
    const std::string said = check.message.empty() ? "" : "; otherwise, the error message is \"" + check.message + "\"";
    lines.push_back(with_comment("  " + check.condition + said, line_text(check.place)));
  }
  return lines;
}

std::string limit_text(const Limit& limit) { return with_comment(limit.condition, why(limit.origin, limit.place)); }

}  // namespace depyf::texts

namespace depyf {

std::string bound_origin(const std::string& place) {
  if (place.find("0/1 specialization") != std::string::npos)
    return "PyTorch always compiles the sizes 0 and 1 separately";
  const bool is_own =
      place.size() > 2 && place.front() == '(' && place.back() == ')' && place.find(" in ") != std::string::npos;
  if (!is_own) return place.empty() ? "not recorded" : place;
  const std::string inner = place.substr(1, place.size() - 2);
  for (const char* cache : {"autograd_cache", "codecache", "output_code"})
    if (inner.find(cache) != std::string::npos) return "a guard of the cached result (" + inner + ")";
  return (inner.starts_with("_inductor/") ? "Inductor's own guard (" : "PyTorch's own guard (") + inner + ")";
}

Words words_of(const record::Compilation& compilation, const std::string& title) {
  using namespace texts;
  Words words{headline(compilation, title.empty() ? title_of(compilation) : title),
              details(compilation),
              reasons(compilation),
              deciding_reason(compilation.reasons),
              failure_lines(compilation.reasons),
              symbol_rows(compilation.symbols),
              runtime_rows(compilation),
              {},
              {},
              {}};
  for (const record::GraphBreak& graph_break : compilation.breaks) {
    words.places.push_back(where(graph_break));
    words.breaks.push_back(sentence(graph_break));
  }
  for (const record::FailedGuard& failure : compilation.reasons) words.guards.push_back(failure_text(failure));
  return words;
}

}  // namespace depyf
