// Releases and takes the interpreter's lock, safely for threads that are in C++ code when the interpreter ends.
//
// When the interpreter has begun to finalize, CPython 3.10 to 3.13 ends a daemon thread that asks for the lock with
// pthread_exit, which unwinds the thread's stack. C++ code cannot be unwound in that way: destructors are noexcept and
// nanobind's handlers catch everything, and either would abort the process. So the thread is stopped where it is, as
// CPython 3.14 does.
#pragma once
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <cxxabi.h>

namespace depyf {

// Calls `ask`, which asks for the lock, or runs Python code that does. Does not return if the interpreter has ended this
// thread.
template <class Ask>
auto ask_for_gil(Ask ask) noexcept {
#ifdef __GLIBCXX__
  try {
    return ask();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();  // to leave this handler would end the process
  }
#else
  return ask();
#endif
}

// Lets other Python threads run as long as an object of this class exists.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ReleasedGil(const ReleasedGil&) = delete;
  ~ReleasedGil() {
    ask_for_gil([this] { PyEval_RestoreThread(state_); });
  }

 private:
  PyThreadState* state_;
};

// Lets this thread use Python's objects as long as an object of this class exists. Any thread may create one.
class HeldGil {
 public:
  HeldGil() : state_(ask_for_gil([] { return PyGILState_Ensure(); })) {}
  HeldGil(const HeldGil&) = delete;
  ~HeldGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

}  // namespace depyf
