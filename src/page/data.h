// Writes the data of the page as JSON. src/report/viewer/data.js describes the members of this JSON.
#pragma once

#include <string>
#include <vector>

#include "depyf/page.h"

namespace depyf::page {

// Returns the data in ASCII without any `<`, so that it can stand in a script element.
std::string data_of(const record::Run& run, const std::vector<PageTexts>& texts, const ReadSource& read_source,
                    const PageOptions& options);

}  // namespace depyf::page
