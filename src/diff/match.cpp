// Finds the functions of one run among the functions of another run. Logs have no qualified names, and the line of a
// function may differ between runs.
#include <algorithm>
#include <map>

#include "diff/facts.h"

namespace depyf::diff {
namespace {

bool is_qualified(const Function& function) { return function.name.size() > function.own_name().size(); }

// True if the files are equal, and the qualified names are equal. If a function has no qualified name in its record,
// the plain names are compared instead.
bool may_match(const Function& one, const Function& two) {
  if (one.file != two.file) return false;
  return is_qualified(one) && is_qualified(two) ? one.name == two.name : one.own_name() == two.own_name();
}

class Matches {
 public:
  Matches(const std::vector<Function>& before, const std::vector<Function>& after)
      : before_(before), after_(after), result_(before.size(), -1), is_taken_(after.size(), false) {}

  std::vector<int> run() {
    // Functions on the same line are paired first; the remaining functions are paired in their order.
    pair([](const Function& one, const Function& two) { return one.place.line == two.place.line; });
    pair([](const Function&, const Function&) { return true; });
    return std::move(result_);
  }

 private:
  template <class Accepts>
  void pair(Accepts accepts) {
    for (std::size_t i = 0; i < before_.size(); ++i)
      for (std::size_t k = 0; k < after_.size() && result_[i] < 0; ++k) {
        if (is_taken_[k] || !may_match(before_[i], after_[k]) || !accepts(before_[i], after_[k])) continue;
        result_[i] = static_cast<int>(k);
        is_taken_[k] = true;
      }
  }

  const std::vector<Function>& before_;
  const std::vector<Function>& after_;
  std::vector<int> result_;
  std::vector<bool> is_taken_;
};

}  // namespace

std::vector<int> matches_of(const std::vector<Function>& before, const std::vector<Function>& after) {
  return Matches(before, after).run();
}

}  // namespace depyf::diff
