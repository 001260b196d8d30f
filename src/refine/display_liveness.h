// Tracks which names may be read by the current statement and by the statements that may run after it.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "refine/locals.h"

namespace depyf::displays {

using Intervals = std::vector<Reads::Interval>;

// Tracks the statement that fold_displays.cpp is rewriting, and answers if that statement or a later one may read a
// name.
class Liveness {
 public:
  explicit Liveness(ast::Block body) : reads_(body) {}

  // A point of the execution, with the statements that may run later. The statements are stored as intervals of their
  // numbers (see `Reads`).
  struct Moment {
    // `after` contains the statements that may run after the current statement; `future` also contains the statements
    // nested in the current statement.
    Intervals after, future;
    // The current statement; null at the end of a block.
    const ast::Stmt* now = nullptr;
  };
  const Moment& moment() const { return moment_; }
  const ast::Stmt* now() const { return moment_.now; }
  const Intervals& after() const { return moment_.after; }
  const Intervals& future() const { return moment_.future; }

  // Makes `stmt` the current statement.
  void come_to(const ast::Stmt* stmt, Intervals after) {
    Intervals future = after;
    future.push_back({reads_.number_of(stmt) + 1, reads_.extent(stmt).second});
    moment_ = {std::move(after), std::move(future), stmt};
  }
  // Makes the end of a block the current point; `outside` contains the statements that may run behind the block.
  void come_to_end(const Intervals& outside) { moment_.future = outside, moment_.now = nullptr; }
  void come_back(Moment moment) { moment_ = std::move(moment); }
  // Records that the current statement may run once more, so that the reads of the statement count as later reads too.
  void repeat(const ast::Stmt* stmt) { moment_.future.push_back(reads_.extent(stmt)); }

  // True if a statement that is nested in the current statement, or that may run after it, reads the name.
  bool live(std::string_view name) const { return live(name, moment_.future); }
  bool live(std::string_view name, const Intervals& within) const {
    return std::ranges::any_of(within, [&](Reads::Interval each) { return reads_.any(name, each); });
  }
  // True if the current statement or a later one reads the name.
  bool live_or_now(std::string_view name) const {
    return live(name) || (moment_.now && reads_.any(name, own(moment_.now)));
  }
  // True if the current statement itself reads the name more than once.
  bool read_twice_now(std::string_view name) const { return moment_.now && reads_.count(name, own(moment_.now)) > 1; }
  // Returns the interval of the numbers of `stmt` and all statements nested in it.
  Reads::Interval extent(const ast::Stmt* stmt) const { return reads_.extent(stmt); }
  Reads::Interval extent(ast::Block block) const {
    return {reads_.number_of(block.front()), reads_.extent(block.back()).second};
  }

 private:
  Reads::Interval own(const ast::Stmt* stmt) const { return {reads_.number_of(stmt), reads_.number_of(stmt)}; }

  const Reads reads_;
  Moment moment_;
};

}  // namespace depyf::displays
