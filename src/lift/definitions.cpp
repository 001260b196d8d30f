// Lifts functions and classes. MAKE_FUNCTION and the call of __build_class__ leave a value on the stack, and a store
// binds the value to a name.
//
//   `(1,); <code f>; MAKE_FUNCTION 1; STORE f` is `def f(a=1)`.
//   `<code f>; MAKE_FUNCTION; (1,); SET_FUNCTION_ATTRIBUTE 1; STORE f` is `def f(a=1)` from 3.13 on.
//   `d; <code f>; MAKE_FUNCTION; CALL 0; STORE f` is `def f()` with the decorator `@d`.
//   `LOAD_BUILD_CLASS; <code C>; MAKE_FUNCTION; 'C'; B; CALL 3; STORE C` is `class C(B)`.
//   `<code "<lambda>">; MAKE_FUNCTION` is a lambda expression.
//
// If an expression contains a class, or a function that is no lambda expression, the definition of the class or
// function is emitted in front of the statement with this expression, and the expression contains only the name of the
// class or function.
#include <algorithm>

#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "lift/annotations.h"
#include "lift/definitions.h"
#include "lift/generics.h"
#include "lift/operations.h"
#include "support/identifier_bytes.h"
#include "support/keywords.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// Pairs of the name of a parameter and its annotation; the annotation of the result has the name `return`.
using Annotations = Table<std::pair<std::string_view, Expr*>>;

// Collects the items of a tuple display or of a constant tuple. Returns false if `expr` is neither a constant tuple nor
// a tuple display without a starred item.
bool items_of(Context& context, Expr* expr, Table<Expr*>& items) {
  if (auto* tuple = as<Tuple>(expr)) {
    items.assign(tuple->elts.begin(), tuple->elts.end());
    return std::none_of(items.begin(), items.end(), [](Expr* item) { return is<Starred>(item); });
  }
  if (auto* constant = constant_of(expr, Constant::Kind::tuple)) {
    for (const Constant& item : constant->items) items.push_back(context.expr(ConstantExpr{&item}));
    return true;
  }
  return false;
}

// The source lines of the items of a folded constant tuple: unknown, the line of the keyword `def`, or other lines.
enum class ItemLines : std::uint8_t { unknown, of_keyword, own };

// Sets the positions of the items of a constant tuple, or of every second item if `step` is 2, to their positions in
// the source. The compiler folds a display of constants to one constant, but leaves a NOP with the position of each
// item that is on another line than the instructions around it. For example, if `a=1` and `b=2` are on separate lines,
// `def f(a=1, b=2)` starts with a NOP at the position of 1, a NOP at the position of 2, and LOAD_CONST (1, 2) at the
// position of `def`.
ItemLines place_items(const Cursor& cursor, const Expr* tuple, Table<Expr*>& items, int step) {
  const std::span<const Position> positions = cursor.decoded.positions;
  if (!dialect_of(cursor.decoded.version).columns || !constant_of(tuple, Constant::Kind::tuple) || items.empty())
    return ItemLines::unknown;
  int at = cursor.at;
  while (at > 0 && cursor.code[at].offset > tuple->offset) --at;
  if (cursor.code[at].offset != tuple->offset || tuple->offset / 2 >= positions.size()) return ItemLines::unknown;
  const Position& whole = positions[tuple->offset / 2];
  Table<const Instruction*> marks;
  for (--at; at >= 0 && cursor.code[at].op == Op::nop_ && cursor.code[at].offset / 2 < positions.size(); --at) {
    const Position& position = positions[cursor.code[at].offset / 2];
    if (position.line < whole.line || position.line > whole.end_line) break;
    // In a tuple of parameter names and annotations, a NOP for a name has the position of the whole definition, and is
    // skipped.
    if (position.line > whole.line) marks.push_back(&cursor.code[at]);
  }
  if (marks.empty()) return ItemLines::of_keyword;
  if (marks.size() * std::size_t(step) != items.size()) return ItemLines::unknown;
  std::size_t end = items.size();
  for (const Instruction* mark : marks) {
    items[end - 1]->offset = mark->offset, items[end - 1]->line = mark->line;
    end -= std::size_t(step);
  }
  return ItemLines::own;
}

// Returns the annotation of the parameter `name`; null if the parameter has no annotation.
Expr* annotation_of(const Table<std::pair<std::string_view, Expr*>>& annotations, std::string_view name) {
  auto found = std::ranges::find(annotations, name, [](const auto& entry) { return entry.first; });
  return found == annotations.end() ? nullptr : found->second;
}

