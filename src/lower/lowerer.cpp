#include "lower/lowerer.h"

#include <algorithm>

#include "decode/op_info.h"
#include "dialect/dialect.h"

namespace depyf::lowering {

using namespace ast;

Lowerer::Lowerer(Shared& shared, Scope* scope, Lowerer* outer, const Header& header)
    : shared_(shared),
      dialect_(dialect_of(shared.version)),
      scope_(scope),
      outer_(outer),
      result_(std::make_shared<LoweredCode>()),
      code_(result_->decoded.instructions),
      wraps_stop_iteration_(dialect_.wrapped_stop_iteration && !header.is_lambda && scope->is_function_like() &&
                            (scope->is_generator || scope->is_coroutine)),
      iterates_(header.iterates) {
  CodeObject& code = result_->code;
  // An iterator is one value here, as it is in all versions but 3.15.
  code.version = std::clamp(shared.version, unwound_version, one_iterator_version);
  code.name = header.name;
  code.qualname = header.qualname;
  code.filename = shared.filename;
  result_->origin = header.origin;
  const bool function = scope->is_function_like();
  if (function) code.flags |= CodeObject::optimized | CodeObject::new_locals;
  if (function && scope->is_generator)
    code.flags |= scope->is_coroutine ? CodeObject::async_generator : CodeObject::generator;
  else if (function && scope->is_coroutine) code.flags |= CodeObject::coroutine;
  if (shared.annotations_are_text) code.flags |= CodeObject::future_annotations;
  if (const Arguments* args = header.args) {
    code.argcount = static_cast<std::int32_t>(args->posonly.size() + args->args.size());
    code.posonlyargcount = static_cast<std::int32_t>(args->posonly.size());
    code.kwonlyargcount = static_cast<std::int32_t>(args->kwonly.size());
    if (!args->vararg.name.empty()) code.flags |= CodeObject::varargs;
    if (!args->kwarg.name.empty()) code.flags |= CodeObject::varkeywords;
  } else {
    code.argcount = static_cast<std::int32_t>(scope->parameters.size());
    code.posonlyargcount = header.posonly;
  }
  if (header.docstring) {
    code.constants.push_back(*header.docstring);
    code.flags |= CodeObject::has_docstring;
  } else if (function) {
    code.constants.emplace_back();
  }
}

std::shared_ptr<LoweredCode> Lowerer::run(const std::function<void(Lowerer&)>& body) {
  shared_.tree.codes.push_back(result_);
  shared_.tree.by_code[&result_->code] = result_.get();
  try {
    start();
    body(*this);
    finish();
  } catch (const InternalError& failure) {
    result_->failure = failure.what;
    // Its closure is part of what the code around does, lowered or not.
    result_->code.freevars.assign(scope_->unit()->frees.begin(), scope_->unit()->frees.end());
  }
  return result_;
}

// Locals are laid out as CPython does: parameters first, cells with a slot of their own behind them, free variables last.
void Lowerer::start() {
  DecodedCode& decoded = result_->decoded;
  CodeObject& code = result_->code;
  decoded.code = &code;
  for (std::string_view name : scope_->parameters) {
    slots_[{scope_, name}] = static_cast<std::int32_t>(decoded.localsplus.size());
    // An annotation may use a name that the format has only for those who call.
    const bool format = name == ".format" && code.name == "__annotate__";
    const std::string_view shown = format ? "format" : name;
    code.varnames.emplace_back(shown);
    decoded.localsplus.push_back(shown);
    decoded.is_cell.push_back(scope_->cells.contains(name));
  }
  // The free variables come next here: the machine finds them by first_free, and other slots are added as they are met.
  code.freevars.assign(scope_->frees.begin(), scope_->frees.end());
  for (std::string_view name : scope_->parameters)
    if (scope_->cells.contains(name)) emit(Op::make_cell_, slots_.at({scope_, name}));
  for (std::string_view name : scope_->cells)
    if (!slots_.contains({scope_, name})) emit(Op::make_cell_, new_slot(scope_, name, true));
  if (!code.freevars.empty()) emit(Op::copy_free_vars_, static_cast<std::int32_t>(code.freevars.size()));
  if (iterates_) {
    emit(Op::load_fast_, slot(scope_, ".0"));
    emit(Op::get_iter_);
  }
  constexpr std::uint32_t suspends = CodeObject::generator | CodeObject::coroutine | CodeObject::async_generator;
  if (code.flags & suspends) {
    emit(Op::return_generator_);
    emit(Op::pop_top_);
  }
  if (wraps_stop_iteration_) handler_ = protect(label(), 0, true);
  emit(Op::resume_);
}

void Lowerer::finish() {
  DecodedCode& decoded = result_->decoded;
  CodeObject& code = result_->code;
  if (wraps_stop_iteration_) {
    handler_ = -1;
    place(handlers_[0].label);
    emit(Op::intrinsic_1_, static_cast<std::int32_t>(Intrinsic1::stopiteration_error));
    emit(Op::reraise_, 1);
  }
  for (Instruction& instruction : code_) {
    if (instruction.target < 0) continue;
    const std::int32_t at = label_at_[static_cast<std::size_t>(instruction.target)];
    if (at < 0) fail("a label that was not placed");
    instruction.target = at;
  }
  if (label_at_.size() > 0)
    for (std::int32_t at : label_at_)
      if (at >= static_cast<std::int32_t>(code_.size())) fail("a label behind the end");
  const std::int32_t count = static_cast<std::int32_t>(code_.size());
  for (std::int32_t begin = 0; begin < count;) {
    std::int32_t end = begin + 1;
    const int handler = handler_of_[static_cast<std::size_t>(begin)];
    while (end < count && handler_of_[static_cast<std::size_t>(end)] == handler) ++end;
    if (handler >= 0) {
      const Handler& it = handlers_[static_cast<std::size_t>(handler)];
      const std::int32_t target = label_at_[static_cast<std::size_t>(it.label)];
      if (target < 0) fail("a handler that was not placed");
      decoded.ranges.push_back({begin, end, target, it.depth, it.lasti, false});
    }
    begin = end;
  }
  code.stacksize = deepest_;
  decoded.first_free = static_cast<std::int32_t>(decoded.localsplus.size());
  for (const std::string& name : code.freevars) {
    decoded.localsplus.push_back(name);
    decoded.is_cell.push_back(true);
  }
  for (Instruction& instruction : code_)
    if (instruction.arg <= free_marker && uses_cell(instruction.op))
      instruction.arg = decoded.first_free + (free_marker - instruction.arg);
}

Instruction& Lowerer::emit(Op op, std::int32_t arg, std::int32_t aux) {
  take(sizeof(Instruction) + sizeof(int));
  Instruction instruction{.op = op, .size = 2, .arg = arg, .aux = aux};
  instruction.offset = static_cast<std::uint32_t>(2 * code_.size());
  const StackEffect effect = stack_effect(instruction, result_->code.version, false);
  depth_ += effect.pushes - effect.pops;
  deepest_ = std::max(deepest_, depth_ + 8);
  handler_of_.push_back(handler_);
  if (op == Op::return_value_ || op == Op::raise_ || op == Op::reraise_) reached_ = false;
  return code_.emplace_back(instruction);
}

void Lowerer::jump(Op op, Label label, std::int32_t aux) {
  Instruction& instruction = emit(op, 0, aux);
  const StackEffect fall = stack_effect(instruction, result_->code.version, false);
  const StackEffect effect = stack_effect(instruction, result_->code.version, true);
  instruction.target = label;
  const auto index = static_cast<std::size_t>(label);
  if (label_depth_[index] < 0) label_depth_[index] = depth_ - (fall.pushes - fall.pops) + effect.pushes - effect.pops;
  if (op == Op::jump_) reached_ = false;
}

Label Lowerer::label() {
  label_at_.push_back(-1);
  label_depth_.push_back(-1);
  return static_cast<Label>(label_at_.size() - 1);
}

void Lowerer::place(Label label) {
  const auto index = static_cast<std::size_t>(label);
  label_at_[index] = static_cast<std::int32_t>(code_.size());
  if (label_depth_[index] >= 0) depth_ = label_depth_[index];
  else label_depth_[index] = depth_;
  reached_ = true;
}

// `depth`: what lies below the exception in the handler.
int Lowerer::protect(Label handler, int depth, bool lasti) {
  handlers_.push_back({handler, depth, lasti});
  label_depth_[static_cast<std::size_t>(handler)] = depth + 1 + lasti;
  return static_cast<int>(handlers_.size()) - 1;
}

void Lowerer::take(std::size_t bytes) {
  shared_.bytes_left -= static_cast<std::int64_t>(bytes);
  if (shared_.bytes_left < 0) fail("more memory than the limit");
}

void Lowerer::take(const Constant& value) {
  take(sizeof(Constant) + value.text.size());
  for (const Constant& item : value.items) take(item);
}

std::int32_t Lowerer::constant(const Constant& value) {
  take(value);
  std::vector<Constant>& constants = result_->code.constants;
  constants.push_back(value);
  return static_cast<std::int32_t>(constants.size()) - 1;
}

std::int32_t Lowerer::name_index(std::string_view name) {
  auto [entry, fresh] = names_.try_emplace(name, static_cast<std::int32_t>(names_.size()));
  if (fresh) result_->code.names.emplace_back(name);
  return entry->second;
}

void Lowerer::load_none() { load(Constant{}); }

void Lowerer::load_string(std::string_view text) {
  Constant value;
  value.kind = Constant::Kind::string;
  value.text = text;
  load(value);
}

void Lowerer::load_integer(std::int64_t number) {
  Constant value;
  value.kind = Constant::Kind::integer;
  value.text = std::to_string(number);
  load(value);
}

// Takes the docstring from the start of a body; comments may stand above it.
const Constant* Lowerer::take_docstring(Block& body) {
  std::size_t at = 0;
  while (at < body.size() && is<Comment>(body[at])) ++at;
  auto* first = at < body.size() ? as<ExprStmt>(body[at]) : nullptr;
  const Constant* text = first ? constant_of(first->value, Constant::Kind::string) : nullptr;
  if (text) body = body.subspan(at + 1);
  return text;
}

void Lowerer::module(Block body) {
  deferred_annotations();
  conditional_annotations();
  if (scope_->has_annotations && (!dialect_.deferred_annotations || shared_.annotations_are_text))
    emit(Op::setup_annotations_);
  if (const Constant* text = take_docstring(body)) {
    load(*text);
    variable("__doc__", Access::store);
  }
  block(body);
  load_none();
  emit(Op::return_value_);
}

void Lowerer::block(Block body) {
  for (const Stmt* each : body) stmt(each);
}

}  // namespace depyf::lowering

