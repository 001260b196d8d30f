// Translates CPython's opcodes into operations. The translation is one file, so that the meanings of an opcode in
// different versions can be read side by side.
#include "decode/lower.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "decode/op.h"
#include "decode/opcode_tables.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"

namespace depyf {
namespace {

constexpr std::uint32_t binary_operators = 13;  // the first argument of BINARY_OP that means an in-place operator
constexpr std::uint32_t iterates_to_yield = 3;  // the argument of GET_ITER for `yield from` (3.15)
constexpr std::uint32_t binary_subscript = 26;  // the argument of BINARY_OP for a subscript (from 3.14 on)
constexpr std::uint32_t comparisons = 6;       // the number of operators of COMPARE_OP from 3.9 on; 3.8 has more
constexpr std::uint32_t size_max = 255;         // the largest value of Instruction::size

constexpr std::int8_t no_keyword_names = -1;    // the aux of a call_ without keyword names

// One of the operations (one or two) into which a CPython instruction is translated.
struct SimplePart {
  Op op{};
  std::int8_t aux = 0;
  // The argument of the operation is the argument of the instruction, shifted right by `SimpleOp::shift`, and then
  // masked with `arg_mask`. The mask is 0 if the operation has no argument.
  std::uint8_t arg_mask = 0;
};

// The one or two operations into which a CPython instruction is translated. An opcode has two forms if a bit of an
// instruction's argument chooses between two translations.
struct alignas(8) SimpleForm {
  SimplePart first, second;
  bool has_second = false;
};

// The translation of the CPython instructions with one opcode, if their operations depend only on the opcode and on the
// argument. If KW_NAMES precedes an instruction, the translation does not apply, because KW_NAMES adds the names of
// keywords to the operation. The struct has 32 bytes, a power of two, so that a shift turns the index of an element in
// an array into the offset of the element.
struct alignas(32) SimpleOp {
  std::uint16_t args = 0;  // the translation applies to arguments less than `args`; 0 if it never applies
  std::uint8_t size = 0;  // the size of the instruction in bytes, including the inline caches behind it
  std::uint8_t choice = 0;  // if the argument has this bit, `forms[1]` applies; 0 if both elements of `forms` are equal
  std::uint8_t shift = 0;  // the number of low bits of the argument that are no part of the operations' arguments
  std::uint8_t is_no_jump = 1;  // 0 if the opcode is a jump, and 1 if it is no jump
  std::int8_t distance = 0;  // for a relative jump: the bytes per unit of its argument, negative for a jump backward
  std::array<SimpleForm, 2> forms{};