// Returns the annotations of a function. With `from __future__ import annotations`, annotations are strings of source
// code.
Annotations annotations_of(Context& context, const Cursor& cursor, const FunctionValue& function, ItemLines& lines) {
  Annotations found;
  if (!function.annotations) return found;
  const bool as_text = (function.code->flags & CodeObject::future_annotations) != 0;
  auto add = [&](const Expr* key, Expr* value) {
    if (auto* name = constant_of(key, Constant::Kind::string))
      found.push_back({name->text, as_text ? context.annotation(value) : value});
  };
  Table<Expr*> items;
  if (auto* dict = as<Dict>(function.annotations))
    for (std::size_t index = 0; index < dict->keys.size(); ++index) add(dict->keys[index], dict->values[index]);
  // If the tuple of names and annotations is not constant, the annotation of `*args: *Ts` in it is a starred item.
  else if (auto* tuple = as<Tuple>(function.annotations))
    for (std::size_t index = 0; index + 1 < tuple->elts.size(); index += 2)
      add(tuple->elts[index], tuple->elts[index + 1]);
  else if (items_of(context, function.annotations, items)) {
    lines = place_items(cursor, function.annotations, items, 2);
    for (std::size_t index = 0; index + 1 < items.size(); index += 2) add(items[index], items[index + 1]);
  } else {
    cursor.fail("annotations of a function are no display");
  }
  return found;
}

// Returns the parameters of a function with their annotations and defaults.
const Arguments* arguments(Context& context, const Cursor& cursor, const FunctionValue& function,
                           const Annotations& annotations, ItemLines& lines) {
  const CodeObject& code = *function.code;
  if (code.argument_count() > std::int64_t(code.varnames.size())) cursor.fail("fewer names than arguments");
  Arguments* args = parameters_of(context, code);
  if (!annotations.empty()) {
    for (List<Arg> list : {args->posonly, args->args, args->kwonly})
      for (Arg& arg : list) arg.annotation = annotation_of(annotations, arg.name);
    for (Arg* arg : {&args->vararg, &args->kwarg})
      if (!arg->name.empty()) arg->annotation = annotation_of(annotations, arg->name);
  }
  Table<Expr*> defaults;
  if (function.defaults &&
      (!items_of(context, function.defaults, defaults) || defaults.size() > args->posonly.size() + args->args.size()))
    cursor.fail("defaults of a function are no tuple");
  if (function.defaults) lines = place_items(cursor, function.defaults, defaults, 1);
  if (function.kw_defaults) {
    auto* dict = as<Dict>(function.kw_defaults);
    if (!dict) cursor.fail("defaults of keyword-only arguments are no display");
    for (std::size_t index = 0; index < dict->keys.size(); ++index) {
      auto* name = dict->keys[index] ? constant_of(dict->keys[index], Constant::Kind::string) : nullptr;
      for (std::size_t slot = 0; slot < args->kwonly.size(); ++slot)
        if (name && args->kwonly[slot].name == name->text) args->kw_defaults[slot] = dict->values[index];
    }
  }
  args->defaults = context.arena.copy(defaults);
  return args;
}

// Turns `expr` into a lambda expression. Returns false, and does not change `expr`, if the body of `function` is not a
// single expression.
bool make_lambda(Context& context, const Cursor& cursor, Expr* expr, const FunctionValue& function) {
  ItemLines of_annotations = ItemLines::unknown, of_defaults = ItemLines::unknown;
  const Annotations annotations = annotations_of(context, cursor, function, of_annotations);
  const Arguments* args = arguments(context, cursor, function, annotations, of_defaults);
  Body body = build(context, function);
  bool generator = (function.code->flags & (CodeObject::generator | CodeObject::async_generator)) != 0;
  Expr* value = as_expression(context, body.block, generator);
  if (!value) return false;
  expr->node = Lambda{args, value, function.code};
  return true;
}

}  // namespace

bool is_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return has_identifier_bytes<true>(text) && !is_keyword(text);
}

bool is_function(const Context& context, const Expr* expr) {
  auto* internal = as<Internal>(expr);
  if (!internal || internal->marker != Marker::function) return false;
  const std::string& name = context.functions[internal->index].code->name;
  return !name.empty() && name[0] != '<' && is_name(name);
}

bool is_class(const Expr* expr) {
  auto* call = as<Call>(expr);
  if (!call) return false;
  auto* internal = as<Internal>(call->func);
  return internal && internal->marker == Marker::build_class;
}

