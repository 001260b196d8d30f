// What an expression is known to be, and what stands in its place.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "refine/display_names.h"
#include "refine/locals.h"

namespace depyf::displays {

class Known {
 public:
  Known(Context& context, const Locals& locals, const Liveness& liveness, Names& names)
      : context_(context), locals_(locals), liveness_(liveness), names_(names) {}

  // What an expression without effects gives; with `hoist`, parts of a display that have effects get names.
  std::optional<Value> known(ast::Expr* expr, bool hoist);
  // A value for what is put into an object: known, or under a name, which `expr` is then.
  Value value_of(ast::Expr*& expr);
  // The object that is to hold `items`, which were just made for it. Null where it has a name by now, as making them used it or
  // they hold it.
  Object* receiver(const Value& container, std::vector<Value>& items);

  // display_uses.cpp
  void use(ast::Expr*& slot);
  // The expressions within a target; the names that it binds are left alone.
  void use_parts(ast::Expr* target);

 private:
  std::optional<Value> display(Object::Kind kind, ast::List<ast::Expr*> elements, bool hoist);
  std::optional<Value> dictionary(ast::Dict& dict, bool hoist);
  std::optional<Value> item(ast::Subscript& subscript);
  ast::List<ast::Expr*> spread(ast::List<ast::Expr*> items);

  Context& context_;
  const Locals& locals_;
  const Liveness& liveness_;
  Names& names_;
};

// (lambda: x).__closure__[0]: the cell itself, always the same.
bool is_cell(const ast::Expr* expr);
// A key of which it is known which others it equals.
bool plain_key(const ast::Expr* key);
// The index of a key; the number of keys if it is none of them.
std::size_t find_key(const Object& object, const ast::Expr* key);
// True if an index, or the bounds of a slice, are known; and what they are in a sequence of `size` items.
bool index_in(const ast::Expr* slice, std::size_t size, std::size_t& found);
bool bounds_in(const ast::Expr* slice, std::size_t size, std::size_t& first, std::size_t& last);

}  // namespace depyf::displays
