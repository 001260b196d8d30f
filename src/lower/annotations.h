// Annotations: those of parameters, and those of modules and classes that are evaluated later.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// Pushes the tuple of names and annotations of a function, if it has any. Returns whether it does.
bool annotations(Unit& unit, const ast::FunctionDef& node);
// Pushes the __annotate__ function of a function (3.14 and later), if it has annotations. Returns whether it does.
bool annotate_function(Unit& unit, const ast::FunctionDef& node);
// Stores the function that evaluates the annotations of a module or class. A module does this first, a class last.
void deferred_annotations(Unit& unit);
// Creates the set that records which annotations have been reached (3.14 and later).
void conditional_annotations(Assembler& code, Variables& names);
// Adds an annotation to the set of annotations that have been reached (3.14 and later).
void mark_annotation(Assembler& code, Variables& names, const ast::AnnAssign& node);

}  // namespace depyf::lowering
