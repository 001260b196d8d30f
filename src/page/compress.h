#pragma once

#include <string>
#include <string_view>

namespace depyf::page {

// Returns the bytes in the gzip format (RFC 1952), which browsers unpack by themselves. The fixed codes of RFC 1951
// are used: codes made for the text would save another tenth of a page of graphs.
std::string gzip(std::string_view bytes);

}  // namespace depyf::page
