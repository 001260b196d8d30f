// Lowers one code object. The state that the lowering of all code objects shares is in the struct Shared.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/dialect.h"
#include "lower/assembler.h"
#include "lower/names.h"
#include "lower/scope.h"
#include "support/function_ref.h"

namespace depyf {
struct LoweredTree;
}

namespace depyf::lowering {

// The state that the lowering of all scopes shares.
struct Shared {
  Version version;
  bool annotations_are_text = false;
  SymbolTable& symbols;
  LoweredTree& tree;
  AssemblerSupplies supplies;
};

// The fields of a code object that are determined by its node in the syntax tree.
struct Header {
  std::string name, qualname;
  const CodeObject* origin = nullptr;
  const ast::Arguments* args = nullptr;
  const Constant* docstring = nullptr;
  // The GET_ITER or GET_AITER with which a comprehension in its own code object starts (3.15); NOP for other code
  // objects.
  Op iterates{};
  int posonly = 0;  // the number of positional-only arguments, if `args` is null
  // True for a lambda, which does not convert a StopIteration that leaves it into a RuntimeError.
  bool is_lambda = false;
  // True for the function that returns the bound, the constraints or the default of a type parameter.
  bool is_evaluator = false;
};

// The kinds of enclosing statements (see `Frame`) that `return`, `break` and `continue` may leave.
enum class Exit : std::uint8_t {
  while_loop,
  for_loop,
  try_body,         // the body of a try statement with handlers
  finally_body,     // the body of a try statement with a finally clause
  finally_handler,  // the finally clause, while an exception is handled
  handler,          // an except clause
  with_body,
  async_with_body,
  value,            // a finally clause that a `return` runs while its value is on the stack
};
// A statement that encloses the statement that is being lowered.
struct Frame {
  Exit kind = Exit::while_loop;
  Label end = -1, next = -1;  // for a loop: the targets of `break` and `continue`
  int outside = -1;  // the handler around the statement; -1 if no handler protects it
  ast::Block body = {};  // the body of a finally clause
  std::string_view name = {};  // the name that a handler binds
};
using Frames = std::vector<Frame>;

// The lowering of one code object.
class Unit {
 public:
  Unit(Shared& shared, Scope* scope, Unit* outer, const Header& header);

  // Emits the start of the code object, the instructions of `body` and the end, and returns the result. If lowering
  // fails, the reason is stored in the result's `failure`.
  std::shared_ptr<LoweredCode> run(FunctionRef<void(Unit&)> body);

  // Returns the lowered code of the nested scope that `node` opens (see `Scope::children`). `body` emits its
  // instructions. A nested scope is lowered once, even if the tree contains its node several times.
  const std::shared_ptr<LoweredCode>& nested(const void* node, const Header& header, FunctionRef<void(Unit&)> body);
  // Returns the qualified name of a definition in this code object, such as `f.<locals>.g` for `g` in a function `f`.
  // If `is_variable` is true and the scope declares `name` global, the qualified name is `name` alone.
  std::string qualified(std::string_view name, bool is_variable = true) const;
  // Emits MAKE_FUNCTION, with a closure if `function` has free variables. The values that `flags` announces, such as
  // defaults, are on the stack already.
  void make_function(const std::shared_ptr<LoweredCode>& function, int flags);
  // Records the name of an attribute of `self` that is stored to, because from 3.13 on, the class lists these names in
  // `__static_attributes__`.
  void store_to_self(const ast::Attribute& target);
  // Returns the code object that is being lowered, whose flags and numbers of arguments are set.
  const CodeObject& head() const;
  bool is_async_generator() const;
  bool has_positional_parameters() const;

  Shared& shared;
  const Dialect& dialect;

 private:
  const std::shared_ptr<LoweredCode> result_;

 public:
  Assembler code;
  Variables names;
  Frames frames;
  // For a class: the names of the attributes of `self` to which its methods store.
  std::set<std::string> static_attributes;

 private:
  // Fills in the fields of the code object that follow from its scope and its header.
  void describe(Scope* scope, const Header& header);
  // Emits the start of the code object: cells, the start of a generator, and RESUME.
  void start();
  // Emits the end of the code object, and resolves labels.
  void finish();

  Unit* outer_;
  const bool wraps_stop_iteration_;
  const Op iterates_;
  Label stop_iteration_ = -1;  // the handler that turns a StopIteration into a RuntimeError
};

}  // namespace depyf::lowering
