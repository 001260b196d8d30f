// Annotations: of parameters, and those of modules and classes that are evaluated later.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// Leaves the names and annotations of a function, if there are any.
bool annotations(Unit& unit, const ast::FunctionDef& node);
// Leaves the function that makes the annotations, if there are any.
bool annotate_function(Unit& unit, const ast::FunctionDef& node);
// What a module does first and a class last: the function that makes its annotations is stored.
void deferred_annotations(Unit& unit);
// The set that tells which annotations have been reached.
void conditional_annotations(Assembler& code, Variables& names);
void mark_annotation(Assembler& code, Variables& names, const ast::AnnAssign& node);

}  // namespace depyf::lowering
