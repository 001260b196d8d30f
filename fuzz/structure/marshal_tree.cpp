#include "marshal_tree.h"

#include <map>
#include <stdexcept>

#include "load/magic.h"

namespace depyf::fuzz {
namespace {

constexpr std::size_t header_size = 16;
constexpr int flag_reference = 0x80;

std::string four_bytes(std::uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

class Reader {
 public:
  Reader(std::string_view input, int minor) : input_(input), minor_(minor) {}

  Object object() {
    const auto byte = static_cast<unsigned char>(take(1)[0]);
    const auto type = static_cast<char>(byte & ~flag_reference);
    if (type == 'r') return known_.at(number());
    const std::size_t index = known_.size();
    const bool counted = (byte & flag_reference) != 0;
    if (counted) known_.emplace_back();
    Object read = body(type);
    if (counted) known_[index] = read;
    return read;
  }

 private:
  std::string_view take(std::size_t count) {
    if (count > input_.size() - at_) throw std::runtime_error("truncated");
    at_ += count;
    return input_.substr(at_ - count, count);
  }
  std::uint32_t number() {
    std::uint32_t value = 0;
    int shift = 0;
    for (const char byte : take(4)) value |= std::uint32_t{static_cast<unsigned char>(byte)} << shift, shift += 8;
    return value;
  }

  Object body(char type) {
    Object read{type, {}, {}, 0};
    switch (type) {
      case 'N':
      case 'T':
      case 'F':
      case '.':
      case 'S': return read;
      case 'i': read.payload = take(4); return read;
      case 'g': read.payload = take(8); return read;
      case 'y': read.payload = take(16); return read;
      case 'l': {
        const auto count = static_cast<std::int32_t>(number());
        read.payload = four_bytes(static_cast<std::uint32_t>(count));
        read.payload += take(2 * static_cast<std::size_t>(count < 0 ? -std::int64_t{count} : count));
        return read;
      }
      case 'z':
      case 'Z': read.payload = take(static_cast<unsigned char>(take(1)[0])); return read;
      case 's':
      case 'u':
      case 't':
      case 'a':
      case 'A': read.payload = take(number()); return read;
      case ')': items(read, static_cast<unsigned char>(take(1)[0])); return read;
      case '(':
      case '>':
      case '[':
      case '<': items(read, number()); return read;
      case ':': items(read, 3); return read;
      case 'c': return code();
      default: throw std::runtime_error("unknown type");
    }
  }

  void items(Object& read, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) read.items.push_back(object());
  }

  Object code() {
    Object read{'c', {}, {}, 0};
    read.payload = take(4 * static_cast<std::size_t>(code_fields(minor_).integers));
    const bool plus = minor_ >= 11;
    // co_firstlineno is a 4-byte integer between the objects: it follows the names and precedes the line table.
    for (int field = 0; field < 8; ++field) read.items.push_back(object());
    read.items.push_back({'#', std::string(take(4)), {}, 0});
    for (int field = 0; field < (plus ? 2 : 1); ++field) read.items.push_back(object());
    return read;
  }

  std::string_view input_;
  int minor_;
  std::size_t at_ = 0;
  std::vector<Object> known_;
};

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void write(const Object& object) {
    if (out_.size() > size_max) return;
    if (object.type == '#') {
      out_ += object.payload;
      return;
    }
    if (object.shared) {
      auto [known, first] = numbers_.try_emplace(object.shared, next_);
      if (!first) {
        out_ += 'r';
        out_ += four_bytes(known->second);
        return;
      }
      ++next_;
    }
    out_ += static_cast<char>(object.type | (object.shared ? flag_reference : 0));
    switch (object.type) {
      case 'z':
      case 'Z': out_ += static_cast<char>(object.payload.size()); break;
      case 's':
      case 'u':
      case 't':
      case 'a':
      case 'A': out_ += four_bytes(static_cast<std::uint32_t>(object.payload.size())); break;
      case ')': out_ += static_cast<char>(object.items.size()); break;
      case '(':
      case '>':
      case '[':
      case '<': out_ += four_bytes(static_cast<std::uint32_t>(object.items.size())); break;
      default: break;
    }
    out_ += object.payload;
    for (const Object& item : object.items) write(item);
  }

 private:
  static constexpr std::size_t size_max = std::size_t{1} << 20;
  std::string& out_;
  std::map<int, std::uint32_t> numbers_;
  std::uint32_t next_ = 0;
};

}  // namespace

const CodeFields& code_fields(int minor) {
  static constexpr CodeFields old{6, 0, 1, 2, 3, -1, 6, 7, -1, 9, -1}, plus{5, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10};
  return minor < 11 ? old : plus;
}

std::optional<Pyc> read_pyc(std::string_view file) {
  if (file.size() < header_size) return std::nullopt;
  const auto magic =
      static_cast<std::uint16_t>(static_cast<unsigned char>(file[0]) | static_cast<unsigned char>(file[1]) << 8);
  const Result<Version> version = version_of_magic(magic);
  if (!version) return std::nullopt;
  try {
    Reader reader(file.substr(header_size), version->minor);
    return Pyc{version->minor, std::string(file.substr(0, header_size)), reader.object()};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string write_pyc(const Pyc& pyc) {
  std::string out = pyc.header;
  Writer(out).write(pyc.code);
  return out;
}

}  // namespace depyf::fuzz