// Handles MAKE_FUNCTION. The bits of the argument of MAKE_FUNCTION state which attributes are on the stack below the
// code: 1 defaults, 2 keyword defaults, 4 annotations, 8 closure. The closure is ignored, because the variables in the
// body of the function determine the closure.
void make_function(Simulation& sim, const Instruction& instruction) {
  if (instruction.aux == 1) sim.pop();  // the qualified name
  Expr* code = sim.pop();
  auto* internal = as<Internal>(code);
  if (!internal || internal->marker != Marker::code) sim.cursor.fail("a function without constant code");
  FunctionValue function;
  function.code = sim.cursor.decoded.constants[std::size_t(internal->index)].code.get();
  function.name = function.code->name;
  function.constant = std::uint32_t(internal->index);
  if (instruction.arg & 8) sim.pop();
  if (instruction.arg & 4) function.annotations = sim.pop();
  if (instruction.arg & 2) function.kw_defaults = sim.pop();
  if (instruction.arg & 1) function.defaults = sim.pop();
  sim.context.functions.push_back(function);
  sim.push(Internal{Marker::function, int(sim.context.functions.size()) - 1, nullptr});
}

// Handles SET_FUNCTION_ATTRIBUTE (3.13 and later), whose argument is one of the bits of MAKE_FUNCTION, or 16 for the
// __annotate__ function.
void set_function_attribute(Simulation& sim, int which) {
  Expr *function = sim.pop(), *value = sim.pop();
  auto* internal = as<Internal>(function);
  if (!internal || internal->marker != Marker::function) sim.cursor.fail("attribute of no function");
  // `info` is a copy, because `annotate` adds functions and may thereby reallocate `context.functions`.
  FunctionValue info = sim.context.functions[internal->index];
  if (which == 1) info.defaults = value;
  else if (which == 2) info.kw_defaults = value;
  else if (which == 4) info.annotations = value;
  else if (which == 16) annotate(sim.context, sim.cursor, info, value);
  else if (which != 8) sim.cursor.fail("an attribute that no function has");
  sim.context.functions[internal->index] = info;
  sim.push(function);
}

// During the call of `context.build`, `context.path` consists of the indices of the constants that lead to the nested
// code object; differences and dumps use the path.
Body build(Context& context, const FunctionValue& function) {
  const std::size_t depth = context.path.size();
  if (function.within >= 0) context.path.push_back(std::uint32_t(function.within));
  context.path.push_back(function.constant);
  Body body = context.build(context, *function.code);
  context.path.resize(depth);
  return body;
}

namespace {

// Returns the body of a definition of the kind `kind`. The body is checked as soon as it is built, while its statements
// are still in the caches of the processor. The tree of a whole module does not fit into these caches.
Body body_of_definition(Context& context, const FunctionValue& function, CheckedAs kind) {
  Body body = build(context, function);
  context.check(context, body, *function.code, kind);
  return body;
}

}  // namespace

Stmt* function_def(Context& context, const Cursor& cursor, const FunctionValue& function, std::string_view name,
                   Table<Expr*> decorators) {
  const CodeObject& code = *function.code;
  ItemLines of_annotations = ItemLines::unknown, of_defaults = ItemLines::unknown;
  const Annotations annotations = annotations_of(context, cursor, function, of_annotations);
  const Arguments* args = arguments(context, cursor, function, annotations, of_defaults);
  // Up to 3.11, the compiler leaves no NOP for an annotation on another line, so a missing NOP does not show that the
  // definition is on one line.
  const bool is_one_line = (of_annotations == ItemLines::of_keyword && dialect_of(code.version).fstring_positions) ||
                           (of_defaults == ItemLines::of_keyword && of_annotations != ItemLines::own);
  const Body body = body_of_definition(context, function, CheckedAs::function);
  bool async = (code.flags & (CodeObject::coroutine | CodeObject::async_generator)) != 0;
  return context.stmt(
      FunctionDef{name, args, body.block, context.arena.copy(decorators), annotation_of(annotations, "return"), async,
                  function.type_params, &code, -1, is_one_line, body.checked_as == CheckedAs::function},
      cursor.first_offset, code.firstlineno);
}

Stmt* class_def(Context& context, const Cursor& cursor, const Call& call, std::string_view name,
                Table<Expr*> decorators) {
  if (call.args.size() < 2) return nullptr;
  auto* internal = as<Internal>(call.args[0]);
  if (!internal || internal->marker != Marker::function) return nullptr;
  const FunctionValue function = context.functions[internal->index];
  const Body body = body_of_definition(context, function, CheckedAs::class_body);
  // The first two arguments of __build_class__ are the function of the class body and the name of the class.
  // `.generic_base` is a base that the compiler adds to a class with type parameters.
  Table<Expr*> bases(call.args.begin() + 2, call.args.end());
  std::erase_if(bases, [](const Expr* base) {
    auto* marker = as<Internal>(base);
    return marker && marker->marker == Marker::generic_base;
  });
  return context.stmt(
      ClassDef{name, context.arena.copy(bases), call.keywords, body.block, context.arena.copy(decorators),
               function.type_params, function.code, -1, body.checked_as == CheckedAs::class_body},
      cursor.first_offset, function.code->firstlineno);
}

