// Computes self time by phase from chromium events. Begin and end events of a thread nest, so each event's own time is
// its duration minus that of the events within it:
//
//     B dynamo ----------------------------- E      self: 10 - 6 = 4
//        B backend_compile --------- E              self: 6
//             B compile_file ----------- E          parallel: a worker thread's
//
// Worker threads log under the thread number of the main thread, but know no compilation: an event without a
// compilation, within an event that has one, is theirs. Such events overlap, so their times are added up separately.
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
  // it.
  void begin(std::int64_t thread, std::string_view name, double us, int compilation, bool has_id);
  // `surrounding` is the compilation for an event that began before its compilation had an id.
  // Returns false if no event of that name is open on the thread.
  bool end(std::int64_t thread, std::string_view name, double us, bool has_id, int surrounding);
  // Adds an event that states its duration, and nests in no other.
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
  std::map<std::int64_t, std::vector<Open>> open_;  // by thread, the outermost first
  std::map<std::int64_t, std::vector<Open>> workers_;  // events of worker threads, by the thread that they claim
  std::map<std::tuple<int, std::string, bool>, record::Phase> phases_;  // by compilation, name, is_parallel
};

}  // namespace depyf::trace
