#include "diff/graphs.h"

#include <algorithm>

#include "support/words.h"
#include "texts/words.h"

namespace depyf::diff {

using namespace record;

namespace {

constexpr std::size_t pairs_named = 2;  // the largest number of fused pairs of operators that a sentence names

// Returns the operators of a line with their counts, such as "2 linear, gelu".
std::string operators_text(const std::map<std::string, std::int64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += (text.empty() ? "" : ", ") + (count > 1 ? std::to_string(count) + " " : "") + name;
  return text.empty() ? "nothing" : text;
}

using ByLine = std::map<Line, std::map<std::string, std::int64_t>>;

ByLine by_line(const Facts& facts) {
  ByLine result;
  for (const auto& [op, count] : facts.operators) result[op.line][op.name] = count;
  return result;
}

Place place_in(const Facts& facts, const Line& line) {
  const auto known = facts.places.find(line);
  return known == facts.places.end() ? Place() : known->second;
}

// Returns the title of the function that contains a place; the name in `place` if the facts lack the function.
std::string function_at(const Facts& facts, const Place& place, const std::string& file) {
  const Function* last = nullptr;
  for (const Function& function : facts.functions)
    if (function.file == file && function.place.line <= place.line) last = &function;
  return last && last->own_name() == place.function ? last->title() : place.function;
}

// A pair of lines: a line of the first run, and the line of the second run that replaced it. `before` is null if the
// line is new in the second run, and `after` is null if the second run lacks the line.
struct LinePair {
  const Line* before = nullptr;
  const Line* after = nullptr;
};

class GraphChanges {
 public:
  GraphChanges(const Facts& before, const Facts& after, Difference& result)
      : before_(before), after_(after), result_(result), old_(by_line(before)), new_(by_line(after)) {}

  void run() {
    for (const LinePair& pair : pairs()) operators(pair);
    inputs();
    shapes();
  }

 private:
  // Returns the lines of source whose operators may differ between the two runs. Lines that occur in only one run
  // count as edited, and are paired in their order within each function.
  std::vector<LinePair> pairs() const {
    std::vector<LinePair> result;
    // `gone` and `added` map a file and the name of a function to lines of the function. `gone` has the lines of the
    // first run that the second run lacks, and `added` has the lines of the second run that the first run lacks.
    std::map<std::pair<std::string, std::string>, std::vector<const Line*>> gone, added;
    for (const auto& [line, counts] : old_) {
      const auto same = new_.find(line);
      if (same == new_.end()) gone[{line.file, place_in(before_, line).function}].push_back(&line);
      else if (same->second != counts) result.push_back({&line, &same->first});
    }
    for (const auto& [line, counts] : new_)
      if (!old_.contains(line)) added[{line.file, place_in(after_, line).function}].push_back(&line);
    const auto sort = [](std::vector<const Line*>& lines, const Facts& facts) {
      std::sort(lines.begin(), lines.end(), [&](const Line* one, const Line* two) {
        return place_in(facts, *one).line < place_in(facts, *two).line;
      });
    };
    for (auto& [function, lines] : gone) {
      std::vector<const Line*>& others = added[function];
      sort(lines, before_), sort(others, after_);
      for (std::size_t i = 0; i < std::max(lines.size(), others.size()); ++i)
        result.push_back({i < lines.size() ? lines[i] : nullptr, i < others.size() ? others[i] : nullptr});
      others.clear();
    }
    for (const auto& [function, lines] : added)
      for (const Line* line : lines) result.push_back({nullptr, line});
    return result;
  }

  void operators(const LinePair& pair) {
    static const std::map<std::string, std::int64_t> none;
    const auto& old = pair.before ? old_.at(*pair.before) : none;
    const auto& now = pair.after ? new_.at(*pair.after) : none;
    if (old == now) {  // The edited line has the operators of the original line.
      if (pair.before && pair.after) edited_.emplace(*pair.after, *pair.before);
      return;
    }
    std::map<std::string, std::int64_t> more, fewer;
    for (const auto& [name, count] : now) more[name] += count;
    for (const auto& [name, count] : old) more[name] -= count;
    for (auto entry = more.begin(); entry != more.end();) {
      if (entry->second < 0) fewer[entry->first] = -entry->second;
      entry = entry->second <= 0 ? more.erase(entry) : std::next(entry);
    }
    const Facts& facts = pair.after ? after_ : before_;
    const Line& line = pair.after ? *pair.after : *pair.before;
    Change& change = result_.changes.emplace_back();
    change.code = "operators";
    change.weight = Weight::costs;
    change.place = place_in(facts, line);
    change.function = function_at(facts, change.place, line.file);
    change.before = operators_text(old), change.after = operators_text(now);
    if (fewer.empty()) change.sentence = "the graph also computes " + operators_text(more);
    else if (more.empty()) change.sentence = "the graph no longer computes " + operators_text(fewer);
    else change.sentence = "the graph computes " + operators_text(more) + " instead of " + operators_text(fewer);
    const std::string text = quoted_line(change.place);
    if (!text.empty()) change.sentence += " at " + text;
    if (pair.before && pair.after && pair.before->text != pair.after->text)
      change.details.push_back("The line was: " + pair.before->text);
  }

