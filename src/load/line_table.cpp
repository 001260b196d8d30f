#include "load/line_table.h"

#include <algorithm>
#include <array>
#include <span>

namespace depyf {
namespace {

// Adds with wraparound instead of an overflow, because the deltas of a hostile table may add up to anything.
std::int32_t add(std::int32_t line, std::int32_t delta) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(line) + static_cast<std::uint32_t>(delta));
}

void fill(std::span<Position> units, std::size_t begin, std::size_t end, Position position) {
  end = std::min(end, units.size());
  for (std::size_t i = begin; i < end; ++i) units[i] = position;
}

// Reads co_lnotab. Each pair of bytes in co_lnotab contains the number of bytes of bytecode to which the current line
// applies, and the signed number of lines to add afterwards.
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

// Reads co_linetable of 3.10. Each pair of bytes in co_linetable contains a number of bytes of bytecode and a signed
// number of lines. The line of the bytecode is the line of the previous pair plus the signed number. If the second
// number of a pair is -128, the bytecode of the pair has no line.
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

// Each entry of the line table of 3.11 and later begins with a code, which determines the form of the entry. The
// constants are the lowest codes of four forms; the codes below `code_one_line` mean the short form.
constexpr std::int32_t code_one_line = 10, code_no_columns = 13, code_long = 14, code_no_location = 15;

// The numbers that are needed to read an entry whose code is below `code_no_columns`. An entry of the short form lies
// on the line of the previous entry, and states its columns, which must be small, in a single byte. An entry of the
// one-line form has a byte for the column and a byte for the end column. The processor cannot predict whether an entry
// has the short form or the one-line form, so entries of both forms are read by the same instructions, with different
// numbers.
struct SmallForm {
  // The entry has `size` bytes behind the byte with the code. The line of the entry is `lines` lines below the line of
  // the previous entry.
  std::uint8_t size = 1, lines = 0;
  // The column is `column` plus the first byte behind the byte with the code, shifted right by `shift`.
  std::uint8_t column = 0, shift = 4;
  std::int8_t column_mask = -1;  // -1 if the entry states the distance from the column to the end column; 0 otherwise
  std::uint8_t last_mask = 15;  // the bits of the last byte that state the end column, or its distance from the column
};
constexpr auto small_forms = [] {
  std::array<SmallForm, code_no_columns> forms{};
  for (std::uint8_t code = 0; code < code_one_line; ++code) forms[code].column = static_cast<std::uint8_t>(code * 8);
  for (std::uint8_t code = code_one_line; code < code_no_columns; ++code)
    forms[code] = {
        .size = 2, .lines = std::uint8_t(code - code_one_line), .shift = 0, .column_mask = 0, .last_mask = 255};
  return forms;
}();

// Reads entries that begin with a byte of the bits 1cccclll. The bits cccc are a code that determines the form of the
// other bytes of the entry, and the bits lll are the number of code units minus 1.
class Locations {
 public:
  static constexpr std::size_t longest = 8;  // the greatest number of code units of an entry

  // The elements of `units` must have their default values. The last `longest` elements of `units` belong to no code
  // units, because `read` may write surplus positions to them.
  Locations(std::string_view table, std::int32_t first_line, std::span<Position> units)
      : table_(table), line_(first_line), units_(units) {}

  // Returns false if the table is malformed.
  bool read() {
    const auto end = units_.end() - longest;
    auto unit = units_.begin();  // the first unit without an entry
    bool ok = true;
    while (at_ < table_.size() && unit < end) {
      const std::uint32_t head = next();
      Position position;
      ok = (head & 0x80) && read_entry(head, position);
      if (!ok) break;
      // Writes as many positions as the longest entry covers, because writing a fixed number of positions is faster. If
      // an entry covers fewer code units, the next entry overwrites the surplus positions.
      std::fill_n(unit, longest, position);
      unit += (head & 7) + 1;
    }
    if (unit < end) std::fill_n(unit, longest, Position{});
    return ok;
  }

