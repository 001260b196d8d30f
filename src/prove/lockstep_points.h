// Remembers the pairs of places that two code objects have reached in step, with the pattern of values on both
// stacks.
#pragma once

#include "prove/lockstep_frames.h"

namespace depyf::lockstep {

// A pattern numbers the values in the order of their first occurrence, so two states with equal patterns behave alike.
class VisitedPoints {
 public:
  // `size` is the number of instructions of the first code object.
  VisitedPoints(std::size_t size, Values& values) : values_(values), first_point_(size + 1, -1) {}

  // Records that the two code objects have reached the places of `frames`. Sets `known` if the two places of `frames`
  // were visited before with the same pattern of values, or with a more general one. If the two places of `frames`
  // were visited before with a different pattern, `frames` are generalised to stand for the earlier visit, too.
  // Returns false if no state can stand for both the earlier visit and `frames`.
  bool arrive(Frames& frames, bool& known);

 private:
  // A pair of places that was visited. Points with the same place in the first code object form a linked list.
  struct Point {
    int at = 0;     // the instruction of the second code object
    int next = -1;  // the next point with the same instruction of the first code object; -1 at the end of the list
    std::vector<Value> pattern;
  };
  // Two values of different visits, and the value that stands for both.
  struct Merged {
    Value one = 0, two = 0, value = 0;
  };

  void set_pattern(const Frames& frames);
  bool generalise(Frames& frames, const std::vector<Value>& visited);
  bool merge(Value& value, Value one, Value two);
  static bool may_merge(Value value);
  Value number(Value value, const std::vector<Shadow>& shadows);
  std::uint8_t flags_in_pattern(Value value) const;

  Values& values_;
  std::vector<int> first_point_;  // maps 1 + an instruction of the first code object to its first point, or to -1
  std::vector<Point> points_;
  std::vector<Value> pattern_, numbered_;
  std::vector<Merged> merged_;
};

}  // namespace depyf::lockstep
