// Compares two runs of a program, and lists what torch.compile did differently in the second run. Differences in names,
// addresses, hashes, folders and the order of compilations are ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depyf/record.h"

namespace depyf::diff {

// The version of the JSON form, which docs/differences.md describes.
inline constexpr int schema_version = 1;

// The meaning of a change for the user. Changes are printed in the order of their weights.
enum class Weight : std::uint8_t {
  worse,  // a new break, recompilation or eager function
  costs,  // the compiled code does more work, or different work
  neutral,  // a change that is neither better nor worse, such as different guards
  better,  // a problem or cost of the first run disappeared
};
const char* name_of(Weight weight);

// One difference between two runs.
struct Change {
  std::string code;  // the name of the kind of change in all releases, such as "break-new"
  Weight weight = Weight::neutral;
  std::string function;  // a title such as "Block.forward (model.py:9)"; empty if the change is about the whole run
  record::Place place;  // the line in the second run, or in the first run if the second lacks it; may be unknown
  std::string sentence;
  std::vector<std::string> details;
  std::string before, after;  // the values in the first and in the second run; empty if the change has no values
};

// All differences between two runs, the most important first.
struct Difference {
  std::vector<Change> changes;
  std::vector<std::string> not_compared;  // sentences, each about data that one of the runs did not record
  std::vector<std::string> timings;  // lines with the seconds of both runs, which never count as a change
  std::size_t functions = 0;  // the number of functions that both runs compiled
};

// Compares the processes of two runs, which are paired by rank if both runs state ranks, and otherwise by position.
Difference compare(const record::Run& before, const record::Run& after);

// Returns the difference as English sentences. `with_details` adds the details of each change, and the seconds of both
// runs.
std::string to_text(const Difference& difference, const record::Run& before, const record::Run& after,
                    bool with_details);

// Returns the difference as JSON.
std::string to_json(const Difference& difference, const record::Run& before, const record::Run& after);

}  // namespace depyf::diff
