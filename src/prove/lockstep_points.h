// The places of two code objects that were reached in step, with the pattern of values on both stacks.
#pragma once

#include "prove/lockstep_frames.h"

namespace depyf::lockstep {

class VisitedPoints {
 public:
  // `size`: instructions of the first side.
  VisitedPoints(std::size_t size, Values& values) : values_(values), first_point_(size + 1, -1) {}

  // Looks whether the point that both sides are at is known: with the pattern of values of this visit, or a more general one.
  // Where it is known with another pattern, `frames` keep what both visits share.
  bool arrive(Frames& frames, bool& known);

 private:
  struct Point {
    int at = 0;  // of the second side
    int next = -1;
    std::vector<Value> pattern;
  };
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
  std::vector<int> first_point_;  // by instruction of the first side, behind the end of the frame
  std::vector<Point> points_;
  std::vector<Value> pattern_, numbered_;
  std::vector<Merged> merged_;
};

}  // namespace depyf::lockstep
