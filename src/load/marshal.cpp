#include "load/marshal.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "load/byte_reader.h"
#include "load/exception_table.h"
#include "load/line_table.h"
#include "load/marshal_text.h"
#include "support/deep_stack.h"

namespace depyf {
namespace {

// CPython's own limit is 2000; compilers stay far below.
constexpr int max_depth = 1000;
// The number of bytes that all objects may take in memory, with references expanded. It bounds memory and time for
// input that claims more than it holds.
constexpr std::size_t memory_per_byte = 40, memory_base = 32u << 20;

constexpr std::uint8_t reference_flag = 0x80;

// The values by which co_localspluskinds (3.11 and later) describes a name.
enum LocalKind : std::uint8_t { kind_local = 0x20, kind_cell = 0x40, kind_free = 0x80 };

Constant make(Constant::Kind kind) {
  Constant constant;
  constant.kind = kind;
  return constant;
}

Constant make(Constant::Kind kind, std::string text) {
  Constant constant = make(kind);
  constant.text = std::move(text);
  return constant;
}

class Unmarshaller {
 public:
  Unmarshaller(Version version, std::string_view input, std::size_t offset)
      : version_(version), reader_(input, offset), budget_(input.size() * memory_per_byte + memory_base) {}

  Result<std::shared_ptr<const CodeObject>> run() {
    Constant constant = typed(Constant::Kind::code, "a code object");
    if (!reader_.ok()) return reader_.error();
    return std::move(constant.code);
  }

 private:
  // An object that later objects refer to by its index. Only its place in the file is kept, and a reference reads it
  // again.
  struct Reference {
    std::size_t offset;
    bool complete;
  };

  Constant object() {
    std::size_t start = reader_.offset();
    std::uint8_t byte = reader_.u8();
    if (!reader_.ok()) return {};
    auto type = static_cast<char>(byte & ~reference_flag);
    switch (type) {  // the types that are never referred to
      case 'N': return {};
      case 'T': return make(Constant::Kind::true_);
      case 'F': return make(Constant::Kind::false_);
      case '.': return make(Constant::Kind::ellipsis);
      case 'S': return make(Constant::Kind::opaque);  // StopIteration
      case 'r': return referred(start);
    }
    if (depth_ >= max_depth) {
      reader_.fail_at("nested too deeply", start);
      return {};
    }
    bool counted = (byte & reference_flag) && !reading_again_;
    std::size_t index = references_.size();
    if (counted) references_.push_back({start, false});
    ++depth_;
    Constant constant = body(type, start);
    --depth_;
    if (counted) references_[index].complete = true;
    return constant;
  }

  Constant body(char type, std::size_t start) {
    switch (type) {
      case 'i': return make(Constant::Kind::integer, std::to_string(reader_.i32()));
      case 'l': return long_integer(start);
      case 'f': return real(text_float());
      case 'g': return real(binary_float());
      case 'x': {
        double re = text_float();
        return complex(re, text_float());
      }
      case 'y': {
        double re = binary_float();
        return complex(re, binary_float());
      }
      case 's': return make(Constant::Kind::bytes, std::string(text(size())));
      case 'u':
      case 't': return utf8(start);
      case 'a':
      case 'A': return make(Constant::Kind::string, latin1_to_utf8(text(size())));
      case 'z':
      case 'Z': return make(Constant::Kind::string, latin1_to_utf8(text(reader_.u8())));
      case ')': return sequence(Constant::Kind::tuple, reader_.u8());
      case '(': return sequence(Constant::Kind::tuple, size());
      case '>': return sequence(Constant::Kind::frozenset, size());
      case '[':
      case '<': sequence(Constant::Kind::opaque, size()); return make(Constant::Kind::opaque);
      case '{':
      case '}': skip_pairs(); return make(Constant::Kind::opaque);
      case ':': return sequence(Constant::Kind::slice, 3);
      case 'c': return code();
    }
    reader_.fail_at("unknown type of object", start);
    return {};
  }

  Constant referred(std::size_t start) {
    return follow(start, [&] { return object(); });
  }

  // Returns what `read` returns for the object that the reference leads to. `start` is the offset of the reference.
  template <class Read>
  std::invoke_result_t<Read> follow(std::size_t start, Read read) {
    std::uint32_t index = reader_.u32();
    if (!reader_.ok()) return {};
    if (index >= references_.size()) {
      reader_.fail_at("reference to an object that is not there", start);
      return {};
    }
    if (!references_[index].complete) {
      reader_.fail_at("object that contains itself", start);
      return {};
    }
    std::size_t after = reader_.offset();
    reader_.seek(references_[index].offset);
    ++reading_again_;
    auto found = read();
    --reading_again_;
    if (reader_.ok()) reader_.seek(after);
    return found;
  }

