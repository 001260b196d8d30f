// Lowers f-strings and t-strings.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// Pushes the text of an f-string with the parts `values`.
void joined(Unit& unit, ast::List<ast::Expr*> values);
// Pushes the formatted text of one field of an f-string.
void formatted(Unit& unit, const ast::FormattedValue& node);
// Pushes the template of a t-string.
void template_string(Unit& unit, const ast::TemplateStr& node);

}  // namespace depyf::lowering
