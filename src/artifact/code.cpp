#include "artifact/code.h"

#include <charconv>
#include <limits>
#include <utility>

#include "decode/opcodes.h"
#include "depyf/code_object.h"
#include "depyf/decompile.h"
#include "depyf/recode.h"
#include "depyf/tables.h"
#include "pickle/outline.h"
#include "recode/qualified_names.h"

namespace depyf::artifact {
namespace {

using pickle::Kind;
using pickle::Value;

// The maximum nesting depth of code objects and of constant tuples, which no compiler reaches.
constexpr int nesting_max = 50;

// The prefixes of names of globals that Dynamo installs and that never change their values.
constexpr std::string_view installed_prefixes[] = {"__compiled_fn", "__import_", "__resume_at"};

class CodeReader {
 public:
  CodeReader(Version version, CodeBudget& budget) : version_(version), budget_(budget) {}

  // Returns the code object that the fields of `serialized` describe. If the fields are invalid, returns null, and
  // `problem` returns the reason.
  std::shared_ptr<const CodeObject> read(const Value& serialized, int depth = 0) {
    auto code = std::make_shared<CodeObject>();
    code->version = version_;
    code->argcount = count(serialized, "co_argcount");
    code->posonlyargcount = count(serialized, "co_posonlyargcount");
    code->kwonlyargcount = count(serialized, "co_kwonlyargcount");
    code->stacksize = count(serialized, "co_stacksize");
    code->flags = static_cast<std::uint32_t>(count(serialized, "co_flags"));
    code->firstlineno = count(serialized, "co_firstlineno");
    code->name = text(serialized, "co_name");
    code->filename = text(serialized, "co_filename");
    const Value qualified = serialized.attribute("co_qualname");
    code->qualname = qualified.is(Kind::string) ? text(serialized, "co_qualname") : code->name;
    code->names = names(serialized, "co_names");
    code->varnames = names(serialized, "co_varnames");
    code->cellvars = names(serialized, "co_cellvars");
    code->freevars = names(serialized, "co_freevars");
    const std::string_view bytecode = bytes(serialized, "co_code");
    code->bytecode.assign(bytecode.begin(), bytecode.end());
    const Value constants = serialized.attribute("co_consts");
    if (!constants.is(Kind::tuple)) fail("co_consts is not a tuple");
    for (std::size_t position = 0; position < constants.size() && problem_.empty(); ++position)
      code->constants.push_back(constant(constants.at(position), depth));
    read_positions(serialized, *code);
    if (code->posonlyargcount > code->argcount ||
        code->argument_count() > static_cast<std::int64_t>(code->varnames.size()))
      fail("the code object has more arguments than variables");
    return problem_.empty() ? code : nullptr;
  }

  const std::string& problem() const { return problem_; }

 private:
  void fail(std::string words) {
    if (problem_.empty()) problem_ = std::move(words);
  }

  // Subtracts one constant and `bytes` from the budget of the file. If the budget does not suffice, the function
  // reports an error, returns false, and subtracts nothing.
  bool charge(std::size_t bytes) {
    if (budget_.constants == 0 || bytes > budget_.bytes) {
      fail("the code objects of the file take more memory than the limit");
      return false;
    }
    --budget_.constants;
    budget_.bytes -= bytes;
    return true;
  }

  std::int32_t count(const Value& serialized, std::string_view field) {
    const std::int64_t number = serialized.attribute(field).integer(-1);
    if (number >= 0 && number <= std::numeric_limits<std::int32_t>::max()) return static_cast<std::int32_t>(number);
    fail(std::string(field) + " is not a non-negative integer");
    return 0;
  }

  std::string text(const Value& serialized, std::string_view field) {
    const Value value = serialized.attribute(field);
    if (!value.is(Kind::string)) fail(std::string(field) + " is not a string");
    return charge(value.text().size()) ? std::string(value.text()) : std::string();
  }

