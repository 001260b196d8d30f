#include "load/zip.h"

#include <algorithm>

#include "load/byte_reader.h"
#include "load/checksum.h"
#include "load/inflate.h"

namespace depyf {
namespace {

constexpr std::string_view local_mark("PK\3\4"), directory_mark("PK\1\2"), end_mark("PK\5\6");
// Archives that may exceed 4 GiB (Zip64) have an additional end record in front of the usual end record. torch.save
// always writes the additional end record.
constexpr std::string_view large_end_mark("PK\6\6"), large_locator_mark("PK\6\7");
constexpr std::size_t end_size = 22, comment_max = 65535, large_end_size = 56, large_locator_size = 20;
constexpr std::uint16_t is_encrypted = 1, stored = 0, deflated = 8;

}  // namespace

bool is_zip(std::string_view file) { return file.starts_with(local_mark) || file.starts_with(end_mark); }

Result<std::vector<ZipMember>> zip_members(std::string_view file) {
  const std::size_t from = file.size() - std::min(file.size(), end_size + comment_max);
  const std::size_t end = file.rfind(end_mark);
  if (end == std::string_view::npos || end < from || file.size() - end < end_size)
    return Error{"the zip archive has no directory", file.size()};
  ByteReader reader(file, end + end_mark.size());
  const std::uint32_t disks = reader.u32();
  reader.u16();
  const std::uint16_t count = reader.u16();
  const std::uint32_t size = reader.u32(), offset = reader.u32();
  if (disks != 0 || offset == 0xffffffff || std::uint64_t{offset} + size > end)
    return Error{"the zip archive is of an unsupported kind", end};
  std::size_t directory_end = end;
  if (constexpr std::size_t both = large_end_size + large_locator_size;
      end >= both && file.substr(end - large_locator_size).starts_with(large_locator_mark) &&
      file.substr(end - both).starts_with(large_end_mark))
    directory_end = end - both;
  if (std::uint64_t{offset} + size > directory_end) return Error{"the zip archive is of an unsupported kind", end};
  const std::size_t before = directory_end - size - offset;  // a program may precede the archive
  std::vector<ZipMember> members;
  reader.seek(before + offset);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t start = reader.offset();
    if (reader.bytes(directory_mark.size()) != directory_mark)
      return Error{"the directory of the zip archive is malformed", start};
    ZipMember member;
    reader.u32();  // skips two version numbers
    member.flags = reader.u16(), member.method = reader.u16();
    reader.u32();  // skips the time
    member.checksum = reader.u32(), member.compressed = reader.u32(), member.size = reader.u32();
    const std::uint16_t name = reader.u16(), extra = reader.u16(), comment = reader.u16();
    reader.bytes(8);  // skips the disk number and the attributes
    member.offset = before + reader.u32();
    member.name = reader.bytes(name);
    reader.bytes(std::size_t{extra} + comment);
    if (!reader.ok()) return reader.error();
    members.push_back(std::move(member));
  }
  return members;
}

Result<std::string> read_member(std::string_view file, const ZipMember& member, std::size_t limit) {
  if (member.flags & is_encrypted) return Error{"the file in the archive is encrypted", member.offset};
  if (member.size > limit)
    return Error{"the file in the archive is larger than the limit of " + std::to_string(limit) + " bytes",
                 member.offset};
  if (member.offset > file.size()) return Error{"the file lies outside of the archive", file.size()};
  ByteReader reader(file, member.offset);
  if (reader.bytes(local_mark.size()) != local_mark)
    return Error{"the file in the archive has no header", member.offset};
  reader.bytes(22);  // skips a copy of fields of the directory
  const std::uint16_t name = reader.u16(), extra = reader.u16();
  reader.bytes(std::size_t{name} + extra);
  const std::size_t start = reader.offset();
  const std::string_view bytes = reader.bytes(member.compressed);
  if (!reader.ok()) return reader.error();
  std::string result;
  if (member.method == stored) {
    result = bytes;
  } else if (member.method == deflated) {
    Result<std::string> inflated = inflate(bytes, member.size);
    if (!inflated) return Error{inflated.error().message, start + inflated.error().offset};
    result = std::move(*inflated);
  } else {
    return Error{
        "the file in the archive is compressed with an unsupported method (" + std::to_string(member.method) + ")",
        start};
  }
  if (result.size() != member.size || checksum_of(result) != member.checksum)
    return Error{"the file in the archive does not match its checksum", start};
  return result;
}

}  // namespace depyf
