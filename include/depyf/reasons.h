// Finds the reasons why a compilation rejects a call: the guards whose failure is a cause, without the guards that
// fail only as a consequence.
//
// For example, a call under autocast fails the guard on autocast and also the guard on every tensor, because the
// dispatch keys of tensors contain autocast. An object of an unexpected class fails the guard on its class, and as a
// consequence all guards on the object's content. A failing guard becomes a deciding reason only if its failure is not
// a consequence of another failure. A deciding reason also lists the guards that fail only as a consequence of the
// reason, and the other values that differ in the same way as the value of the reason.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace depyf {

// One aspect in which a call differs from the calls that a compilation accepts.
struct GuardDifference {
  std::string aspect;  // a name of python/depyf/guards/differences.py, such as "state", "class" or "dtype"
  std::string condition, subject, expected, actual;  // data of the failing guard
  std::size_t guard = 0;                             // the index of the failing guard among the guards
  std::string guard_kind, guard_text, guard_source;
  bool is_of_key = false;       // true if the guard checks the key at a position of a dict
  bool is_by_position = false;  // true if the value is read from a dict by its position
  bool is_missing = false;      // true if the value cannot be read
  // The dispatch keys that only the expected or only the actual value has. If the difference is in the stack of torch
  // function modes, `keys` has the names of the active modes, and no dispatch keys.
  std::set<std::string> keys;
  std::vector<std::string> sources;  // Dynamo's names for the values; empty if the state of the process differs
  // If the difference is in a setting of the process, `begins` has the prefixes of the dispatch keys that the setting
  // adds to every tensor.
  std::vector<std::string> begins;
};

// Facts about the guarded values that the differences themselves do not contain.
struct GuardedValues {
  std::map<std::string, std::vector<std::string>> above;  // maps a source to the sources on its path, itself last
  std::map<std::string, std::string> terms;  // maps a source to the value in the user's terms
  std::map<std::string, std::vector<std::string>> dict_keys;  // maps a source to the keys that guards expect in a dict
  std::string mode_stack, default_device;  // the subjects of the guards on the mode stack and the default device
};

// A difference that causes the rejection of a call, with its consequences.
struct DecidingReason {
  std::size_t difference = 0;  // the index of the difference
  std::string expected;  // the whole expected value if `GuardDifference::expected` is a part of it; otherwise empty
  std::vector<std::string> alike;  // other values whose guards fail in the same way
  std::vector<std::string> follows;  // values whose guards fail only because of `difference`
};

// Returns the deciding reasons: first the causes in the state of the process, then objects that differ as a whole, then
// all other reasons. Two reasons of the same kind (state of the process, whole object, or other) are in the order of
// their differences in `differences`. The differences in the state of the process must come first in `differences`.
std::vector<DecidingReason> deciding_reasons(const std::vector<GuardDifference>& differences,
                                             const GuardedValues& values);

}  // namespace depyf