 private:
  // Reads the bytes of an entry that follow its first byte `head`, and sets `position`. Returns false if the table ends
  // within the entry.
  bool read_entry(std::uint32_t head, Position& position) {
    const auto code = static_cast<std::int32_t>(head >> 3 & 15);
    if (code < code_no_columns) {
      const SmallForm& form = small_forms[static_cast<std::size_t>(code)];
      if (left() < form.size) [[unlikely]]
        return false;
      const std::int32_t first = byte_at(at_), last = byte_at(at_ + form.size - 1u);
      at_ += form.size;
      line_ = add(line_, form.lines);
      const std::int32_t column = form.column + (first >> form.shift);
      position = {line_, line_, column, (column & form.column_mask) + (last & form.last_mask)};
      return true;
    }
    if (code == code_no_location) return true;
    line_ = add(line_, signed_varint());
    position = {line_, line_};
    if (code == code_long) {
      position.end_line = add(line_, varint());
      position.column = varint() - 1, position.end_column = varint() - 1;
    }
    return !is_cut_off_;
  }

  std::size_t left() const { return table_.size() - at_; }
  std::uint8_t byte_at(std::size_t at) const { return static_cast<std::uint8_t>(table_[at]); }
  std::uint8_t next() { return byte_at(at_++); }

  // Reads the next byte of the number that `long_varint` reads. Returns 0 at the end of the table, because a byte 0
  // ends the number.
  std::uint8_t digit() {
    if (left() > 0) return next();
    is_cut_off_ = true;
    return 0;
  }

  // Reads a number with six bits in each byte, the least significant first. Bit 6 of a byte is set if more bytes
  // follow. Nearly all numbers have one or two bytes. A number of one or two bytes is read without a branch on the
  // number of bytes.
  std::int32_t varint() {
    if (left() < 2) [[unlikely]]
      return long_varint();
    const std::uint32_t first = byte_at(at_), second = byte_at(at_ + 1), has_second = first >> 6 & 1;
    if (has_second & second >> 6) [[unlikely]]
      return long_varint();
    at_ += 1 + has_second;
    return static_cast<std::int32_t>((first & bits) | ((second & bits) << 6 & (0 - has_second)));
  }

  // Reads a number that may have any number of bytes, but ends at the end of the table at the latest.
  std::int32_t long_varint() {
    std::uint8_t byte = digit();
    std::uint32_t value = byte & bits;
    for (std::uint32_t shift = 6; byte & more; shift += 6) {
      byte = digit();
      if (shift < 31) value |= static_cast<std::uint32_t>(byte & bits) << shift;
    }
    return static_cast<std::int32_t>(value & 0x7fffffff);
  }

  std::int32_t signed_varint() {
    const std::int32_t value = varint(), half = value >> 1;
    return (value & 1) * -2 * half + half;  // `-half` if bit 0 of `value` is set, else `half`, without a branch
  }

  // In each byte of a number, `bits` are the bits that belong to the number, and `more` is set if another byte follows.
  static constexpr std::uint8_t bits = 63, more = 64;

  std::string_view table_;
  std::int32_t line_;
  const std::span<Position> units_;
  std::size_t at_ = 0;
  bool is_cut_off_ = false;  // true if the table ends in the middle of a number
};

// A run of code units [begin, end) that have the same position.
struct PositionRun {
  std::size_t begin, end;
  Position position;
};

std::vector<PositionRun> runs_of(const std::vector<Position>& positions) {
  std::vector<PositionRun> runs;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (!runs.empty() && runs.back().position == positions[i]) runs.back().end = i + 1;
    else runs.push_back({i, i + 1, positions[i]});
  }
  return runs;
}

// Subtracts with wraparound instead of an overflow, because the lines of a hostile code object may be any numbers.
std::int32_t lines_between(std::int32_t before, std::int32_t after) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(after) - static_cast<std::uint32_t>(before));
}

void put(std::string& table, std::size_t byte) { table += static_cast<char>(static_cast<std::uint8_t>(byte)); }

// Writes the pairs of co_lnotab that advance by `bytes` and `lines`. One pair of co_lnotab can advance by at most 255
// bytes, and by -128 to 127 lines.
void put_advance(std::string& table, std::size_t bytes, std::int32_t lines) {
  for (; bytes > 255; bytes -= 255) put(table, 255), put(table, 0);
  while (lines > 127 || lines < -128) {
    const std::int32_t step = std::clamp(lines, -128, 127);
    put(table, bytes), put(table, static_cast<std::uint8_t>(step));
    bytes = 0, lines -= step;
  }
  if (bytes || lines) put(table, bytes), put(table, static_cast<std::uint8_t>(lines));
}

std::string write_lnotab(const std::vector<PositionRun>& runs, std::int32_t line) {
  std::string table;
  std::size_t written = 0;  // the number of code units that the table advances over so far
  for (const PositionRun& run : runs) {
    if (run.position.line == -1 || run.position.line == line) continue;
    put_advance(table, (run.begin - written) * 2, lines_between(line, run.position.line));
    written = run.begin, line = run.position.line;
  }
  return table;
}

