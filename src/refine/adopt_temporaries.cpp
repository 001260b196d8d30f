// Turns the temporaries that Dynamo's code generator names into temporaries of depyf, which later passes fold or name.
// For example, `tmp_2 = f()` becomes `__temp_tmp_2 = f()`.
#include <algorithm>
#include <cctype>

#include "ast/visit.h"
#include "decode/instruction.h"
#include "depyf/code_object.h"
#include "refine/locals.h"

namespace depyf {
using namespace ast;

namespace {

// True if `name` consists of `tmp_` and a number.
bool numbered(std::string_view name) {
  constexpr std::string_view stem = "tmp_";
  return name.size() > stem.size() && name.starts_with(stem) &&
         std::ranges::all_of(name.substr(stem.size()), [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

Block adopt_temporaries(Context& context, Block body, const Scope& scope) {
  const Locals locals(scope, context.options);
  if (!locals.generated()) return body;
  std::map<std::string_view, std::string_view> names;
  const auto& code = *scope.decoded.code;
  // The arguments of the code object keep their names.
  for (std::size_t i = std::size_t(code.argument_count()); i < code.varnames.size(); ++i)
    if (const std::string& name = code.varnames[i]; numbered(name) && locals.is_fast(name))
      names[name] = context.arena.copy("__temp_" + name);
  if (!names.empty()) rename(body, names);
  return body;
}

}  // namespace depyf
