// Decides whether two instructions, one of each compared code object, are the same event: have the same effect on equal
// operands.
#pragma once

#include "prove/lockstep.h"
#include "prove/lockstep_events.h"

namespace depyf::lockstep {

// Compares the last events that the two readers have read.
class EventPair {
 public:
  // `pairs` gets the nested code objects that correspond to each other.
  EventPair(Code (&codes)[2], const EventReader (&readers)[2], std::vector<CodePair>& pairs)
      : codes_(codes), readers_(readers), pairs_(pairs) {}

  // Returns true if both sides have the same event.
  bool same_events(Frames& frames);
  // Executes a sequence of STORE_FAST on both sides at once. Nobody observes the order of stores to locals, which
  // compilers change for `a, b = x, y`. Returns false if there is no such sequence, or if the sides store different
  // values or use different locals.
  bool store_all(Frames& frames);
  // Returns true if the local `one` of the first side corresponds to the local `two` of the second side. Unpaired
  // locals of the same name become partners.
  bool same_slots(int one, int two, Frames& frames);

 private:
  bool same_shadow(Shadow& shadow, int two, Frames& frames);
  bool same_constants(const Event& one, const Event& two, const Frames& frames);
  const Event& shown(int side) const { return readers_[side].event; }

  Code (&codes_)[2];
  const EventReader (&readers_)[2];
  std::vector<CodePair>& pairs_;
};

}  // namespace depyf::lockstep
