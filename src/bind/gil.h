// Releases and takes the interpreter's lock, safely for threads that are in C++ code when the interpreter ends.
//
// If a daemon thread requests the lock after the interpreter has begun to finalize, CPython 3.10 to 3.13 calls
// pthread_exit, which unwinds the thread's stack. C++ code cannot be unwound by pthread_exit: destructors are noexcept
// and nanobind's handlers catch everything, and either would abort the process. A daemon thread that pthread_exit
// unwinds is therefore paused forever, as in CPython 3.14.
#pragma once
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <cxxabi.h>

namespace depyf {

// Calls `ask`, which requests the lock, or runs Python code that requests it. Does not return if the interpreter has
// ended this thread.
template <class Ask>
auto ask_for_gil(Ask ask) noexcept {
#ifdef __GLIBCXX__
  try {
    return ask();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();  // leaving this handler would abort the process
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

// Lets this thread use Python's objects as long as an object of this class exists. Any thread may create an object of
// this class.
class HeldGil {
 public:
  HeldGil() : state_(ask_for_gil([] { return PyGILState_Ensure(); })) {}
  HeldGil(const HeldGil&) = delete;
  ~HeldGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

}  // namespace depyf
