// f-strings and t-strings.
#pragma once

#include "lower/unit.h"

namespace depyf::lowering {

void joined(Unit& unit, ast::List<ast::Expr*> values);
void formatted(Unit& unit, const ast::FormattedValue& node);
void template_string(Unit& unit, const ast::TemplateStr& node);

}  // namespace depyf::lowering
