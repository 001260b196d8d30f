// Lowers one code object. The state that all code objects share is in Shared.
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

// The fields of a code object that its node in the tree decides.
struct Header {
  std::string name, qualname;
  const CodeObject* origin = nullptr;
  const ast::Arguments* args = nullptr;
  const Constant* docstring = nullptr;
  // GET_ITER or GET_AITER, by which a generator expression of 3.15 gets its iterator before it starts; otherwise NOP.
  Op iterates{};
  int posonly = 0;  // the number of positional-only arguments, if `args` is null
  // In a lambda, a StopIteration that leaves it is not turned into an error.
  bool is_lambda = false;
};

// The statements that need work if control leaves them.
enum class Exit : std::uint8_t {
  while_loop,
  for_loop,
  try_body,         // the body of a try statement with handlers
  finally_body,     // the body of a try statement with a finally clause
  finally_handler,  // the finally clause, while an exception is handled
  handler,          // an except clause
  with_body,
  async_with_body,
  value,            // a value to return lies on the stack
};
// A statement around the current one.
struct Frame {
  Exit kind = Exit::while_loop;
  Label end = -1, next = -1;  // of a loop: where break and continue lead
  int outside = -1;  // the handler around the statement, or -1
  ast::Block body = {};  // the body of a finally clause
  std::string_view name = {};  // the name that a handler binds
};
using Frames = std::vector<Frame>;

// The lowering of one code object.
class Unit {
 public:
  Unit(Shared& shared, Scope* scope, Unit* outer, const Header& header);

  // Returns the code object whose instructions `body` emits, with its start and its end around them. A failure is
  // recorded in it.
  std::shared_ptr<LoweredCode> run(FunctionRef<void(Unit&)> body);

  // Returns the code object of the node of a nested scope, which is lowered once, however often the node stands in the
  // code.
  const std::shared_ptr<LoweredCode>& nested(const void* node, const Header& header, FunctionRef<void(Unit&)> body);
  // Returns the qualified name of something nested here: behind the names around it, with `<locals>` after functions.
  // Unless `is_variable` is false, a name that is declared global has nothing in front.
  std::string qualified(std::string_view name, bool is_variable = true) const;
  // Pushes a function, with its closure. The values for the other `flags` are on the stack.
  void make_function(const std::shared_ptr<LoweredCode>& function, int flags);
  // Records a store to an attribute of `self`, as classes keep the names of these attributes from 3.13 on.
  void store_to_self(const ast::Attribute& target);
  // Returns the code object with its flags and numbers of arguments.
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
  // Of a class: the attributes of `self` that its functions store.
  std::set<std::string> static_attributes;

 private:
  // Fills in the fields of the code object.
  void describe(Scope* scope, const Header& header);
  // Emits the start of the code object: cells, the start of a generator, and RESUME.
  void start();
  // Emits the end of the code object, and resolves labels.
  void finish();

  Unit* outer_;
  const bool wraps_stop_iteration_;
  const Op iterates_;
  Label stop_iteration_ = -1;  // the handler that makes a StopIteration a RuntimeError
};

}  // namespace depyf::lowering
