#include "costs/run_time.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <unordered_map>

namespace depyf::costs {
namespace {

using record::Place;

constexpr std::size_t names_max = 8;  // the maximum number of callees or modules of a line, and of lines of a callee
constexpr std::size_t none = static_cast<std::size_t>(-1);
enum Part : std::uint8_t {
  kernels,
  libraries,
  output_code,
  runtime,
  other_graphs,
  guards,
  transformed,
  between,
  part_count
};
constexpr std::array<std::string_view, part_count> part_names = {
    "kernels", "libraries", "output code", "runtime", "other graphs", "guards", "transformed code", "between graphs"};

bool is_library(std::string_view callee) { return callee.find('.') != std::string_view::npos; }

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && names.size() < names_max && std::find(names.begin(), names.end(), name) == names.end())
    names.push_back(name);
}

void add_place(std::vector<Place>& places, const Place& place) {
  const auto is_same = [&](const Place& known) { return known.line == place.line && known.file == place.file; };
  if (place.line && places.size() < names_max && std::none_of(places.begin(), places.end(), is_same))
    places.push_back(place);
}

template <class Key>
std::vector<Share> longest_first(std::map<Key, Share>& shares) {
  std::vector<Share> sorted;
  sorted.reserve(shares.size());
  for (auto& [key, share] : shares) sorted.push_back(std::move(share));
  const bool has_device =
      std::any_of(sorted.begin(), sorted.end(), [](const Share& share) { return share.device_us > 0; });
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Share& a, const Share& b) {
    return has_device && a.device_us != b.device_us ? a.device_us > b.device_us : a.us() > b.us();
  });
  return sorted;
}

class Summing {
 public:
  explicit Summing(const Measured& measured) : measured_(measured) {
    for (std::size_t i = 0; i < measured.frames.size(); ++i) frame_of_.emplace(measured.frames[i].compile_id, i);
    times_.resize(measured.frames.size());
    for (std::size_t i = 0; i < times_.size(); ++i) times_[i].frame = i;
  }

  RunTime run() {
    nest();
    for (const std::size_t root : roots_) visit(root, none, false);
    result_.inside_us = std::accumulate(us_.begin(), us_.end(), 0.0);
    for (std::size_t part = 0; part < part_count; ++part) result_.parts.push_back({part_names[part], us_[part]});
    std::stable_sort(result_.parts.begin(), result_.parts.end(),
                     [](const PartOfRun& a, const PartOfRun& b) { return a.us > b.us; });
    result_.lines = longest_first(lines_);
    result_.modules = longest_first(modules_);
    result_.callees = longest_first(callees_);
    for (const FrameTime& time : times_)
      if (time.calls > 0) result_.frames.push_back(time);
    std::stable_sort(result_.frames.begin(), result_.frames.end(),
                     [](const FrameTime& a, const FrameTime& b) { return a.us > b.us; });
    return std::move(result_);
  }

 private:
  const Range& range(std::size_t index) const { return measured_.ranges[index]; }
  static double duration(const Range& range) { return std::max(0.0, range.end_us - range.start_us); }

