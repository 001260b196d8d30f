#include <algorithm>

#include "recode/named_instruction.h"
#include "recode/nested.h"

namespace depyf {
namespace {

bool is_global(Opcode opcode) {
  return opcode == Opcode::LOAD_GLOBAL || opcode == Opcode::STORE_GLOBAL || opcode == Opcode::DELETE_GLOBAL;
}

bool is_assignment(Opcode opcode) {
  return opcode == Opcode::STORE_GLOBAL || opcode == Opcode::STORE_NAME || opcode == Opcode::IMPORT_NAME;
}

// Returns, for each index of `co_names`, whether an instruction with a wanted opcode uses the name. For malformed
// bytecode, all results are false.
std::vector<bool> names_with(const CodeObject& code, bool (*is_wanted)(Opcode)) {
  std::vector<bool> with(code.names.size());
  const Result<std::vector<RawInstruction>> raws = read_raw(code);
  if (!raws) return with;
  for (const RawInstruction& raw : *raws) {
    if (!is_wanted(raw.opcode)) continue;
    if (const std::size_t index = name_index(raw, dialect_of(code.version)); index < with.size()) with[index] = true;
  }
  return with;
}

std::vector<std::string> names_at_any_depth(const CodeObject& code, bool (*is_wanted)(Opcode)) {
  std::vector<std::string> names;
  NameSet known;
  for_each_code(code, [&](const CodeObject& each) {
    const std::vector<bool> with = names_with(each, is_wanted);
    for (std::size_t i = 0; i < with.size(); ++i) {
      if (with[i] && known.insert(each.names[i]).second) names.push_back(each.names[i]);
    }
  });
  return names;
}

}  // namespace

NameSet own_global_names(const CodeObject& code) {
  const std::vector<bool> with = names_with(code, is_global);
  NameSet names;
  for (std::size_t i = 0; i < with.size(); ++i) {
    if (with[i]) names.insert(code.names[i]);
  }
  return names;
}

std::vector<std::string> global_names(const CodeObject& code) { return names_at_any_depth(code, is_global); }

std::vector<std::string> assigned_names(const CodeObject& code) { return names_at_any_depth(code, is_assignment); }

}  // namespace depyf
