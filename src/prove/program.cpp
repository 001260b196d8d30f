#include "prove/program.h"

#include <algorithm>

#include "decode/class_details.h"
#include "decode/decode.h"
#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"

namespace depyf {
namespace {

// The flags that callers can observe: the kind of function, and how its arguments are passed.
constexpr std::uint32_t visible_flags = CodeObject::optimized | CodeObject::new_locals | CodeObject::varargs |
                                        CodeObject::varkeywords | CodeObject::generator | CodeObject::coroutine |
                                        CodeObject::iterable_coroutine | CodeObject::async_generator |
                                        CodeObject::future_annotations;

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

bool ends_flow(Op op) { return leaves_function(op) || op == Op::jump_; }

// Marks in `may_return` the instructions that a return or yield can follow, by going backwards through the code until
// nothing changes.
void find_returns(Program& program) {
  const auto& instructions = program.decoded.instructions;
  program.may_return.assign(instructions.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t at = instructions.size(); at-- > 0;) {
      if (program.may_return[at]) continue;
      const Instruction& it = instructions[at];
      bool follows = it.op == Op::return_value_ || it.op == Op::yield_value_;
      if (!ends_flow(it.op) && at + 1 < instructions.size()) follows = follows || program.may_return[at + 1];
      if (it.target >= 0) follows = follows || program.may_return[static_cast<std::size_t>(it.target)];
      if (const int range = program.handler_of[at]; range >= 0) {
        const int handler = program.decoded.ranges[static_cast<std::size_t>(range)].target;
        follows = follows || program.may_return[static_cast<std::size_t>(handler)];
      }
      program.may_return[at] = follows;
      changed = changed || follows;
    }
  }
}

// Finds the globals that the options declare to keep their values, except those that the code itself stores or
// deletes.
void add_installed(Program& program, Symbols& symbols, const ProofOptions& options) {
  const std::vector<std::string>& names = program.code().names;
  program.installed.assign(names.size(), Symbols::null);
  if (options.installed.empty()) return;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!options.installed.contains(names[i])) continue;
    const Symbol value = symbols.known("global " + names[i]);
    program.installed[i] = value;
    if (auto count = options.outputs.find(names[i]); count != options.outputs.end())
      program.outputs[value] = count->second;
  }
  for (const Instruction& it : program.decoded.instructions) {
    if (it.op == Op::store_global_ || it.op == Op::delete_global_)
      program.installed[static_cast<std::size_t>(it.arg)] = Symbols::null;
  }
}

}  // namespace

const std::string& Program::name() const { return code().qualname.empty() ? code().name : code().qualname; }

bool Program::is_generator() const {
  return code().flags & (CodeObject::generator | CodeObject::coroutine | CodeObject::async_generator);
}

Result<Program> make_program(const CodeObject& code, const DecodedCode& decoded, Symbols& symbols,
                             const ProofOptions& options) {
  // A hostile code object may claim more arguments than it has locals.
  if (code.argument_count() > static_cast<std::int64_t>(code.varnames.size()) || code.argcount < 0 ||
      code.kwonlyargcount < 0) {
    return Error{"more arguments than locals", 0};
  }
  Program program;
  program.decoded = decoded;
  const auto& instructions = program.decoded.instructions;
  program.stack_size = code.stacksize;
  program.size = static_cast<int>(instructions.size());
  program.meets.assign(instructions.size(), false);
  program.handler_of.assign(instructions.size(), -1);
  for (const Instruction& it : instructions) {
    if (it.target >= 0) program.meets[static_cast<std::size_t>(it.target)] = true;
  }
  const auto& ranges = program.decoded.ranges;
  for (std::size_t range = 0; range < ranges.size(); ++range) {
    program.meets[static_cast<std::size_t>(ranges[range].target)] = true;
    // The protected ranges of CPython's compiler do not overlap; in other bytecode, an instruction belongs to the first
    // range that contains it.
    for (int at = ranges[range].begin; at < ranges[range].end; ++at) {
      int& handler = program.handler_of[static_cast<std::size_t>(at)];
      if (handler < 0) handler = static_cast<int>(range);
    }
  }
  const ClassDetails details = class_details(program.decoded);
  program.stores_line = details.line, program.stores_attributes = details.attributes;
  for (int index = 0; index < program.decoded.constant_count(); ++index)
    program.constants.push_back(symbols.constant(program.decoded.constant(index)));
  for (const std::string& name : code.names) {
    program.names.push_back(symbols.string(name));
    // Code that names `sys._getframe` or `inspect.currentframe` may read the locals of its own frame.
    program.watched = program.watched || name == "_getframe" || name == "currentframe";
  }
  find_returns(program);
  add_installed(program, symbols, options);
  return program;
}

