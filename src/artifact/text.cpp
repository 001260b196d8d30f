// Writes an artifact as text for human readers.
#include <algorithm>
#include <map>

#include "artifact/words.h"
#include "support/words.h"
#include "texts/shown.h"

namespace depyf::artifact {

std::string_view match_words(Source::Match match) {
  switch (match) {
    case Source::Match::unknown: return "";
    case Source::Match::same: return "the same here";
    case Source::Match::changed: return "changed here";
    case Source::Match::not_found: return "not found here";
  }
  return "";
}

std::string function_headline(const Function& function) {
  std::string text = function.role == "original" ? "original code" : function.role + " code";
  if (!function.filename.empty()) text += " (" + function.filename + ":" + std::to_string(function.line) + ")";
  if (!function.code) return text + ": " + function.problem;
  return text + (function.is_proved ? ", proved" : ", not proved: " + function.problem);
}

namespace {

// The packages that the pickles of PyTorch itself usually refer to.
constexpr std::string_view usual_packages[] = {"torch",     "builtins",    "inspect",     "collections", "functools",
                                               "traceback", "copyreg",     "__builtin__", "copy_reg",    "sympy",
                                               "types",     "dataclasses", "operator",    "_operator"};
constexpr std::size_t shown_key_max = 100;  // the maximum number of bytes that are shown of a part of a key
constexpr std::size_t listed_max = 40;  // the maximum number of names, or of parts of a key, that are listed one by one

std::string indented(std::string_view text) {
  std::string result;
  for (const std::string_view line : rows_of(stripped_end(text)))
    result += line.empty() ? "\n" : "    " + std::string(line) + "\n";
  return result;
}

std::string counted(std::size_t count, std::string_view word) {
  return std::to_string(count) + " " + std::string(word) + (count == 1 ? "" : "s");
}

std::string facts_text(std::string_view title, const std::vector<Fact>& facts) {
  if (facts.empty()) return {};
  std::string text = "  " + std::string(title) + ":\n";
  for (const Fact& fact : facts) text += "    " + fact.name + ": " + fact.value + "\n";
  return text;
}

std::string guards_text(const Part& part) {
  if (!part.has_guards) return {};
  std::string text = "\n  guards: " + counted(part.guards.size(), "guard") + "\n" + indented(guard_source(part));
  // Maps a reason to the number of guards that are not printed in full for this reason.
  std::map<std::string, std::size_t> without;
  for (const Guard& guard : part.guards)
    if (guard.printed.conditions.empty() || !guard.without_form.empty())
      ++without[(guard.printed.conditions.empty() ? "" : "in part, ") + guard.printed.kind + ": " + guard.without_form];
  for (const auto& [reason, count] : without)
    text += "    # not shown above, " + counted(count, "guard") + ": " + reason + "\n";
  for (const std::string& sentence : part.unchecked) text += "    # " + sentence + "\n";
  return text;
}

std::string sources_text(const Part& part) {
  if (part.sources.empty()) return {};
  std::string text = "\n  sources from which it was compiled:\n";
  for (const Source& source : part.sources) {
    text += "    " + source.module + ":" + std::to_string(source.first_line) + "-" +
            std::to_string(source.last_line - 1) + "  sha256 " + source.checksum.substr(0, 12);
    if (const std::string_view words = match_words(source.match); !words.empty()) text += ", " + std::string(words);
    if (!source.path.empty()) text += " (" + source.path + ")";
    if (!source.text_has_checksum) text += ", and the text in the file differs from it";
    text += "\n";
  }
  return text;
}

std::string part_text(const Part& part) {
  std::string text = "\n" + part.title + "\n";
  if (!part.key.empty()) text += "  " + part.kind + " " + part.key + ", " + counted(part.size, "byte") + "\n";
  text += facts_text("facts about the compilation", part.facts);
  text += facts_text("configuration, as far as the file contains it", part.settings);
  for (const std::string& note : part.notes) text += "  note: " + note + "\n";
  for (const Function& function : part.functions)
    text += "\n  " + function_headline(function) + "\n" + indented(function.source);
  text += guards_text(part);
  text += facts_text("state of the process that the guards require", part.state);
  for (const Stage& stage : part.stages)
    text += "\n  " + stage.title + (stage.key.empty() ? "" : " (" + stage.key + ")") + "\n" + indented(stage.text);
  text += sources_text(part);
  if (!part.key_parts.empty()) {
    text += "\n  the key is the hash of " + counted(part.key_parts.size(), "part") + "; the first are:\n";
    for (std::size_t index = 0; index < std::min(part.key_parts.size(), listed_max); ++index) {
      const std::string_view value = part.key_parts[index].value;
      text += "    " + part.key_parts[index].name + ": " +
              std::string(value.substr(0, std::min(value.find('\n'), shown_key_max))) + "\n";
    }
  }
  return text;
}

bool is_usual(std::string_view name) {
  const std::string_view package = name.substr(0, name.find('.'));
  return std::find(std::begin(usual_packages), std::end(usual_packages), package) != std::end(usual_packages);
}

std::string reach_text(const Artifact& artifact) {
  if (artifact.names.empty()) return {};
  std::string text = "\nloading this file as PyTorch does would look up " + counted(artifact.names.size(), "name") +
                     " and call " + std::to_string(artifact.called.size()) + " of them; depyf did neither\n";
  std::size_t listed = 0;
  for (const std::string& name : artifact.names) {
    if (is_usual(name) && name != "builtins.eval" && name != "builtins.exec") continue;
    const bool is_called = std::find(artifact.called.begin(), artifact.called.end(), name) != artifact.called.end();
    if (++listed <= listed_max) text += "  " + std::string(is_called ? "calls " : "imports ") + name + "\n";
  }
  if (listed > listed_max) text += "  and " + std::to_string(listed - listed_max) + " more\n";
  if (listed == 0) text += "  all names belong to PyTorch, the standard library of Python or SymPy\n";
  if (artifact.persistent_count > 0)
    text += "  and " + counted(artifact.persistent_count, "object") +
            " that the program that loads the file has to provide\n";
  return text;
}

}  // namespace

std::string to_line(const Artifact& artifact) {
  return texts::one_line(artifact.name + ": " + (artifact.format.empty() ? "unreadable" : artifact.format) + ", " +
                         counted(artifact.size, "byte")) +
         "\n";
}

std::string to_text(const Artifact& artifact) {
  std::string text = to_line(artifact);
  if (!artifact.error.empty())
    text += "  at byte " + std::to_string(artifact.error_offset) + ": " + artifact.error + "\n";
  if (!artifact.outline.empty()) text += "  the file contains " + artifact.outline + "\n";
  for (const Part& part : artifact.parts) text += part_text(part);
  text += reach_text(artifact);
  std::string shown;
  for (const std::string_view line : lines_of(text)) shown += texts::one_line(line) + "\n";
  return shown;
}

}  // namespace depyf::artifact
