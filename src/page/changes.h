// Writes the differences between the run that the page describes and an earlier run, for the view "Changes" of the
// page.
#pragma once

#include "depyf/page.h"
#include "json/writer.h"
#include "page/lines.h"

namespace depyf::page {

// Writes the member "changes". The value of the member is null if the page does not compare two runs.
void write_changes(json::Writer& out, const std::optional<PageChanges>& changes, const Lines& lines);

}  // namespace depyf::page
