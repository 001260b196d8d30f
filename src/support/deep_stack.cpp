#include "support/deep_stack.h"

#include <pthread.h>

#include <exception>
#include <system_error>

namespace depyf {
namespace {

constexpr std::size_t stack_size = std::size_t(32) << 20;
thread_local bool is_deep = false;

void* run(void* work) {
  is_deep = true;
  (*static_cast<const FunctionRef<void()>*>(work))();
  return nullptr;
}

// Starts a thread with a deep stack. Returns an error number, or 0 if the thread was started.
int start(pthread_t& thread, const FunctionRef<void()>& work) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error) return error;
  error = pthread_attr_setstacksize(&attributes, stack_size);
  void* argument = const_cast<FunctionRef<void()>*>(&work);
  if (!error) error = pthread_create(&thread, &attributes, run, argument);
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace

DeepThread::DeepThread(FunctionRef<void()> work) : work_(work) {
  if (const int error = start(thread_, work_)) throw std::system_error(error, std::generic_category());
}

void on_deep_stack(FunctionRef<void()> work) {
  if (is_deep) return work();
  std::exception_ptr failure;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  pthread_t thread;
  const FunctionRef<void()> task(guarded);
  if (start(thread, task) != 0) return work();
  pthread_join(thread, nullptr);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace depyf
