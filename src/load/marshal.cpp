#include "load/marshal.h"

#include <algorithm>
#include <utility>

#include "depyf/code_object.h"
#include "load/exception_table.h"
#include "load/line_table.h"
#include "load/marshal_reader.h"
#include "load/marshal_text.h"
#include "support/deep_stack.h"

namespace depyf {
namespace {

// The greatest depth of nested objects. CPython's own limit is 2000, and compilers nest code objects far less deeply.
constexpr int max_depth = 1000;
// Memory is reserved for one reference per `bytes_per_reference` bytes of a file; most files have fewer references.
constexpr std::size_t bytes_per_reference = 64;

constexpr std::uint8_t reference_flag = 0x80;

// The bits with which co_localspluskinds (3.11 and later) describes a variable.
enum LocalKind : std::uint8_t { kind_local = 0x20, kind_cell = 0x40, kind_free = 0x80 };

constexpr bool is_string(char type) {
  return type == 'z' || type == 'Z' || type == 'a' || type == 'A' || type == 'u' || type == 't';
}

// Returns the elements of `names` whose kind contains the bit `kind`. The kind of `names[i]` is the byte `kinds[i]`.
std::vector<std::string> names_of_kind(const std::vector<std::string>& names, std::string_view kinds, LocalKind kind) {
  const auto has_kind = [&](char bits) { return (static_cast<std::uint8_t>(bits) & kind) != 0; };
  std::vector<std::string> found;
  found.reserve(static_cast<std::size_t>(std::ranges::count_if(kinds, has_kind)));
  for (std::size_t i = 0; i < names.size(); ++i)
    if (has_kind(kinds[i])) found.push_back(names[i]);
  return found;
}

class Unmarshaller {
 public:
  Unmarshaller(Version version, std::string_view input, std::size_t offset)
      : version_(version), reader_(input, offset) {
    references_.reserve(input.size() / bytes_per_reference);
  }

  Result<std::shared_ptr<const CodeObject>> run() {
    Constant constant;
    typed(constant, Constant::Kind::code, "a code object");
    if (!reader_.ok()) return reader_.error();
    return std::move(constant.code);
  }

 private:
  // An object that later objects refer to by its index. A Reference keeps the offset of the object in the file, where
  // the object is read again for each reference to it.
  struct Reference {
    std::size_t offset;
    bool complete;
    std::string_view text;  // text of a string that is UTF-8 in the file; otherwise data() is null
  };

  // Reads an object into `constant`, which must have its default value.
  void object(Constant& constant) {
    const std::size_t start = reader_.offset();
    const std::uint8_t byte = reader_.u8();
    if (!reader_.ok()) return;
    const auto type = static_cast<char>(byte & ~reference_flag);
    switch (type) {  // the types of objects that no reference refers to
      case 'N': return;
      case 'T': constant.kind = Constant::Kind::true_; return;
      case 'F': constant.kind = Constant::Kind::false_; return;
      case '.': constant.kind = Constant::Kind::ellipsis; return;
      case 'S': constant.kind = Constant::Kind::opaque; return;  // StopIteration
      case 'r': return referred(constant, start);
    }
    new_object(constant, byte, start);
  }

  // Reads an object that begins with `byte` at `start`, and to which later objects may refer. `new_object` is not
  // inlined, so that `object` need not save registers when it reads an object such as None, to which no reference
  // refers.
  [[gnu::noinline]] void new_object(Constant& constant, std::uint8_t byte, std::size_t start) {
    const auto type = static_cast<char>(byte & ~reference_flag);
    if (depth_ >= max_depth) return reader_.fail_at("the objects are nested too deeply", start);
    const std::size_t index = begin_object(byte, start);
    ++depth_;
    body(constant, type, start, index);
    --depth_;
    end_object(index);
  }

  static constexpr std::size_t not_counted = std::size_t(-1);

