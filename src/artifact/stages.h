// Reads graphs and output code from the results of AOTAutograd and Inductor.
#pragma once

#include "artifact/budget.h"
#include "depyf/artifact.h"
#include "pickle/pickle.h"

namespace depyf::artifact {

// Adds the content of a result of AOTAutograd (BundledAOTAutogradResult or AOTAutogradResult) to `part`.
void read_aot_result(const pickle::Value& result, Part& part, Budget& budget);

// Adds the content of a result of Inductor (CompiledFxGraph) to `part`. `direction` is "forward", "backward", or
// empty if the direction is unknown.
void read_inductor_result(const pickle::Value& result, const std::string& direction, Part& part, Budget& budget);

// Adds the code of each torch.fx graph module in a pickle to `part`.
void read_graph_modules(const pickle::Document& document, const std::string& title, Part& part, Budget& budget);

// Returns the lines [first, last) of a text, counted from 1, with their line ends.
std::string_view lines_between(std::string_view text, std::int64_t first, std::int64_t last);

// Adds a part of the key of a cache entry to `part`. The line "[hash] name: value" describes the part of the key; the
// hash has 51 characters.
void add_key_part(std::string_view line, Part& part, Budget& budget);

}  // namespace depyf::artifact
