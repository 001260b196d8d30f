#include "load/line_table.h"

#include <algorithm>
#include <span>

namespace depyf {
namespace {

// Lines are summed up from deltas that may be hostile: wrap instead of overflowing.
std::int32_t add(std::int32_t line, std::int32_t delta) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(line) + static_cast<std::uint32_t>(delta));
}

void fill(std::span<Position> units, std::size_t begin, std::size_t end, Position position) {
  end = std::min(end, units.size());
  for (std::size_t i = begin; i < end; ++i) units[i] = position;
}

// Pairs (bytes to advance, signed lines to add afterwards); a line holds until the next advance.
bool read_lnotab(std::string_view table, std::int32_t line, std::span<Position> units) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    std::size_t advance = static_cast<std::uint8_t>(table[i]);
    fill(units, offset / 2, (offset + advance) / 2, {line, line});
    offset += advance;
    line = add(line, static_cast<std::int8_t>(table[i + 1]));
  }
  fill(units, offset / 2, units.size(), {line, line});
  return table.size() % 2 == 0;
}

// Pairs (bytes covered, signed lines to add beforehand); a delta of -128: these bytes have no line.
bool read_line_ranges(std::string_view table, std::int32_t line, std::span<Position> units) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    std::size_t size = static_cast<std::uint8_t>(table[i]);
    std::int32_t delta = static_cast<std::int8_t>(table[i + 1]);
    if (delta != -128) {
      line = add(line, delta);
      fill(units, offset / 2, (offset + size) / 2, {line, line});
    }
    offset += size;
  }
  return table.size() % 2 == 0;
}

// Entries of a first byte 1cccclll (code, length in units - 1) and what the code asks for.
class Locations {
 public:
  Locations(std::string_view table, std::int32_t first_line, std::span<Position> units)
      : table_(table), line_(first_line), units_(units) {}

  bool read() {
    std::size_t unit = 0;  // the first without an entry
    while (ok_ && at_ < table_.size() && unit < units_.size()) {
      std::uint8_t first = byte();
      if (!(first & 0x80)) {
        ok_ = false;
        break;
      }
      std::size_t length = (first & 7) + 1;
      Position position = entry((first >> 3) & 15);
      if (!ok_) break;
      // As many as an entry may cover, whatever its length: the next entry writes over what is too much.
      if (units_.size() - unit >= longest) std::fill_n(units_.begin() + std::ptrdiff_t(unit), longest, position);
      else fill(units_, unit, unit + length, position);
      unit += length;
    }
    fill(units_, unit, unit + longest, {});
    return ok_;
  }

 private:
  static constexpr std::size_t longest = 8;  // units

  Position entry(int code) {
    switch (code) {
      case 15:  // no location
        return {};
      case 14: {  // long form
        line_ = add(line_, signed_varint());
        std::int32_t end_line = add(line_, varint()), column = varint(), end_column = varint();
        return {line_, end_line, column - 1, end_column - 1};
      }
      case 13:  // no columns
        line_ = add(line_, signed_varint());
        return {line_, line_};
      case 10:
      case 11:
      case 12: {  // one line
        line_ = add(line_, code - 10);
        std::int32_t column = byte(), end_column = byte();
        return {line_, line_, column, end_column};
      }
      default: {  // short form: same line, few columns
        std::uint8_t second = byte();
        std::int32_t column = code * 8 + (second >> 4);
        return {line_, line_, column, column + (second & 15)};
      }
    }
  }

  std::uint8_t byte() {
    if (at_ >= table_.size()) {
      ok_ = false;
      return 0;
    }
    return static_cast<std::uint8_t>(table_[at_++]);
  }

  // Six bits a byte, least significant first; bit 6: more to come.
  std::int32_t varint() {
    std::uint32_t value = 0, shift = 0;
    while (true) {
      std::uint8_t next = byte();
      if (shift < 31) value |= static_cast<std::uint32_t>(next & 63) << shift;
      shift += 6;
      if (!(next & 64)) break;
    }
    return static_cast<std::int32_t>(value & 0x7fffffff);
  }

  std::int32_t signed_varint() {
    std::int32_t value = varint();
    return value & 1 ? -(value >> 1) : value >> 1;
  }

  std::string_view table_;
  std::int32_t line_;
  const std::span<Position> units_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

std::vector<Position> read_line_table(Version version, std::string_view table, std::int32_t first_line,
                                      std::size_t code_size, bool* ok) {
  std::vector<Position> units(code_size / 2);
  bool good;
  if (version < Version{3, 10}) {
    good = read_lnotab(table, first_line, units);
  } else if (version < Version{3, 11}) {
    good = read_line_ranges(table, first_line, units);
  } else {
    good = Locations(table, first_line, units).read();
  }
  if (ok) *ok = good;
  return units;
}

}  // namespace depyf
