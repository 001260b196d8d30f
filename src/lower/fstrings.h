// f-strings and t-strings.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

// Pushes the text that the parts make together.
void joined(Unit& unit, ast::List<ast::Expr*> values);
// Pushes the text of one field.
void formatted(Unit& unit, const ast::FormattedValue& node);
// Pushes a template.
void template_string(Unit& unit, const ast::TemplateStr& node);

}  // namespace depyf::lowering
