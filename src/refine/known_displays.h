// Finds the known value of an expression, and puts it in the place of the expression.
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

  // Returns the value of an expression without effects; std::nullopt if it is not known. With `hoist`, items of a
  // display that have effects are stored to temporaries.
  std::optional<Value> known(ast::Expr* expr, bool hoist);
  // Returns a value for an expression that becomes an item of an object. If the value is not known, the expression is
  // stored to a temporary, and `expr` becomes a read of that temporary.
  Value value_of(ast::Expr*& expr);
  // Returns the object of `container`, to which `items` are to be added; null if the object was stored under a name
  // because the evaluation of the items used it or the items contain it.
  Object* receiver(const Value& container, std::vector<Value>& items);

  // Replaces each expression in `slot` whose value is known by that value (in display_uses.cpp).
  void use(ast::Expr*& slot);
  // Replaces each expression in a target whose value is known by that value, except the names that the target binds (in
  // display_uses.cpp).
  void use_parts(ast::Expr* target);

 private:
  // Returns a list or tuple display as an object if all of its items are known or, with `hoist`, can be stored to
  // temporaries.
  std::optional<Value> display(Object::Kind kind, ast::List<ast::Expr*> elements, bool hoist);
  // Returns a dict display as an object, if its keys are plain and different.
  std::optional<Value> dictionary(ast::Dict& dict, bool hoist);
  // Returns the value of an item or slice of a known object.
  std::optional<Value> item(ast::Subscript& subscript);
  // Replaces starred displays among `items` by their items, and all other items by their known values.
  ast::List<ast::Expr*> spread(ast::List<ast::Expr*> items);

  Context& context_;
  const Locals& locals_;
  const Liveness& liveness_;
  Names& names_;
};

// True for `(lambda: x).__closure__[0]`, which evaluates to the same cell of x each time.
bool is_cell(const ast::Expr* expr);
// True for a string or integer constant, which equals another such key only if kind and text are equal.
bool plain_key(const ast::Expr* key);
// Returns the index of a key in a dict, or the number of keys if the dict does not have it.
std::size_t find_key(const Object& object, const ast::Expr* key);
// Returns true if an index is a known integer within a sequence of `size` items; `found` becomes the index from the
// start.
bool index_in(const ast::Expr* slice, std::size_t size, std::size_t& found);
// Returns true if the bounds of a slice are known; `first` and `last` become the range of items.
bool bounds_in(const ast::Expr* slice, std::size_t size, std::size_t& first, std::size_t& last);

}  // namespace depyf::displays
