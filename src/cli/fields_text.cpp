#include <bit>
#include <cstdio>
#include <string_view>

#include "cli/text.h"
#include "depyf/code_object.h"

namespace depyf::cli {
namespace {

template <class... Args>
std::string format(const char* pattern, Args... args) {
  char buffer[128];
  int size = std::snprintf(buffer, sizeof buffer, pattern, args...);
  return {buffer, static_cast<std::size_t>(size)};
}

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (char character : text) {
    bool plain = character >= ' ' && character < 0x7f && character != '"' && character != '\\';
    out += plain ? std::string(1, character) : format("\\x%02x", static_cast<unsigned char>(character));
  }
  return out + '"';
}

// Returns the bits of a number in hexadecimal digits, because decimal text distinguishes neither -0.0 from 0.0 nor
// two nans with different bits.
std::string bits(double value) {
  return format("%016llx", static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(value)));
}

std::string constant_text(const Constant& constant);

std::string items_text(std::string_view kind, const Constant& constant) {
  std::string out(kind);
  out += '(';
  for (const Constant& item : constant.items) {
    if (out.back() != '(') out += ", ";
    out += constant_text(item);
  }
  return out + ')';
}

std::string constant_text(const Constant& constant) {
  using Kind = Constant::Kind;
  switch (constant.kind) {
    case Kind::none: return "None";
    case Kind::true_: return "True";
    case Kind::false_: return "False";
    case Kind::ellipsis: return "Ellipsis";
    case Kind::integer: return "int " + constant.text;
    case Kind::real: return "float " + bits(constant.real);
    case Kind::complex: return "complex " + bits(constant.real) + " " + bits(constant.imag);
    case Kind::string: return "str " + quoted_text(constant.text);
    case Kind::bytes: return "bytes " + quoted_text(constant.text);
    case Kind::tuple: return items_text("tuple", constant);
    case Kind::frozenset: return items_text("frozenset", constant);
    case Kind::slice: return items_text("slice", constant);
    case Kind::code: return "code " + quoted_text(constant.code->qualname);
    case Kind::opaque: return "opaque";
  }
  return {};
}

std::string names_line(const char* what, const std::vector<std::string>& names) {
  std::string out = what;
  for (const std::string& name : names) out += " " + quoted_text(name);
  return out + "\n";
}

void append_nested_fields(std::string& out, const Constant& constant) {
  if (constant.kind == Constant::Kind::code) out += fields_text(*constant.code);
  for (const Constant& item : constant.items) append_nested_fields(out, item);
}

}  // namespace

std::string fields_text(const CodeObject& code) {
  std::string out = "code " + quoted_text(code.qualname) + "\n";
  out += format("version %d.%d\n", code.version.major, code.version.minor);
  out += "name " + quoted_text(code.name) + "\nfilename " + quoted_text(code.filename) + "\n";
  out += format("arguments %d %d %d\n", code.argcount, code.posonlyargcount, code.kwonlyargcount);
  out += format("stacksize %d\nfirstlineno %d\nflags %x\nbytecode ", code.stacksize, code.firstlineno, code.flags);
  for (std::uint8_t byte : code.bytecode) out += format("%02x", byte);
  out += "\n";
  for (const Constant& constant : code.constants) out += "constant " + constant_text(constant) + "\n";
  out += names_line("names", code.names) + names_line("varnames", code.varnames);
  out += names_line("cellvars", code.cellvars) + names_line("freevars", code.freevars);
  out += "positions";
  for (const Position& at : code.positions)
    out += format(" %d:%d:%d:%d", at.line, at.end_line, at.column, at.end_column);
  out += "\n";
  for (const ExceptionEntry& row : code.exceptions) {
    out += format("exception %u %u %u %u %d\n", row.start, row.end, row.target, row.depth, row.lasti);
  }
  for (const Constant& constant : code.constants) append_nested_fields(out, constant);
  return out;
}

}  // namespace depyf::cli
