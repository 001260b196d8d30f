#include "depyf/findings.h"
#include "json/writer.h"
#include "texts/shown.h"

namespace depyf::findings {

using texts::counted, texts::shown;

namespace {

void write_place(json::Writer& out, const record::Place& place) {
  out.object("place", [&] {
    out.optional("file", place.file);
    out.member("line", place.line);
    out.optional("function", place.function);
    out.optional("text", place.text);
  });
}

}  // namespace

std::string to_text(const std::vector<Finding>& findings) {
  if (findings.empty()) return "No findings.\n";
  std::string text = counted(findings.size(), "finding") + ".\n";
  for (const Finding& finding : findings) {
    text += "\n" + std::string(name_of(finding.rule->severity)) + " [" + std::string(finding.rule->code) + "] " +
            shown(finding.sentence) + "\n";
    for (const std::string& evidence : finding.evidence) text += "    " + shown(evidence) + "\n";
    if (finding.evidence.empty() && finding.setting.empty()) text += "    " + std::string(finding.rule->remedy) + "\n";
    if (!finding.setting.empty())
      text += "    This statement should remove the cause: " + shown(finding.setting) + "\n";
    if (finding.patch && finding.setting.empty())
      text += "    A patch should remove the cause; the output of --json contains the patch.\n";
  }
  return text;
}

std::string to_json(const std::vector<Finding>& findings) {
  json::Writer out;
  out.object([&] {
    out.member("schema_version", schema_version);
    out.objects("findings", findings, [&](const Finding& finding) {
      out.member("code", finding.rule->code);
      out.member("severity", name_of(finding.rule->severity));
      out.optional("function", finding.function);
      write_place(out, finding.place);
      out.member("sentence", finding.sentence);
      out.strings("evidence", finding.evidence);
      out.member("remedy", finding.rule->remedy);
      out.optional("setting", finding.setting);
      out.optional("patch", finding.patch ? finding.patch->diff : std::string());
      out.optional("verify", finding.verify);
    });
  });
  return out.take();
}

}  // namespace depyf::findings
