// Reads the record from the JSON that to_json() of this release or of an earlier release writes.
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "depyf/record.h"
#include "json/json.h"
#include "record/members.h"

namespace depyf::record {
namespace {

// Fills one object. A missing member keeps its default value, because earlier versions of the JSON have fewer members.
// A member of an unexpected JSON type is an error. The message names the member's path, such as
// `processes[0].compilations[3].place.line`.
class Filling {
 public:
  explicit Filling(json::Value object) : object_(object) {}

  template <class Value>
  void operator()(std::string_view name, Value& value) {
    const json::Value member = object_[name];
    if (!member) return;
    const std::size_t length = path_.size();
    if (length > 0) path_ += '.';
    path_ += name;
    read(member, value);
    path_.resize(length);
  }
  template <class Texts>
  void or_null(std::string_view name, Texts& texts) {
    (*this)(name, texts);
  }

  // Returns a message about the first member that cannot be read; empty if all members can be read.
  const std::string& problem() const { return problem_; }

 private:
  void expect(bool condition, const char* what) {
    if (!condition && problem_.empty()) problem_ = path_ + ": " + what + " is expected";
  }

  // An unknown text is null in JSON, and empty in the record.
  void read(json::Value member, std::string& text) {
    if (member.is(json::Kind::null)) return;
    expect(member.is(json::Kind::string), "a string");
    text = member.text();
  }
  void read(json::Value member, bool& value) {
    expect(member.is(json::Kind::boolean), "true or false");
    value = member.is_true();
  }
  void read(json::Value member, double& value) {
    if (member.is(json::Kind::null)) return;  // The writer writes null for NaN and infinities.
    expect(member.is(json::Kind::number), "a number");
    value = member.number().value_or(0);
  }
  template <std::integral Number>
  void read(json::Value member, Number& value) {
    const std::optional<std::int64_t> number = member.integer();
    const bool fits = number && std::in_range<Number>(*number);
    expect(fits, "a whole number in the range of this member");
    if (fits) value = static_cast<Number>(*number);
  }
  void read(json::Value member, Status& status) {
    for (const Status known : {Status::compiled, Status::failed, Status::no_code, Status::unfinished})
      if (member.is(json::Kind::string) && member.text() == name_of(known)) {
        status = known;
        return;
      }
    expect(false, "one of \"compiled\", \"failed\", \"no code\" and \"unfinished\"");
  }
  template <class Item>
  void read(json::Value member, std::vector<Item>& items) {
    expect(member.is(json::Kind::array), "a list");
    const std::size_t length = path_.size();
    member.for_each_item([&](json::Value item) {
      path_ += "[" + std::to_string(items.size()) + "]";
      read(item, items.emplace_back());
      path_.resize(length);
    });
  }
  template <class Value>
  void read(json::Value member, std::map<std::string, Value>& values) {
    expect(member.is(json::Kind::object), "an object");
    const std::size_t length = path_.size();
    member.for_each_member([&](json::Value name, json::Value value) {
      const std::string text = name.text();
      path_ += "." + text;
      read(value, values[text]);
      path_.resize(length);
    });
  }
  template <class Value>
  void read(json::Value member, std::optional<Value>& value) {
    if (!member.is(json::Kind::null)) read(member, value.emplace());
  }
  template <class Part>
    requires(!part_name<Part>.empty())
  void read(json::Value member, Part& part) {
    expect(member.is(json::Kind::object), "an object");
    const json::Value surrounding = std::exchange(object_, member);
    visit_members(part, *this);
    object_ = surrounding;
  }

  json::Value object_;
  std::string path_, problem_;
};

}  // namespace

std::variant<Run, Problem> from_json(std::string_view text) {
  json::Document document;
  if (const auto error = document.parse(text)) return Problem{error->offset, error->message};
  const json::Value root = document.root();
  if (root["runs"]) return Problem{0, "this is a session.json of a dump; name the directory that it lies in"};
  if (!root["processes"]) return Problem{0, "this is no record of depyf, which `depyf-report --json` prints"};
  const std::int64_t version = root["schema_version"].integer().value_or(0);
  if (version < oldest_schema_version || version > schema_version)
    return Problem{0, "the record has the version " + std::string(root["schema_version"].raw()) +
                          ", and this depyf reads " + std::to_string(oldest_schema_version) + " to " +
                          std::to_string(schema_version)};
  Run run;
  Filling filling(root);
  filling("processes", run.processes);
  filling("measurements", run.measurements);
  if (!filling.problem().empty()) return Problem{0, filling.problem()};
  return run;
}

}  // namespace depyf::record