  const SimpleForm& form(std::uint32_t arg) const { return forms[(arg & choice) != 0]; }
};
using SimpleOps = std::array<SimpleOp, 256>;

// Returns a form with the single operation `op`, whose argument is the argument of the instruction.
constexpr SimpleForm single(Op op, std::int8_t aux = 0) { return {.first = {op, aux, 0xff}, .second = {}}; }

constexpr SimpleOps simple_ops_by_opcode(const Dialect& dialect) {
  constexpr std::uint16_t all = 256;
  SimpleOps simple{};
  const auto add = [&](Opcode opcode, SimpleForm form) -> SimpleOp& {
    SimpleOp& row = simple[static_cast<std::size_t>(opcode)];
    row.args = all, row.forms[0] = row.forms[1] = form;
    return row;
  };
#define SIMPLE(name, op) add(Opcode::name, single(Op::op##_));
#define JUMP(name, op) add(Opcode::name, single(Op::op##_));
#include "decode/simple.def"
  for (Opcode call : {Opcode::CALL, Opcode::CALL_METHOD}) add(call, single(Op::call_, no_keyword_names));
  add(Opcode::MAKE_FUNCTION, single(Op::make_function_, dialect.qualified_name_on_stack));
  SimpleOp& load_attr = add(Opcode::LOAD_ATTR, single(Op::load_attr_));
  load_attr.choice = load_attr.shift = dialect.attribute_method_bit, load_attr.forms[1] = single(Op::load_method_);
  SimpleOp& load_global = add(Opcode::LOAD_GLOBAL, single(Op::load_global_));
  load_global.choice = load_global.shift = dialect.global_null_bit;
  const SimplePart global = load_global.forms[0].first, null = {Op::push_null_, 0, 0};
  load_global.forms[1] = dialect.null_after ? SimpleForm{global, null, true} : SimpleForm{null, global, true};
  add(Opcode::RETURN_CONST, {{Op::load_const_, 0, 0xff}, {Op::return_value_, 1, 0}, true});
  SimpleOp& compare = add(Opcode::COMPARE_OP, single(Op::compare_op_));
  compare.shift = static_cast<std::uint8_t>(dialect.compare_shift);
  compare.args = static_cast<std::uint16_t>(std::min(comparisons << dialect.compare_shift, std::uint32_t{all}));
  compare.choice = static_cast<std::uint8_t>(dialect.compare_bool_bit), compare.forms[1] = single(Op::compare_op_, 1);
  // A BINARY_OP whose argument is at least `binary_operators` is left to `lower_next`. Its argument means an in-place
  // operator, which is rare, or a subscript (from 3.14 on).
  add(Opcode::BINARY_OP, single(Op::binary_op_)).args = binary_operators;
  add(Opcode::GET_ITER, {.first = {Op::get_iter_, 0, 0}, .second = {}}).args = iterates_to_yield;
  SimpleOp& format = add(Opcode::FORMAT_VALUE, {.first = {Op::format_value_, 0, 3}, .second = {}});
  format.choice = 4, format.forms[1].first.aux = 1;
  if (!dialect.import_flags) add(Opcode::IMPORT_NAME, single(Op::import_name_));
  if (!dialect.cells_apart) {
    add(Opcode::MAKE_CELL, single(Op::make_cell_));
    add(Opcode::LOAD_CLOSURE, single(Op::load_closure_));
    add(Opcode::LOAD_DEREF, single(Op::load_deref_));
    add(Opcode::STORE_DEREF, single(Op::store_deref_));
    add(Opcode::DELETE_DEREF, single(Op::delete_deref_));
  }
  for (Opcode load : {Opcode::LOAD_FAST, Opcode::LOAD_FAST_CHECK, Opcode::LOAD_FAST_BORROW})
    add(load, single(Op::load_fast_));
  return simple;
}

constexpr SimpleOps simple_ops_by_byte(const SimpleOps& by_opcode, const OpcodeTable& opcodes,
                                       std::uint32_t jump_unit) {
  using Kind = OpcodeInfo::Argument;
  SimpleOps simple{};
  for (std::size_t byte = 0; byte < simple.size(); ++byte) {
    const OpcodeInfo& info = opcodes[byte];
    SimpleOp& row = simple[byte];
    row = by_opcode[static_cast<std::size_t>(info.opcode)];
    row.size = static_cast<std::uint8_t>(info.size());
    row.is_no_jump = !info.is_jump;
    if (info.argument == Kind::jump_absolute) row.args = 0;
    if (info.is_jump) row.distance = static_cast<std::int8_t>(jump_unit);
    if (info.argument == Kind::jump_backward) row.distance = static_cast<std::int8_t>(-row.distance);
    for (SimpleForm& form : row.forms)
      if (info.is_jump || info.argument == Kind::none) form.first.arg_mask = form.second.arg_mask = 0;
  }
  return simple;
}

// Each version has a table of simple operations, which is indexed by the byte of the opcode.
constexpr auto simple_ops = [] {
  std::array<SimpleOps, dialects.size()> all{};
  for (std::size_t version = 0; version < all.size(); ++version)
    all[version] = simple_ops_by_byte(simple_ops_by_opcode(dialects[version]), opcode_tables[version],
                                      dialects[version].jump_unit);
  return all;
}();

// True if a LOAD_FAST in `code` may load a cell instead of the value of a local variable.
bool loads_cells_as_locals(const CodeObject& code) {
  return !dialect_of(code.version).cells_apart && !(code.cellvars.empty() && code.freevars.empty());
}

// Rewrites each load_fast_ whose slot contains a cell to load_closure_.
void find_loads_of_cells(DecodedCode& decoded) {
  const std::size_t slots = decoded.localsplus.size();
  for (Instruction& it : decoded.instructions) {
    const auto slot = static_cast<std::size_t>(it.arg);
    if (it.op == Op::load_fast_ && slot < slots && decoded.is_cell[slot]) it.op = Op::load_closure_;
  }
}

// True if the BUILD_TUPLE at `at` starts `BUILD_TUPLE; LOAD_CONST; MAKE_FUNCTION`, which makes a function whose closure
// is the tuple.
bool is_closure(const Instructions& code, std::size_t at) {
  if (at + 2 >= code.size() || code[at + 1].op != Op::load_const_ || code[at + 2].op != Op::make_function_)
    return false;
  if (code[at + 2].arg & 8) return true;
  return at + 3 < code.size() && code[at + 3].op == Op::set_function_attribute_ && code[at + 3].arg == 8;
}

// Rewrites each load_closure_ that loads a variable of an inlined comprehension to load_fast_. The value of a
// comprehension's variable lies in the slot itself, even if the slot contains a cell elsewhere in the code. Only a load
// for the closure of a nested function has to load the cell and not the value in the cell.
void correct_loads_of_comprehensions(DecodedCode& decoded) {
  Instructions& code = decoded.instructions;
  const auto clears = [](const Instruction& it) { return it.op == Op::load_fast_and_clear_; };
  if (std::ranges::none_of(code, clears)) return;
  const std::size_t slots = decoded.localsplus.size();
  std::vector<bool> cleared(slots);
  for (const Instruction& it : code)
    if (clears(it) && static_cast<std::size_t>(it.arg) < slots) cleared[static_cast<std::size_t>(it.arg)] = true;
  std::int32_t closure = 0;  // how many of the instructions in front of `at` load an item of a closure
  for (std::size_t at = code.size(); at-- > 0; --closure) {
    if (code[at].op == Op::build_tuple_ && is_closure(code, at)) closure = code[at].arg + 1;
    const auto slot = static_cast<std::size_t>(code[at].arg);
    const bool is_ambiguous = code[at].op == Op::load_closure_ && slot < slots && cleared[slot];
    if (is_ambiguous && closure <= 0) code[at].op = Op::load_fast_;
  }
}

// Appends `raise_` unless the last instruction never falls through. Unreachable code may run off the end of the
// bytecode (in 3.8 behind a finally clause that returns), and so may malformed code. `last` is the offset of the last
// instruction.
void close(DecodedCode& decoded, std::uint32_t last) {
  if (!decoded.instructions.empty()) {
    const Instruction& it = decoded.instructions.back();
    const bool ends = leaves_function(it.op) || it.op == Op::jump_;
    if (ends && it.offset == last) return;
  }
  const auto end = static_cast<std::uint32_t>(decoded.code->bytecode.size());
  decoded.instructions.push_back({.op = Op::raise_, .size = 0, .target = {}, .offset = end});
}

class Lowering {
 public:
  explicit Lowering(DecodedCode& decoded)
      : decoded_(decoded),
        code_(*decoded.code),
        positions_(code_.positions),
        dialect_(dialect_of(code_.version)),
        loads_cells_(loads_cells_as_locals(code_)),
        simple_ops_(simple_ops[dialect_index(code_.version)]),
        reader_(code_),
        map_(code_.bytecode.size()) {}