  // Finds, for each measured range of time, the innermost range that encloses it.
  void nest() {
    std::vector<std::size_t> order(measured_.ranges.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Range &one = range(a), &two = range(b);
      if (one.thread != two.thread) return one.thread < two.thread;
      return one.start_us != two.start_us ? one.start_us < two.start_us : one.end_us > two.end_us;
    });
    children_.resize(order.size());
    has_site_.resize(order.size());
    std::vector<std::size_t> open;
    for (const std::size_t index : order) {
      while (!open.empty() &&
             (range(open.back()).thread != range(index).thread || range(open.back()).end_us <= range(index).start_us))
        open.pop_back();
      (open.empty() ? roots_ : children_[open.back()]).push_back(index);
      open.push_back(index);
      if (range(index).kind == RangeKind::site)
        for (const std::size_t outer : open) has_site_[outer] = true;
    }
    pass_on_lookups(roots_);
    for (const std::vector<std::size_t>& children : children_) pass_on_lookups(children);
  }

  // Assigns to each lookup in Dynamo's cache the compilation whose code runs next, because this compilation is the
  // result of the lookup.
  void pass_on_lookups(const std::vector<std::size_t>& siblings) {
    std::vector<std::size_t> waiting;
    for (const std::size_t index : siblings) {
      if (range(index).kind == RangeKind::lookup) waiting.push_back(index);
      if (range(index).kind != RangeKind::region) continue;
      for (const std::size_t lookup : waiting) found_by_[lookup] = frame_of(range(index));
      waiting.clear();
    }
  }

  std::size_t frame_of(const Range& range) const {
    const auto known = frame_of_.find(range.compile_id);
    return known == frame_of_.end() ? none : known->second;
  }

  void add(Part part, double us, std::size_t frame) {
    us_[part] += us;
    if (frame == none) return;
    times_[frame].us += us;
    if (part == guards) times_[frame].guards_us += us;
    if (part == transformed) times_[frame].transformed_us += us;
    if (part == between) times_[frame].eager_us += us;
  }

  // Adds the time of the range `index`, and of the ranges nested in it, to the results. The recursion is as deep as the
  // calls of the measured program, whose depth Python bounds.
  void visit(std::size_t index, std::size_t frame, bool is_backward) {
    const Range& own = range(index);
    switch (own.kind) {
      case RangeKind::compiling: result_.compiling_us += duration(own); return;
      case RangeKind::lookup: return visit_lookup(index, is_backward);
      case RangeKind::region: return visit_region(index, is_backward);
      case RangeKind::pregraph: return visit_rest(index, frame, is_backward, transformed);
      case RangeKind::graph: return visit_rest(index, frame, is_backward, has_site_[index] ? runtime : other_graphs);
      case RangeKind::backward: return visit_rest(index, frame, true, has_site_[index] ? runtime : other_graphs);
      case RangeKind::site: return visit_site(index, frame, is_backward);
    }
  }

  double visit_children(std::size_t index, std::size_t frame, bool is_backward) {
    double inside = 0;
    for (const std::size_t child : children_[index]) {
      visit(child, frame, is_backward);
      inside += duration(range(child));
    }
    return inside;
  }

  void visit_rest(std::size_t index, std::size_t frame, bool is_backward, Part part) {
    const double inside = visit_children(index, frame, is_backward);
    add(part, std::max(0.0, duration(range(index)) - inside), frame);
  }

  void visit_lookup(std::size_t index, bool is_backward) {
    const auto found = found_by_.find(index);
    visit_rest(index, found == found_by_.end() ? none : found->second, is_backward, guards);
  }

  // Adds the time of transformed code, which consists of the time up to the end of the graph, and the time behind the
  // graph, in which eager statements run. The ranges within the range of transformed code follow each other in this
  // order: a `pregraph` range, `graph` ranges, eager statements without a range, a `lookup` range, and the range of the
  // resume function.
  void visit_region(std::size_t index, bool is_backward) {
    const std::size_t frame = frame_of(range(index));
    if (frame != none) ++times_[frame].calls;
    const bool calls_graph = frame == none || measured_.frames[frame].calls_graph;
    const bool shows_graph = std::any_of(children_[index].begin(), children_[index].end(),
                                         [&](std::size_t child) { return is_graph(child); });
    bool has_graph = false, is_in_graph = false;
    double at = range(index).start_us;
    const auto rest = [&](double until, bool goes_on) {
      const double us = std::max(0.0, until - at);
      if (calls_graph && !shows_graph) return add(other_graphs, us, frame);
      if (calls_graph && !has_graph) return add(transformed, us, frame);
      if (is_in_graph && goes_on) return add(runtime, us, frame);
      add_eager(us, frame);
    };
    for (const std::size_t child : children_[index]) {
      rest(range(child).start_us, is_graph(child));
      is_in_graph = is_graph(child) && (!has_graph || is_in_graph);
      has_graph = has_graph || is_graph(child);
      visit(child, frame, is_backward);
      at = std::max(at, range(child).end_us);
    }
    rest(range(index).end_us, false);
  }

  bool is_graph(std::size_t index) const {
    return range(index).kind == RangeKind::graph || range(index).kind == RangeKind::site;
  }

  void add_eager(double us, std::size_t frame) {
    const Place* place = frame == none ? nullptr : &measured_.frames[frame].breaks_at;
    if (!place || !place->line) return add(transformed, us, frame);
    add(between, us, frame);
    Share& line = lines_[{place->file, place->line}];
    if (!line.place.line) line.place = *place;
    line.eager_us += us;
    ++line.count;
    result_.with_line_us += us;
  }

  void visit_site(std::size_t index, std::size_t frame, bool is_backward) {
    const Range& own = range(index);
    if (own.site >= measured_.sites.size()) return;
    const Site& site = measured_.sites[own.site];
    is_backward = is_backward || site.is_backward;
    if (site.callee.empty()) return visit_body(index, frame, is_backward);
    const double us = std::max(0.0, duration(own) - visit_children(index, frame, is_backward));
    add(is_library(site.callee) ? libraries : kernels, us, frame);
    Share& callee = callees_[site.callee];
    callee.name = site.callee;
    count(callee, us, own.device_us, is_backward, 1);
    for (const Operator& op : site.operators) add_place(callee.places, op.place);
    share_out(site, us, own.device_us, is_backward, 1);
  }

  // Between its calls of kernels and libraries, the body of output code allocates and frees buffers and checks sizes.
  // The time in front of a call counts towards the lines of the call. The time behind the last call of a body counts
  // towards no line.
  void visit_body(std::size_t index, std::size_t frame, bool is_backward) {
    double at = range(index).start_us;
    const auto rest = [&](double until) {
      const double us = std::max(0.0, until - at);
      add(output_code, us, frame);
      return us;
    };
    for (const std::size_t child : children_[index]) {
      const double us = rest(range(child).start_us);
      if (range(child).kind == RangeKind::site && range(child).site < measured_.sites.size())
        share_out(measured_.sites[range(child).site], us, 0, is_backward, 0);
      visit(child, frame, is_backward);
      at = std::max(at, range(child).end_us);
    }
    rest(range(index).end_us);
  }

  // Divides time among the lines and modules of the operators that a statement computes.
  void share_out(const Site& site, double us, double device_us, bool is_backward, std::size_t ranges) {
    const double parts = static_cast<double>(site.operators.size());
    for (const Operator& op : site.operators) {
      if (!op.module.empty()) {
        modules_[op.module].name = op.module;
        count(modules_[op.module], us / parts, device_us / parts, is_backward, ranges);
      }
      if (!op.place.line) continue;
      Share& line = lines_[{op.place.file, op.place.line}];
      if (!line.place.line) line.place = op.place;
      count(line, us / parts, device_us / parts, is_backward, ranges);
      add_name(line.callees, site.callee);
      add_name(line.modules, op.module);
      result_.with_line_us += us / parts;
    }
  }

  static void count(Share& share, double us, double device_us, bool is_backward, std::size_t ranges) {
    (is_backward ? share.backward_us : share.forward_us) += us;
    share.device_us += device_us;
    share.count += ranges;
  }

  const Measured& measured_;
  std::unordered_map<std::string_view, std::size_t> frame_of_;
  std::vector<std::size_t> roots_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<bool> has_site_;  // true for ranges in which a statement of output code runs
  std::unordered_map<std::size_t, std::size_t> found_by_;  // maps a lookup to the frame that it finds
  std::array<double, part_count> us_{};
  std::map<std::pair<std::string, int>, Share> lines_;
  std::map<std::string, Share> modules_, callees_;
  std::vector<FrameTime> times_;
  RunTime result_;
};

}  // namespace

RunTime run_time(const Measured& measured) { return Summing(measured).run(); }

}  // namespace depyf::costs