  std::string_view bytes(const Value& serialized, std::string_view field) {
    const Value value = serialized.attribute(field);
    if (!value.is(Kind::bytes)) fail(std::string(field) + " is not a bytes object");
    return charge(value.text().size()) ? value.text() : std::string_view();
  }

  std::vector<std::string> names(const Value& serialized, std::string_view field) {
    const Value value = serialized.attribute(field);
    if (!value.is(Kind::tuple)) fail(std::string(field) + " is not a tuple");
    std::vector<std::string> result;
    for (std::size_t position = 0; position < value.size() && problem_.empty(); ++position) {
      const Value name = value.at(position);
      if (!name.is(Kind::string)) fail(std::string(field) + " contains an item that is not a string");
      if (charge(name.text().size())) result.emplace_back(name.text());
    }
    return result;
  }

  // Reads the line table and the exception table. The readable part of a malformed line table is used, because line
  // numbers do not change the meaning of the code. A malformed exception table is an error.
  void read_positions(const Value& serialized, CodeObject& code) {
    const Value lines = serialized.attribute("co_linetable"), old_lines = serialized.attribute("co_lnotab");
    const Value handlers = serialized.attribute("co_exceptiontable");
    const Value table = lines.is(Kind::bytes) ? lines : old_lines;
    if (!charge(code.bytecode.size() * sizeof(Position) / 2)) return;
    read_tables(code, table.is(Kind::bytes) ? table.text() : std::string_view(), {});
    // The exception table is read into a separate code object, because an error in the exception table would also
    // discard the line table.
    CodeObject with_handlers;
    with_handlers.version = code.version;
    if (handlers.is(Kind::bytes) && !read_tables(with_handlers, {}, handlers.text()))
      fail("the exception table is malformed");
    code.exceptions = std::move(with_handlers.exceptions);
  }

  Constant made(Constant::Kind kind, std::string_view text = {}) {
    Constant constant;
    constant.kind = kind;
    if (charge(text.size())) constant.text = text;
    return constant;
  }

  Constant constant(const Value& value, int depth) {
    if (depth > nesting_max) fail("the constants are nested too deeply");
    if (!problem_.empty()) return {};
    switch (value.kind()) {
      case Kind::none: return made(Constant::Kind::none);
      case Kind::boolean: return made(value.is_true() ? Constant::Kind::true_ : Constant::Kind::false_);
      case Kind::integer:
        return made(Constant::Kind::integer, value.text().empty() ? std::to_string(value.integer()) : value.text());
      case Kind::real: {
        Constant real = made(Constant::Kind::real);
        real.real = value.real();
        return real;
      }
      case Kind::string: return made(Constant::Kind::string, value.text());
      case Kind::bytes: return made(Constant::Kind::bytes, value.text());
      case Kind::tuple: return sequence(Constant::Kind::tuple, value, depth);
      case Kind::frozenset: return sequence(Constant::Kind::frozenset, value, depth);
      case Kind::global:
        return value.dotted_name() == "builtins.Ellipsis" ? made(Constant::Kind::ellipsis) : opaque(value);
      case Kind::call:
      case Kind::instance: return object(value, depth);
      case Kind::list:
      case Kind::dict:
      case Kind::set:
      case Kind::bytearray:
      case Kind::persistent:
      case Kind::extension:
      case Kind::buffer: return opaque(value);
    }
    return {};
  }

  Constant sequence(Constant::Kind kind, const Value& value, int depth) {
    Constant result = made(kind);
    for (std::size_t position = 0; position < value.size() && problem_.empty(); ++position)
      result.items.push_back(constant(value.at(position), depth + 1));
    return result;
  }

