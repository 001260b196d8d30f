#include "depyf/recode.h"
#include "recode/nested.h"
#include "recode/unique_name.h"

namespace depyf {
namespace {

bool rename_all(std::vector<std::string>& names, const NewNames& new_names) {
  bool changed = false;
  for (std::string& name : names) {
    const auto renamed = new_names.find(name);
    if (renamed == new_names.end()) continue;
    name = renamed->second;
    changed = true;
  }
  return changed;
}

}  // namespace

NewNames short_names(const CodeObject& code) {
  NameSet used;
  std::map<std::string, NameSet, std::less<>> full_names;  // keyed by the short name
  for_each_code(code, [&](const CodeObject& each) {
    for (const auto* names : {&each.names, &each.varnames, &each.freevars, &each.cellvars})
      used.insert(names->begin(), names->end());
    for (const std::string& name : each.names) {
      if (std::string short_name = without_unique_ends(name); short_name != name)
        full_names[std::move(short_name)].insert(name);
    }
  });
  NewNames result;
  for (const auto& [short_name, full] : full_names) {
    if (full.size() == 1 && !used.contains(short_name)) result.emplace(*full.begin(), short_name);
  }
  return result;
}

bool rename_names(CodeObject& code, const NewNames& names) {
  if (names.empty()) return false;
  return change_each_code(code, [&](CodeObject& each) { return rename_all(each.names, names); });
}

bool rename_locals(CodeObject& code, const NewNames& names) { return rename_all(code.varnames, names); }

}  // namespace depyf