  Result<OperationMap> run() {
    decoded_.instructions.reserve(code_.bytecode.size() / 2 + 1);
    do lower_simple();
    while (lower_next());
    if (!error_.message.empty()) return error_;
    if (!reader_.ok()) return reader_.error();
    if (loads_cells_) find_loads_of_cells(decoded_), correct_loads_of_comprehensions(decoded_);
    close(decoded_, last_);
    return std::move(map_);
  }

 private:
  // Translates instructions from the reader's offset on, up to the first instruction that `simple_ops_` does not
  // translate. Stops earlier if the list of operations has no capacity left for two operations, because the loop
  // is faster if no path in it allocates memory. `lower_next` translates the instruction at which `lower_simple` stops.
  void lower_simple() {
    if (names_ >= 0 || reader_.is_at_end()) return;
    const std::uint8_t* bytes = code_.bytecode.data();
    // An instruction without an element in `positions_` is left to `lower_next`, so that the loop need not check the
    // size of `positions_`.
    const auto size = static_cast<std::uint32_t>(std::min(code_.bytecode.size(), positions_.size() * 2));
    const SimpleOps& known = simple_ops_;
    Instructions& code = decoded_.instructions;
    Instruction* const operations = code.data();
    const Position* positions = positions_.data();
    const std::size_t room = code.capacity();
    std::size_t number = code.size();
    std::uint32_t offset = reader_.offset();
    while (offset < size && number + 2 <= room) {
      const SimpleOp& simple = known[bytes[offset]];
      const std::uint32_t arg = bytes[offset + 1];
      // For a jump, `target` is the offset of the jump's target. For any other instruction, `distance` is 0, so that
      // `target` is `next`, and the target of the operation is set to -1.
      const std::uint32_t next = offset + simple.size;
      const std::uint32_t target = next + arg * static_cast<std::uint32_t>(std::int32_t{simple.distance});
      if (arg >= simple.args || next > size || target - simple.is_no_jump >= size) break;
      map_.add(offset, static_cast<std::int32_t>(number));
      const SimpleForm& form = simple.form(arg);
      const auto shifted = static_cast<std::int32_t>(arg >> simple.shift);
      const std::int32_t line = positions[offset / 2].line;
      operations[number++] = {.op = form.first.op,
                              .size = simple.size,
                              .arg = shifted & form.first.arg_mask,
                              .aux = form.first.aux,
                              .target = static_cast<std::int32_t>(target | (0 - std::uint32_t{simple.is_no_jump})),
                              .line = line,
                              .offset = offset};
      if (form.has_second) {
        operations[number++] = {.op = form.second.op,
                                .size = 0,
                                .arg = shifted & form.second.arg_mask,
                                .aux = form.second.aux,
                                .target = {},
                                .line = line,
                                .offset = offset};
      }
      offset = next;
    }
    if (number == code.size()) return;
    last_ = operations[number - 1].offset;
    code.set_size(number);
    reader_.seek(offset);
  }

