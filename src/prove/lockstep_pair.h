// Whether the events of both sides are the same.
#pragma once

#include "prove/lockstep.h"
#include "prove/lockstep_events.h"

namespace depyf::lockstep {

class EventPair {
 public:
  // `pairs` gets the code objects that take each other's part.
  EventPair(Code (&codes)[2], const EventReader (&readers)[2], std::vector<CodePair>& pairs)
      : codes_(codes), readers_(readers), pairs_(pairs) {}

  // True if both sides show the same.
  bool same_events(Frames& frames);
  // Runs stores that follow each other, whose order nobody sees: compilers change it for `a, b = x, y`. False if there are
  // none, or others on the other side.
  bool store_all(Frames& frames);

 private:
  bool same_slots(int one, int two, Frames& frames);
  bool same_shadow(Shadow& shadow, int two, Frames& frames);
  bool same_constants(const Event& one, const Event& two, const Frames& frames);
  const Event& shown(int side) const { return readers_[side].event; }

  Code (&codes_)[2];
  const EventReader (&readers_)[2];
  std::vector<CodePair>& pairs_;
};

}  // namespace depyf::lockstep
