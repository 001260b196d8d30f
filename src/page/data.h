// Writes the data of the page as JSON. The file src/report/viewer/data.js describes the members of the page's JSON.
#pragma once

#include <string>
#include <vector>

#include "depyf/page.h"

namespace depyf::page {

// Returns the data in ASCII without any `<`, so that the data can be the content of a script element.
std::string data_of(const record::Run& run, const std::vector<PageTexts>& texts, const ReadSource& read_source,
                    const PageOptions& options);

}  // namespace depyf::page
