#include "lower/unit.h"

#include <algorithm>

#include "decode/op.h"
#include "lower/definitions.h"
#include "lower/lower.h"

namespace depyf::lowering {
using namespace ast;

// A StopIteration that leaves a generator is turned into an error by the generator's own code from 3.12 on.
Unit::Unit(Shared& of, Scope* scope, Unit* outer, const Header& header)
    : shared(of),
      dialect(dialect_of(of.version)),
      result_(std::make_shared<LoweredCode>()),
      code(*result_, of.supplies),
      names(scope, of.symbols, dialect, *result_, code),
      outer_(outer),
      wraps_stop_iteration_(dialect.wrapped_stop_iteration && !header.is_lambda && scope->is_function_like() &&
                            (scope->is_generator || scope->is_coroutine)),
      iterates_(header.iterates) {
  describe(scope, header);
}

const CodeObject& Unit::head() const { return result_->code; }

bool Unit::has_positional_parameters() const { return head().argcount != 0; }

bool Unit::is_async_generator() const { return (head().flags & CodeObject::async_generator) != 0; }

// Sets the fields that the prover compares with those of the original code object.
void Unit::describe(Scope* scope, const Header& header) {
  CodeObject& made = result_->code;
  // Code of every version is lowered to a form that has an exception table and keeps an iterator in one stack slot.
  made.version = std::clamp(shared.version, unwound_version, one_iterator_version);
  made.name = header.name;
  made.qualname = header.qualname;
  result_->origin = header.origin;
  const bool function = scope->is_function_like();
  if (function) made.flags |= CodeObject::optimized | CodeObject::new_locals;
  if (function && scope->is_generator)
    made.flags |= scope->is_coroutine ? CodeObject::async_generator : CodeObject::generator;
  else if (function && scope->is_coroutine) made.flags |= CodeObject::coroutine;
  if (shared.annotations_are_text) made.flags |= CodeObject::future_annotations;
  if (const Arguments* args = header.args) {
    made.argcount = static_cast<std::int32_t>(args->posonly.size() + args->args.size());
    made.posonlyargcount = static_cast<std::int32_t>(args->posonly.size());
    made.kwonlyargcount = static_cast<std::int32_t>(args->kwonly.size());
    if (!args->vararg.name.empty()) made.flags |= CodeObject::varargs;
    if (!args->kwarg.name.empty()) made.flags |= CodeObject::varkeywords;
  } else {
    made.argcount = static_cast<std::int32_t>(scope->parameters.size());
    made.posonlyargcount = header.posonly;
  }
  // The first constant is the docstring, or None in a function without one. The function for a part of a type parameter
  // has no such constant.
  if (header.docstring) {
    made.constants.push_back(*header.docstring);
    made.flags |= CodeObject::has_docstring;
  } else if (function && !header.is_evaluator) {
    made.constants.emplace_back();
  }
}

// A failure to lower one code object does not affect any other code object.
std::shared_ptr<LoweredCode> Unit::run(FunctionRef<void(Unit&)> body) {
  shared.tree.codes.push_back(result_);
  shared.tree.by_code[&result_->code] = result_.get();
  try {
    start();
    body(*this);
    finish();
  } catch (const InternalError& failure) {
    code.hand_over();
    result_->failure = failure.what;
    // The enclosing code creates the closure of this code object even if the lowering failed, so the free variables are
    // needed.
    const std::vector<std::string_view> free = names.scope->unit()->free_names();
    result_->code.freevars.assign(free.begin(), free.end());
  }
  result_->decoded.set_code(result_->code);
  return result_;
}

void Unit::start() {
  names.start();
  // A generator expression of 3.15 calls iter() before RETURN_GENERATOR, in the call that creates the generator.
  if (iterates_ != Op::nop_) {
    code.emit(Op::load_fast_, names.slot(names.scope, ".0"));
    code.emit(iterates_);
  }
  constexpr std::uint32_t suspends = CodeObject::generator | CodeObject::coroutine | CodeObject::async_generator;
  if (head().flags & suspends) {
    code.emit(Op::return_generator_);
    code.emit(Op::pop_top_);
  }
  if (wraps_stop_iteration_) code.handler = code.protect(stop_iteration_ = code.label(), 0, true);
  code.emit(Op::resume_);
}

// The intrinsic operation stopiteration_error turns a StopIteration into a RuntimeError.
void Unit::finish() {
  if (wraps_stop_iteration_) {
    code.handler = -1;
    code.place(stop_iteration_);
    code.emit(Op::intrinsic_1_, static_cast<std::int32_t>(Intrinsic1::stopiteration_error));
    code.emit(Op::reraise_, 1);
  }
  code.finish();
}

// As in CPython, only attributes of a variable called `self` are recorded, even if the first parameter has another
// name.
void Unit::store_to_self(const Attribute& target) {
  auto* owner = as<Name>(target.value);
  if (!dialect.class_details || !owner || owner->id != "self") return;
  for (Unit* around = this; around; around = around->outer_)
    if (around->names.scope->unit()->kind == ScopeKind::class_body) {
      around->static_attributes.insert(std::string(names.spelled(target.attr)));
      return;
    }
}

// The functions that evaluate type parameters, their bounds, and annotations do not appear in the qualified names of
// the definitions directly inside these functions. For example, 3.13 gives the qualified name `<generic parameters of
// B>.<lambda>`, without the function that evaluates the bound, to a lambda in the bound of T in `class B[T: ...]` at
// module level.
std::string Unit::qualified(std::string_view name, bool is_variable) const {
  const Unit* around = this;
  if (around->outer_ && around->names.scope->unit()->kind == ScopeKind::type_params) around = around->outer_;
  Scope* unit = around->names.scope->unit();
  if (unit->kind == ScopeKind::module) return std::string(name);
  if (is_variable && unit->home_of(shared.symbols.mangled(name, *around->names.scope)) == Home::global_explicit)
    return std::string(name);
  std::string text = around->result_->code.qualname;
  text += unit->kind == ScopeKind::function && !unit->is_comprehension ? ".<locals>." : ".";
  text += name;
  return text;
}

// The lowered code is stored in the scope, because the passes in structure/ may have copied a node to several places of
// the tree.
const std::shared_ptr<LoweredCode>& Unit::nested(const void* node, const Header& header,
                                                 FunctionRef<void(Unit&)> body) {
  Scope* scope = names.scope->children.at(node);
  if (!scope->code) scope->code = Unit(shared, scope, this, header).run(body);
  return scope->code;
}

// Emits the tuple of cells, the code object and MAKE_FUNCTION.
void Unit::make_function(const std::shared_ptr<LoweredCode>& function, int flags) {
  const std::vector<std::string>& free = function->code.freevars;
  if (!free.empty()) {
    for (std::string_view name : free) code.emit(Op::load_closure_, names.cell_slot(names.scope, name));
    code.emit(Op::build_tuple_, static_cast<std::int32_t>(free.size()));
    flags |= with_closure;
  }
  Constant value;
  value.kind = Constant::Kind::code;
  value.code = std::shared_ptr<const CodeObject>(function, &function->code);
  code.load(std::move(value));
  code.emit(Op::make_function_, flags, 0);
}

}  // namespace depyf::lowering
