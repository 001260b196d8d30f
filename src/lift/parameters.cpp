// Derives the parameters of a function, such as `(a, /, b, *c, d, **e)`, from the fields of its code object: argcount,
// posonlyargcount, kwonlyargcount, flags and the first names in varnames.
#include <algorithm>

#include "depyf/code_object.h"
#include "lift/context.h"

namespace depyf {
using namespace ast;

Arguments* parameters_of(Context& context, const CodeObject& code) {
  auto* args = context.arena.make<Arguments>();
  std::size_t at = 0;
  // Returns the next parameter, or `_` if no name is left, because corrupt code may have fewer names than parameters.
  auto next = [&]() {
    return Arg{at < code.varnames.size() ? std::string_view(code.varnames[at++]) : std::string_view("_"), nullptr};
  };
  auto take = [&](int count) {
    const List<Arg> list = context.arena.list<Arg>(std::size_t(std::max(count, 0)));
    std::ranges::generate(list, next);
    return list;
  };
  const int positional_only = std::min<int>(code.posonlyargcount, code.argcount);
  args->posonly = take(positional_only);
  args->args = take(code.argcount - std::max(positional_only, 0));
  args->kwonly = take(code.kwonlyargcount);
  if (code.flags & CodeObject::varargs) args->vararg = next();
  if (code.flags & CodeObject::varkeywords) args->kwarg = next();
  args->kw_defaults = context.arena.list<Expr*>(args->kwonly.size());
  std::ranges::fill(args->kw_defaults, nullptr);
  return args;
}

}  // namespace depyf
