#include "cli/report.h"

#include <algorithm>
#include <string_view>

#include "support/utf8.h"

namespace depyf::cli {
namespace {

constexpr std::string_view mark_start = "# depyf: not equal: ", machine = "shown as a state machine";
constexpr std::string_view stub_start = "raise RuntimeError('depyf cannot decompile this";

std::string_view status_name(FileReport::Status status) {
  switch (status) {
    case FileReport::Status::equal: return "equal";
    case FileReport::Status::unchecked: return "unchecked";
    case FileReport::Status::marked: return "marked";
    case FileReport::Status::text: return "text";
    case FileReport::Status::failed: return "failed";
  }
  return "failed";
}

}  // namespace

void find_marks(const std::string& source, FileReport& report) {
  if (source.find(mark_start) == std::string::npos) return;
  std::size_t number = 0;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    ++number;
    std::string_view line(source.data() + at, end - at);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with(mark_start)) {
      report.marks.push_back({number, std::string(line.substr(mark_start.size()))});
      if (line.substr(mark_start.size()).starts_with(machine)) ++report.state_machines;
    } else if (line.starts_with(stub_start)) {
      ++report.stubs;
    }
    at = end + 1;
  }
}

std::string json_quoted(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t character = 0;
    const std::size_t size = first_character(text.substr(at), character);
    if (size == 0) {
      out += "\\ufffd";  // The name of a file may contain any bytes.
      ++at;
      continue;
    }
    if (is_surrogate(character)) {
      out += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) out += digits[character >> shift & 15];
    } else if (character < ' ') {
      out += std::string("\\u00") + digits[character >> 4] + digits[character & 15];
    } else {
      if (character == '"' || character == '\\') out += '\\';
      out += text.substr(at, size);
    }
    at += size;
  }
  return out + '"';
}

std::string json_of(const FileReport& report, const std::string* source) {
  std::string out = "{\"file\": " + json_quoted(report.file) + ", \"python\": ";
  out += report.python.major == 0
             ? "null"
             : "\"" + std::to_string(report.python.major) + "." + std::to_string(report.python.minor) + "\"";
  out += ", \"status\": \"" + std::string(status_name(report.status)) + "\"";
  out += ", \"state_machines\": " + std::to_string(report.state_machines);
  out += ", \"stubs\": " + std::to_string(report.stubs) + ", \"marks\": [";
  for (std::size_t i = 0; i < report.marks.size(); ++i)
    out += (i ? ", {\"line\": " : "{\"line\": ") + std::to_string(report.marks[i].line) +
           ", \"what\": " + json_quoted(report.marks[i].what) + "}";
  out += "], \"proved\": " + std::to_string(report.proved) + ", \"not_proved\": [";
  for (std::size_t i = 0; i < report.unproved.size(); ++i)
    out += (i ? ", {\"name\": " : "{\"name\": ") + json_quoted(report.unproved[i].name) +
           ", \"offset\": " + std::to_string(report.unproved[i].offset) +
           ", \"reason\": " + json_quoted(report.unproved[i].reason) + "}";
  if (report.is_aligned) {
    out += "], \"aligned\": " + std::to_string(report.aligned) +
           ", \"without_line\": " + std::to_string(report.without_line) + ", \"not_aligned\": [";
    for (std::size_t i = 0; i < report.not_aligned.size(); ++i)
      out += (i ? ", {\"line\": " : "{\"line\": ") + std::to_string(report.not_aligned[i].line) +
             ", \"original\": " + std::to_string(report.not_aligned[i].original) + "}";
  }
  out += "], \"output\": " + (report.output.empty() ? "null" : json_quoted(report.output));
  out += ", \"error\": " + (report.error.empty() ? "null" : json_quoted(report.error));
  if (source) out += ", \"source\": " + json_quoted(*source);
  return out + "}";
}

void Counts::add(const FileReport& report) {
  ++files_;
  equal_ += report.status == FileReport::Status::equal;
  unchecked_ += report.status == FileReport::Status::unchecked;
  marked_ += report.status == FileReport::Status::marked;
  text_ += report.status == FileReport::Status::text;
  failed_ += report.status == FileReport::Status::failed;
  state_machines_ += report.state_machines, stubs_ += report.stubs;
  proved_ += report.proved, unproved_ += report.unproved.size();
}

std::string Counts::line() const {
  auto number = [](std::size_t count, const char* what) { return std::to_string(count) + " " + what; };
  std::string out = files_ == 1 ? "1 file: " : number(files_, "files: ");
  if (text_) return out + number(text_, "printed, ") + number(failed_, "failed\n");
  if (unchecked_ && !equal_) out += number(unchecked_, "without a mark, ");
  else out += number(equal_, "equal, ") + (unchecked_ ? number(unchecked_, "without a mark, ") : "");
  out += number(marked_, "marked, ") + number(failed_, "failed; ");
  if (proved_ || unproved_)
    out += std::to_string(proved_) + " of " + number(proved_ + unproved_, "code objects proved, ");
  return out + number(state_machines_, state_machines_ == 1 ? "state machine, " : "state machines, ") +
         number(stubs_, stubs_ == 1 ? "stub\n" : "stubs\n");
}

std::string Counts::json() const {
  return "{\"files\": " + std::to_string(files_) + ", \"equal\": " + std::to_string(equal_) +
         ", \"unchecked\": " + std::to_string(unchecked_) + ", \"marked\": " + std::to_string(marked_) +
         ", \"text\": " + std::to_string(text_) + ", \"failed\": " + std::to_string(failed_) +
         ", \"state_machines\": " + std::to_string(state_machines_) + ", \"stubs\": " + std::to_string(stubs_) +
         ", \"proved\": " + std::to_string(proved_) + ", \"not_proved\": " + std::to_string(unproved_) + "}";
}

}  // namespace depyf::cli
