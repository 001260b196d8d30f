// Decides whether two instructions, one of each compared code object, have the same event (observable action) with
// equal operands.
#pragma once

#include "prove/lockstep.h"
#include "prove/lockstep_events.h"

namespace depyf::lockstep {

// Compares the events that the EventReaders of the two code objects have read last.
class EventPair {
 public:
  // `pairs` gets the nested code objects that correspond to each other.
  EventPair(Code (&codes)[2], const EventReader (&readers)[2], std::vector<CodePair>& pairs)
      : codes_(codes), readers_(readers), pairs_(pairs) {}

  // Returns true if the events that the two EventReaders have read last are the same, with equal operands.
  bool same_events(Frames& frames);
  // Executes a sequence of STORE_FAST instructions in both code objects at once. No other code observes the order of
  // stores to locals, which compilers change for `a, b = x, y`. Returns false if one of the code objects has no
  // sequence of STORE_FAST instructions, or if the sequences of the two code objects store different values or use
  // different locals.
  bool store_all(Frames& frames);
  // Returns true if the local `one` of the first code object corresponds to the local `two` of the second code object
  // (is its partner). If `one` and `two` have the same name and neither has a partner yet, `same_slots` makes them
  // partners.
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