  // Returns the index by which later objects refer to the object that begins with `byte` at `start`; `not_counted` if
  // the object has no reference flag, or is being read again.
  std::size_t begin_object(std::uint8_t byte, std::size_t start) {
    if (!(byte & reference_flag) || reading_again_) return not_counted;
    references_.push_back({start, false, {}});
    return references_.size() - 1;
  }
  void end_object(std::size_t index) {
    if (index != not_counted) references_[index].complete = true;
  }

  void body(Constant& constant, char type, std::size_t start, std::size_t index) {
    using Kind = Constant::Kind;
    switch (type) {
      case 'i': constant.kind = Kind::integer, constant.text = std::to_string(reader_.i32()); return;
      case 'l': constant.kind = Kind::integer, constant.text = reader_.long_integer(start); return;
      case 'f': constant.kind = Kind::real, constant.real = reader_.text_float(); return;
      case 'g': constant.kind = Kind::real, constant.real = reader_.binary_float(); return;
      case 'x':
        constant.kind = Kind::complex, constant.real = reader_.text_float(), constant.imag = reader_.text_float();
        return;
      case 'y':
        constant.kind = Kind::complex, constant.real = reader_.binary_float(), constant.imag = reader_.binary_float();
        return;
      case 's': constant.kind = Kind::bytes, constant.text = reader_.text(reader_.size()); return;
      case 'u':
      case 't':
      case 'a':
      case 'A':
      case 'z':
      case 'Z': constant.kind = Kind::string, constant.text = string(type, start, index); return;
      case ')': return sequence(constant, Kind::tuple, reader_.u8());
      case '(': return sequence(constant, Kind::tuple, reader_.size());
      case '>': return sequence(constant, Kind::frozenset, reader_.size());
      case '[':
      case '<': return skip_items(constant, reader_.size());
      case '{':
      case '}': return skip_pairs(constant);
      case ':': return sequence(constant, Kind::slice, 3);
      case 'c': return code(constant);
    }
    reader_.fail_at("the type of the object is unknown", start);
  }

  void referred(Constant& constant, std::size_t start) {
    const Reference* reference = reference_at(start);
    if (!reference) return;
    if (reference->text.data())
      constant.kind = Constant::Kind::string, constant.text = reader_.charged(reference->text);
    else read_again(*reference, [&] { object(constant); });
  }

  // Reads the index in the reference that begins at `start`, and returns the object with this index. Returns null after
  // an error: if no object has this index, or if the object contains the reference.
  const Reference* reference_at(std::size_t start) {
    const std::uint32_t index = reader_.u32();
    if (!reader_.ok()) return nullptr;
    if (index >= references_.size()) {
      reader_.fail_at("the reference does not lead to an object", start);
      return nullptr;
    }
    if (!references_[index].complete) {
      reader_.fail_at("the object contains itself", start);
      return nullptr;
    }
    return &references_[index];
  }

  // Calls `read` at the offset of an object that has been read before, and then returns to the current offset.
  template <class Read>
  void read_again(const Reference& reference, Read read) {
    const std::size_t after = reader_.offset();
    reader_.seek(reference.offset);
    ++reading_again_;
    read();
    --reading_again_;
    if (reader_.ok()) reader_.seek(after);
  }

  // Reads the part of a string that follows its type byte, which lies at `start`. If the text is UTF-8 in the file,
  // stores it in `references_[index]` unless `index` is `not_counted`. The returned text is valid until the next string
  // is read.
  std::string_view string(char type, std::size_t start, std::size_t index) {
    std::string_view found = reader_.text(type == 'z' || type == 'Z' ? reader_.u8() : reader_.size());
    if (type == 'u' || type == 't') {
      if (!is_wtf8(found)) reader_.fail_at("the string is not valid UTF-8", start);
    } else if (!is_ascii(found, found.size() + reader_.remaining())) {
      converted_ = latin1_to_utf8(found);
      return converted_;
    }
    if (index != not_counted) references_[index].text = found;
    return found;
  }

