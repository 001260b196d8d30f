// Reads the metrics that a log states about a whole compilation.
#pragma once

#include <vector>

#include "depyf/record.h"
#include "json/json.h"

namespace depyf::trace {

// Reads metrics into `compilation`. `has_id` is true if the record names its compilation; only a record with an id
// states the time of the whole compilation.
void read_metrics(record::Compilation& compilation, json::Value metrics, bool has_id);

double seconds_of(json::Value metrics);

// Returns the sum of the self times of the phases outside of worker threads, in seconds. The sum is needed if the
// metrics have no id (in ahead-of-time compilation), because they then state only the time of the last step.
double seconds_of(const std::vector<record::Phase>& phases);

}  // namespace depyf::trace