  // Translates the next instruction, whether `simple_ops_` translates it or not. Returns false at the end of the
  // bytecode, and if the instruction is malformed.
  bool lower_next() {
    if (!reader_.next(raw_)) return false;
    last_ = raw_.offset;
    const std::int32_t begin = count();
    if (names_ < 0) map_.add(raw_.offset, begin);
    else map_.add_inner(raw_.offset, begin);
    for (std::uint32_t at = raw_.offset; at < raw_.at; at += 2) map_.add_inner(at + 2, begin);
    emitted_count_ = 0;
    const std::int32_t line = line_at(raw_.at);
    lower_one();
    emitted_[0].size = static_cast<std::uint8_t>(std::min(raw_.end - raw_.offset, size_max));
    for (Instruction& it : std::span(emitted_).first(emitted_count_)) {
      it.line = line, it.offset = raw_.offset;
      decoded_.instructions.push_back(it);
    }
    return error_.message.empty();
  }

  std::int32_t count() const { return static_cast<std::int32_t>(decoded_.instructions.size()); }
  std::int32_t line_at(std::uint32_t offset) const {
    return offset / 2 < positions_.size() ? positions_[offset / 2].line : -1;
  }

  void emit(Op op, std::uint32_t arg = 0, std::int32_t aux = 0, std::int32_t target = -1) {
    if (emitted_count_ == emitted_.size()) return fail("too many operations");
    emitted_[emitted_count_++] = {
        .op = op, .size = 0, .arg = static_cast<std::int32_t>(arg), .aux = aux, .target = target};
  }

