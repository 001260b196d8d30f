#include "depyf/contract.h"
#include "json/writer.h"
#include "texts/shown.h"

namespace depyf::contract {

using diff::Change, texts::counted, texts::shown;

std::string to_text(const Verdict& verdict, const std::string& name) {
  std::string text =
      verdict.broken.empty()
          ? "The contract holds: " + counted(verdict.functions, "function") + " (" + shown(name) + ").\n"
          : "The contract is broken for " + counted(verdict.broken.size(), "reason") + " (" + shown(name) + ").\n";
  std::string function;
  for (const Change& change : verdict.broken) {
    const std::string title = change.function.empty() ? "The whole run" : change.function;
    if (title != function) text += "\n" + shown(title) + ":\n";
    function = title;
    text += "  " + shown(change.sentence) + "\n";
    for (const std::string& detail : change.details) text += "      " + shown(detail) + "\n";
  }
  const auto list = [&](const char* heading, const std::vector<std::string>& sentences) {
    if (!sentences.empty()) text += std::string("\n") + heading + "\n";
    for (const std::string& sentence : sentences) text += "  " + shown(sentence) + "\n";
  };
  list("Not checked:", verdict.unchecked);
  list("Better than the contract (write the contract again to keep the improvement):", verdict.better);
  return text;
}

std::string to_json(const Verdict& verdict, const std::string& name) {
  json::Writer out;
  out.object([&] {
    out.member("schema_version", schema_version);
    out.member("contract", name);
    out.key("holds"), out.boolean(verdict.broken.empty());
    out.member("functions", static_cast<std::int64_t>(verdict.functions));
    out.objects("broken", verdict.broken, [&](const Change& change) {
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
      out.optional("allowed", change.before);
      out.optional("actual", change.after);
    });
    out.strings("unchecked", verdict.unchecked);
    out.strings("better", verdict.better);
  });
  return out.take();
}

}  // namespace depyf::contract
