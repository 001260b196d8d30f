// Finds the known values of expressions, and replaces the expressions by these values.
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

  // Returns the value of an expression without effects; std::nullopt if the value is not known. With `hoist`, items of
  // a display that have effects are stored in temporaries.
  std::optional<Value> known(ast::Expr* expr, bool hoist);
  // Returns the known value of `expr`, which the caller makes an item of a tracked list, tuple or dict. If the value is
  // not known, the expression is stored in a temporary, and `expr` becomes a read of that temporary.
  Value value_of(ast::Expr*& expr);
  // Returns the object of `container`, to which the caller adds `items`. Returns null if the object was stored under a
  // name, because the evaluation of the items used the object or the items contain it.
  Object* receiver(const Value& container, std::vector<Value>& items);

  // In display_uses.cpp: replaces each expression in `slot` whose value is known by that value.
  void use(ast::Expr*& slot);
  // In display_uses.cpp: replaces each expression in `target` whose value is known by that value, except for the names
  // that the target binds.
  void use_parts(ast::Expr* target);

 private:
  // Returns a list or tuple display with the items `elements` as an object. Returns std::nullopt if the items of a
  // starred element are not known, or if, without `hoist`, the value of another element is not known.
  std::optional<Value> display(Object::Kind kind, ast::List<ast::Expr*> elements, bool hoist);
  // Returns a dict display as an object if its keys are different string or integer constants; std::nullopt for any
  // other display.
  std::optional<Value> dictionary(ast::Dict& dict, bool hoist);
  // Returns the value of an item or slice of a known object; std::nullopt if the value is not known.
  std::optional<Value> item(ast::Subscript& subscript);
  // Returns a list in which the items of a starred display replace the display if they are known. In each other item,
  // `use` replaces the expressions whose values are known.
  ast::List<ast::Expr*> spread(ast::List<ast::Expr*> items);

  Context& context_;
  const Locals& locals_;
  const Liveness& liveness_;
  Names& names_;
};

// True if `expr` is `(lambda: x).__closure__[0]`, which evaluates to the same cell of x each time.
bool is_cell(const ast::Expr* expr);
// True if `key` is a string or integer constant. Two string or integer constants are equal keys only if their kinds and
// texts are equal.
bool plain_key(const ast::Expr* key);
// Returns the index of `key` in the dict `object`, or the number of keys if the dict does not contain `key`.
std::size_t find_key(const Object& object, const ast::Expr* key);
// True if the index `slice` is a known integer within a sequence of `size` items. Sets `found` to the index from the
// start of the sequence.
bool index_in(const ast::Expr* slice, std::size_t size, std::size_t& found);
// True if the bounds of `slice` are known. Sets `first` and `last` to the range of the items that `slice` selects from
// a sequence of `size` items.
bool bounds_in(const ast::Expr* slice, std::size_t size, std::size_t& first, std::size_t& last);

}  // namespace depyf::displays
