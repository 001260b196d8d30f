#include "artifact/bundle.h"

#include <cstdint>
#include <optional>

#include "load/checksum.h"

namespace depyf::artifact {
namespace {

constexpr std::size_t checksum_size = 4;
constexpr std::uint64_t encoding_version = 1;
constexpr std::size_t name_max = 1000;  // the maximum size in bytes of a key, or of the name of a kind of cache

}  // namespace

std::optional<std::string> decoded_base64(std::string_view text) {
  static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t waiting = 0;
  int bits = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char character : text) {
    const std::size_t digit = digits.find(character);
    if (digit == std::string_view::npos) return {};
    waiting = waiting << 6 | static_cast<std::uint32_t>(digit);
    if ((bits += 6) >= 8) bytes += static_cast<char>(waiting >> (bits -= 8) & 0xff);
    waiting &= 0xfff;
  }
  return bytes;
}

namespace {

class BundleReader {
 public:
  explicit BundleReader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (const char byte : take(sizeof value)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }
  std::string_view sized() { return take(number()); }
  std::string name() {
    const std::size_t start = offset_;
    const std::string_view text = sized();
    std::optional<std::string> name = text.size() > name_max ? std::nullopt : decoded_base64(text);
    if (!name && !error_) error_ = Error{"a name is not valid base64 text", start};
    return name.value_or("");
  }
  bool is_at_end() const { return error_ || offset_ == bytes_.size(); }
  void skip(std::size_t count) { take(count); }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::string_view take(std::uint64_t count) {
    if (error_) return {};
    if (count > bytes_.size() - offset_) {
      error_ = Error{"the file is truncated: it announces " + std::to_string(count) + " bytes", offset_};
      return {};
    }
    const std::string_view taken = bytes_.substr(offset_, count);
    offset_ += count;
    return taken;
  }

  std::string_view bytes_;
  std::size_t offset_ = 0;
  std::optional<Error> error_;
};

}  // namespace

bool is_bundle(std::string_view bytes) {
  BundleReader reader(bytes);
  reader.skip(checksum_size);
  return reader.number() == encoding_version && !reader.error();
}

Result<std::vector<BundleEntry>> read_bundle(std::string_view bytes) {
  BundleReader reader(bytes);
  std::uint32_t checksum = 0;
  for (const char byte : bytes.substr(0, checksum_size)) checksum = checksum << 8 | static_cast<unsigned char>(byte);
  reader.skip(checksum_size);
  if (reader.number() != encoding_version || reader.error())
    return Error{"the file is not a bundle of encoding version 1", checksum_size};
  if (checksum != checksum_of(bytes.substr(checksum_size)))
    return Error{"the checksum of the bundle is wrong, because the file is damaged or truncated", 0};
  std::vector<BundleEntry> entries;
  while (!reader.is_at_end()) {
    const std::string kind = reader.name();
    const std::uint64_t count = reader.number();
    for (std::uint64_t index = 0; index < count && !reader.error(); ++index) {
      BundleEntry entry;
      entry.kind = kind;
      entry.key = reader.name();
      entry.content = reader.sized();
      if (!reader.error()) entries.push_back(std::move(entry));
    }
  }
  if (reader.error()) return *reader.error();
  return entries;
}

}  // namespace depyf::artifact