  void sequence(Constant& constant, Constant::Kind kind, std::size_t count) {
    constant.kind = kind;
    if (count > reader_.remaining()) reader_.fail("truncated");  // an item takes a byte at least
    if (!reader_.ok() || !reader_.charge(count * sizeof(Constant))) return;
    constant.items.reserve(count);
    for (std::size_t i = 0; i < count && reader_.ok(); ++i) object(constant.items.emplace_back());
  }

  void skip_items(Constant& constant, std::size_t count) {
    Constant items;
    sequence(items, Constant::Kind::opaque, count);
    constant.kind = Constant::Kind::opaque;
  }

  void skip_pairs(Constant& constant) {
    constant.kind = Constant::Kind::opaque;
    while (reader_.ok()) {
      std::size_t start = reader_.offset();
      if (reader_.u8() == '0') return;
      if (!reader_.ok()) return;
      reader_.seek(start);
      Constant key, value;
      object(key);
      object(value);
    }
  }

  // `fail_type` is not inlined, so that the functions that read fields need few registers.
  [[gnu::noinline]] void fail_type(std::string_view wanted, std::size_t start) {
    reader_.fail_at("the object is not " + std::string(wanted), start);
  }

  void typed(Constant& constant, Constant::Kind kind, std::string_view what) {
    std::size_t start = reader_.offset();
    object(constant);
    if (constant.kind != kind) fail_type(what, start);
  }

  // Reads an object that is a field of a code object, without an intermediate Constant. `read(type)` reads the part of
  // the object that follows its type byte. An object whose type is not in `types` is an error.
  template <char... types, class Read>
  void field(std::string_view what, Read read) {
    const std::size_t start = reader_.offset();
    const std::uint8_t byte = reader_.u8();
    const auto type = static_cast<char>(byte & ~reference_flag);
    if (((type == types) || ...)) {
      const std::size_t index = begin_object(byte, start);
      read(type);
      end_object(index);
    } else if (type == 'r') {
      if (const Reference* reference = reference_at(start))
        read_again(*reference, [&] { field<types...>(what, read); });
    } else if (reader_.ok()) {
      fail_type(what, start);
    }
  }

  // Reads a bytes object that is a field of a code object. The returned bytes are a view of the input.
  std::string_view bytes_field(std::string_view what) {
    std::string_view found;
    field<'s'>(what, [&](char) { found = reader_.text(reader_.size()); });
    return found;
  }

  // Reads a string that is a field of a code object. The returned text is valid until the next string is read. Most
  // names are references to strings that have been read before. Functions that are not inlined read any other name.
  std::string_view string_field(std::string_view what) {
    const std::size_t start = reader_.offset();
    const std::uint8_t byte = reader_.u8();
    if ((byte & ~reference_flag) != 'r') return new_string(what, byte, start);
    const Reference* reference = reference_at(start);
    if (!reference) return {};
    return reference->text.data() ? reader_.charged(reference->text) : string_again(what, *reference);
  }

  // Reads a string that begins with `byte` at `start`.
  [[gnu::noinline]] std::string_view new_string(std::string_view what, std::uint8_t byte, std::size_t start) {
    std::string_view found;
    if (const auto type = static_cast<char>(byte & ~reference_flag); is_string(type)) {
      const std::size_t index = begin_object(byte, start);
      found = string(type, start, index);
      end_object(index);
    } else if (reader_.ok()) {
      fail_type(what, start);
    }
    return found;
  }

  [[gnu::noinline]] std::string_view string_again(std::string_view what, const Reference& reference) {
    std::string_view found;
    read_again(reference, [&] { found = string_field(what); });
    return found;
  }

  // Appends a copy of `name` to `names`. A name of at most 15 bytes that lies in the input is copied with a fixed
  // number of bytes, and then cut to its length, so that no branch depends on the length.
  void append_name(std::vector<std::string>& names, std::string_view name) const {
    constexpr std::size_t fixed = 15;  // a std::string of up to 15 bytes allocates no memory
    if (name.size() <= fixed && reader_.has_from(name, fixed))
      names.emplace_back(name.data(), fixed).resize(name.size());
    else names.emplace_back(name);
  }

