#pragma once

#include <string>
#include <string_view>

namespace depyf::page {

// Returns the SHA-256 of the bytes in base64, as a Content-Security-Policy names scripts and styles.
std::string sha256_base64(std::string_view bytes);

// Returns the SHA-256 of the bytes as hexadecimal digits.
std::string sha256_hexadecimal(std::string_view bytes);

std::string base64(std::string_view bytes);

}  // namespace depyf::page
