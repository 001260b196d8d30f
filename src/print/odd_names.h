// Handles names that Python's grammar does not allow, which occur in bytecode that other tools generated or changed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "ast/node.h"
#include "lift/context.h"

namespace depyf {

// Rewrites loads, stores and deletions of names that are no identifiers, in a whole tree. Globals are reached through
// `globals()["a b"]`, and attributes through `getattr`, `setattr` and `delattr`. Local variables stay unchanged in the
// tree, and get another name when they are printed.
//
// Each definition with names that are no identifiers gets a comment about them. Names that the compiler itself
// generates, such as `.0`, are left as they are. `is_module` is true if `body` is the body of a module; otherwise
// `body` holds the definition that is printed.
ast::Block reach_odd_names(Context& context, ast::Block body, bool is_module);

namespace print {

// Chooses identifiers to print instead of names that are no identifiers. No two names get the same identifier, and no
// name gets the name of another variable, attribute or parameter of the file.
class Renamed {
 public:
  explicit Renamed(const CodeObject* root) : root_(root) {}
  // Returns the identifier for `name`; the reference stays valid as long as this object lives.
  const std::string& operator()(std::string_view name);
  bool empty() const { return names_.empty(); }

 private:
  // Reserves all names that `code`, and the code objects in it, use.
  void take_names_of(const CodeObject& code);

  const CodeObject* root_;
  std::set<const CodeObject*> seen_;
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace print
}  // namespace depyf
