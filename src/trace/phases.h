// Computes the self time of each phase from the events of PyTorch's timeline, which a log contains as chromium events.
// Begin and end events of a thread nest, so the self time of an event is its duration minus the durations of the events
// nested in it. Worker threads log with the thread number of the main thread, but do not name a compilation. An event
// counts as an event of a worker thread if it names no compilation, and is nested in an event that names a compilation.
// The events of worker threads overlap, so the times of worker threads are added up separately.
//
// For example, the event `dynamo` lasts 10 s and contains the event `backend_compile`, which lasts 6 s, so the self
// time of `dynamo` is 4 s. The event `compile_file` of a worker thread lies within `backend_compile`, but is not
// subtracted, so the self time of `backend_compile` is 6 s.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "depyf/record.h"

namespace depyf::trace {

class Phases {
 public:
  static constexpr int no_compilation = -1;

  // Begins an event. `compilation` is the index of the compilation that the event belongs to. `has_id` is true if the
  // event itself names its compilation.
  void begin(std::int64_t thread, std::string_view name, double us, int compilation, bool has_id);
  // Ends an event. `surrounding` is the compilation of an event that began before its compilation had an id. Returns
  // false if no event with the name `name` is open on the thread.
  bool end(std::int64_t thread, std::string_view name, double us, bool has_id, int surrounding);
  // Adds an event that states its own duration, and is not nested in another event.
  void whole(std::string_view name, double start_us, double us, int compilation) {
    add(name, start_us, us, us, compilation, true);
  }

  // Returns the innermost compilation of the events that are open on any thread; no_compilation if no open event has
  // a compilation.
  int current() const;
  bool is_open() const;
  std::size_t open_events() const;

  // Returns the phases of one compilation, the largest self time first.
  std::vector<record::Phase> of(int compilation) const;
  std::vector<record::Event> take_events() { return std::move(events_); }

 private:
  struct Open {
    std::string name;
    double start_us = 0, nested_us = 0;
    int compilation = no_compilation;
    bool has_id = false;
  };
  void add(std::string_view name, double start_us, double total_us, double self_us, int compilation, bool is_parallel);

  std::vector<record::Event> events_;
  std::map<std::int64_t, std::vector<Open>> open_;  // the open events of each thread, the outermost first
  std::map<std::int64_t, std::vector<Open>> workers_;  // the open events of worker threads, by logged thread number
  std::map<std::tuple<int, std::string, bool>, record::Phase> phases_;  // the key is (compilation, name, is_parallel)
};

}  // namespace depyf::trace
