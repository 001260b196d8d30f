#include "cli/diff.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "depyf/code_object.h"
#include "depyf/compare.h"

namespace depyf::cli {
namespace {

// Maps each nested code object's path of names, such as "C.f", to the code object. Paths replace the qualified names,
// which code objects of 3.8 to 3.10 lack. Code objects with the same name within one code object are numbered.
class Named {
 public:
  explicit Named(const CodeObject& module) { add(module, module.name); }

  std::vector<std::pair<std::string, const CodeObject*>> in_order;
  std::map<std::string, const CodeObject*> by_path;

 private:
  void add(const CodeObject& code, const std::string& path) {
    in_order.emplace_back(path, &code);
    by_path.emplace(path, &code);
    std::map<std::string_view, int> seen;
    for (const Constant& constant : code.constants) {
      if (!constant.code) continue;
      const int number = ++seen[constant.code->name];
      std::string inner = path == "<module>" ? constant.code->name : path + "." + constant.code->name;
      if (number > 1) inner += " (" + std::to_string(number) + ")";
      if (in_order.size() < most) add(*constant.code, inner);
    }
  }
  // The number of code objects is limited, because one code object may be nested in any number of places.
  static constexpr std::size_t most = 1 << 20;
};

std::shared_ptr<const CodeObject> load(const std::string& path, const Settings& settings, Sinks& sinks) {
  std::string buffer, error;
  const Input input{path, "diff.pyc"};
  const std::optional<std::string_view> bytes = read_input(input, settings.max_size, buffer, error);
  if (!bytes) {
    sinks.error(path + ": " + error + "\n");
    return nullptr;
  }
  LoadedPyc loaded = load_input(*bytes, settings.python);
  if (!loaded.code) sinks.error(path + ": " + std::to_string(loaded.error_offset) + ": " + loaded.error + "\n");
  return std::move(loaded.code);
}

std::string line_of(const CodeObject& code) { return ", line " + std::to_string(code.firstlineno); }

// Returns the first difference in the code object itself, without nested code; null if only nested code differs.
const Difference* own_difference(const std::vector<Difference>& differences, const CodeObject& code) {
  const auto found = std::ranges::find(differences, &code, &Difference::code);
  return found == differences.end() ? nullptr : &*found;
}

}  // namespace

int run_diff(const std::string& first, const std::string& second, const Settings& settings, Sinks& sinks) {
  const auto one = load(first, settings, sinks), two = load(second, settings, sinks);
  if (!one || !two) return 1;
  if (one->version != two->version) {
    auto version = [](const CodeObject& code) {
      return std::to_string(code.version.major) + "." + std::to_string(code.version.minor);
    };
    sinks.error("diff: only files of the same Python version can be compared; " + first + " has version " +
                version(*one) + ", " + second + " has version " + version(*two) + "\n");
    return 1;
  }
  const Named before(*one), after(*two);
  std::string text;
  std::size_t same = 0;
  for (const auto& [path, code] : before.in_order) {
    const auto counterpart = after.by_path.find(path);
    if (counterpart == after.by_path.end()) {
      text += "- " + path + line_of(*code) + "\n";
      continue;
    }
    // Only differences of the code object itself are printed, because each nested code object is compared under its own
    // path.
    const std::vector<Difference> differences = compare(*code, *counterpart->second);
    if (const Difference* own = own_difference(differences, *code))
      text += "! " + path + line_of(*code) + ": " + own->what + " (offset " + std::to_string(own->offset) + ")\n";
    else ++same;
  }
  for (const auto& [path, code] : after.in_order)
    if (!before.by_path.contains(path)) text += "+ " + path + line_of(*code) + "\n";
  if (!text.empty()) sinks.text(text);
  if (!settings.quiet)
    sinks.error(std::to_string(same) + (same == 1 ? " code object is the same\n" : " code objects are the same\n"));
  return text.empty() ? 0 : 1;
}

}  // namespace depyf::cli
