#include "trace/phases.h"

#include <algorithm>

namespace depyf::trace {
namespace {

constexpr std::size_t events_max = 100'000;  // the maximum number of events in a timeline; the sums include all events

}  // namespace

void Phases::begin(std::int64_t thread, std::string_view name, double us, int compilation, bool has_id) {
  std::vector<Open>& events = open_[thread];
  const bool is_of_worker = !has_id && !events.empty() && events.back().has_id;
  (is_of_worker ? workers_[thread] : events).push_back({std::string(name), us, 0, compilation, has_id});
}

bool Phases::end(std::int64_t thread, std::string_view name, double us, bool has_id, int surrounding) {
  auto is_it = [&](const Open& open) { return open.name == name && open.has_id == has_id; };
  if (std::vector<Open>& events = workers_[thread]; !has_id) {
    if (auto event = std::find_if(events.begin(), events.end(), is_it); event != events.end()) {
      const double total = std::max(0.0, us - event->start_us);
      add(event->name, event->start_us, total, total, event->compilation, true);
      events.erase(event);
      return true;
    }
  }
  std::vector<Open>& events = open_[thread];
  auto event = std::find_if(events.rbegin(), events.rend(), is_it);
  if (event == events.rend()) return false;
  // Nested events that never ended, because of an exception, end together with the event around them.
  for (std::size_t remaining = static_cast<std::size_t>(events.rend() - event) - 1; events.size() > remaining;) {
    const Open last = std::move(events.back());
    events.pop_back();
    const double total = std::max(0.0, us - last.start_us);
    const int compilation = last.compilation == no_compilation ? surrounding : last.compilation;
    add(last.name, last.start_us, total, std::max(0.0, total - last.nested_us), compilation, false);
    if (!events.empty()) events.back().nested_us += total;
  }
  return true;
}

void Phases::add(std::string_view name, double start_us, double total_us, double self_us, int compilation,
                 bool is_parallel) {
  if (events_.size() < events_max) events_.push_back({std::string(name), start_us, total_us, compilation, is_parallel});
  record::Phase& phase = phases_[{compilation, std::string(name), is_parallel}];
  phase.name = name;
  phase.total_us += total_us;
  phase.self_us += self_us;
  phase.is_parallel = is_parallel;
  ++phase.count;
}

int Phases::current() const {
  for (const auto& [thread, events] : open_)
    for (auto event = events.rbegin(); event != events.rend(); ++event)
      if (event->compilation != no_compilation) return event->compilation;
  return no_compilation;
}

bool Phases::is_open() const {
  return std::any_of(open_.begin(), open_.end(), [](const auto& thread) { return !thread.second.empty(); });
}

std::size_t Phases::open_events() const {
  std::size_t count = 0;
  for (const auto& [thread, events] : open_) count += events.size();
  for (const auto& [thread, events] : workers_) count += events.size();
  return count;
}

std::vector<record::Phase> Phases::of(int compilation) const {
  std::vector<record::Phase> phases;
  for (auto it = phases_.lower_bound({compilation, "", false});
       it != phases_.end() && std::get<0>(it->first) == compilation; ++it)
    phases.push_back(it->second);
  std::stable_sort(phases.begin(), phases.end(),
                   [](const record::Phase& one, const record::Phase& two) { return one.self_us > two.self_us; });
  return phases;
}

}  // namespace depyf::trace