  void emit_simple() {
    const SimpleOp& simple = simple_ops_[code_.bytecode[raw_.at]];
    const SimplePart& part = simple.form(raw_.arg).first;
    emit(part.op, raw_.arg >> simple.shift, part.aux);
  }

  void emit_jump(Op op, std::int32_t aux = 0) {
    if (names_ >= 0) return fail("KW_NAMES is not followed by its CALL");
    emit(op, 0, aux, static_cast<std::int32_t>(raw_.target));
  }

  // The functions for rare instructions are not inlined, so that `lower_one` needs no stack frame for frequent
  // instructions.
  [[gnu::noinline]] void fail(const char* message) { error_ = {message, raw_.offset}; }

  // If the next instruction has the opcode `opcode`, and no jump or handler leads to it, merges it into the current
  // instruction and returns true; otherwise returns false.
  [[gnu::noinline]] bool take_next(Opcode opcode) {
    if (reader_.opcode_at(raw_.end) != opcode) return false;
    if (targets_.empty()) targets_ = target_units(code_);
    if (targets_[raw_.end / 2]) return false;
    RawInstruction taken;
    if (!reader_.next(taken)) return false;
    raw_.end = taken.end;
    return true;
  }

  // Returns the index into localsplus for `arg`, which up to 3.10 counts only cell and free variables.
  [[gnu::noinline]] std::uint32_t cell(std::uint32_t arg) {
    if (!dialect_.cells_apart) return arg;
    if (arg >= code_.cellvars.size()) {
      return static_cast<std::uint32_t>(decoded_.first_free) +
             (arg - static_cast<std::uint32_t>(code_.cellvars.size()));
    }
    // A parameter that is also a cell has only one slot, that of the parameter.
    if (cell_slots_.empty()) {
      auto apart = static_cast<std::uint32_t>(decoded_.first_cell);
      for (const std::string& name : code_.cellvars) cell_slots_.push_back(cell_slot(name, apart));
    }
    return cell_slots_[arg];
  }

  std::uint32_t cell_slot(std::string_view name, std::uint32_t& apart) const {
    for (std::size_t i = 0; i < code_.varnames.size(); ++i) {
      if (decoded_.is_cell[i] && decoded_.localsplus[i] == name) return static_cast<std::uint32_t>(i);
    }
    return apart++;
  }

  void binary_op(BinaryOp op, bool in_place) { emit(Op::binary_op_, static_cast<std::uint32_t>(op), in_place); }
  void unary_op(UnaryOp op) { emit(Op::unary_op_, static_cast<std::uint32_t>(op)); }

  void rotate(std::uint32_t n) {
    if (n == 2) {
      emit(Op::swap_, 2);
    } else {
      emit(Op::rotate_, n);
    }
  }

  void compare() {
    std::uint32_t arg = raw_.arg;
    std::uint32_t op = arg >> dialect_.compare_shift;
    if (op < comparisons) {
      emit(Op::compare_op_, op, (arg & dialect_.compare_bool_bit) != 0);
    } else if (code_.version > Version{3, 8}) {
      fail("no such comparison");
    } else if (op < 8) {
      emit(Op::contains_op_, op - 6);
    } else if (op < 10) {
      emit(Op::is_op_, op - 8);
    } else if (op == 10) {
      emit(Op::check_exc_match_);
    } else {
      fail("no such comparison");
    }
  }

  void load_global() {
    if (!dialect_.global_null_bit) {
      emit(Op::load_global_, raw_.arg);
      return;
    }
    bool null = raw_.arg & 1;
    if (null && !dialect_.null_after) emit(Op::push_null_);
    emit(Op::load_global_, raw_.arg >> 1);
    if (null && dialect_.null_after) emit(Op::push_null_);
  }

