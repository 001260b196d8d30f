// A decoded code object: version-neutral instructions with resolved jump targets. The list of operations is in op.h,
// which only files that name an operation need to include.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "decode/operators.h"
#include "depyf/constant.h"
#include "depyf/position.h"
#include "support/plain_table.h"
#include "support/shared_flags.h"
#include "support/shared_table.h"
#include "support/table.h"

namespace depyf {

enum class Op : std::uint8_t;  // see op.h

// A set of operations: either some that are treated alike, or those that occur in a code object. A pass skips the
// search for a bytecode pattern if the set of a code object lacks an operation of the pattern.
class OpSet {
 public:
  constexpr OpSet() = default;
  constexpr OpSet(std::initializer_list<Op> ops) {
    for (Op op : ops) words_[word(op)] |= bit(op);
  }
  template <class Code>
  static OpSet of(const Code& code) {
    OpSet set;
    for (const auto& instruction : code) set.words_[word(instruction.op)] |= bit(instruction.op);
    return set;
  }
  constexpr void add(Op op) { words_[word(op)] |= bit(op); }
  template <std::same_as<Op>... Ops>
  constexpr bool has(Ops... ops) const {  // true if the set contains any of `ops`
    return ((words_[word(ops)] & bit(ops)) | ...) != 0;
  }

 private:
  static constexpr std::size_t word(Op op) { return static_cast<std::size_t>(op) / 64; }
  static constexpr std::uint64_t bit(Op op) { return std::uint64_t{1} << (static_cast<std::size_t>(op) % 64); }
  std::array<std::uint64_t, 4> words_{};
};

// The values of Intrinsic1 and Intrinsic2 are the numbers that CPython 3.12 and later use.
enum class Intrinsic1 : std::uint8_t {
  invalid,
  print,
  import_star,
  stopiteration_error,
  async_gen_wrap,
  unary_positive,
  list_to_tuple,
  typevar,
  paramspec,
  typevartuple,
  subscript_generic,
  typealias
};
enum class Intrinsic2 : std::uint8_t {
  invalid,
  prep_reraise_star,
  typevar_with_bound,
  typevar_with_constraints,
  set_function_type_params,
  set_typeparam_default
};

// The index of an instruction in the list that contains it.
using InstructionIndex = Index<struct InstructionKind>;

struct Instruction {
  Op op{};  // the default is nop_
  // The number of bytes from `offset` to the end of the last inline cache. If one CPython instruction was translated
  // into several operations, all but the first have size 0.
  std::uint8_t size = 2;
  Turned turned = Turned::unknown;  // of a conditional jump; `simplify_idioms` finds the value out
  // True for the JUMP_IF_TRUE_OR_POP behind `a` in `(a or b) or c`, if the parentheses are known from the exception
  // ranges.
  bool is_grouped = false;
  std::int32_t arg = 0;
  std::int32_t aux = 0;
  InstructionIndex target;  // the target of a jump, for_iter, send or setup_*
  std::int32_t line = -1;  // the line of the source, or -1 if the instruction has no line
  std::uint32_t offset = 0;  // the offset in bytes of the opcode, or of its first EXTENDED_ARG
};

// A list of instructions.
using Instructions = PlainTable<Instruction, InstructionIndex>;

struct ProtectedRange {  // the handler at `target` protects the instructions [begin, end)
  InstructionIndex begin = 0, end = 0, target = 0;
  std::int32_t depth = 0;
  bool lasti = false;
  bool called = false;  // 3.8: the handler is a finally clause, which CALL_FINALLY or BEGIN_FINALLY enters too
};

struct DecodedCode {
  const CodeObject* code = nullptr;
  // Copies of the fields of `code` that most stages need. The spans and `name` refer to memory of `code`.
  Version version;
  std::string_view name;
  std::span<const std::string> names;
  std::span<const Constant> constants;
  std::span<const Position> positions;
  // The last instruction never falls through: a `raise_` is appended to bytecode that runs off its end.
  Instructions instructions;
  // Names of fast locals, then of cells that are not locals, then of free variables. Copies of `localsplus` and
  // `is_cell` share their memory, because the bodies of inlined comprehensions have the variables of the function
  // around them.
  SharedTable<std::string_view> localsplus;
  SharedFlags is_cell;  // true for slots of `localsplus` that are cells or free variables, including parameters
  std::int32_t cell_count = 0, first_cell = 0, first_free = 0;
  Table<ProtectedRange> ranges;  // the entries of the exception table, in its order
  // True for the body of an inlined comprehension, which `outline_comprehensions` split off from `code`.
  bool is_comprehension = false;

  bool is_async_generator() const;
  bool has_fast_locals() const;
  bool is_class_body() const;
  // Sets `code` and the fields that are copied from it. The code object must not change after this call, because fields
  // refer to its memory.
  void set_code(const CodeObject& of);
  // Returns the constant that load_const_ with argument `index` loads: one of co_consts or, for the indices behind it
  // (from 3.15 on), a CommonConstant.
  const Constant& constant(std::int32_t index) const;
  std::int32_t constant_count() const;
};

// The objects that load_common_constant_ loads: functions and types that are independent of the names in the program.
// The values of CommonName are CPython's arguments of LOAD_COMMON_CONSTANT.
enum class CommonName : std::uint8_t { assertion_error, not_implemented_error, tuple, all, any, list, set };

// The constants that code of 3.15 and later loads by LOAD_COMMON_CONSTANT, without an entry in co_consts.
enum class CommonConstant : std::uint8_t { none, empty_string, true_, false_ };
constexpr std::int32_t common_constants = 4;

}  // namespace depyf
