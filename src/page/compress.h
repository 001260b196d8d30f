#pragma once

#include <string>
#include <string_view>

namespace depyf::page {

// Returns the bytes in the gzip format (RFC 1952), which browsers unpack by themselves. The function uses the fixed
// Huffman codes of RFC 1951. If the Huffman codes were computed for each text, a page with graphs would be smaller by a
// tenth.
std::string gzip(std::string_view bytes);

}  // namespace depyf::page
