// Finds the reasons why a compilation rejects a call: the guards whose failure is a cause, without the guards that
// fail only as a consequence.
//
// For example, a call under autocast fails the guard on autocast and also the guard on every tensor, because the
// dispatch keys of tensors contain autocast. An object of an unexpected class fails the guard on its class, and as a
// consequence all guards on the object's content. Only a guard that is a cause becomes a deciding reason. A
// consequence is listed with its cause, and so are further values with the same difference.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace depyf {

// One aspect in which a call differs from the calls that a compilation accepts.
struct GuardDifference {
  std::string aspect;  // as python/depyf/guards/differences.py names it: "state", "class", "dtype"
  std::string condition, subject, expected, actual;  // data of the failing guard
  std::size_t guard = 0;                             // the number of the failing guard
  std::string guard_kind, guard_text, guard_source;
  bool is_of_key = false;       // true if the guard checks the key at a position of a dict
  bool is_by_position = false;  // true if the value is read from a dict by its position
  bool is_missing = false;      // true if the value cannot be read
  // The dispatch keys that only the expected or only the actual value has; for modes, the names of the active modes.
  std::set<std::string> keys;
  std::vector<std::string> sources;  // Dynamo's names for the values; none if the state of the process differs
  // For a setting of the process: the prefixes of the dispatch keys that the setting adds to every tensor.
  std::vector<std::string> begins;
};

// Further facts about the guarded values.
struct GuardedValues {
  std::map<std::string, std::vector<std::string>> above;  // source -> the sources on its path, itself last
  std::map<std::string, std::string> terms;  // maps a source to the value in the user's terms
  std::map<std::string, std::vector<std::string>> dict_keys;  // maps a source to the keys that guards expect in a dict
  std::string mode_stack, default_device;  // the subjects of the guards on the mode stack and the default device
};

// A difference that causes the rejection of a call, with its consequences.
struct DecidingReason {
  std::size_t difference = 0;  // the index of the difference
  std::string expected;  // the expected value, if `GuardDifference::expected` is not all of it; otherwise empty
  std::vector<std::string> alike;  // other values that fail in the same way
  std::vector<std::string> follows;  // values whose guards fail only because of `difference`
};

// Returns the deciding reasons: first the causes in the state of the process, then objects that differ as a whole,
// then all other reasons. Causes in the state, whole objects and other reasons each keep the order of `differences`,
// in which the state of the process must come first.
std::vector<DecidingReason> deciding_reasons(const std::vector<GuardDifference>& differences,
                                             const GuardedValues& values);

}  // namespace depyf
