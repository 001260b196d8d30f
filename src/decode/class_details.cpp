#include "decode/class_details.h"

#include "decode/op.h"
#include "dialect/dialect.h"

namespace depyf {

namespace {

// Returns the name that the instruction stores to, or an empty string if the instruction is no store to a name.
// STORE_GLOBAL and STORE_DEREF count like STORE_NAME, because a class may declare any name as global or nonlocal, even
// `__firstlineno__`.
std::string_view stored_name(const DecodedCode& decoded, std::int32_t at) {
  const Instruction& it = decoded.instructions[std::size_t(at)];
  if (it.op == Op::store_deref_) return decoded.localsplus[std::size_t(it.arg)];
  if (it.op != Op::store_name_ && it.op != Op::store_global_) return {};
  return decoded.names[std::size_t(it.arg)];
}

}  // namespace

// From 3.13 on, a class body starts with `__module__ = __name__; __qualname__ = 'C'; __firstlineno__ = 1`.
ClassDetails class_details(const DecodedCode& decoded) {
  ClassDetails result;
  if (!dialect_of(decoded.version).class_details || decoded.has_fast_locals()) return result;
  constexpr std::int32_t before_line = 5;
  bool has_line = false;
  for (std::int32_t at = before_line; at < std::int32_t(decoded.instructions.size()); ++at) {
    const std::string_view name = stored_name(decoded, at);
    if (name == "__firstlineno__" && !has_line) {
      has_line = true;
      const bool follows_names =
          stored_name(decoded, at - 2) == "__qualname__" && stored_name(decoded, at - 4) == "__module__";
      if (follows_names) result.line = at;
    } else if (name == "__static_attributes__") {
      result.attributes = at;
    }
  }
  return result;
}

}  // namespace depyf
