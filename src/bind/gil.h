// Releases and takes the interpreter's lock, safely for threads that are in C++ code when the interpreter ends.
//
// If a daemon thread requests the lock after the interpreter has begun to finalize, CPython 3.10 to 3.13 calls
// pthread_exit, which unwinds the thread's stack. pthread_exit cannot unwind C++ code: destructors are noexcept and
// nanobind's handlers catch every exception, so the process would abort. If pthread_exit unwinds a daemon thread,
// `ask_for_gil` pauses the thread forever, as CPython 3.14 does.
#pragma once
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <cxxabi.h>

namespace depyf {

// Calls `ask`, which requests the interpreter's lock, or runs Python code that requests the lock. If the interpreter
// ends the calling thread while `ask` runs, `ask_for_gil` never returns.
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

// Lets the thread use Python's objects as long as an object of this class exists. Any thread may create an object of
// the class.
class HeldGil {
 public:
  HeldGil() : state_(ask_for_gil([] { return PyGILState_Ensure(); })) {}
  HeldGil(const HeldGil&) = delete;
  ~HeldGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

}  // namespace depyf
