// Deep trees need a deep stack, and the caller's may be small: that of a Python thread can be a few hundred KiB.
#pragma once
#include <optional>
#include <type_traits>
#include <utility>

#include "support/function_ref.h"
namespace depyf {

// Calls `work` on a stack of 32 MiB, of which only what is used takes memory; within such a call, and where the system
// has no more threads to give, on the caller's own. What `work` throws is thrown here.
void on_deep_stack(FunctionRef<void()> work);

template <class Work>
auto with_deep_stack(Work&& work) {
  std::optional<std::invoke_result_t<Work>> result;
  on_deep_stack([&] { result.emplace(work()); });
  return std::move(*result);
}

}  // namespace depyf
