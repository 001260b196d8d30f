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
#include "support/shared_table.h"
#include "support/table.h"

namespace depyf {

enum class Op : std::uint8_t;  // see op.h

// A set of operations, either some that are treated alike, or those that occur in some code. A pass can check the
// latter before it searches all instructions for a shape that cannot be there.
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
  constexpr bool has(Ops... ops) const {  // one of them
    return ((words_[word(ops)] & bit(ops)) | ...) != 0;
  }

 private:
  static constexpr std::size_t word(Op op) { return static_cast<std::size_t>(op) / 64; }
  static constexpr std::uint64_t bit(Op op) { return std::uint64_t{1} << (static_cast<std::size_t>(op) % 64); }
  std::array<std::uint64_t, 4> words_{};
};

// The numbers are those of CPython 3.12 and later.
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

// The number of an instruction in its list.
using InstructionIndex = Index<struct InstructionKind>;

struct Instruction {
  Op op{};  // nop_
  std::uint8_t size =
      2;  // bytes from this offset to the end of its last cache; 0 for all but the first of those lowered from one
  Turned turned = Turned::unknown;  // of a conditional jump, set by `simplify_idioms`
  // Of a jump that keeps its value: true for the jump behind `a` in `(a or b) or c`, if regions show the brackets.
  bool is_grouped = false;
  std::int32_t arg = 0;
  std::int32_t aux = 0;
  InstructionIndex target;  // of a jump, for_iter, send or setup_*
  std::int32_t line = -1;  // of the source
  std::uint32_t offset = 0;  // in bytes, of the first EXTENDED_ARG if there is one
};

struct ProtectedRange {  // of instructions [begin, end)
  InstructionIndex begin = 0, end = 0, target = 0;
  std::int32_t depth = 0;
  bool lasti = false;
  bool called = false;  // 3.8: the handler is a finally clause, and the ways out of the range call it
};

struct DecodedCode {
  const CodeObject* code = nullptr;
  // The fields of `code` that most readers need. The spans are views of it.
  Version version;
  std::string_view name;
  std::span<const std::string> names;
  std::span<const Constant> constants;
  std::span<const Position> positions;
  Table<Instruction, InstructionIndex>
      instructions;  // ends in one that does not fall through: where bytecode runs off its end, a raise
  // Names of fast locals, then cells that are no locals, then free variables. Both tables are shared, because the bodies
  // of all comprehensions of a function have its variables.
  SharedTable<std::string_view> localsplus;
  SharedTable<bool> is_cell;  // one an entry of localsplus: a cell or free variable, arguments among them
  std::int32_t cell_count = 0, first_cell = 0, first_free = 0;
  Table<ProtectedRange> ranges;  // of the exception table, in its order
  bool is_comprehension =
      false;  // the body of an inlined comprehension, which `outline_comprehensions` took out of `code`

  bool is_async_generator() const;
  bool has_fast_locals() const;
  bool is_class_body() const;
  // Sets `code` and the fields that repeat it. The code object must not change afterwards.
  void set_code(const CodeObject& of);
  // Returns a constant that load_const_ may load: one of the code's constants or, from 3.15 on, one that all code
  // shares.
  const Constant& constant(std::int32_t index) const;
  std::int32_t constant_count() const;
};

// The objects that load_common_constant_ loads: functions and types that are independent of the names in the program.
// The numbers are CPython's.
enum class CommonName : std::uint8_t { assertion_error, not_implemented_error, tuple, all, any, list, set };

// The constants that all code of 3.15 and later shares.
enum class CommonConstant : std::uint8_t { none, empty_string, true_, false_ };
constexpr std::int32_t common_constants = 4;

}  // namespace depyf
