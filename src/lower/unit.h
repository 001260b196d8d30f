// One code object as it is lowered, and what the lowering of all of them shares.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/dialect.h"
#include "lower/assembler.h"
#include "lower/lower.h"
#include "lower/names.h"
#include "lower/scope.h"

namespace depyf::lowering {

// What the lowering of all scopes shares.
struct Shared {
  Version version;
  bool annotations_are_text = false;
  std::string filename;
  SymbolTable& symbols;
  LoweredTree& tree;
  std::int64_t bytes_left;
};

struct Header {
  std::string name, qualname;
  const CodeObject* origin = nullptr;
  const ast::Arguments* args = nullptr;
  const Constant* docstring = nullptr;
  bool iterates = false;  // a generator expression that makes the iterator itself, before it starts (3.15)
  int posonly = 0;  // where there is no list of arguments
  bool is_lambda = false;  // an iterator's end that leaves it is not made an error
};

// A statement around the one at work, which does something when it is left.
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
struct Frame {
  Exit kind = Exit::while_loop;
  Label end = -1, next = -1;          // of a loop: where break and continue lead
  int outside = -1;                   // what protects the code around
  ast::Block body = {};               // of a finally clause
  std::string_view name = {};         // of a handler
};
using Frames = std::vector<Frame>;

class Unit {
 public:
  Unit(Shared& shared, Scope* scope, Unit* outer, const Header& header);

  // The code object, with what `body` emits between its start and its end.
  std::shared_ptr<LoweredCode> run(const std::function<void(Unit&)>& body);

  // The code object of one node is made once, however often the node stands in the code.
  std::shared_ptr<LoweredCode> nested(const void* node, Scope* scope, const Header& header,
                                      const std::function<void(Unit&)>& body);
  // As CPython names what is nested: behind the names around it, with `<locals>` below functions.
  std::string qualified(std::string_view name) const;
  void make_function(const std::shared_ptr<LoweredCode>& function, int flags);
  // From 3.13 on a class keeps the names of the attributes that its functions store to `self`.
  void store_to_self(const ast::Attribute& target);
  // What the code object says of itself: flags, counts of arguments.
  const CodeObject& head() const { return result_->code; }

  Shared& shared;
  const Dialect& dialect;

 private:
  const std::shared_ptr<LoweredCode> result_ = std::make_shared<LoweredCode>();

 public:
  Assembler code;
  Variables names;
  Frames frames;
  std::set<std::string> static_attributes;  // of a class: what its functions store to attributes of `self`

 private:
  void describe(Scope* scope, const Header& header);
  void start();
  void finish();

  Unit* outer_;
  std::map<const void*, std::shared_ptr<LoweredCode>> nested_;
  const bool wraps_stop_iteration_, iterates_;
  Label stop_iteration_ = -1;  // where what leaves a generator becomes a RuntimeError
};

}  // namespace depyf::lowering
