// Releasing and taking the interpreter's lock in threads that the end of the interpreter may meet in the middle of C++ code.
//
// Once the interpreter finalizes, CPython 3.10 to 3.13 answer a daemon thread that asks for the lock with pthread_exit,
// which unwinds the thread's stack. C++ cannot be unwound that way: destructors are noexcept and nanobind's handlers catch
// everything, and either ends the process with abort. So the thread is kept where it is, which is what CPython 3.14 does.
#pragma once
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <cxxabi.h>

namespace depyf {

// Calls `ask`, which asks for the lock. Does not return if the interpreter has ended this thread.
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

// Other Python threads run while this exists.
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

// This thread, of Python or not, may use Python's objects while this exists.
class HeldGil {
 public:
  HeldGil() : state_(ask_for_gil([] { return PyGILState_Ensure(); })) {}
  HeldGil(const HeldGil&) = delete;
  ~HeldGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

}  // namespace depyf