  std::vector<std::string> names_field(std::string_view what) {
    std::vector<std::string> names;
    field<')', '('>(what, [&](char type) {
      const std::size_t count = type == ')' ? reader_.u8() : reader_.size();
      if (count > reader_.remaining()) reader_.fail("truncated");  // a name takes a byte at least
      if (!reader_.ok() || !reader_.charge(count * sizeof(Constant))) return;
      names.reserve(count);
      for (std::size_t i = 0; i < count && reader_.ok(); ++i) append_name(names, string_field(what));
    });
    return names;
  }

  void code(Constant& constant) {
    auto owner = std::make_shared_for_overwrite<CodeObject>();  // the memory is not filled with zeros first
    CodeObject& code = *owner;
    // From 3.11 on, a code object in the file has a single list of all variables, a qualified name and an exception
    // table.
    bool plus = version_ >= Version{3, 11};
    if (!reader_.charge(sizeof(CodeObject))) return;
    code.version = version_;
    code.argcount = reader_.count();
    code.posonlyargcount = reader_.count();
    code.kwonlyargcount = reader_.count();
    if (!plus) reader_.i32();  // skips the number of locals
    code.stacksize = reader_.count();
    code.flags = reader_.u32();
    std::string_view bytecode = bytes_field("bytecode");
    if (!reader_.charge(bytecode.size() * (1 + sizeof(Position) / 2))) return;
    const auto* first_byte = reinterpret_cast<const std::uint8_t*>(bytecode.data());
    code.bytecode.assign(first_byte, first_byte + bytecode.size());
    Constant constants;
    typed(constants, Constant::Kind::tuple, "a tuple of constants");
    code.constants = std::move(constants.items);
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
    // Lines are only hints, so the readable part of a malformed line table is kept.
    std::string_view lines = bytes_field("a line table");
    code.positions = read_line_table(version_, lines, code.firstlineno, code.bytecode.size());
    if (plus) exceptions(code);
    check_arguments(code);
    constant.kind = Constant::Kind::code;
    constant.code = std::move(owner);
  }

  void locals_plus(CodeObject& code) {
    std::vector<std::string> names = names_field("a tuple of variables");
    std::size_t start = reader_.offset();
    std::string_view kinds = bytes_field("a list of the kinds of variables");
    if (kinds.size() != names.size())
      reader_.fail_at("the number of the kinds of variables differs from the number of their names", start);
    if (!reader_.ok()) return;
    std::uint8_t some = 0, every = kind_local;  // the bits that some kind has, and the bits that all kinds have
    for (const char kind : kinds) some |= static_cast<std::uint8_t>(kind), every &= static_cast<std::uint8_t>(kind);
    const bool all_local = every && !(some & (kind_cell | kind_free));  // true for most code objects
    if (!all_local) code.cellvars = names_of_kind(names, kinds, kind_cell);
    if (!all_local) code.freevars = names_of_kind(names, kinds, kind_free);
    code.varnames = all_local ? std::move(names) : names_of_kind(names, kinds, kind_local);
  }

  void exceptions(CodeObject& code) {
    std::size_t start = reader_.offset();
    bool ok = true;
    code.exceptions = read_exception_table(bytes_field("an exception table"), &ok);
    if (!ok) reader_.fail_at("the exception table is malformed", start);
  }

  void check_arguments(const CodeObject& code) {
    if (code.posonlyargcount > code.argcount ||
        code.argument_count() > static_cast<std::int64_t>(code.varnames.size())) {
      reader_.fail("the code object has more arguments than variables");
    }
  }

  Version version_;
  MarshalReader reader_;
  std::vector<Reference> references_;
  std::string converted_;  // the last text that was not UTF-8 in the file, as UTF-8
  int depth_ = 0;
  int reading_again_ = 0;  // the nesting depth of references that are being followed
};

}  // namespace

Result<std::shared_ptr<const CodeObject>> read_marshal(Version version, std::string_view input, std::size_t offset) {
  return with_deep_stack([&] { return Unmarshaller(version, input, offset).run(); });
}

}  // namespace depyf
