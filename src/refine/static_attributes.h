// Handles `__static_attributes__`, in which 3.13 and later list the attributes of `self` that the methods of a class
// store.
#pragma once

#include <string_view>
#include <vector>

#include "ast/node.h"
#include "depyf/constant.h"

namespace depyf {

// Returns the attributes among `listed`, a tuple of names, that no statement in `body` stores, in their order. The
// compiler also lists the attributes that are stored only in unreachable code, for which it emits no bytecode:
//
//   if False:
//       def f(self): self.a = 1          __static_attributes__ = ('a',)
std::vector<std::string_view> lost_attributes(const Constant& listed, ast::Block body);

}  // namespace depyf