  void inputs() {
    for (const Function& now : after_.functions) {
      const auto matches = std::find_if(before_.functions.begin(), before_.functions.end(), [&](const Function& old) {
        return old.file == now.file && old.own_name() == now.own_name() &&
               (old.name == now.name || old.place.line == now.place.line);
      });
      if (matches == before_.functions.end()) continue;
      for (const auto& [name, shapes] : now.inputs) {
        const auto old = matches->inputs.find(name);
        if (old == matches->inputs.end() || old->second == shapes) continue;
        Change& change = result_.changes.emplace_back();
        change.code = "input";
        change.weight = Weight::neutral;
        change.function = now.title();
        change.place = now.place;
        change.before = joined(old->second, ", "), change.after = joined(shapes, ", ");
        change.sentence = "the input " + name + " is " + change.after + " instead of " + change.before;
      }
    }
  }

  // Appends one change for all operators whose results have a different shape or type in the second run. The change
  // names the first differing operator in the order of the lines, because this operator is the cause of the differences
  // behind it.
  void shapes() {
    std::vector<std::pair<Place, const Operator*>> differing;
    for (const auto& [op, shapes] : after_.shapes) {
      const auto* old = shapes_before(op);
      if (old && *old != shapes) differing.emplace_back(place_in(after_, op.line), &op);
    }
    std::stable_sort(differing.begin(), differing.end(),
                     [](const auto& one, const auto& two) { return one.first.line < two.first.line; });
    if (differing.empty()) return;
    const Operator& first = *differing[0].second;
    Change& change = result_.changes.emplace_back();
    change.code = "shapes";
    change.weight = Weight::neutral;
    change.place = differing[0].first;
    change.function = function_at(after_, change.place, first.line.file);
    change.before = joined(*shapes_before(first), ", "), change.after = joined(after_.shapes.at(first), ", ");
    change.sentence =
        first.name + " computes " + change.after + " instead of " + change.before + " at " + quoted_line(change.place);
    if (differing.size() > 1)
      change.sentence += ", and " + std::to_string(differing.size() - 1) + " more operators differ";
    for (const auto& [place, op] : differing)
      change.details.push_back(quoted_line(place) + ": " + op->name + " computes " +
                               joined(after_.shapes.at(*op), ", ") + " instead of " +
                               joined(*shapes_before(*op), ", "));
  }

  // Returns the shapes that an operator of the second run had in the first run, even if the operator's line was
  // edited; null if the operator is new.
  const std::set<std::string>* shapes_before(const Operator& op) const {
    const auto edited = edited_.find(op.line);
    const auto known = before_.shapes.find(edited == edited_.end() ? op : Operator{edited->second, op.name});
    return known == before_.shapes.end() ? nullptr : &known->second;
  }

  const Facts& before_;
  const Facts& after_;
  Difference& result_;
  const ByLine old_, new_;
  std::map<Line, Line> edited_;  // maps an edited line of the second run to the first run's line
};

std::string operator_text(const Operator& op, const Facts& facts) {
  const Place place = place_in(facts, op.line);
  return op.name + " (" + texts::file_name(place.file) + ":" + std::to_string(place.line) + ")";
}

// Returns the pairs of operators that the run `together` computes in one kernel, and the run `apart` computes in two
// kernels. The line numbers in the result are those of the run `named`.
std::vector<std::string> separated(const Function& together, const Function& apart, const Facts& named) {
  std::vector<std::string> result;
  for (const auto& [one, two] : together.fused)
    if (!apart.fused.contains({one, two}) && apart.costs.operators.contains(one) && apart.costs.operators.contains(two))
      result.push_back(operator_text(one, named) + " is $ fused with " + operator_text(two, named));
  return result;
}

}  // namespace

void append_graph_changes(const Facts& before, const Facts& after, Difference& result) {
  if (before.reach && after.reach) GraphChanges(before, after, result).run();
}

std::string fusion_reason(const Function& before, const Function& after, const Facts& facts) {
  if (!before.knows_fused || !after.knows_fused) return {};
  // If operators are no longer fused, the run has more kernels, so ended fusions explain only an increase, and new
  // fusions explain only a decrease.
  const bool is_more = after.costs.kernels > before.costs.kernels;
  const std::string_view adverb = is_more ? "no longer" : "now";
  std::vector<std::string> pairs = is_more ? separated(before, after, facts) : separated(after, before, facts);
  if (pairs.empty()) return {};
  const std::size_t count = pairs.size();
  pairs.resize(std::min(pairs.size(), pairs_named));
  for (std::string& pair : pairs) pair.replace(pair.find('$'), 1, adverb);
  std::string text = ", because " + joined(pairs, ", and ");
  if (count > pairs_named) text += ", and " + std::to_string(count - pairs_named) + " more such pairs";
  return text;
}

}  // namespace depyf::diff
