// Lowers the annotations of functions, and the annotations of modules and classes that are evaluated lazily.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// Pushes the text of an annotation, which is stored instead of its value under `from __future__ import annotations`.
void annotation_text(Unit& unit, const ast::Expr* value);
// Pushes the tuple of names and annotations of a function. Returns false, and emits nothing, if the function has no
// annotations.
bool annotations(Unit& unit, const ast::FunctionDef& node);
// Pushes the __annotate__ function of a function (3.14 and later). Returns false, and emits nothing, if the function
// has no annotations.
bool annotate_function(Unit& unit, const ast::FunctionDef& node);
// Emits the creation of the function that evaluates the annotations of a module or class, and the store of the
// function. A module executes the store before its own statements, and a class executes it after them.
void deferred_annotations(Unit& unit);
// Emits the creation of the set that records which annotated statements have run (3.14 and later).
void conditional_annotations(Assembler& code, Variables& names);
// Emits the addition of an annotation to the set of annotations whose statements have run (3.14 and later). Emits
// nothing for an annotation that is evaluated unconditionally.
void mark_annotation(Assembler& code, Variables& names, const ast::AnnAssign& node);

}  // namespace depyf::lowering
