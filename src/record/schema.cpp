// Writes the JSON Schema of the record.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "depyf/record.h"
#include "json/writer.h"
#include "record/members.h"

namespace depyf::record {
namespace {

// Describes the members of one part of the record. A member that is itself a part of the record is described by a
// reference to the definition of that part.
class Describing {
 public:
  Describing(json::Writer& out, std::vector<std::string>& names) : out_(out), names_(names) {}

  template <class Value>
  void operator()(std::string_view name, const Value& value) {
    names_.emplace_back(name);
    out_.object(name, [&] { describe(value); });
  }
  void or_null(std::string_view name, const std::string&) {
    names_.emplace_back(name);
    out_.object(name, [&] { types("string", true); });
  }
  void or_null(std::string_view name, const std::vector<std::string>&) {
    names_.emplace_back(name);
    out_.object(name, [&] {
      types("array", false);
      out_.object("items", [&] { types("string", true); });
    });
  }

 private:
  void types(std::string_view type, bool may_be_null) {
    if (!may_be_null) {
      out_.member("type", type);
      return;
    }
    out_.key("type");
    out_.begin_array();
    out_.string(type);
    out_.string("null");
    out_.end_array();
  }

  void describe(const std::string&, bool may_be_null = false) { types("string", may_be_null); }
  void describe(bool, bool may_be_null = false) { types("boolean", may_be_null); }
  void describe(double, bool = false) { types("number", true); }  // A number can be null, which means NaN.
  void describe(Status, bool = false) {
    out_.key("enum");
    out_.begin_array();
    for (const Status known : {Status::compiled, Status::failed, Status::no_code, Status::unfinished})
      out_.string(name_of(known));
    out_.end_array();
  }
  template <std::integral Number>
  void describe(Number, bool may_be_null = false) {
    types("integer", may_be_null);
    if (std::is_unsigned_v<Number>) out_.member("minimum", 0);
  }
  template <class Item>
  void describe(const std::vector<Item>&, bool = false) {
    types("array", false);
    out_.object("items", [&] { describe(Item()); });
  }
  template <class Value>
  void describe(const std::map<std::string, Value>&, bool = false) {
    types("object", false);
    out_.object("additionalProperties", [&] { describe(Value()); });
  }
  template <class Value>
  void describe(const std::optional<Value>&, bool = false) {
    describe(Value(), true);
  }
  template <class Part>
    requires(!part_name<Part>.empty())
  void describe(const Part&, bool may_be_null = false) {
    const std::string reference = "#/$defs/" + std::string(part_name<Part>);
    if (!may_be_null) {
      out_.member("$ref", reference);
      return;
    }
    out_.key("anyOf");
    out_.begin_array();
    out_.object([&] { out_.member("$ref", reference); });
    out_.object([&] { types("null", false); });
    out_.end_array();
  }

  json::Writer& out_;
  std::vector<std::string>& names_;
};

template <class Part>
void define(json::Writer& out) {
  out.object(part_name<Part>, [&] {
    out.member("type", "object");
    std::vector<std::string> names;
    out.object("properties", [&] {
      Describing describing(out, names);
      const Part part;
      visit_members(part, describing);
    });
    out.strings("required", names);
  });
}

template <class... Parts>
void define_all(json::Writer& out) {
  (define<Parts>(out), ...);
}

}  // namespace

std::string json_schema() {
  json::Writer out;
  out.begin_object();
  out.member("$schema", "https://json-schema.org/draft/2020-12/schema");
  out.member("title", "The record of a run of torch.compile, as depyf-report --json prints it");
  out.member("type", "object");
  out.object("properties", [&] {
    out.object("schema_version", [&] { out.member("const", schema_version); });
    out.object("processes", [&] {
      out.member("type", "array");
      out.object("items", [&] { out.member("$ref", "#/$defs/process"); });
    });
    out.object("measurements", [&] {
      out.member("type", "array");
      out.object("items", [&] { out.member("$ref", "#/$defs/measurement"); });
    });
  });
  out.strings("required", std::vector<std::string>{"schema_version", "processes"});
  out.object("$defs", [&] {
    define_all<Artifact, CacheEvent, Chain, Compilation, Event, FailedGuard, FunctionFile, Graph, GraphBreak,
               GuardGroup, Kernel, KernelCall, Limit, LimitReached, Link, Measurement, MissingArtifact, Node, NotFused,
               OutputCode, Phase, Place, Problem, Process, RuntimeAssert, RuntimeValue, Symbol>(out);
  });
  out.end_object();
  return out.take();
}

}  // namespace depyf::record
