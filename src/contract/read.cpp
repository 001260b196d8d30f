#include <algorithm>

#include "depyf/contract.h"
#include "json/json.h"
#include "support/words.h"

namespace depyf::contract {
namespace {

// Reads the text of a contract file; `problem()` returns a message that names the first invalid member.
class Reading {
 public:
  std::optional<Contract> run(std::string_view text) {
    if (const auto error = document_.parse(text)) {
      const auto before = text.substr(0, std::min(error->offset, text.size()));
      problem_ = "line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n')) + ": " + error->message;
      return std::nullopt;
    }
    const json::Value root = document_.root();
    if (!root.is(json::Kind::object) || !root["depyf_contract"]) {
      problem_ = "the file is not a contract of depyf, because it has no member \"depyf_contract\"";
      return std::nullopt;
    }
    Contract contract;
    contract.is_of_dump = root["source"].text() != "log";
    root.for_each_member([&](json::Value key_text, json::Value value) {
      const std::string key = key_text.text();
      member(contract, key, value);
    });
    if (!root["functions"]) wrong("functions", "is missing");
    if (!problem_.empty()) return std::nullopt;
    return contract;
  }

  const std::string& problem() const { return problem_; }

 private:
  void wrong(const std::string& path, const std::string& what) {
    if (problem_.empty()) problem_ = path + " " + what;
  }

  std::int64_t count(const std::string& path, json::Value value) {
    const auto number = value.integer();
    if (!number || *number < 0) wrong(path, "has to be a non-negative number");
    return number.value_or(0);
  }

  std::string string(const std::string& path, json::Value value) {
    if (!value.is(json::Kind::string)) wrong(path, "has to be a string");
    return value.text();
  }

  double real(const std::string& path, json::Value value) {
    const auto number = value.number();
    if (!number || !(*number > 0)) wrong(path, "has to be a number above 0");
    return number.value_or(0);
  }

  bool is_kind(const std::string& path, json::Value value, json::Kind kind) {
    if (value.is(kind)) return true;
    wrong(path, kind == json::Kind::array ? "has to be a list" : "has to be an object");
    return false;
  }

  void member(Contract& contract, const std::string& key, json::Value value) {
    if (key == "depyf_contract") {
      const std::int64_t version = count(key, value);
      if (version > schema_version)
        wrong(key, "is " + std::to_string(version) + ", and this release of depyf reads versions up to " +
                       std::to_string(schema_version));
    } else if (key == "made_with") {
      contract.made_with = string(key, value);
    } else if (key == "source") {
      if (const std::string source = string(key, value); source != "dump" && source != "log")
        wrong(key, "has to be \"dump\" or \"log\"");
    } else if (key == "backend") {
      contract.backend = string(key, value);
    } else if (key == "functions") {
      if (is_kind(key, value, json::Kind::object))
        value.for_each_member([&](json::Value title_text, json::Value it) {
          const std::string title = title_text.text();
          function(contract, title, it);
        });
    } else if (key == "operators") {
      contract.operators.emplace();
      if (is_kind(key, value, json::Kind::object))
        value.for_each_member([&](json::Value line_text, json::Value it) {
          const std::string line = line_text.text();
          contract.operators->emplace_back(line, string("operators[\"" + line + "\"]", it));
        });
    } else if (key == "seconds") {
      if (!is_kind(key, value, json::Kind::object)) return;
      contract.seconds = real("seconds.measured", value["measured"]);
      contract.seconds_ratio = real("seconds.at_most_times", value["at_most_times"]);
    } else {
      wrong(key, "is not a member of a contract");
    }
  }

  void function(Contract& contract, std::string title, json::Value value) {
    const std::string path = "functions[\"" + title + "\"]";
    if (!is_kind(path, value, json::Kind::object)) return;
    if (const std::size_t mark = title.rfind(" #"); mark != std::string::npos && title.find(')', mark) == title.npos)
      title.resize(mark);
    Function function;
    const std::size_t open = title.ends_with(')') ? title.rfind(" (") : std::string::npos;
    function.name = title.substr(0, open);
    if (open != std::string::npos) function.file = title.substr(open + 2, title.size() - open - 3);
    value.for_each_member([&](json::Value key_text, json::Value it) {
      const std::string key = key_text.text();
      section(function, path + "." + key, key, it);
    });
    contract.functions.push_back(std::move(function));
  }

  void section(Function& function, const std::string& path, const std::string& key, json::Value value) {
    if (key == "kernels") {
      function.kernels = count(path, value);
    } else if (key == "saved_bytes") {
      function.saved_bytes = count(path, value);
    } else if (key == "guards") {
      function.guards = count(path, value);
    } else if (key == "library_calls") {
      function.library_calls.emplace();
      if (is_kind(path, value, json::Kind::object))
        value.for_each_member([&](json::Value name_text, json::Value it) {
          const std::string name = name_text.text();
          function.library_calls->emplace_back(name, count(path + "[\"" + name + "\"]", it));
        });
    } else if (key == "breaks") {
      function.breaks.emplace();
      items(path, value, [&](const std::string& at, json::Value it) {
        function.breaks->push_back({string(at + ".line", it["line"]), string(at + ".reason", it["reason"])});
      });
    } else if (key == "recompilations") {
      function.recompilations.emplace();
      items(path, value, [&](const std::string& at, json::Value it) {
        function.recompilations->push_back({string(at + ".kind", it["kind"]), string(at + ".subject", it["subject"])});
      });
    } else if (key == "eager") {
      function.eager.emplace();
      items(path, value, [&](const std::string& at, json::Value it) {
        const std::string kind = string(at, it);
        if (kind != "limit" && kind != "break" && kind != "error")
          wrong(at, "has to be \"limit\", \"break\" or \"error\"");
        function.eager->push_back(kind);
      });
    } else {
      wrong(path, "is not a member of a function");
    }
  }

  template <class Visit>
  void items(const std::string& path, json::Value value, Visit visit) {
    if (!is_kind(path, value, json::Kind::array)) return;
    std::size_t index = 0;
    value.for_each_item([&](json::Value it) { visit(path + "[" + std::to_string(index++) + "]", it); });
  }

  json::Document document_;
  std::string problem_;
};

}  // namespace

std::variant<Contract, std::string> from_json(std::string_view text) {
  Reading reading;
  if (std::optional<Contract> contract = reading.run(text)) return std::move(*contract);
  return reading.problem();
}

}  // namespace depyf::contract