// Returns the body of a lambda as one expression; null if the body contains statements that no expression can replace.
// Structuring may have turned a conditional expression into an `if` with returns.
Expr* as_expression(Context& context, Block block, bool generator) {
  if (block.empty()) return context.none();
  Stmt* first = block[0];
  if (auto* leave = as<Return>(first)) return leave->value ? leave->value : context.none();
  if (auto* branch = as<If>(first)) {
    Block rest = block.subspan(1);
    // `y if x or True else z` tests x, and evaluates y in either case.
    if (branch->body.size() == 1 && is<Pass>(branch->body[0]) && branch->orelse.empty()) {
      Expr* value = as_expression(context, rest, generator);
      if (!value) return nullptr;
      Expr* always = context.constant(Constant::Kind::true_);
      Expr* test = context.expr(BoolOp{true, context.list({branch->test, always})});
      return context.expr(IfExp{test, value, context.none()}, first->offset, first->line);
    }
    Expr* body = as_expression(context, branch->body, generator);
    Expr* orelse = as_expression(context, branch->orelse.empty() ? rest : branch->orelse, generator);
    if (!body || !orelse || (!branch->orelse.empty() && !rest.empty())) return nullptr;
    if (branch->body.empty()) return nullptr;
    return context.expr(IfExp{branch->test, body, orelse}, first->offset, first->line);
  }
  // A generator function whose body is one `yield` is `lambda: (yield x)`.
  if (auto* only = as<ExprStmt>(first); only && generator && block.size() == 1) return only->value;
  if (auto* only = as<ExprStmt>(first); only && generator && block.size() == 2)
    if (auto* leave = as<Return>(block[1]); leave && (!leave->value || is_none(leave->value))) return only->value;
  return nullptr;
}

// The definition of `expr` is emitted in front of the current statement. A lambda whose body is one expression stays a
// lambda expression.
void hoist(Simulation& sim, Expr* expr) {
  if (is_class(expr)) {
    const Call call = *as<Call>(expr);
    auto* text = call.args.size() > 1 ? constant_of(call.args[1], Constant::Kind::string) : nullptr;
    std::string_view id = text && is_name(text->text) ? std::string_view(text->text) : sim.names.fresh_name();
    Stmt* made = class_def(sim.context, sim.cursor, call, id, {});
    // If a call of __build_class__ does not have the form that the compiler emits, the source contains the call itself.
    if (!made) {
      sim.mark_builtin("__build_class__", expr->offset);
      as<Call>(expr)->func = sim.context.name("__build_class__");
      if (auto* body = call.args.empty() ? nullptr : as<Internal>(call.args[0]);
          body && body->marker == Marker::function)
        hoist(sim, call.args[0]);
      return;
    }
    *expr = Expr{Name{id}, expr->offset, expr->line};
    sim.emit_raw(made);
    return;
  }
  auto* internal = as<Internal>(expr);
  if (internal->marker == Marker::type_alias) {
    Expr* name = sim.context.name(sim.context.type_aliases[internal->index].name);
    sim.emit_raw(type_alias(sim.context, sim.cursor, internal->index, name));
    *expr = Expr{name->node, expr->offset, expr->line};
    return;
  }
  const FunctionValue function = sim.context.functions[internal->index];
  if (function.code->name == "<lambda>" && make_lambda(sim.context, sim.cursor, expr, function)) {
    sim.settle(expr);
    return;
  }
  std::string_view id = function.code->name;
  // If the code uses the name of the function already, the function is defined under the name of a temporary, so that
  // the definition overwrites no variable.
  bool taken = !is_function(sim.context, expr);
  for (std::string_view name : sim.cursor.decoded.localsplus) taken |= name == id;
  for (std::string_view name : sim.cursor.decoded.names) taken |= name == id;
  if (taken) id = sim.names.fresh_name();
  else id = sim.context.arena.copy(id);
  sim.names.note(id);
  Stmt* made = function_def(sim.context, sim.cursor, function, id, {});
  as<FunctionDef>(made)->body = spell_out_comprehension(sim.context, function.name, as<FunctionDef>(made)->body);
  // The defaults are evaluated in front of the current statement, because the definition of the function is emitted
  // there.
  for (Expr** part :
       {&sim.context.functions[internal->index].defaults, &sim.context.functions[internal->index].kw_defaults})
    if (*part) sim.settle(*part);
  *expr = Expr{Name{id}, expr->offset, expr->line};
  sim.emit_raw(made);
}

}  // namespace depyf::lifting