  Constant object(const Value& value, int depth) {
    if (value.is_a("SerializedCode")) {
      Constant result = made(Constant::Kind::code);
      result.code = read(value, depth + 1);
      return result;
    }
    if (value.class_name() == "builtins.complex" && value.argument(1).is(Kind::real)) {
      Constant result = made(Constant::Kind::complex);
      result.real = value.argument(0).real(), result.imag = value.argument(1).real();
      return result;
    }
    if (value.class_name() == "builtins.slice" && value.argument(2)) {
      Constant result = made(Constant::Kind::slice);
      for (std::size_t position = 0; position < 3; ++position)
        result.items.push_back(constant(value.argument(position), depth + 1));
      return result;
    }
    if (value.class_name() == "builtins.getattr" && value.argument(1).text() == "Ellipsis")
      return made(Constant::Kind::ellipsis);
    return opaque(value);
  }

  Constant opaque(const Value& value) {
    const std::string name = value.class_name();
    return made(Constant::Kind::opaque, name.substr(name.rfind('.') + 1));
  }

  Version version_;
  CodeBudget& budget_;
  std::string problem_;
};

bool is_installed(std::string_view name) {
  for (const std::string_view prefix : installed_prefixes)
    if (name.starts_with(prefix)) return true;
  return false;
}

// Decompiles a function in the first style of source whose result is proved equivalent. If no style is proved, the
// first style is used.
void decompile_proved(Function& function) {
  CodeObject code = *function.code;
  rename_names(code, short_names(code));
  // The qualified name is shortened, because the function is at the top level of the decompiled source.
  replace_prefix(code, code.qualname, code.name);
  Options options;
  options.prove = true, options.lines = false;
  options.limits = Limits::of_file(code.bytecode.size());
  for (const std::string& name : global_names(code))
    if (is_installed(name)) options.installed.insert(name);
  for (const Style style : {Style::readable, Style::plain, Style::exact}) {
    options.style = style;
    const Decompiled result = decompile(code, options);
    std::string reason = result.proofs.empty() ? "nothing was proved" : "";
    for (const CodeProof& proof : result.proofs)
      if (!proof.proved && reason.empty()) reason = proof.reason;
    if (function.source.empty() || reason.empty()) function.source = result.source, function.problem = reason;
    function.is_proved = reason.empty();
    if (function.is_proved) return;
  }
}

}  // namespace

std::optional<Version> version_of(std::string_view text) {
  Version version;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  auto [position, error] = std::from_chars(begin, end, version.major);
  if (error != std::errc() || position == end || *position != '.') return {};
  if (std::from_chars(position + 1, end, version.minor).ec != std::errc()) return {};
  return opcode_table(version) ? std::optional(version) : std::nullopt;
}

Function read_function(const Value& serialized, std::string role, std::optional<Version> version, CodeBudget& budget) {
  Function function;
  function.role = std::move(role);
  const Value name = serialized.attribute("co_qualname"), plain_name = serialized.attribute("co_name");
  function.name = std::string((name.is(Kind::string) ? name : plain_name).text().substr(0, pickle::Limits().name));
  function.filename = std::string(serialized.attribute("co_filename").text().substr(0, pickle::Limits().name));
  function.line = static_cast<std::int32_t>(serialized.attribute("co_firstlineno").integer() & 0x7fffffff);
  if (!serialized.is_a("SerializedCode")) {
    function.problem = "the value is not a code object: " + pickle::outline(serialized, 100);
    return function;
  }
  if (!version) {
    function.problem = "the file names no version of Python whose bytecode depyf reads";
    return function;
  }
  CodeReader reader(*version, budget);
  function.code = reader.read(serialized);
  function.problem = reader.problem();
  if (!function.code) return function;
  const NestedProblem unsound = first_problem(*function.code);
  try {
    decompile_proved(function);
  } catch (const std::length_error&) {
    function.problem = "the source of the function is longer than the limit";
  }
  if (!unsound.words.empty()) {
    function.is_proved = false;
    function.problem = "CPython would not accept the code: " + unsound.function + ": " + unsound.words;
  }
  return function;
}

}  // namespace depyf::artifact
