// Writes the record as JSON.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "depyf/record.h"
#include "json/writer.h"
#include "record/members.h"

namespace depyf::record {
namespace {

class Writing {
 public:
  template <class Value>
  void operator()(std::string_view name, const Value& value) {
    out_.key(name);
    write(value);
  }

  void or_null(std::string_view name, const std::string& text) { out_.optional(name, text); }
  void or_null(std::string_view name, const std::vector<std::string>& texts) {
    out_.list(name, texts, [&](const std::string& text) { text.empty() ? out_.null() : out_.string(text); });
  }

  std::string run(const Run& run) {
    out_.begin_object();
    out_.member("schema_version", schema_version);
    (*this)("processes", run.processes);
    if (!run.measurements.empty()) (*this)("measurements", run.measurements);
    out_.end_object();
    return out_.take();
  }

 private:
  void write(const std::string& text) { out_.string(text); }
  void write(bool value) { out_.boolean(value); }
  void write(double value) { out_.number(value); }
  void write(Status status) { out_.string(name_of(status)); }
  template <std::integral Number>
  void write(Number value) {
    out_.integer(static_cast<std::int64_t>(value));
  }
  template <class Item>
  void write(const std::vector<Item>& items) {
    out_.begin_array();
    for (const Item& item : items) write(item);
    out_.end_array();
  }
  template <class Value>
  void write(const std::map<std::string, Value>& values) {
    out_.object([&] {
      for (const auto& [name, value] : values) (*this)(name, value);
    });
  }
  template <class Value>
  void write(const std::optional<Value>& value) {
    value ? write(*value) : out_.null();
  }
  template <class Part>
    requires(!part_name<Part>.empty())
  void write(const Part& part) {
    out_.object([&] { visit_members(part, *this); });
  }

  json::Writer out_;
};

}  // namespace

const char* name_of(Status status) {
  switch (status) {
    case Status::compiled: return "compiled";
    case Status::failed: return "failed";
    case Status::no_code: return "no code";
    case Status::unfinished: return "unfinished";
  }
  return "";
}

std::string to_json(const Run& run) { return Writing().run(run); }

}  // namespace depyf::record