bool drops_unmatched_subject(const DecodedCode& decoded, int at) {
  const auto& code = decoded.instructions;
  const auto index = static_cast<std::size_t>(at);
  if (code[index].op != Op::match_class_ || !dialect_of(decoded.version).pushed_pattern_tests) return true;
  if (index + 1 >= code.size() || code[index + 1].op != Op::pop_jump_if_false_) return false;
  return code[static_cast<std::size_t>(code[index + 1].target)].op == Op::pop_top_;
}

Side start_of(const Program& program, Symbols& symbols) {
  const DecodedCode& decoded = program.decoded;
  Side side;
  side.handled = symbols.known(handled_by_caller);
  side.locals.assign(decoded.localsplus.size(), Symbols::null);
  std::int64_t arguments = program.code().argument_count();
  for (std::int64_t i = 0; i < arguments; ++i) {
    side.locals[static_cast<std::size_t>(i)] =
        symbols.known(std::string(argument_prefix) + std::string(decoded.localsplus[static_cast<std::size_t>(i)]));
  }
  if (program.has_table()) return side;  // the instructions MAKE_CELL and COPY_FREE_VARS create the cells
  // Up to 3.10 cells exist from the start of the frame, and hold the arguments that they replace.
  for (std::size_t i = 0; i < side.locals.size(); ++i) {
    if (!decoded.is_cell[i]) continue;
    if (static_cast<int>(i) >= decoded.first_free) {
      side.locals[i] = symbols.known("free variable " + std::string(decoded.localsplus[i]));
      continue;
    }
    Symbol cell = symbols.object();
    side.objects[cell] = {.kind = Object::Kind::cell, .keys = {}, .items = {side.locals[i]}};
    side.locals[i] = cell;
  }
  return side;
}

std::string header_difference(const CodeObject& one, const CodeObject& two, bool outermost) {
  if (one.argcount != two.argcount || one.posonlyargcount != two.posonlyargcount ||
      one.kwonlyargcount != two.kwonlyargcount) {
    return "the arguments differ in number or kind";
  }
  if ((one.flags & visible_flags) != (two.flags & visible_flags)) return "the flags differ";
  std::int64_t count = one.argument_count();
  for (std::int64_t i = 0; i < count; ++i) {
    auto index = static_cast<std::size_t>(i);
    if (index >= one.varnames.size() || index >= two.varnames.size() || one.varnames[index] != two.varnames[index]) {
      return "the arguments differ in their names";
    }
  }
  if (sorted(one.freevars) != sorted(two.freevars)) return "the free variables differ";
  // The first constant is the docstring, if the code object has one.
  if (has_docstring_constant(one) != has_docstring_constant(two) ||
      (has_docstring_constant(one) && one.constants[0].text != two.constants[0].text)) {
    return "the docstrings differ";
  }
  if (outermost) return {};
  if (one.name != two.name) return "the names differ";
  bool qualified = dialect_of(one.version).qualified_names && dialect_of(two.version).qualified_names;
  if (qualified && one.qualname != two.qualname) return "the qualified names differ";
  return {};
}

}  // namespace depyf
