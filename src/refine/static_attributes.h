// The attributes that the functions of a class give to `self`, which 3.13 and later store in the class.
#pragma once

#include <string_view>
#include <vector>

#include "ast/node.h"
#include "depyf/constant.h"

namespace depyf {

// Returns the attributes among `listed`, a tuple of names, that no statement in `body` stores, in their order. The
// compiler lists those of code that it leaves out as well:
//
//   if False:
//       def f(self): self.a = 1          __static_attributes__ = ('a',)
std::vector<std::string_view> lost_attributes(const Constant& listed, ast::Block body);

}  // namespace depyf
