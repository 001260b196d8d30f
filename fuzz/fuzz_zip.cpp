// Reads any bytes as a zip archive: members must be read, or errors returned, within the limits of time and memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "load/inflate.h"
#include "load/zip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t limit = std::size_t{1} << 20;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (auto inflated = depyf::inflate(bytes, limit); inflated && inflated->size() > limit) std::abort();
  auto members = depyf::zip_members(bytes);
  if (!members) return 0;
  for (const depyf::ZipMember& member : *members)
    if (auto read = depyf::read_member(bytes, member, limit); read && read->size() != member.size) std::abort();
  return 0;
}
