#include "depyf/stack_map.h"

#include <algorithm>

#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "print/print.h"
#include "stack/expressions.h"
#include "support/table.h"

namespace depyf {
namespace {

constexpr std::size_t text_max = 4000;
constexpr std::uint8_t gen_start_310 = 129;

}  // namespace

// The decoded code and the results of the analysis, which keep references into each other.
struct StackMap::Parts {
  CodeObject code;
  Result<DecodedCode> decoded;
  std::unique_ptr<StackValues> values;
  std::unique_ptr<Expressions> expressions;
  std::string error;

  explicit Parts(const CodeObject& given) : code(given), decoded(decode(code)) {
    if (!decoded) {
      error = decoded.error().message + " at offset " + std::to_string(decoded.error().offset);
      return;
    }
    values = std::make_unique<StackValues>(*decoded);
    expressions = std::make_unique<Expressions>(*values);
    error = values->error();
  }

  // Returns the index of the operation that runs next if the interpreter is at `offset`, or -1 if no operation
  // follows. An offset inside an instruction stands for the instruction itself, and an instruction that the decoder
  // omits (PRECALL) stands for the next instruction.
  int at(std::uint32_t offset) const {
    if (!error.empty()) return -1;
    const Instructions& all = decoded->instructions;
    auto after = std::upper_bound(all.begin(), all.end(), offset,
                                  [](std::uint32_t value, const Instruction& it) { return value < it.offset; });
    int index = int(after - all.begin()) - 1;
    // If the decoder has lowered an instruction to several operations, the first of them is returned.
    while (index > 0 && all[index - 1].offset == all[index].offset) --index;
    if (index >= 0 && offset < all[index].offset + std::max<std::uint32_t>(2, all[index].size)) return index;
    const int next = int(after - all.begin());
    return next < int(all.size()) ? next : -1;
  }

  // True if the code is at the start of a generator of 3.10. In a generator of 3.10, the value that the first
  // resumption sent is on the stack until GEN_START, for which the decoder has no operation, pops it.
  bool starts_generator(std::uint32_t offset) const {
    return dialect_of(code.version).generator_start && offset == 0 && !code.bytecode.empty() &&
           code.bytecode[0] == gen_start_310;
  }
};

StackMap::StackMap(const CodeObject& code) : parts_(std::make_unique<Parts>(code)) {}
StackMap::~StackMap() = default;
StackMap::StackMap(StackMap&&) noexcept = default;
StackMap& StackMap::operator=(StackMap&&) noexcept = default;

const std::string& StackMap::error() const { return parts_->error; }

std::int32_t StackMap::depth(std::uint32_t offset) const {
  const int at = parts_->at(offset);
  if (at < 0) return -1;
  std::optional<MachineState> state = parts_->values->before(at);
  return state ? std::int32_t(state->stack.size()) + parts_->starts_generator(offset) : -1;
}

std::int32_t StackMap::pops(std::uint32_t offset) const {
  const int at = parts_->at(offset);
  if (at < 0) return 0;
  const StackEffect effect = stack_effect(parts_->decoded->instructions[at], parts_->code.version, false);
  return std::max(0, effect.pops);
}

std::vector<StackSlot> StackMap::slots(std::uint32_t offset) const {
  std::vector<StackSlot> result;
  const int at = parts_->at(offset);
  if (at < 0) return result;
  std::optional<MachineState> state = parts_->values->before(at);
  if (!state) return result;
  for (int id : state->stack) {
    const ValueExpression& value = parts_->expressions->of(id);
    StackSlot slot;
    slot.current = Expressions::is_current(value, *state);
    slot.kind = value.kind;
    const ast::Expr* expr = value.expr;
    // If evaluating the expression would no longer yield the value, the expression is replaced by the name of a local
    // that holds the value.
    if (!slot.current && !value.null()) {
      if (const ast::Expr* holder = parts_->expressions->holder(id, *state)) expr = holder, slot.current = true;
    }
    slot.expression = print_expr(expr, parts_->code.version);
    if (slot.expression.size() > text_max) slot.expression = "<...>", slot.current = false;
    const StackValue& made = parts_->values->value(id);
    if (made.kind == StackValue::Kind::made) slot.made_at = std::int32_t(parts_->values->code()[made.at].offset);
    result.push_back(std::move(slot));
  }
  // From 3.13 on, the decoder joins CONVERT_VALUE and the FORMAT_SIMPLE behind it to one operation. At the offset of a
  // FORMAT_SIMPLE behind a CONVERT_VALUE, the value has already been converted.
  const Instruction& next = parts_->decoded->instructions[at];
  const bool converted = next.op == Op::format_value_ && next.arg != 0 && offset > next.offset;
  if (converted && dialect_of(parts_->code.version).conversion_apart && !result.empty()) {
    StackSlot& top = result[result.size() - 1 - std::size_t(next.aux != 0 && result.size() > 1)];
    top.expression = "<" + top.expression + ", converted>", top.current = false, top.kind = StackSlot::Kind::internal;
  }
  if (parts_->starts_generator(offset)) {
    result.push_back({.expression = "<None, sent to start>", .kind = StackSlot::Kind::internal});
  }
  return result;
}

// Returns the entry of the exception table for `offset`; std::nullopt if no entry covers `offset`.
std::optional<ExceptionEntry> StackMap::handler(std::uint32_t offset) const {
  const int at = parts_->at(offset);
  if (at < 0) return std::nullopt;
  const DecodedCode& decoded = *parts_->decoded;
  auto offset_of = [&](int index) {
    return index < int(decoded.instructions.size()) ? decoded.instructions[index].offset
                                                    : std::uint32_t(parts_->code.bytecode.size());
  };
  if (dialect_of(parts_->code.version).exception_table) {
    for (const ExceptionEntry& entry : parts_->code.exceptions) {
      if (entry.start <= offset && offset < entry.end) return entry;
    }
    return std::nullopt;
  }
  // Up to 3.10, an entry is built from the innermost open block of the block stack, and covers the code around `offset`
  // in which the same block is open.
  auto open_at = [&](int index) -> std::optional<OpenBlock> {
    std::optional<MachineState> state = parts_->values->before(index);
    if (!state) return std::nullopt;
    for (std::size_t i = state->blocks.size(); i > 0; --i) {
      if (state->blocks[i - 1].handler >= 0) return state->blocks[i - 1];
    }
    return std::nullopt;
  };
  std::optional<OpenBlock> open = open_at(at);
  if (!open) return std::nullopt;
  int begin = at, end = at + 1;
  while (begin > 0 && open_at(begin - 1) == open) --begin;
  while (end < int(decoded.instructions.size()) && open_at(end) == open) ++end;
  return ExceptionEntry{offset_of(begin), offset_of(end), offset_of(open->handler), std::uint32_t(open->level), false};
}

}  // namespace depyf