  // Takes `bytes` from the memory that all objects together may occupy. Returns false if there is not enough left.
  bool charge(std::size_t bytes) {
    if (bytes > budget_) {
      reader_.fail("expands to more than a file of this size may");
      budget_ = 0;
      return false;
    }
    budget_ -= bytes;
    return true;
  }

  std::size_t size() {
    std::int32_t count = reader_.i32();
    if (count >= 0) return static_cast<std::size_t>(count);
    reader_.fail("negative size");
    return 0;
  }

  std::string_view text(std::size_t count) {
    std::string_view found = reader_.bytes(count);
    return charge(2 * found.size()) ? found : std::string_view();
  }

  Constant utf8(std::size_t start) {
    std::string_view found = text(size());
    if (!is_wtf8(found)) reader_.fail_at("string that is not UTF-8", start);
    return make(Constant::Kind::string, std::string(found));
  }

  Constant long_integer(std::size_t start) {
    std::int64_t count = reader_.i32();
    bool negative = count < 0;
    if (negative) count = -count;
    if (static_cast<std::size_t>(count) * 2 > reader_.remaining()) reader_.fail("truncated");
    if (!reader_.ok() || !charge(static_cast<std::size_t>(count) * 6)) return {};
    std::vector<std::uint16_t> digits(static_cast<std::size_t>(count));
    for (std::uint16_t& digit : digits) {
      digit = reader_.u16();
      if (digit > 0x7fff) reader_.fail_at("digit of an integer out of range", start);
    }
    if (!digits.empty() && digits.back() == 0) reader_.fail_at("integer with a leading zero", start);
    return make(Constant::Kind::integer, integer_text(digits, negative));
  }

  double binary_float() { return std::bit_cast<double>(reader_.u64()); }

  double text_float() {
    std::size_t start = reader_.offset();
    std::optional<double> value = parse_float(reader_.bytes(reader_.u8()));
    if (!value) reader_.fail_at("malformed float", start);
    return value.value_or(0);
  }

  static Constant real(double value) {
    Constant constant = make(Constant::Kind::real);
    constant.real = value;
    return constant;
  }

  static Constant complex(double real, double imag) {
    Constant constant = make(Constant::Kind::complex);
    constant.real = real;
    constant.imag = imag;
    return constant;
  }

  Constant sequence(Constant::Kind kind, std::size_t count) {
    Constant constant = make(kind);
    if (count > reader_.remaining()) reader_.fail("truncated");  // an item takes a byte at least
    if (!reader_.ok() || !charge(count * sizeof(Constant))) return constant;
    constant.items.reserve(count);
    for (std::size_t i = 0; i < count && reader_.ok(); ++i) constant.items.push_back(object());
    return constant;
  }

  void skip_pairs() {
    while (reader_.ok()) {
      std::size_t start = reader_.offset();
      if (reader_.u8() == '0') return;
      if (!reader_.ok()) return;
      reader_.seek(start);
      object();
      object();
    }
  }

  Constant typed(Constant::Kind kind, std::string_view what) {
    std::size_t start = reader_.offset();
    Constant constant = object();
    if (constant.kind != kind) reader_.fail_at("not " + std::string(what), start);
    return constant;
  }

  // Reads an object that is a field of a code object, without a Constant in between. `read(type)` reads what follows
  // the byte of a type in `types`. An object of any other type, or one nested too deeply, is an error.
  template <class Read>
  std::invoke_result_t<Read, char> field(std::string_view types, std::string_view what, Read read) {
    const std::size_t start = reader_.offset();
    const std::uint8_t byte = reader_.u8();
    const auto type = static_cast<char>(byte & ~reference_flag);
    if (reader_.ok() && type == 'r') return follow(start, [&] { return field(types, what, read); });
    if (!reader_.ok() || std::none_of(types.begin(), types.end(), [&](char taken) { return taken == type; })) {
      if (reader_.ok()) reader_.fail_at("not " + std::string(what), start);
      return {};
    }
    const bool counted = (byte & reference_flag) && !reading_again_;
    const std::size_t index = references_.size();
    if (counted) references_.push_back({start, false});
    auto found = read(type);
    if (counted) references_[index].complete = true;
    return found;
  }

