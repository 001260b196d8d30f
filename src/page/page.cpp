// Writes the HTML page around the data and the viewer, with a Content-Security-Policy that forbids the browser to
// execute or load any other content.
#include "depyf/page.h"

#include "page/compress.h"
#include "page/data.h"
#include "page/redact.h"
#include "page/sha256.h"
#include "page/viewer.h"

namespace depyf {
namespace {

// Data of fewer bytes is not compressed, so that any tool can read the data.
constexpr std::size_t compressed_from = std::size_t{1} << 19;

// Returns the script element that contains the data. The attribute `type` of the element states whether the data is
// compressed.
std::string data_element(const std::string& data) {
  if (data.size() < compressed_from) return "<script type=\"application/json\" id=\"data\">" + data + "</script>\n";
  return "<script type=\"application/gzip\" id=\"data\">" + page::base64(page::gzip(data)) + "</script>\n";
}

std::string redacted_page(const record::Run& run, const std::vector<PageTexts>& texts) {
  const page::Redacted redacted = page::redacted(run, texts);
  return page::data_of(redacted.run, redacted.texts, nullptr, {"depyf report --redact", true});
}

}  // namespace

std::string html_page(const record::Run& run, const std::vector<PageTexts>& texts, const ReadSource& read_source,
                      const PageOptions& options) {
  const std::string script(page::viewer_script()), style(page::viewer_style());
  std::string html;
  html += "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; "
      "img-src data:; script-src 'sha256-" +
      page::sha256_base64(script) + "'; style-src 'sha256-" + page::sha256_base64(style) + "'\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"depyf " DEPYF_VERSION
          "\">\n";
  html += "<link rel=\"icon\" href=\"data:,\">\n<title>torch.compile report</title>\n<style>" + style +
          "</style>\n</head>\n";
  html += "<body>\n<noscript>This page needs JavaScript. It runs what is in this file and loads nothing.</noscript>\n";
  html +=
      data_element(options.is_redacted ? redacted_page(run, texts) : page::data_of(run, texts, read_source, options));
  html += "<script>" + script + "</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace depyf
