// Runs work on a deep stack, because recursion over deep trees needs much stack. The stack of the caller may be too
// small: the stack of a Python thread can have only a few hundred KiB.
#pragma once
#include <pthread.h>

#include <optional>
#include <type_traits>
#include <utility>

#include "support/function_ref.h"
namespace depyf {

// Calls `work` on a stack of 32 MiB, which takes only as much memory as is used. Within a call of `on_deep_stack`, or
// if the system has no more threads, `work` runs on the caller's own stack. An exception from `work` is rethrown to the
// caller.
void on_deep_stack(FunctionRef<void()> work);

// A thread with a deep stack, which its destructor waits for. If the system has no more threads, the constructor throws
// a std::system_error.
class DeepThread {
 public:
  // `work` must not throw an exception, and the callable that it refers to must outlive the thread.
  explicit DeepThread(FunctionRef<void()> work);
  ~DeepThread() { pthread_join(thread_, nullptr); }
  DeepThread(const DeepThread&) = delete;
  DeepThread& operator=(const DeepThread&) = delete;

 private:
  const FunctionRef<void()> work_;
  pthread_t thread_;
};

template <class Work>
auto with_deep_stack(Work&& work) {
  std::optional<std::invoke_result_t<Work>> result;
  on_deep_stack([&] { result.emplace(work()); });
  return std::move(*result);
}

}  // namespace depyf
