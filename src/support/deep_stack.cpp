#include "support/deep_stack.h"

#include <pthread.h>

#include <exception>

namespace depyf {
namespace {

constexpr std::size_t stack_size = std::size_t(32) << 20;
thread_local bool is_deep = false;

struct Task {
  FunctionRef<void()> work;
  std::exception_ptr failure;
};

void* run(void* argument) {
  Task& task = *static_cast<Task*>(argument);
  is_deep = true;
  try {
    task.work();
  } catch (...) {
    task.failure = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void on_deep_stack(FunctionRef<void()> work) {
  if (is_deep) return work();
  Task task{work, nullptr};
  pthread_attr_t attributes;
  pthread_t thread;
  bool started = false;
  if (pthread_attr_init(&attributes) == 0) {
    started = pthread_attr_setstacksize(&attributes, stack_size) == 0 &&
              pthread_create(&thread, &attributes, run, &task) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (!started) return work();
  pthread_join(thread, nullptr);
  if (task.failure) std::rethrow_exception(task.failure);
}

}  // namespace depyf