  // Translates KW_NAMES (3.11 and 3.12): its argument is the index of the constant with the keyword names of the CALL
  // that follows.
  [[gnu::noinline]] void kw_names() {
    const std::vector<Constant>& constants = code_.constants;
    if (names_ >= 0 || raw_.arg >= constants.size() || constants[raw_.arg].kind != Constant::Kind::tuple ||
        constants[raw_.arg].items.empty()) {
      fail("KW_NAMES without names");
      return;
    }
    names_ = static_cast<std::int32_t>(raw_.arg);
  }

  void call() {
    if (names_ >= 0 && code_.constants[static_cast<std::size_t>(names_)].items.size() > raw_.arg) {
      fail("more keyword names than arguments");
      return;
    }
    emit(Op::call_, raw_.arg, names_);
    names_ = no_keyword_names;
  }

  void call_function_ex() {
    if (dialect_.null_for_no_dict) {
      emit(Op::call_function_ex_, 1, 3);
    } else {
      emit(Op::call_function_ex_, raw_.arg & 1, dialect_.null_beside_callable);
    }
  }

  // When the iterator is exhausted, FOR_ITER of 3.12 pops the iterator and skips END_FOR. FOR_ITER of 3.13 pops the
  // iterator and skips END_FOR and POP_TOP. FOR_ITER of 3.14 skips END_FOR and leaves the exhausted iterator to
  // POP_ITER. When the iterator is exhausted, the operation for_iter_ pushes an undefined item and skips nothing, so
  // that END_FOR and POP_TOP or POP_ITER remove the item and the iterator.
  void for_iter() {
    if (dialect_.end_for_skips == 0) {
      emit_jump(Op::for_iter_);
      return;
    }
    bool ends = reader_.opcode_at(raw_.target) == Opcode::END_FOR;
    if (dialect_.end_for_skips == 2) ends = ends && reader_.opcode_at(raw_.target + 2) == Opcode::POP_TOP;
    if (!ends) {
      fail("FOR_ITER does not lead to END_FOR");
      return;
    }
    emit_jump(Op::for_iter_, 1);
  }

  void end_for() {
    emit(Op::end_for_);
    if (code_.version == Version{3, 12}) emit(Op::pop_top_);
  }

  void binary_op_numbered() {
    std::uint32_t arg = raw_.arg;
    if (arg == binary_subscript && code_.version >= Version{3, 14}) {
      emit(Op::binary_subscr_);
    } else if (arg < 2 * binary_operators) {
      binary_op(static_cast<BinaryOp>(arg % binary_operators), arg >= binary_operators);
    } else {
      fail("no such operator");
    }
  }

  [[gnu::noinline]] void intrinsic_1() {
    const auto function = static_cast<Intrinsic1>(std::min<std::uint32_t>(raw_.arg, 255));
    const bool returns_none = function == Intrinsic1::print || function == Intrinsic1::import_star;
    if (function == Intrinsic1::unary_positive) return unary_op(UnaryOp::positive);
    if (returns_none && take_next(Opcode::POP_TOP)) {
      emit(function == Intrinsic1::print ? Op::print_expr_ : Op::import_star_);
      return;
    }
    if (function == Intrinsic1::list_to_tuple) emit(Op::list_to_tuple_);
    else if (function == Intrinsic1::async_gen_wrap) emit(Op::async_gen_wrap_);
    else emit(Op::intrinsic_1_, raw_.arg);
  }

  [[gnu::noinline]] void convert_value() {
    if (raw_.arg < 1 || raw_.arg > 3) {
      fail("no such conversion");
      return;
    }
    emit(take_next(Opcode::FORMAT_SIMPLE) ? Op::format_value_ : Op::convert_value_, raw_.arg);
  }

  [[gnu::noinline]] void load_common_constant() {
    constexpr std::uint32_t assertion_error = 0, none = 7, minus_one = 11;
    if (raw_.arg == assertion_error) {
      emit(Op::load_assertion_error_);
    } else if (raw_.arg >= none && raw_.arg < none + common_constants) {
      emit(Op::load_const_, static_cast<std::uint32_t>(code_.constants.size()) + raw_.arg - none);
    } else if (raw_.arg == minus_one) {
      emit(Op::load_int_, static_cast<std::uint32_t>(-1));
    } else {
      emit(Op::load_common_constant_, raw_.arg);
    }
  }

