// Finds out why a compilation does not serve a call: the guards that decide, without the guards that fail only as a
// consequence.
//
// For example, a call under autocast fails the guard on autocast. It also fails the guard on every tensor, because the
// dispatch keys of tensors contain autocast. An object of another class fails the guard on its class, and with it all
// guards on the object's content. The causes are kept. A consequence is folded into its cause, and so is the same
// difference at other values.
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
  std::string condition, subject, expected, actual;  // of the failing guard
  std::size_t guard = 0;                             // the number of the failing guard
  std::string guard_kind, guard_text, guard_source;
  bool is_of_key = false;       // true if the guard is on a key of a dict at a position
  bool is_by_position = false;  // true if the value is read from a dict by its position
  bool is_missing = false;      // true if the value cannot be read
  // The dispatch keys that only one side has; for modes, the names of the active modes.
  std::set<std::string> keys;
  std::vector<std::string> sources;  // Dynamo's names for the values; none if the state of the process differs
  // For a setting of the process: the prefixes of the dispatch keys that it adds to every tensor.
  std::vector<std::string> begins;
};

// Further facts about the guarded values.
struct GuardedValues {
  std::map<std::string, std::vector<std::string>> above;  // by source: the sources on the way to the value, itself last
  std::map<std::string, std::string> terms;  // by source: the value in the user's terms
  std::map<std::string, std::vector<std::string>> dict_keys;  // by source: the keys that guards expect in a dict
  std::string mode_stack, default_device;  // the subjects of the settings of these names
};

// A difference that decides, with what follows from it.
struct DecidingReason {
  std::size_t difference = 0;  // the index of the difference
  std::string expected;  // what is expected, if the difference does not say it all; otherwise empty
  std::vector<std::string> alike;  // other values that fail in the same way
  std::vector<std::string> follows;  // values whose guards fail only because of this difference
};

// Returns the deciding reasons: first the causes in the state of the process, then objects that differ as a whole, then
// all others. Within a group the order is that of `differences`, in which the state of the process comes first.
std::vector<DecidingReason> deciding_reasons(const std::vector<GuardDifference>& differences,
                                             const GuardedValues& values);

}  // namespace depyf
