// Combines several callables into one, for std::visit. If no callable accepts every type, code that leaves out a node
// type does not compile.
#pragma once
namespace depyf::ast {
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
}  // namespace depyf::ast