  // A view of the input.
  std::string_view bytes_field(std::string_view what) {
    return field("s", what, [&](char) { return text(size()); });
  }

  std::string string_field(std::string_view what) {
    return field("zZaAut", what, [&](char type) {
      if (type == 'z' || type == 'Z') return latin1_to_utf8(text(reader_.u8()));
      return std::move(body(type, reader_.offset() - 1).text);
    });
  }

  std::vector<std::string> names_field(std::string_view what) {
    return field(")(", what, [&](char type) {
      std::vector<std::string> names;
      const std::size_t count = type == ')' ? reader_.u8() : size();
      if (count > reader_.remaining()) reader_.fail("truncated");  // a name takes a byte at least
      if (!reader_.ok() || !charge(count * sizeof(Constant))) return names;
      names.reserve(count);
      for (std::size_t i = 0; i < count && reader_.ok(); ++i) names.push_back(string_field(what));
      return names;
    });
  }

  Constant code() {
    auto found = std::make_shared<CodeObject>();
    CodeObject& code = *found;
    bool plus = version_ >= Version{3, 11};  // one list of all variables, qualified name, exception table
    if (!charge(sizeof(CodeObject))) return {};
    code.version = version_;
    code.argcount = count_field();
    code.posonlyargcount = count_field();
    code.kwonlyargcount = count_field();
    if (!plus) reader_.i32();  // number of locals
    code.stacksize = count_field();
    code.flags = reader_.u32();
    std::string_view bytecode = bytes_field("bytecode");
    if (!charge(bytecode.size() * (1 + sizeof(Position) / 2))) return {};
    code.bytecode.assign(bytecode.begin(), bytecode.end());
    code.constants = std::move(typed(Constant::Kind::tuple, "a tuple of constants").items);
    code.names = names_field("a tuple of names");
    if (plus) {
      locals_plus(code);
    } else {
      code.varnames = names_field("a tuple of variables");
      code.freevars = names_field("a tuple of free variables");
      code.cellvars = names_field("a tuple of cell variables");
    }
    code.filename = string_field("a file name");
    code.name = string_field("a name");
    code.qualname = plus ? string_field("a qualified name") : code.name;
    code.firstlineno = reader_.i32();
    // Lines are only hints: what can be read of a malformed table is kept.
    std::string_view lines = bytes_field("a line table");
    code.positions = read_line_table(version_, lines, code.firstlineno, code.bytecode.size());
    if (plus) exceptions(code);
    check_arguments(code);
    Constant constant = make(Constant::Kind::code);
    constant.code = std::move(found);
    return constant;
  }

  std::int32_t count_field() {
    std::size_t start = reader_.offset();
    std::int32_t count = reader_.i32();
    if (count < 0) reader_.fail_at("negative count", start);
    return count;
  }

  void locals_plus(CodeObject& code) {
    std::vector<std::string> names = names_field("a tuple of variables");
    std::size_t start = reader_.offset();
    std::string_view kinds = bytes_field("kinds of variables");
    if (kinds.size() != names.size()) reader_.fail_at("kinds of variables do not match their names", start);
    if (!reader_.ok()) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
      auto kind = static_cast<std::uint8_t>(kinds[i]);
      if (kind & kind_local) code.varnames.push_back(names[i]);
      if (kind & kind_cell) code.cellvars.push_back(names[i]);
      if (kind & kind_free) code.freevars.push_back(names[i]);
    }
  }

  void exceptions(CodeObject& code) {
    std::size_t start = reader_.offset();
    bool ok = true;
    code.exceptions = read_exception_table(bytes_field("an exception table"), &ok);
    if (!ok) reader_.fail_at("malformed exception table", start);
  }

  void check_arguments(const CodeObject& code) {
    if (code.posonlyargcount > code.argcount ||
        code.argument_count() > static_cast<std::int64_t>(code.varnames.size())) {
      reader_.fail("more arguments than variables");
    }
  }

  Version version_;
  ByteReader reader_;
  std::size_t budget_;
  std::vector<Reference> references_;
  int depth_ = 0;
  int reading_again_ = 0;  // depth of references that are being followed
};

}  // namespace

Result<std::shared_ptr<const CodeObject>> read_marshal(Version version, std::string_view input, std::size_t offset) {
  return with_deep_stack([&] { return Unmarshaller(version, input, offset).run(); });
}

}  // namespace depyf
