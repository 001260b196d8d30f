#include "depyf/explanation.h"

#include <cstdio>

#include "depyf/dump.h"
#include "dumps/members.h"
#include "json/json.h"
#include "support/words.h"
#include "texts/guard_costs.h"
#include "texts/lines.h"
#include "texts/shown.h"
#include "texts/words.h"

namespace depyf {
namespace {

using namespace texts;
using dumps::text_of, dumps::texts_of;
using Lines = std::vector<std::string>;

constexpr std::size_t note_width = 100;  // the most characters of a line in a note on a resume function

// A JSON document, with an empty root if the text is not valid JSON.
class Parsed {
 public:
  explicit Parsed(std::string_view text) { is_json_ = !document_.parse(text); }
  json::Value root() const { return is_json_ ? document_.root() : json::Value(); }

 private:
  json::Document document_;
  bool is_json_ = false;
};

bool is_null(json::Value value) { return !value || value.is(json::Kind::null); }

Lines code_lines(json::Value code) { return python_lines(stripped_end(code.text())); }

Lines limits_of(const record::Compilation& compilation) {
  Lines lines;
  for (const record::Limit& limit : compilation.limits) lines.push_back(limit_text(limit));
  return lines;
}

// The following functions write the explanation as text.

Lines function_rows(json::Value explanation);

Lines resume_rows(json::Value resume) {
  Lines rows = code_lines(resume["source"]);
  rows.emplace_back();
  if (!is_null(resume["explanation"])) append(function_rows(resume["explanation"]), rows);
  append(wrapped(text_of(resume["note"]), note_width), rows);
  return rows;
}

std::string facts_of(json::Value entry) {
  Lines facts{"compile id " + text_of(entry["compile_id"])};
  if (const std::string backend = text_of(entry["backend"]); !backend.empty()) facts.push_back("backend " + backend);
  if (const std::optional<double> seconds = entry["seconds"].number()) {
    char text[64];
    std::snprintf(text, sizeof text, "took %.3f s", *seconds);
    facts.emplace_back(text);
  }
  return joined(facts, ", ") + "; " + joined(texts_of(entry["why"]), "; ");
}

// Returns the recorded facts about a cache entry besides its code: the failed guards that led to the compilation, the
// graph breaks, the symbolic sizes, and the values that are known only at run time.
Lines recorded_rows(json::Value entry, const record::Compilation& compilation) {
  Lines rows;
  for (std::string line : failure_lines(compilation.reasons)) {
    if (line.starts_with("of ")) line = "Failed guard of compilation " + line.substr(3);
    rows.push_back(std::move(line));
  }
  for (const record::GraphBreak& graph_break : compilation.breaks)
    rows.push_back("Graph break at " + sentence(graph_break));
  append(symbol_rows(compilation.symbols), rows);
  append(texts_of(entry["at_run_time"]), rows);
  return rows;
}

Lines entry_rows(json::Value entry, std::size_t number) {
  const record::Compilation compilation = dumps::compilation_of(entry);
  Lines rows{"Cache Entry " + std::to_string(number) + ": (" + facts_of(entry) + ")"};
  auto add = [&](const Lines& lines) { append(indented(lines, texts::row_indent), rows); };
  add(recorded_rows(entry, compilation));
  rows.emplace_back();
  add(code_lines(entry["guards"]));
  if (const Lines limits = limits_of(compilation); !limits.empty()) {
    append(Lines{"", std::string(texts::row_indent) + "The compilation is used again if all of these conditions hold:"},
           rows);
    add(indented(limits, texts::row_indent));
  }
  if (const Lines unchecked = texts_of(entry["unchecked"]); !unchecked.empty()) {
    append(Lines{"", std::string(texts::row_indent) + "No guard checks these conditions:"}, rows);
    add(indented(unchecked, texts::row_indent));
  }
  rows.emplace_back();
  add(code_lines(entry["code"]));
  rows.emplace_back();
  add({"There are " + std::to_string(entry["graphs"].size()) + " subgraphs in the function:"});
  std::size_t graph_number = 0;
  entry["graphs"].for_each_item([&](json::Value graph) {
    add({"SubGraph " + std::to_string(++graph_number) + ": " + text_of(graph["name"])});
    add(indented(
        is_null(graph["source"]) ? Lines{"Missing: " + text_of(graph["missing"])} : code_lines(graph["source"]),
        texts::row_indent));
    rows.emplace_back();
  });
  add({"There are " + std::to_string(entry["resumes"].size()) + " resume functions:"});
  std::size_t resume_number = 0;
  entry["resumes"].for_each_item([&](json::Value resume) {
    add({"Resume function " + std::to_string(++resume_number) + ": " + text_of(resume["name"])});
    add(indented(resume_rows(resume), texts::row_indent));
    rows.emplace_back();
  });
  for (const std::string& sentence : texts_of(entry["missing"])) add({"Missing: " + sentence});
  return rows;
}

Lines function_rows(json::Value explanation) {
  const std::string title = text_of(explanation["title"]);
  const Lines failed = texts_of(explanation["failed"]), frontier = texts_of(explanation["frontier"]);
  if (explanation["entries"].size() == 0) {
    Lines lines{(title.empty() ? text_of(explanation["function"]) : title) +
                " has no cache entries: " + text_of(explanation["nothing"])};
    append(indented(failed, texts::row_indent), lines);
    return lines;
  }
  Lines lines;
  if (!title.empty()) lines.push_back(title + ":");
  lines.push_back("This is a function optimized by Dynamo. It has " + std::to_string(explanation["entries"].size()) +
                  " cache entries.");
  append(failed, lines);
  std::size_t number = 0;
  explanation["entries"].for_each_item([&](json::Value entry) {
    lines.emplace_back();
    append(entry_rows(entry, ++number), lines);
  });
  if (!is_null(explanation["guard_costs"])) {
    lines.emplace_back();
    append(guard_cost_rows(explanation["guard_costs"]), lines);
  }
  if (frontier.empty()) return lines;
  append(Lines{"",
               "The next call causes a new compilation unless one entry accepts the whole call. Together, the "
               "entries accept:"},
         lines);
  append(indented(frontier, texts::row_indent), lines);
  return lines;
}

// The following functions write the explanation as HTML.

// Returns the text with characters of HTML's markup escaped, as Python's html.escape does.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : text) {
    switch (character) {
      case '&': result += "&amp;"; continue;
      case '<': result += "&lt;"; continue;
      case '>': result += "&gt;"; continue;
      case '"': result += "&quot;"; continue;
      case '\'': result += "&#x27;"; continue;
    }
    result += character;
  }
  return result;
}