std::string write_line_ranges(const std::vector<PositionRun>& runs, std::int32_t line) {
  constexpr std::int32_t no_line = -128;
  constexpr std::size_t bytes_max = 254;
  std::string table;
  for (const PositionRun& run : runs) {
    const bool has_line = run.position.line != -1;
    std::int32_t delta = has_line ? lines_between(line, run.position.line) : no_line;
    if (has_line) line = run.position.line;
    for (; has_line && (delta > 127 || delta < -127);) {
      const std::int32_t step = std::clamp(delta, -127, 127);
      put(table, 0), put(table, static_cast<std::uint8_t>(step));
      delta -= step;
    }
    for (std::size_t bytes = (run.end - run.begin) * 2; bytes > 0;) {
      const std::size_t part = std::min(bytes, bytes_max);
      put(table, part), put(table, static_cast<std::uint8_t>(delta));
      bytes -= part;
      if (has_line) delta = 0;
    }
  }
  return table;
}

void put_varint(std::string& table, std::uint32_t value) {
  for (; value >= 64; value >>= 6) put(table, 64 | (value & 63));
  put(table, value);
}

void put_signed_varint(std::string& table, std::int32_t value) {
  const std::int64_t wide = value;
  put_varint(table, static_cast<std::uint32_t>(wide < 0 ? (-wide << 1) | 1 : wide << 1));
}

// Writes one location of 3.11 and later for `units` code units; see `Locations`. `line` is the line of the previous
// entry, and becomes the line of the new entry.
void put_location(std::string& table, std::size_t units, const Position& position, std::int32_t& line) {
  auto put_head = [&](std::size_t code) { put(table, 0x80 | code << 3 | (units - 1)); };
  if (position.line == -1) return put_head(15);
  const std::int32_t delta = lines_between(line, position.line);
  line = position.line;
  const std::int32_t column = position.column, end_column = position.end_column;
  const bool one_line = position.end_line <= position.line;
  if (column < 0 || end_column < 0) {
    put_head(13);
    put_signed_varint(table, delta);
  } else if (one_line && delta == 0 && column < 80 && end_column >= column && end_column - column < 16) {
    put_head(static_cast<std::size_t>(column >> 3));
    put(table, static_cast<std::size_t>((column & 7) << 4 | (end_column - column)));
  } else if (one_line && delta >= 0 && delta < 3 && column < 128 && end_column < 128) {
    put_head(static_cast<std::size_t>(10 + delta));
    put(table, static_cast<std::size_t>(column)), put(table, static_cast<std::size_t>(end_column));
  } else {
    put_head(14);
    put_signed_varint(table, delta);
    put_varint(table, one_line ? 0u : static_cast<std::uint32_t>(lines_between(position.line, position.end_line)));
    put_varint(table, static_cast<std::uint32_t>(column) + 1),
        put_varint(table, static_cast<std::uint32_t>(end_column) + 1);
  }
}

std::string write_locations(const std::vector<PositionRun>& runs, std::int32_t line) {
  constexpr std::size_t longest = 8;  // the greatest number of code units of an entry
  std::string table;
  for (const PositionRun& run : runs) {
    for (std::size_t unit = run.begin; unit < run.end; unit += longest)
      put_location(table, std::min(longest, run.end - unit), run.position, line);
  }
  return table;
}

}  // namespace

std::vector<Position> read_line_table(Version version, std::string_view table, std::int32_t first_line,
                                      std::size_t code_size, bool* ok) {
  const bool has_locations = version >= Version{3, 11};
  const std::size_t count = code_size / 2, room = has_locations ? Locations::longest : 0;
  std::vector<Position> units(count + room);
  bool good;
  if (has_locations) good = Locations(table, first_line, units).read();
  else if (version < Version{3, 10}) good = read_lnotab(table, first_line, units);
  else good = read_line_ranges(table, first_line, units);
  units.resize(count);
  if (ok) *ok = good;
  return units;
}

std::string write_line_table(Version version, const std::vector<Position>& positions, std::int32_t first_line) {
  const std::vector<PositionRun> runs = runs_of(positions);
  if (version < Version{3, 10}) return write_lnotab(runs, first_line);
  if (version < Version{3, 11}) return write_line_ranges(runs, first_line);
  return write_locations(runs, first_line);
}

}  // namespace depyf
