// Combines several callables into a single one, for std::visit. Unless a callable accepts every type, code that omits a
// node type does not compile.
#pragma once
namespace depyf::ast {
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
}  // namespace depyf::ast
