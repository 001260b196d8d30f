#pragma once

#include <string>
#include <string_view>

namespace depyf::page {

// The bytes in the gzip format (RFC 1952), which browsers unpack by themselves. With the fixed codes of RFC 1951: a table of
// codes made for the text would save a tenth more of what a page of graphs takes.
std::string gzip(std::string_view bytes);

}  // namespace depyf::page
