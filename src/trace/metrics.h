// What a log says of a whole compilation.
#pragma once

#include <vector>

#include "depyf/record.h"
#include "json/json.h"

namespace depyf::trace {

// `has_id`: the record names its compilation, so that the time that it states is all of it.
void read_metrics(record::Compilation& compilation, json::Value metrics, bool has_id);

double seconds_of(json::Value metrics);

// Metrics without an id (of ahead-of-time compilation) state the time of the last step alone: the events have it all.
double seconds_of(const std::vector<record::Phase>& phases);

}  // namespace depyf::trace
