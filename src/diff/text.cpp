#include <algorithm>

#include "depyf/diff.h"
#include "json/writer.h"
#include "support/words.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf::diff {

using namespace record;
using texts::counted, texts::shown;

namespace {

std::string run_text(const Run& run) {
  if (run.processes.empty()) return "nothing";
  const Process& first = run.processes.front();
  std::string text = shown(first.log);
  if (run.processes.size() > 1) text += " and " + std::to_string(run.processes.size() - 1) + " more";
  std::string versions;
  if (!first.torch_version.empty()) versions = "PyTorch " + first.torch_version;
  if (!first.python_version.empty()) versions += (versions.empty() ? "Python " : ", Python ") + first.python_version;
  return text + (versions.empty() ? "" : " (" + shown(versions) + ")");
}

std::string headline(const Difference& difference) {
  if (difference.changes.empty())
    return "No difference: " + counted(difference.functions, "function") + " compiled with the same result.";
  std::size_t counts[4] = {};
  for (const Change& change : difference.changes) ++counts[static_cast<std::size_t>(change.weight)];
  constexpr const char* names[] = {"worse", "in the work of the compiled code", "neutral", "better"};
  std::string text = counted(difference.changes.size(), "difference") + ": ";
  bool is_first = true;
  for (std::size_t i = 0; i < std::size(counts); ++i) {
    if (!counts[i]) continue;
    text += (is_first ? "" : ", ") + std::to_string(counts[i]) + " " + names[i];
    is_first = false;
  }
  return text + ".";
}

void write_run(json::Writer& out, const char* name, const Run& run) {
  out.objects(name, run.processes, [&](const Process& process) {
    out.member("log", process.log);
    out.optional("rank", process.rank);
    out.optional("torch_version", process.torch_version);
    out.optional("python_version", process.python_version);
  });
}

}  // namespace

std::string to_text(const Difference& difference, const Run& before, const Run& after, bool with_details) {
  std::string text =
      "Before: " + run_text(before) + "\nAfter:  " + run_text(after) + "\n\n" + headline(difference) + "\n";
  std::string function;
  for (const Change& change : difference.changes) {
    const std::string title = change.function.empty() ? "The whole run" : change.function;
    if (title != function) text += "\n" + shown(title) + ":\n";
    function = title;
    text += "  " + shown(change.sentence) + "\n";
    if (!with_details) continue;
    for (const std::string& detail : change.details) text += "      " + shown(detail) + "\n";
  }
  if (!difference.not_compared.empty()) text += "\nNot compared:\n";
  for (const std::string& sentence : difference.not_compared) text += "  " + sentence + "\n";
  if (with_details && !difference.timings.empty()) {
    text += "\nTimes in seconds, which never count as a difference:\n";
    for (const std::string& timing : difference.timings) text += "  " + shown(timing) + "\n";
  }
  return text;
}

std::string to_json(const Difference& difference, const Run& before, const Run& after) {
  json::Writer out;
  out.object([&] {
    out.member("schema_version", schema_version);
    out.key("is_same"), out.boolean(difference.changes.empty());
    out.member("functions", static_cast<std::int64_t>(difference.functions));
    write_run(out, "before", before);
    write_run(out, "after", after);
    out.objects("changes", difference.changes, [&](const Change& change) {
      out.member("code", change.code);
      out.member("weight", name_of(change.weight));
      out.optional("function", change.function);
      out.object("place", [&] {
        out.optional("file", change.place.file);
        out.member("line", change.place.line);
        out.optional("function", change.place.function);
        out.optional("text", change.place.text);
      });
      out.member("sentence", change.sentence);
      out.strings("details", change.details);
      out.optional("before", change.before);
      out.optional("after", change.after);
    });
    out.strings("not_compared", difference.not_compared);
    out.strings("timings", difference.timings);
  });
  return out.take();
}

}  // namespace depyf::diff
