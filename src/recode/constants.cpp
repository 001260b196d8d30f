// Replaces loads of global names by loads of constants. Also replaces constants that keep parts of a program alive by
// plain data.
#include <algorithm>

#include "recode/named_instruction.h"
#include "recode/nested.h"
#include "recode/splice.h"

namespace depyf {
namespace {

using Indices = std::map<std::string_view, std::uint32_t>;

// Appends to the constants of `code` those of `values` whose names `code` uses, and returns the index of each value.
Indices add_constants(CodeObject& code, const ConstantsByName& values) {
  Indices indices;
  for (const std::string& name : code.names) {
    const auto value = values.find(name);
    if (value == values.end()) continue;
    if (indices.emplace(name, static_cast<std::uint32_t>(code.constants.size())).second)
      code.constants.push_back(value->second);
  }
  return indices;
}

// Returns instructions that load a constant instead of a global. If the LOAD_GLOBAL also pushes a NULL, a PUSH_NULL
// comes before or after the load, depending on the version.
std::vector<NewInstruction> load_of(std::uint32_t constant, const RawInstruction& raw, const Dialect& dialect) {
  std::vector<NewInstruction> load{{Opcode::LOAD_CONST, constant}};
  const bool with_null = raw.opcode == Opcode::LOAD_GLOBAL && dialect.global_null_bit && (raw.arg & 1);
  if (with_null) load.insert(dialect.null_after ? load.end() : load.begin(), {Opcode::PUSH_NULL, 0});
  return load;
}

bool bind_own_names(CodeObject& code, const ConstantsByName& values) {
  const std::size_t constants_before = code.constants.size();
  const Indices indices = add_constants(code, values);
  if (indices.empty()) return false;
  const Dialect& dialect = dialect_of(code.version);
  const Result<std::vector<RawInstruction>> raws = read_raw(code);
  Replacements replacements;
  for (std::size_t i = 0; raws && i < raws->size(); ++i) {
    const RawInstruction& raw = (*raws)[i];
    if (raw.opcode != Opcode::LOAD_GLOBAL && raw.opcode != Opcode::LOAD_NAME) continue;
    const std::size_t name = name_index(raw, dialect);
    const auto index = name < code.names.size() ? indices.find(code.names[name]) : indices.end();
    if (index != indices.end()) replacements.emplace(i, load_of(index->second, raw, dialect));
  }
  if (!replacements.empty() && replace_instructions(code, *raws, replacements)) return true;
  code.constants.resize(constants_before);
  return false;
}

// Replaces opaque objects in a constant by strings. Returns false if the constant is plain data already.
bool make_data(Constant& constant) {
  if (constant.kind == Constant::Kind::opaque) {
    constant = {.kind = Constant::Kind::string, .text = "<" + constant.text + ">", .items = {}, .code = nullptr};
    return true;
  }
  bool changed = false;
  for (Constant& item : constant.items) changed |= make_data(item);
  if (changed) constant.identity = 0;
  return changed;
}

}  // namespace

bool bind_names(CodeObject& code, const ConstantsByName& values) {
  return change_each_code(code, [&](CodeObject& each) { return bind_own_names(each, values); });
}

bool keep_data_alone(CodeObject& code) {
  return change_each_code(code, [](CodeObject& each) {
    bool changed = false;
    for (Constant& constant : each.constants) changed |= make_data(constant);
    return changed;
  });
}

}  // namespace depyf
