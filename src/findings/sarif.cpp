// Writes findings as SARIF 2.1.0 (OASIS standard), a format that GitHub and editors read to show each finding at its
// line.
#include <array>

#include "depyf/findings.h"
#include "json/writer.h"
#include "support/words.h"

namespace depyf::findings {
namespace {

constexpr std::string_view schema = "https://json.schemastore.org/sarif-2.1.0.json";
constexpr std::string_view base = "ROOT";  // the name in SARIF for the folder to which paths are relative

// Returns a path as the text of a URI, in which characters that may have a meaning in a URI are percent-encoded.
std::string uri_of(std::string_view path) {
  std::string uri;
  for (const char c : path) {
    const bool is_plain = is_word(c) || c == '/' || c == '.' || c == '-' || c == '~';
    if (is_plain) {
      uri += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    uri += '%';
    uri += "0123456789ABCDEF"[byte >> 4];
    uri += "0123456789ABCDEF"[byte & 15];
  }
  return uri;
}

// Returns the FNV-1a hash of a text as hexadecimal digits. The hash of a text is the same in every run.
std::string hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(hash >> shift) & 15];
  return digits;
}

class Sarif {
 public:
  Sarif(const std::vector<Finding>& findings, std::string directory, const std::string& version)
      : findings_(findings), directory_(std::move(directory)), version_(version) {
    if (!directory_.ends_with('/')) directory_ += '/';
  }

  std::string run() {
    out_.object([&] {
      out_.member("$schema", schema);
      out_.member("version", "2.1.0");
      out_.list("runs", std::array{0}, [&](int) {
        out_.object([&] {
          tool();
          out_.object("originalUriBaseIds",
                      [&] { out_.object(base, [&] { out_.member("uri", "file://" + uri_of(directory_)); }); });
          out_.member("columnKind", "utf16CodeUnits");
          out_.objects("results", findings_, [&](const Finding& finding) { result(finding); });
        });
      });
    });
    return out_.take();
  }

 private:
  void text(std::string_view name, std::string_view value) {
    out_.object(name, [&] { out_.member("text", value); });
  }

  void tool() {
    out_.object("tool", [&] {
      out_.object("driver", [&] {
        out_.member("name", "depyf");
        if (!version_.empty()) out_.member("version", version_);
        out_.objects("rules", rules, [&](const Rule& rule) {
          out_.member("id", rule.code);
          text("shortDescription", rule.title);
          text("help", rule.remedy);
          out_.object("defaultConfiguration", [&] { out_.member("level", name_of(rule.severity)); });
        });
      });
    });
  }

  void location(const std::string& file) {
    out_.object("artifactLocation", [&] {
      if (file.starts_with(directory_)) {
        out_.member("uri", uri_of(std::string_view(file).substr(directory_.size())));
        out_.member("uriBaseId", base);
      } else {
        out_.member("uri", file.starts_with('/') ? "file://" + uri_of(file) : uri_of(file));
      }
    });
  }

  void locations(const record::Place& place) {
    out_.list("locations", std::array{0}, [&](int) {
      out_.object([&] {
        out_.object("physicalLocation", [&] {
          location(place.file);
          if (place.line > 0) out_.object("region", [&] { out_.member("startLine", place.line); });
        });
      });
    });
  }

  void result(const Finding& finding) {
    out_.member("ruleId", finding.rule->code);
    out_.member("ruleIndex", static_cast<std::int64_t>(finding.rule - std::begin(rules)));
    out_.member("level", name_of(finding.rule->severity));
    std::string message = finding.sentence;
    for (const std::string& evidence : finding.evidence) message += "\n" + evidence;
    if (!finding.setting.empty()) message += "\nThis statement should remove the cause: " + finding.setting;
    text("message", message);
    if (!finding.place.file.empty()) locations(finding.place);
    // The fingerprint is stable between runs, because it depends neither on line numbers nor on values of the call.
    out_.object("partialFingerprints", [&] {
      const std::string line = finding.place.text.empty() ? finding.function : finding.place.text;
      const std::string file = finding.place.file.substr(finding.place.file.rfind('/') + 1);
      out_.member("finding/v1", hash_of(std::string(finding.rule->code) + "\n" + file + "\n" + line));
    });
    if (finding.patch) fix(*finding.patch);
  }

  void fix(const Patch& patch) {
    std::string inserted;
    for (const std::string& line : patch.inserted) inserted += line + "\n";
    out_.list("fixes", std::array{0}, [&](int) {
      out_.object([&] {
        text("description", "This change should remove the cause of the finding.");
        out_.list("artifactChanges", std::array{0}, [&](int) {
          out_.object([&] {
            location(patch.file);
            out_.list("replacements", std::array{0}, [&](int) {
              out_.object([&] {
                out_.object("deletedRegion", [&] {
                  out_.member("startLine", patch.line);
                  out_.member("startColumn", 1);
                  out_.member("endLine", patch.line + patch.removed);
                  out_.member("endColumn", 1);
                });
                text("insertedContent", inserted);
              });
            });
          });
        });
      });
    });
  }

  const std::vector<Finding>& findings_;
  std::string directory_;
  const std::string& version_;
  json::Writer out_;
};

}  // namespace

std::string to_sarif(const std::vector<Finding>& findings, const std::string& directory, const std::string& version) {
  return Sarif(findings, directory, version).run();
}

}  // namespace depyf::findings