namespace depyf {

namespace {

// True if the tree imports `annotations` from __future__, which only its first statements can.
bool imports_future_annotations(ast::Block body) {
  for (const ast::Stmt* stmt : body)
    if (auto* node = ast::as<ast::ImportFrom>(stmt); node && node->module == "__future__" && node->level == 0)
      for (const ast::Alias& alias : node->names)
        if (alias.name == "annotations") return true;
  return false;
}

}  // namespace

LoweredTree lower_tree(ast::Block body, const CodeObject& root, bool is_module, std::size_t most_bytes) {
  using namespace lowering;
  LoweredTree tree;
  const bool text = is_module ? imports_future_annotations(body) : (root.flags & CodeObject::future_annotations) != 0;
  SymbolTable symbols(root.version, text);
  Scope* scope = symbols.build(body);
  constexpr std::size_t most = std::size_t{1} << 40;
  Shared shared{root.version, text, root.filename,
                symbols,      tree, static_cast<std::int64_t>(std::min(most_bytes, most))};
  Header header{.name = "<module>", .qualname = "<module>", .origin = is_module ? &root : nullptr};
  Lowerer(shared, scope, nullptr, header).run([&](Lowerer& lowerer) { lowerer.module(body); });
  return tree;
}

}  // namespace depyf
