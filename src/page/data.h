// What the page shows, as JSON for its viewer. src/report/viewer/data.js describes the members.
#pragma once

#include <string>
#include <vector>

#include "depyf/page.h"

namespace depyf::page {

// The data in ASCII, without any `<`, so that it may stand within a script element.
std::string data_of(const record::Run& run, const std::vector<PageTexts>& texts, const ReadSource& read_source,
                    const PageOptions& options);

}  // namespace depyf::page
