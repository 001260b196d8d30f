// Computes self time by phase from chromium events. Begin and end events of a thread nest, so the self time of an event
// is its duration minus that of the events nested in it:
//
//     B dynamo ----------------------------- E      self: 10 - 6 = 4
//        B backend_compile --------- E              self: 6
//             B compile_file ----------- E          parallel: a worker thread's
//
// Worker threads log with the thread number of the main thread, but without a compilation, so an event without a
// compilation, nested in an event that has one, is that of a worker. The events of worker threads overlap, so the times
// of these events are added up separately.
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

  // `compilation` is the index of the compilation that the event belongs to. `has_id` is true if the event itself names
  // its compilation.
  void begin(std::int64_t thread, std::string_view name, double us, int compilation, bool has_id);
  // `surrounding` is the compilation for an event that began before its compilation had an id. Returns false if no
  // event with this name is open on the thread.
  bool end(std::int64_t thread, std::string_view name, double us, bool has_id, int surrounding);
  // Adds an event that states its own duration, and is not nested in another event.
  void whole(std::string_view name, double start_us, double us, int compilation) {
    add(name, start_us, us, us, compilation, true);
  }

  // Returns the innermost compilation of the events that are open on any thread; no_compilation if there is none.
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
  std::map<std::int64_t, std::vector<Open>> open_;  // open events by thread, the outermost first
  std::map<std::int64_t, std::vector<Open>> workers_;  // open events of worker threads, by the number that they log
  std::map<std::tuple<int, std::string, bool>, record::Phase> phases_;  // by compilation, name, is_parallel
};

}  // namespace depyf::trace
