// Compares two runs of a program: what torch.compile did otherwise the second time. Names, addresses, hashes, folders and
// the order of compilations do not count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "depyf/record.h"

namespace depyf::diff {

// The version of the JSON form, which docs/differences.md describes.
inline constexpr int schema_version = 1;

// What a change means to the user. The order is the order in which changes are shown.
enum class Weight : std::uint8_t {
  worse,  // a new break, recompilation or eager function
  costs,  // the compiled code does more, or another thing
  neutral,  // neither better nor worse, such as other guards
  better,  // something of the above is gone
};
const char* name_of(Weight weight);

// One difference between the runs.
struct Change {
  std::string code;  // stable, such as "break-new"
  Weight weight = Weight::neutral;
  std::string function;  // the title, such as "Block.forward (model.py:9)"; empty: of the whole run
  record::Place place;  // of the second run, or of the first if the line is there alone; may be unknown
  std::string sentence;
  std::vector<std::string> details;
  std::string before, after;  // the two values; empty if there is none
};

// All differences, those that matter most first.
struct Difference {
  std::vector<Change> changes;
  std::vector<std::string> not_compared;  // what one of the runs does not record, in sentences
  std::vector<std::string> timings;  // seconds of both runs; they never count as a change
  std::size_t functions = 0;  // functions that both runs compiled
};

// Compares the processes of two runs, by rank if both runs state ranks and else by their position.
Difference compare(const record::Run& before, const record::Run& after);

// Returns the difference in sentences. `with_details` adds what each change consists of, guards, and seconds by phase.
std::string to_text(const Difference& difference, const record::Run& before, const record::Run& after,
                    bool with_details);

// Returns the difference as JSON.
std::string to_json(const Difference& difference, const record::Run& before, const record::Run& after);

}  // namespace depyf::diff
