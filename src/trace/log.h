// Reads a TORCH_TRACE log as a sequence of records. A record is one header line with a JSON object, and a payload of
// lines that begin with a tab:
//
//   V1123 02:17:10.130000 981 torch/_dynamo/utils.py:2350] {"chromium_event": {}, "frame_id": 0, "has_payload": "ad43"}
//   <TAB>{
//   <TAB>"name": "dynamo",
//   <TAB>}
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "json/json.h"

namespace depyf::trace {

// One record. All views in a record refer to the log and to the reader's document, and are valid until the next
// record is read.
struct Record {
  std::size_t offset = 0;  // offset of the header line in the log
  std::int64_t pid = 0;
  std::string_view kind;  // the only key of the header that is no context key, such as chromium_event
  json::Value value;  // value of the key whose name is `kind`
  json::Value header;  // the whole JSON object
  std::string_view payload;  // the payload with the tabs of the log; empty if the record has no payload
  bool is_altered = false;  // true if the payload does not match the header's fingerprint
};

// Calls on_record for each whole record, in order, and on_problem(offset, message) for each part of the log that is
// no valid record. Returns true if the log ends within a record.
bool read_records(std::string_view log, const std::function<void(const Record&)>& on_record,
                  const std::function<void(std::size_t, std::string)>& on_problem);

// Returns the payload without the tab at the start of each line.
std::string without_tabs(std::string_view payload);

// True if the payload has the fingerprint that the header states.
bool has_fingerprint(std::string_view payload, std::string_view fingerprint);

}  // namespace depyf::trace
