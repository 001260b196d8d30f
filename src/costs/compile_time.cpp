#include "costs/compile_time.h"

#include <algorithm>
#include <map>

#include "costs/savings.h"

namespace depyf::costs {
namespace {

using namespace record;

constexpr std::size_t events_max = 100'000;  // the largest number of events that a record keeps

struct PhaseOfPart {
  std::string_view start, part;  // the name of the phase begins with `start`
};

// A phase belongs to the part of the first row whose `start` is a prefix of the phase's name.
constexpr PhaseOfPart phases_of_parts[] = {
    {"depyf.", "depyf"},
    {"build_guards", "guards"},
    {"guard", "guards"},
    {"compile_file", "compilers"},
    {"async_compile", "compilers"},
    {"PyCodeCache.load", "compilers"},
    {"CachingAutotuner", "compilers"},
    {"triton", "compilers"},
    {"TritonBundler", "compilers"},
    {"AOTAutogradCache", "caches"},
    {"FxGraphCache", "caches"},
    {"CacheBase", "caches"},
    {"inductor_codecache", "caches"},
    {"autograd_cache", "caches"},
    {"pgo.", "caches"},
    {"remote_", "caches"},
    {"dynamo", "Dynamo"},
    {"entire_frame", "Dynamo"},
    {"compile_attempt", "Dynamo"},
    {"bytecode_tracing", "Dynamo"},
    {"symbolic_convert", "Dynamo"},
    {"gc", "Dynamo"},
    {"insert_deferred", "Dynamo"},
    {"variable_tracker", "Dynamo"},
    {"aot_", "AOTAutograd"},
    {"create_aot", "AOTAutograd"},
    {"backend_compile", "AOTAutograd"},
    {"entire_backward", "AOTAutograd"},
    {"min_cut", "AOTAutograd"},
    {"default_partition", "AOTAutograd"},
    {"compile_fx", "Inductor"},
    {"inductor_", "Inductor"},
    {"fx_codegen", "Inductor"},
    {"_recursive", "Inductor"},
    {"pass.", "Inductor"},
    {"additional_fake", "Inductor"},
    {"GraphLowering", "Inductor"},
    {"Scheduler", "Inductor"},
    {"PythonWrapperCodegen", "Inductor"},
    {"code_gen", "Inductor"},
};

bool is_compiler(std::string_view phase) { return part_of(phase) == "compilers"; }

struct Interval {
  double start = 0, end = 0;
};

// Returns the total length of the union of the intervals.
double covered(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.start < b.start; });
  double sum = 0, end = 0;
  bool is_first = true;
  for (const Interval& interval : intervals) {
    if (is_first || interval.start > end) sum += interval.end - interval.start;
    else if (interval.end > end) sum += interval.end - end;
    end = is_first ? interval.end : std::max(end, interval.end);
    is_first = false;
  }
  return sum;
}

class Parts {
 public:
  void add(const Phase& phase) { us_[part_of(phase.name)] += phase.self_us; }
  std::vector<PartTime> sorted() const {
    std::vector<PartTime> parts;
    for (const auto& [part, us] : us_) parts.push_back({part, us});
    std::stable_sort(parts.begin(), parts.end(), [](const PartTime& a, const PartTime& b) { return a.us > b.us; });
    return parts;
  }

 private:
  std::map<std::string_view, double> us_;
};

// Returns the time of the tracing that was given up, which is the time of all attempts except the last.
double restarts_of(const Compilation& compilation) {
  static constexpr std::string_view attempt = "compile_attempt_";
  const std::string last = std::string(attempt) + std::to_string(std::max(compilation.attempts - 1, 0));
  double us = 0;
  for (const Phase& phase : compilation.phases)
    if (!phase.is_parallel && phase.name.starts_with(attempt) && phase.name != last) us += phase.total_us;
  return us;
}

}  // namespace

std::string_view part_of(std::string_view phase) {
  if (phase.empty()) return "other";
  // Most rows differ from `phase` in the first character, so the first character is compared first, without a
  // function call.
  for (const PhaseOfPart& row : phases_of_parts)
    if (row.start[0] == phase[0] && phase.starts_with(row.start)) return row.part;
  return "other";
}

CompileTime compile_time(const Process& process) {
  CompileTime time;
  Parts parts;
  const auto add = [&](const Phase& phase) {
    if (phase.is_parallel) return;
    parts.add(phase);
    time.serial_us += phase.self_us;
  };
  for (const Phase& phase : process.phases) {
    add(phase);
    if (!phase.is_parallel) time.outside_us += phase.self_us;
  }
  for (std::size_t i = 0; i < process.compilations.size(); ++i) {
    const Compilation& compilation = process.compilations[i];
    CompilationTime row;
    Parts own;
    row.compilation = i;
    for (const Phase& phase : compilation.phases) {
      add(phase);
      if (phase.is_parallel) continue;
      own.add(phase);
      row.us += phase.self_us;
    }
    row.restarts_us = restarts_of(compilation);
    row.parts = own.sorted();
    time.restarts_us += row.restarts_us;
    time.compilations.push_back(std::move(row));
    for (const CacheEvent& event : compilation.caches) {
      time.hits += event.result == "hit";
      time.misses += event.result == "miss";
      time.bypasses += event.result == "bypass";
    }
  }
  std::stable_sort(time.compilations.begin(), time.compilations.end(),
                   [](const CompilationTime& a, const CompilationTime& b) { return a.us > b.us; });
  time.parts = parts.sorted();
  std::vector<Interval> serial, compilers;
  for (const Event& event : process.events) {
    const Interval interval{event.start_us, event.start_us + event.duration_us};
    if (!event.is_parallel) serial.push_back(interval);
    if (!is_compiler(event.name) || !event.name.starts_with("compile_file")) continue;
    compilers.push_back(interval);
    time.compilers_sum_us += event.duration_us;
    ++time.compiled_files;
  }
  time.is_whole = process.events.size() < events_max && !process.events.empty();
  time.wall_us = time.is_whole ? covered(std::move(serial)) : time.serial_us;
  time.compilers_us = covered(std::move(compilers));
  time.savings = savings_of(process, time);
  return time;
}

}  // namespace depyf::costs
