// Returns the names of markers, which represent unfinished parts of a tree and should not be left in a finished tree.
#pragma once

#include <string_view>

#include "ast/node.h"

namespace depyf::print {

std::string_view name_of(ast::Marker marker);
std::string_view name_of(ast::StmtMarker marker);

}  // namespace depyf::print
