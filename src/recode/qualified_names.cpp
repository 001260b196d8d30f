#include "recode/qualified_names.h"

#include <memory>
#include <optional>
#include <utility>

#include "decode/raw.h"
#include "depyf/recode.h"
#include "dialect/dialect.h"
#include "recode/nested.h"

namespace depyf {
namespace {

bool has_qualified_name(const CodeObject& code) { return dialect_of(code.version).qualified_names; }

bool begins_with(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && (name.size() == prefix.size() || name[prefix.size()] == '.');
}

// A function that a code object makes with MAKE_FUNCTION.
struct MadeFunction {
  std::size_t index = 0;  // index of the function's code object among the constants
  std::string qualified_name;  // empty if unknown
  std::optional<std::size_t> name_index;  // up to 3.10: index of the constant with the qualified name
};

// Finds the qualified names of functions in code up to 3.10, which creates each function by the instructions
// `LOAD_CONST <code>; LOAD_CONST <qualified name>; MAKE_FUNCTION`.
void name_by_instructions(const CodeObject& code, std::vector<MadeFunction>& functions) {
  const Result<std::vector<RawInstruction>> raws = read_raw(code);
  if (!raws) return;
  for (std::size_t i = 0; i + 2 < raws->size(); ++i) {
    const RawInstruction &load = (*raws)[i], &name = (*raws)[i + 1];
    if (load.opcode != Opcode::LOAD_CONST || name.opcode != Opcode::LOAD_CONST ||
        (*raws)[i + 2].opcode != Opcode::MAKE_FUNCTION)
      continue;
    for (MadeFunction& function : functions) {
      if (function.index != load.arg || name.arg >= code.constants.size()) continue;
      function.name_index = name.arg;
      function.qualified_name = code.constants[name.arg].text;
    }
  }
}

std::vector<MadeFunction> functions_in(const CodeObject& code) {
  std::vector<MadeFunction> functions;
  for (std::size_t i = 0; i < code.constants.size(); ++i) {
    if (code.constants[i].code) functions.push_back({i, code.constants[i].code->qualname, std::nullopt});
  }
  if (functions.empty() || has_qualified_name(code)) return functions;
  for (MadeFunction& function : functions) function.qualified_name.clear();
  name_by_instructions(code, functions);
  return functions;
}

// Returns the value that the body of a class stores as `__qualname__`; the name of the code object if the body stores
// no string as `__qualname__`.
std::string stored_qualified_name(const CodeObject& code) {
  const Result<std::vector<RawInstruction>> raws = read_raw(code);
  for (std::size_t i = 1; raws && i < raws->size(); ++i) {
    const RawInstruction &load = (*raws)[i - 1], &store = (*raws)[i];
    if (store.opcode != Opcode::STORE_NAME || store.arg >= code.names.size() || code.names[store.arg] != "__qualname__")
      continue;
    const bool is_constant = load.opcode == Opcode::LOAD_CONST && load.arg < code.constants.size();
    return is_constant && code.constants[load.arg].kind == Constant::Kind::string ? code.constants[load.arg].text
                                                                                  : code.name;
  }
  return code.name;
}

}  // namespace

void replace_prefix(CodeObject& code, const std::string& prefix, const std::string& replacement) {
  change_each_code(code, [&](CodeObject& each) {
    bool changed = false;
    for (Constant& constant : each.constants) {
      if (constant.kind != Constant::Kind::string || !begins_with(constant.text, prefix)) continue;
      constant.text = replacement + constant.text.substr(prefix.size());
      constant.identity = 0;
      changed = true;
    }
    if (has_qualified_name(each) && each.qualname.starts_with(prefix)) {
      each.qualname = replacement + each.qualname.substr(prefix.size());
      changed = true;
    }
    return changed;
  });
}

std::string qualified_name(const CodeObject& code, const std::string& written_name) {
  if (has_qualified_name(code)) return code.qualname;
  for (std::size_t i = 0; i + 1 < code.constants.size(); ++i) {
    const Constant &function = code.constants[i], &name = code.constants[i + 1];
    if (!function.code || name.kind != Constant::Kind::string) continue;
    const std::string end = ".<locals>." + function.code->name;
    if (name.text.ends_with(end)) return name.text.substr(0, name.text.size() - end.size());
  }
  return written_name;
}

void qualify_as(CodeObject& code, const CodeObject& original) {
  // The code of the functions in `original`, keyed by name and then by qualified name.
  std::map<std::string, std::map<std::string, const CodeObject*>> theirs;
  for (const MadeFunction& function : functions_in(original)) {
    const CodeObject* const same = original.constants[function.index].code.get();
    theirs[same->name][function.qualified_name] = same;
  }
  for (const MadeFunction& function : functions_in(code)) {
    Constant& constant = code.constants[function.index];
    const auto same_names = theirs.find(constant.code->name);
    if (same_names == theirs.end() || same_names->second.size() != 1) continue;
    const auto& [wanted, same] = *same_names->second.begin();
    CodeObject nested = *constant.code;
    if (!function.qualified_name.empty() && !wanted.empty() && function.qualified_name != wanted) {
      replace_prefix(nested, function.qualified_name, wanted);
      if (function.name_index) {
        Constant& name = code.constants[*function.name_index];
        name.text = wanted;
        name.identity = 0;
      }
    }
    qualify_as(nested, *same);
    constant.code = std::make_shared<const CodeObject>(std::move(nested));
  }
}

void requalify_class(CodeObject& compiled, const CodeObject& original, const std::string& prefix) {
  replace_prefix(compiled, prefix, stored_qualified_name(original));
}

void name_like(CodeObject& code, const CodeObject& original) {
  code.flags = (code.flags & ~CodeObject::future_annotations) | (original.flags & CodeObject::future_annotations);
  code.qualname = original.qualname;
}

}  // namespace depyf
