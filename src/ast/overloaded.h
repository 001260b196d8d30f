// Combines several callables into one, for std::visit. As long as none of them takes every type, a node type that is
// left out does not compile.
#pragma once
namespace depyf::ast {
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
}  // namespace depyf::ast
