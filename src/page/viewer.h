// The files of the viewer, which the build embeds from src/report/viewer.
#pragma once

#include <string_view>

namespace depyf::page {

std::string_view viewer_script();
std::string_view viewer_style();

}  // namespace depyf::page
