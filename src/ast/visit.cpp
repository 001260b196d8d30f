#include "ast/visit.h"

namespace depyf::ast {

StmtKinds StmtKinds::in(Block body) {
  static_assert(std::variant_size_v<Stmt::Node> <= 32);
  StmtKinds kinds;
  for (Stmt* stmt : body) {
    kinds.bits_ |= of(stmt).bits_;
    for_each_block(stmt, [&](Block& inner) {
      if (!inner.empty()) kinds.bits_ |= in(inner).bits_;
    });
  }
  return kinds;
}

}  // namespace depyf::ast