std::string escaped_line(std::string_view text) { return escaped(one_line(text)); }

std::string paragraph(const std::string& text) { return "<p>" + escaped_line(text) + "</p>"; }

std::string fold(const std::string& title, const std::string& body) {
  return "<details><summary><code>" + escaped_line(title) + "</code></summary>" + body + "</details>";
}

std::string code_fold(const std::string& title, std::string_view code) {
  std::string lines;
  for (std::size_t start = 0; start <= code.size();) {
    const std::size_t end = std::min(code.find('\n', start), code.size());
    lines += (start ? "\n" : "") + escaped_line(code.substr(start, end - start));
    start = end + 1;
  }
  return fold(title, "<pre><code>" + lines + "</code></pre>");
}

std::string list_fold(const std::string& title, const Lines& items) {
  std::string rows;
  for (const std::string& item : items) rows += "<li><code>" + escaped_line(item) + "</code></li>";
  return fold(title, "<ul>" + rows + "</ul>");
}

std::string function_in_html(json::Value explanation);

std::string resume_in_html(json::Value resume) {
  const bool is_told = !is_null(resume["explanation"]);
  return fold(text_of(resume["name"]),
              code_fold("The place where the function continues", text_of(resume["source"])) +
                  (is_told ? function_in_html(resume["explanation"]) : paragraph(text_of(resume["note"]))));
}

std::string entry_in_html(json::Value entry, std::size_t number) {
  const record::Compilation compilation = dumps::compilation_of(entry);
  Lines why = texts_of(entry["why"]);
  append(failure_lines(compilation.reasons), why);
  for (const record::GraphBreak& graph_break : compilation.breaks) why.push_back(sentence(graph_break));
  std::string body = list_fold("Why", why) + code_fold("Guards", text_of(entry["guards"])) +
                     list_fold("Used again if", limits_of(compilation)) +
                     list_fold("Conditions that no guard checks", texts_of(entry["unchecked"])) +
                     code_fold("Code", text_of(entry["code"]));
  entry["graphs"].for_each_item([&](json::Value graph) {
    const std::string source = text_of(graph["source"]);
    body += code_fold(text_of(graph["name"]), source.empty() ? "Missing: " + text_of(graph["missing"]) : source);
  });
  entry["resumes"].for_each_item([&](json::Value resume) { body += resume_in_html(resume); });
  for (const std::string& sentence : texts_of(entry["missing"])) body += paragraph("Missing: " + sentence);
  const std::string backend = text_of(entry["backend"]);
  return fold("Cache Entry " + std::to_string(number) + ": " + text_of(entry["compile_id"]) +
                  (backend.empty() ? "" : ", backend " + backend),
              body);
}

std::string headline_of(json::Value explanation) {
  const std::string backend = text_of(explanation["backend"]);
  const std::size_t count = explanation["entries"].size();
  return "DynamoRunner(function=<" + text_of(explanation["function"]) + ">, context=<backend " +
         (backend.empty() ? "unknown" : backend) + ", dynamic " + text_of(explanation["dynamic"]) + ">, " +
         std::to_string(count) + (count == 1 ? " cache entry)" : " cache entries)");
}

std::string function_in_html(json::Value explanation) {
  std::string failed;
  for (const std::string& line : texts_of(explanation["failed"])) failed += paragraph(line);
  std::string html = "<p><code>" + escaped_line(headline_of(explanation)) + "</code> " +
                     escaped_line(text_of(explanation["title"])) + "</p>";
  if (explanation["entries"].size() == 0) return html + paragraph(text_of(explanation["nothing"])) + failed;
  html += failed;
  std::size_t number = 0;
  explanation["entries"].for_each_item([&](json::Value entry) { html += entry_in_html(entry, ++number); });
  const Lines frontier = texts_of(explanation["frontier"]);
  return frontier.empty() ? html : html + list_fold("Accepted by the entries together", frontier);
}

std::string division(std::string_view frame, const std::string& body) {
  return "<div class='depyf'>" + std::string(frame) + body + "</div>";
}

}  // namespace

std::string explanation_text(std::string_view explanation) {
  const Parsed parsed(explanation);
  std::string text;
  for (const std::string& line : function_rows(parsed.root())) text += one_line(line) + "\n";
  return std::string(stripped_end(text)) + "\n";
}

std::string explanation_headline(std::string_view explanation) {
  const Parsed parsed(explanation);
  return headline_of(parsed.root());
}

std::string explanation_html(std::string_view explanation, std::string_view frame) {
  const Parsed parsed(explanation);
  return division(frame, function_in_html(parsed.root()));
}

std::string entry_html(std::string_view entry, std::string_view frame) {
  const Parsed parsed(entry);
  return division(frame, entry_in_html(parsed.root(), 1));
}

}  // namespace depyf
