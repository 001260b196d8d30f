#include "trace/log.h"

#include <charconv>
#include <optional>

#include "trace/md5.h"

namespace depyf::trace {
namespace {

// True if a key of a header describes the origin of a record, and not its content.
bool is_context(std::string_view key) {
  static constexpr std::string_view keys[] = {
      "rank",          "frame_id", "frame_compile_id",    "attempt", "has_payload",
      "subgraph_name", "stack",    "compiled_autograd_id"};
  for (std::string_view context : keys)
    if (key == context) return true;
  return false;
}

// Returns the line at `at` without its line break, and moves `at` to the next line. Sets `is_whole` to true if the
// line ends in a line break, otherwise to false.
std::string_view take_line(std::string_view text, std::size_t& at, bool& is_whole) {
  const std::size_t end = text.find('\n', at);
  is_whole = end != std::string_view::npos;
  const std::string_view line = text.substr(at, is_whole ? end - at : std::string_view::npos);
  at = is_whole ? end + 1 : text.size();
  return line;
}

// True if the line at `at` belongs to a payload, because the line begins with a tab. An empty line between two
// payload lines also counts, because editors remove the tab from a line without text.
bool is_payload_line(std::string_view log, std::size_t at) {
  if (at >= log.size()) return false;
  return log[at] == '\t' || log.substr(at, 2) == "\n\t";
}

struct Header {
  std::int64_t pid = 0;
  std::size_t json_at = 0;  // offset of the JSON object in the line
};

// Reads the start of a header line, such as "V1123 02:17:10.130000 12243 torch/_dynamo/utils.py:2350] {", which has
// the level, the day, the time, the process id and the place in PyTorch's source.
std::optional<Header> header_of(std::string_view line) {
  constexpr std::size_t pid_at = 22;
  if (line.size() < pid_at || std::string_view("VIWEC").find(line[0]) == std::string_view::npos) return std::nullopt;
  static constexpr std::string_view form = "V0000 00:00:00.000000 ";
  for (std::size_t i = 1; i < form.size(); ++i) {
    const bool is_digit = line[i] >= '0' && line[i] <= '9';
    if (form[i] == '0' ? !is_digit : line[i] != form[i]) return std::nullopt;
  }
  Header header;
  const char* end = line.data() + line.size();
  auto [behind_pid, error] = std::from_chars(line.data() + pid_at, end, header.pid);
  if (error != std::errc() || behind_pid == end || *behind_pid != ' ') return std::nullopt;
  const std::size_t bracket = line.find("] {", static_cast<std::size_t>(behind_pid - line.data()));
  if (bracket == std::string_view::npos) return std::nullopt;
  header.json_at = bracket + 2;
  return header;
}

}  // namespace

bool read_records(std::string_view log, const std::function<void(const Record&)>& on_record,
                  const std::function<void(std::size_t, std::string)>& on_problem) {
  json::Document document;
  std::size_t at = 0;
  bool is_cut = false;
  while (at < log.size()) {
    Record record;
    record.offset = at;
    bool is_whole = true;
    const std::string_view line = take_line(log, at, is_whole);
    const std::size_t payload_at = at;
    while (is_payload_line(log, at)) take_line(log, at, is_whole);
    record.payload = log.substr(payload_at, at - payload_at);
    if (!record.payload.empty() && record.payload.back() == '\n') record.payload.remove_suffix(1);
    const bool is_last = at >= log.size();
    if (line.empty() && record.payload.empty()) continue;  // Pasted logs have blank lines between records.
    const std::optional<Header> header = header_of(line);
    if (!header) {
      is_cut = is_cut || (is_last && !is_whole);
      on_problem(record.offset, "no record: " + std::string(line.substr(0, 80)));
      continue;
    }
    if (auto error = document.parse(line.substr(header->json_at))) {
      is_cut = is_cut || is_last;
      on_problem(record.offset + header->json_at + error->offset, "a record's header: " + error->message);
      continue;
    }
    record.pid = header->pid;
    record.header = document.root();
    int kinds = 0;
    record.header.for_each_member([&](json::Value key, json::Value value) {
      if (is_context(key.raw())) return;
      ++kinds;
      record.kind = key.raw();
      record.value = value;
    });
    if (kinds != 1) {
      // No release of PyTorch has a kind of record with the name of a context key such as "stack", so a record that has
      // only context keys is damaged.
      on_problem(record.offset, kinds ? "a record of several kinds" : "a record without a kind");
      continue;
    }
    const std::string_view fingerprint = record.header["has_payload"].raw();
    if (!fingerprint.empty() && !has_fingerprint(record.payload, fingerprint)) {
      if (is_last) on_problem(payload_at, "the log ends within a payload");
      is_cut = is_cut || is_last;
      record.is_altered = !is_last;
    }
    on_record(record);
  }
  return is_cut;
}

std::string without_tabs(std::string_view payload) {
  std::string text;
  text.reserve(payload.size());
  bool is_whole = true;
  for (std::size_t at = 0; at < payload.size();) {
    std::string_view line = take_line(payload, at, is_whole);
    if (!line.empty()) line.remove_prefix(1);
    text += line;
    if (is_whole) text += '\n';
  }
  return text;
}

bool has_fingerprint(std::string_view payload, std::string_view fingerprint) {
  Md5 sum;
  bool is_whole = true;
  for (std::size_t at = 0; at < payload.size();) {
    std::string_view line = take_line(payload, at, is_whole);
    if (!line.empty()) line.remove_prefix(1);
    sum.add(line);
    if (is_whole) sum.add("\n");
  }
  return sum.hexadecimal() == fingerprint;
}

}  // namespace depyf::trace
