// Writes places in the source and percentages, for the costs of compiling, of memory and of running.
#pragma once

#include <string>
#include <string_view>

#include "depyf/record.h"
#include "json/json.h"
#include "json/writer.h"

namespace depyf::texts {

constexpr std::size_t source_max = 60;  // the most characters of a line of source in a table of costs

// Writes the file, line, text and function of a place as members of a JSON object.
void write_place_members(json::Writer& out, const record::Place& place);

// Writes a place as the member `name` of a JSON object; the member is null if the line of the place is unknown.
void write_place(json::Writer& out, std::string_view name, const record::Place& place);

// Returns "model.py:12  x = f(x)" for a place that `write_place` wrote, and "no line" for null.
std::string place_and_source(json::Value line);

// Returns `part` as a percentage of `whole`, such as "12 %", with `digits` digits behind the point; "0 %" if `whole` is
// 0.
std::string percent(double part, double whole, int digits = 0);

}  // namespace depyf::texts
