// Graphs and output code of AOTAutograd's and Inductor's results.
#pragma once

#include "artifact/budget.h"
#include "depyf/artifact.h"
#include "pickle/pickle.h"

namespace depyf::artifact {

// Adds what a result of AOTAutograd has (BundledAOTAutogradResult, AOTAutogradResult).
void read_aot_result(const pickle::Value& result, Part& part, Budget& budget);

// Adds what a result of Inductor has (CompiledFxGraph). `direction`: "forward", "backward", or empty: unknown.
void read_inductor_result(const pickle::Value& result, const std::string& direction, Part& part, Budget& budget);

// Adds the code of each graph module in a pickle of torch.fx.
void read_graph_modules(const pickle::Document& document, const std::string& title, Part& part, Budget& budget);

// Returns the lines of a text from the first on, which counts from 1, to the one before the last, with their ends.
std::string_view lines_between(std::string_view text, std::int64_t first, std::int64_t last);

// Adds "[hash] name: value" to the parts of a key; the hashes are of 51 characters.
void add_key_part(std::string_view line, Part& part, Budget& budget);

}  // namespace depyf::artifact
