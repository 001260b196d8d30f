// Makes the parameters of a function from the fields of its code object:
//
//   argcount, posonlyargcount, kwonlyargcount, flags and the first of varnames   ->   (a, /, b, *c, d, **e)
#include "depyf/code_object.h"
#include "lift/context.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

Arguments* parameters_of(Context& context, const CodeObject& code) {
  auto* args = context.arena.make<Arguments>();
  std::size_t at = 0;
  // Returns the next parameter. Code that no compiler made may have too few names.
  auto next = [&]() {
    return Arg{at < code.varnames.size() ? std::string_view(code.varnames[at++]) : std::string_view("_"), nullptr};
  };
  Table<Arg> posonly, positional, kwonly;
  for (int index = 0; index < code.argcount; ++index)
    (index < code.posonlyargcount ? posonly : positional).push_back(next());
  for (int index = 0; index < code.kwonlyargcount; ++index) kwonly.push_back(next());
  if (code.flags & CodeObject::varargs) args->vararg = next();
  if (code.flags & CodeObject::varkeywords) args->kwarg = next();
  args->posonly = context.arena.copy(posonly), args->args = context.arena.copy(positional),
  args->kwonly = context.arena.copy(kwonly);
  args->kw_defaults = context.arena.copy(Table<Expr*>(kwonly.size()));
  return args;
}

}  // namespace depyf
