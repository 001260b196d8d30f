// Compares trees by structure, and ignores offsets and lines.
#pragma once
#include "ast/node.h"
namespace depyf::ast {
bool equal(const Expr* a, const Expr* b);
bool equal(const Stmt* a, const Stmt* b);
bool equal(Block a, Block b);
}  // namespace depyf::ast
