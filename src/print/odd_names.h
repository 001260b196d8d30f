// Names that Python's grammar does not allow, which other tools and tampered files have in their bytecode.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ast/node.h"
#include "lift/context.h"

namespace depyf {

// Rewrites the loads, stores and deletions of such names in a whole tree: globals are reached through `globals()["a b"]`,
// attributes through `getattr`, `setattr` and `delattr`; local variables only get another name when they are printed. Each
// definition that has such names is marked; the names that the compiler makes, such as `.0`, are none of them. `is_module`:
// `body` is a module's, otherwise it holds the definition of what is printed.
ast::Block reach_odd_names(Context& context, ast::Block body, bool is_module);

namespace print {

// The identifiers that are written in place of names that are none: no two names get the same, and none gets the name of
// another variable, attribute or parameter of the file.
class Renamed {
 public:
  explicit Renamed(const CodeObject* root) : root_(root) {}
  const std::string& operator()(std::string_view name);
  bool empty() const { return names_.empty(); }

 private:
  void take_names_of(const CodeObject& code);

  const CodeObject* root_;
  std::set<const CodeObject*> seen_;
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace print
}  // namespace depyf
