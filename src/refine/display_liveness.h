// Which names are read from the statement at work on.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "refine/locals.h"

namespace depyf::displays {

using Intervals = std::vector<Reads::Interval>;

class Liveness {
 public:
  explicit Liveness(ast::Block body) : reads_(body) {}

  struct Moment {
    Intervals after, future;  // where the execution may go from the statement at work; with what is nested in it
    const ast::Stmt* now = nullptr;  // the statement at work
  };
  const Moment& moment() const { return moment_; }
  const ast::Stmt* now() const { return moment_.now; }
  const Intervals& after() const { return moment_.after; }
  const Intervals& future() const { return moment_.future; }

  void come_to(const ast::Stmt* stmt, Intervals after) {
    Intervals future = after;
    future.push_back({reads_.number_of(stmt) + 1, reads_.extent(stmt).second});
    moment_ = {std::move(after), std::move(future), stmt};
  }
  void come_to_end(const Intervals& outside) { moment_.future = outside, moment_.now = nullptr; }
  void come_back(Moment moment) { moment_ = std::move(moment); }
  // What the statement reads itself may be read again behind it.
  void repeat(const ast::Stmt* stmt) { moment_.future.push_back(reads_.extent(stmt)); }

  bool live(std::string_view name) const { return live(name, moment_.future); }
  bool live(std::string_view name, const Intervals& within) const {
    return std::ranges::any_of(within, [&](Reads::Interval each) { return reads_.any(name, each); });
  }
  // Read by the statement at work, or later.
  bool live_or_now(std::string_view name) const {
    return live(name) || (moment_.now && reads_.any(name, own(moment_.now)));
  }
  // True if the statement at work reads the name more than once.
  bool read_twice_now(std::string_view name) const { return moment_.now && reads_.count(name, own(moment_.now)) > 1; }
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