  void import_name() {
    if (!dialect_.import_flags) {
      emit(Op::import_name_, raw_.arg);
    } else {
      emit(Op::import_name_, raw_.arg >> 2, static_cast<std::int32_t>(raw_.arg & 3));
    }
  }

  // Emits the operations of `raw_`: the switch is a table of CPython's opcodes.
  void lower_one() {
    const std::uint32_t arg = raw_.arg, high = arg >> 4, low = arg & 15;
    switch (raw_.opcode) {
      // An instruction with one of the next opcodes, up to MAKE_FUNCTION, reaches the switch only if EXTENDED_ARG or
      // KW_NAMES precedes it, if it has no source position, or if the list of operations had no capacity left for
      // `lower_simple`.
#define SIMPLE(name, op) case Opcode::name:
#include "decode/simple.def"
      case Opcode::LOAD_ATTR:
      case Opcode::MAKE_FUNCTION: emit_simple(); break;

#define JUMP(name, op) \
  case Opcode::name: emit_jump(Op::op##_); break;
#define BINARY(suffix, op)                                             \
  case Opcode::BINARY_##suffix: binary_op(BinaryOp::op, false); break; \
  case Opcode::INPLACE_##suffix: binary_op(BinaryOp::op, true); break;
#define UNARY(name, op) \
  case Opcode::name: unary_op(UnaryOp::op); break;
#define UNPACK(name, kind) \
  case Opcode::name: emit(Op::build_unpack_, arg, kind); break;
#include "decode/simple.def"
      // NOT_TAKEN, PRECALL and GEN_START matter only to the interpreter and have no operation.
      case Opcode::NOT_TAKEN:
      case Opcode::PRECALL:
      case Opcode::GEN_START: break;

      case Opcode::DUP_TOP: emit(Op::copy_, 1); break;
      case Opcode::DUP_TOP_TWO:
        emit(Op::copy_, 2);
        emit(Op::copy_, 2);
        break;
      case Opcode::ROT_TWO: rotate(2); break;
      case Opcode::ROT_THREE: rotate(3); break;
      case Opcode::ROT_FOUR: rotate(4); break;
      case Opcode::ROT_N: rotate(arg); break;

      case Opcode::LOAD_FAST:
      case Opcode::LOAD_FAST_CHECK:
      case Opcode::LOAD_FAST_BORROW: emit(Op::load_fast_, arg); break;
      case Opcode::LOAD_FAST_LOAD_FAST:
      case Opcode::LOAD_FAST_BORROW_LOAD_FAST_BORROW:
        emit(Op::load_fast_, high);
        emit(Op::load_fast_, low);
        break;
      case Opcode::STORE_FAST_LOAD_FAST:
        emit(Op::store_fast_, high);
        emit(Op::load_fast_, low);
        break;
      case Opcode::STORE_FAST_STORE_FAST:
        emit(Op::store_fast_, high);
        emit(Op::store_fast_, low);
        break;
      case Opcode::LOAD_GLOBAL: load_global(); break;
      case Opcode::LOAD_CLOSURE: emit(Op::load_closure_, cell(arg)); break;
      case Opcode::LOAD_DEREF: emit(Op::load_deref_, cell(arg)); break;
      case Opcode::STORE_DEREF: emit(Op::store_deref_, cell(arg)); break;
      case Opcode::DELETE_DEREF: emit(Op::delete_deref_, cell(arg)); break;
      case Opcode::LOAD_CLASSDEREF: emit(Op::load_class_deref_, cell(arg)); break;
      case Opcode::LOAD_FROM_DICT_OR_DEREF: emit(Op::load_from_dict_or_deref_, cell(arg)); break;
      case Opcode::MAKE_CELL: emit(Op::make_cell_, cell(arg)); break;
      case Opcode::LOAD_COMMON_CONSTANT: load_common_constant(); break;
      case Opcode::LOAD_SUPER_ATTR: emit(Op::load_super_attr_, arg >> 2, static_cast<std::int32_t>(arg & 3)); break;

      case Opcode::BINARY_OP: binary_op_numbered(); break;
      case Opcode::COMPARE_OP: compare(); break;
      case Opcode::UNPACK_EX: emit(Op::unpack_ex_, arg & 0xff, static_cast<std::int32_t>(arg >> 8)); break;
      case Opcode::FORMAT_VALUE: emit(Op::format_value_, arg & 3, (arg & 4) != 0); break;
      case Opcode::CONVERT_VALUE: convert_value(); break;
      case Opcode::FORMAT_SIMPLE: emit(Op::format_value_); break;
      case Opcode::FORMAT_WITH_SPEC: emit(Op::format_value_, 0, 1); break;
      case Opcode::BUILD_INTERPOLATION:
        emit(Op::build_interpolation_, arg >> 2, static_cast<std::int32_t>(arg & 1));
        break;

      case Opcode::BEFORE_WITH: emit(Op::before_with_); break;
      case Opcode::BEFORE_ASYNC_WITH: emit(Op::before_async_with_); break;
      case Opcode::WITH_EXCEPT_START: emit(Op::with_except_start_, 0, dialect_.exit_with_self); break;

      case Opcode::KW_NAMES: kw_names(); break;
      case Opcode::CALL_METHOD:
      case Opcode::CALL: call(); break;
      case Opcode::CALL_FUNCTION_EX: call_function_ex(); break;
      case Opcode::CALL_INTRINSIC_1: intrinsic_1(); break;
      case Opcode::PREP_RERAISE_STAR:
        emit(Op::intrinsic_2_, static_cast<std::uint32_t>(Intrinsic2::prep_reraise_star));
        break;
      case Opcode::GET_ITER: emit(arg == iterates_to_yield ? Op::get_yield_from_iter_ : Op::get_iter_); break;
      case Opcode::FOR_ITER: for_iter(); break;
      case Opcode::IMPORT_NAME: import_name(); break;
      case Opcode::END_FOR: end_for(); break;
      case Opcode::END_ASYNC_FOR: emit(Op::end_async_for_); break;
      case Opcode::JUMP_IF_NOT_EXC_MATCH:
        emit(Op::check_exc_match_);
        emit_jump(Op::pop_jump_if_false_);
        break;
      case Opcode::RETURN_CONST:
        emit(Op::load_const_, arg);
        emit(Op::return_value_, 0, 1);
        break;

      case Opcode::none:
      case Opcode::CACHE:
      case Opcode::EXTENDED_ARG:
      case Opcode::ENTER_EXECUTOR:
      case Opcode::EXIT_INIT_CHECK:
      case Opcode::INTERPRETER_EXIT:
      case Opcode::RESERVED:
      case Opcode::TRACE_RECORD: fail("an opcode that code does not hold"); break;
    }
  }

  DecodedCode& decoded_;
  const CodeObject& code_;
  const std::span<const Position> positions_;
  const Dialect& dialect_;
  const bool loads_cells_;  // see loads_cells_as_locals
  const SimpleOps& simple_ops_;
  RawReader reader_;
  RawInstruction raw_;  // the instruction that `lower_next` is translating
  std::array<Instruction, 2> emitted_;  // the operations of `raw_`
  std::size_t emitted_count_ = 0;
  std::uint32_t last_ = 0;  // the offset of the last translated instruction
  OperationMap map_;
  std::vector<bool> targets_;  // true for code units that jumps or handlers lead to; empty until `take_next` needs it
  std::int32_t names_ = no_keyword_names;  // the argument of a KW_NAMES whose CALL has not been translated yet
  std::vector<std::uint32_t> cell_slots_;
  Error error_;
};

}  // namespace

Result<OperationMap> lower(DecodedCode& decoded) { return Lowering(decoded).run(); }

}  // namespace depyf
