// Compares `__static_attributes__` with the stores in a class. From 3.13 on, `__static_attributes__` lists the
// attributes of `self` that the methods of a class store.
#pragma once

#include <string_view>
#include <vector>

#include "ast/node.h"
#include "depyf/constant.h"

namespace depyf {

// Returns the attributes in `listed`, a tuple of names, that no statement in `body` stores, in the order of `listed`.
// The compiler also lists attributes that only unreachable code stores, although it emits no bytecode for unreachable
// code. For example, a class with `if False:` around `def f(self): self.a = 1` stores `__static_attributes__ = ('a',)`.
std::vector<std::string_view> lost_attributes(const Constant& listed, ast::Block body);

}  // namespace depyf
