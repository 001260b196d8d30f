#include "depyf/load.h"

#include "load/byte_reader.h"
#include "load/magic.h"
#include "load/marshal.h"

namespace depyf {
namespace {

LoadedPyc failure(const Error& error) { return {nullptr, false, error.message, error.offset}; }

}  // namespace

// A .pyc file consists of the magic number, "\r\n", flags, and either time and size of the source or its hash: 16 bytes
// in all. The code object follows the header of 16 bytes.
LoadedPyc load_pyc(std::string_view file) {
  ByteReader reader(file);
  std::uint16_t magic = reader.u16();
  bool marked = reader.bytes(2) == "\r\n";
  if (!reader.ok()) return failure(reader.error());
  if (!marked) return failure({"the file is not a .pyc file", 0});
  Result<Version> version = version_of_magic(magic);
  if (!version) return failure(version.error());
  std::uint32_t flags = reader.u32();
  if (flags > 3) return failure({"the flags in the header of the file are unknown", 4});
  reader.bytes(8);
  if (!reader.ok()) return failure(reader.error());
  auto code = read_marshal(*version, file, reader.offset());
  if (!code) return failure(code.error());
  return {std::move(*code), (flags & 1) != 0, {}, 0};
}

}  // namespace depyf
