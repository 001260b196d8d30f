// A set of callables as one, for std::visit: without a generic one, a node type that is left out does not compile.
#pragma once
namespace depyf::ast {
template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
}  // namespace depyf::ast
