// Why a compilation does not serve a call: the guards that decide, without those that fail only because of them.
//
// A call under autocast fails the guard on autocast, and with it the guard on every tensor, whose dispatch keys have autocast in
// them. An object of another class fails the guard on its class, and with it all guards on what it holds. The causes are kept;
// what follows from one, and the same difference at other values, is folded into it.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace depyf {

// One aspect in which a call differs from what a compilation was made for.
struct Difference {
  std::string aspect;  // as python/depyf/guards/differences.py names it: "state", "class", "dtype"
  std::string condition, subject, expected, actual;  // of the failure
  std::size_t guard = 0;  // number of the guard that fails
  std::string guard_kind, guard_text, guard_source;
  bool is_of_key = false;  // true if the guard is on a key of a dict at a position
  bool is_by_position = false;  // true if the value is read from a dict by its position
  bool is_missing = false;  // true if the value cannot be read
  std::set<std::string> keys;  // the dispatch keys that only one of both has; of modes the names of those at work
  std::vector<std::string> sources;  // Dynamo's names for the values; none if it is about the state of the process
  std::vector<std::string>
      begins;  // of a setting of the process: how the dispatch keys begin that it adds to every tensor
};

// What is known of the values besides.
struct GuardedValues {
  std::map<std::string, std::vector<std::string>> above;  // by source, the sources on the way to the value, itself last
  std::map<std::string, std::string> terms;  // by source, the value in the user's terms
  std::map<std::string, std::vector<std::string>> dict_keys;  // by source, the keys that guards want of a dict
  std::string mode_stack, default_device;  // the subjects of the settings of these names
};

struct DecidingReason {
  std::size_t difference = 0;  // index of the difference that is told
  std::string expected;  // what is expected, where that is more than the difference says; else empty
  std::vector<std::string> alike;  // other values for which the same fails in the same way
  std::vector<std::string> follows;  // values whose guards fail only because of this
};

// First the causes in the state of the process, then objects that are others as a whole, then all else, in the order of
// `differences`, in which those of the state come first.
std::vector<DecidingReason> deciding_reasons(const std::vector<Difference>& differences, const GuardedValues& values);

}  // namespace depyf
