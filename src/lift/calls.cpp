// Calls, and the functions, lambdas, classes and comprehensions that calls and MAKE_FUNCTION make.
#include <algorithm>
#include <functional>

#include "lift/lifter.h"
#include "support/keywords.h"

namespace depyf {
using namespace ast;

bool Lifter::is_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return ascii_identifier_parts[c] || c >= 0x80; }) &&
         !is_keyword(text);
}

bool Lifter::is_function(const Expr* expr) const {
  auto* internal = as<Internal>(expr);
  if (!internal || internal->marker != Marker::function) return false;
  const std::string& name = context_.functions[internal->index].code->name;
  return !name.empty() && name[0] != '<' && is_name(name);
}

bool Lifter::is_class(const Expr* expr) const {
  auto* call = as<Call>(expr);
  if (!call) return false;
  auto* internal = as<Internal>(call->func);
  return internal && internal->marker == Marker::build_class;
}

bool Lifter::call(const Instruction& instruction) {
  const int arg = instruction.arg;
  auto keywords_of = [&](const Constant& names, std::vector<Expr*>& args) {
    std::vector<Keyword> keywords;
    std::size_t count = names.items.size();
    if (count > args.size()) fail("more keyword names than arguments");
    bool plain = true;
    for (const Constant& name : names.items) plain &= name.kind == Constant::Kind::string && is_name(name.text);
    std::vector<Expr*> keys, values;
    for (std::size_t index = 0; index < count; ++index) {
      Expr* value = args[args.size() - count + index];
      if (plain) keywords.push_back({names.items[index].text, value});
      else keys.push_back(make(ConstantExpr{&names.items[index]})), values.push_back(value);
    }
    if (!plain) keywords.push_back({"", make(Dict{context_.arena.copy(keys), context_.arena.copy(values)})});
    args.resize(args.size() - count);
    return keywords;
  };
  switch (instruction.op) {
    case Op::call_:
    case Op::call_kw_: {
      const Constant* names = nullptr;
      if (instruction.op == Op::call_kw_) {
        names = constant_of(pop(), Constant::Kind::tuple);
        if (!names) fail("keyword names are no tuple");
      } else if (instruction.aux >= 0) {
        if (instruction.aux >= int(decoded_.code->constants.size())) fail("no such constant");
        names = &decoded_.code->constants[instruction.aux];
      }
      std::vector<Expr*> args = pop_many(arg);
      std::vector<Keyword> keywords;
      if (names) keywords = keywords_of(*names, args);
      Expr *second = pop(), *first = pop();
      auto null = [](Expr* e) {
        auto* internal = as<Internal>(e);
        return internal && internal->marker == Marker::null;
      };
      Expr* function = null(first) ? second : first;
      if (!null(first) && !null(second)) args.insert(args.begin(), second);
      if (null(function)) fail("call of NULL");
      finish_call(function, std::move(args), std::move(keywords));
      return true;
    }
    case Op::call_function_:
    case Op::call_function_kw_: {
      const Constant* names = nullptr;
      if (instruction.op == Op::call_function_kw_ && !(names = constant_of(pop(), Constant::Kind::tuple)))
        fail("keyword names are no tuple");
      std::vector<Expr*> args = pop_many(arg);
      std::vector<Keyword> keywords;
      if (names) keywords = keywords_of(*names, args);
      Expr* function = pop();
      finish_call(function, std::move(args), std::move(keywords));
      return true;
    }
    case Op::call_function_ex_: call_ex(instruction); return true;
    case Op::make_function_: make_function(instruction); return true;
    case Op::set_function_attribute_: {
      Expr* value;
      // value, function
      Expr* function = pop();
      value = pop();
      auto* internal = as<Internal>(function);
      if (!internal || internal->marker != Marker::function) fail("attribute of no function");
      FunctionValue info = context_.functions[internal->index];  // `annotate` makes others
      if (arg == 1) info.defaults = value;
      else if (arg == 2) info.kw_defaults = value;
      else if (arg == 4) info.annotations = value;
      else if (arg == 16) annotate(info, value);
      else if (arg != 8) fail("an attribute that no function has");
      context_.functions[internal->index] = info;
      push(function);
      return true;
    }
    case Op::comprehension_: inlined_comprehension(instruction); return true;
    case Op::load_build_class_: push(Internal{Marker::build_class, 0, nullptr}); return true;
    case Op::load_super_attr_: {
      Expr *self = pop(), *cls = pop(), *super = pop();
      bool given = (instruction.aux & 2) != 0;
      Expr* made = make(Call{super, given ? context_.list({cls, self}) : List<Expr*>{}, {}});
      push(Attribute{made, name_of(arg)});
      if (instruction.aux & 1) push(Internal{Marker::null, 1, nullptr});
      return true;
    }
    default: return false;
  }
}

void Lifter::finish_call(Expr* function, std::vector<Expr*> args, std::vector<Keyword> keywords) {
  if (auto* internal = as<Internal>(function)) {
    if (internal->marker == Marker::with_exit && args.size() == 3 && std::all_of(args.begin(), args.end(), is_none)) {
      emit(InternalStmt{StmtMarker::with_exit, internal->index, nullptr, nullptr});
      return push(Internal{Marker::with_exit, internal->index, nullptr});
    }
    if (is_generic(function)) return push(generic(context_.functions[internal->index], args));
    if (internal->marker == Marker::function && args.size() == 1 && keywords.empty()) {
      auto* iterator = as<Internal>(args[0]);
      const FunctionValue called = context_.functions[internal->index];
      Expr *made = nullptr, *iterable = nullptr;
      if (iterator && iterator->marker == Marker::iterator) iterable = iterator->value;
      // From 3.15 on a generator expression iterates by itself.
      else if (decoded_.code->version >= Version{3, 15} && called.code->name == "<genexpr>") iterable = args[0];
      if (iterable && comprehension(made, called, iterable)) return push(made);
    }
  }
  if (Expr* text = keywords.empty() ? long_fstring(function, args) : nullptr) return push(text);
  push(Call{function, context_.arena.copy(args), context_.arena.copy(keywords)});
}

void Lifter::call_ex(const Instruction& instruction) {
  Expr* mapping = instruction.arg & 1 ? pop() : nullptr;
  if (auto* none = as<Internal>(mapping); none && none->marker == Marker::null) mapping = nullptr;  // 3.14
  Expr* sequence = pop();
  Expr* function = pop();
  if (instruction.aux) {  // a NULL slot beside the callable
    Expr* other = pop();
    auto* internal = as<Internal>(function);
    if (internal && internal->marker == Marker::null) std::swap(function, other);
  }
  std::vector<Expr*> args;
  if (auto* tuple = as<Tuple>(sequence)) args.assign(tuple->elts.begin(), tuple->elts.end());
  else if (auto* constant = constant_of(sequence, Constant::Kind::tuple); constant && mapping)
    for (const Constant& item : constant->items) args.push_back(make(ConstantExpr{&item}));
  else args.push_back(make(Starred{sequence}));
  std::vector<Keyword> keywords;
  if (mapping) {
    auto* dict = as<Dict>(mapping);
    bool plain = dict && !dict->keys.empty();
    std::set<std::string_view> seen;
    if (dict)
      for (Expr* key : dict->keys)
        if (key) {
          auto* text = constant_of(key, Constant::Kind::string);
          plain &= text && is_name(text->text) && seen.insert(text->text).second;
        }
    if (plain) {
      for (std::size_t index = 0; index < dict->keys.size(); ++index) {
        Expr* key = dict->keys[index];
        Expr* value = dict->values[index];
        auto* nested = key ? nullptr : as<Dict>(value);
        // The first is `**{...}`, and what follows keywords: plain keywords would be in the display before.
        bool nested_plain =
            nested != nullptr && index > 0 && decoded_.code->version >= Version{3, 9} && !dict->keys[index - 1];
        if (nested)
          for (Expr* inner : nested->keys) {
            auto* text = inner ? constant_of(inner, Constant::Kind::string) : nullptr;
            nested_plain &= text && is_name(text->text) && seen.insert(text->text).second;
          }
        if (key) keywords.push_back({constant_of(key, Constant::Kind::string)->text, value});
        else if (nested_plain)
          for (std::size_t item = 0; item < nested->keys.size(); ++item)
            keywords.push_back({constant_of(nested->keys[item], Constant::Kind::string)->text, nested->values[item]});
        else keywords.push_back({"", value});
      }
    } else if (!(dict && dict->keys.empty())) {
      keywords.push_back({"", mapping});
    }
  }
  finish_call(function, std::move(args), std::move(keywords));
}

void Lifter::make_function(const Instruction& instruction) {
  if (instruction.aux == 1) pop();  // the qualified name
  Expr* code = pop();
  auto* internal = as<Internal>(code);
  if (!internal || internal->marker != Marker::code) fail("a function without constant code");
  FunctionValue function;
  function.code = decoded_.code->constants[internal->index].code.get();
  function.constant = std::uint32_t(internal->index);
  if (instruction.arg & 8) pop();
  if (instruction.arg & 4) function.annotations = pop();
  if (instruction.arg & 2) function.kw_defaults = pop();
  if (instruction.arg & 1) function.defaults = pop();
  context_.functions.push_back(function);
  push(Internal{Marker::function, int(context_.functions.size()) - 1, nullptr});
}

namespace {
// The items of a display or of a constant tuple; false: neither.
bool items_of(Context& context, Expr* expr, std::vector<Expr*>& items) {
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
}  // namespace

const Arguments* Lifter::arguments(const FunctionValue& function) {
  const CodeObject& code = *function.code;
  std::vector<std::pair<std::string_view, Expr*>> annotations;
  if (function.annotations) {
    std::vector<Expr*> items;
    if (auto* dict = as<Dict>(function.annotations)) {
      for (std::size_t index = 0; index < dict->keys.size(); ++index)
        if (auto* name = constant_of(dict->keys[index], Constant::Kind::string))
          annotations.push_back({name->text, dict->values[index]});
    } else if (items_of(context_, function.annotations, items)) {
      for (std::size_t index = 0; index + 1 < items.size(); index += 2)
        if (auto* name = constant_of(items[index], Constant::Kind::string))
          annotations.push_back({name->text, items[index + 1]});
    } else {
      fail("annotations of a function are no display");
    }
  }
  // With `from __future__ import annotations` they are strings that hold source.
  bool as_text = (code.flags & CodeObject::future_annotations) != 0;
  auto annotation = [&](std::string_view name) -> Expr* {
    for (auto& [key, value] : annotations)
      if (key == name) {
        return as_text ? context_.annotation(value) : value;
      }
    return nullptr;
  };
  if (code.argument_count() > std::int64_t(code.varnames.size())) fail("fewer names than arguments");
  Arguments* args = parameters_of(context_, code);
  for (List<Arg> list : {args->posonly, args->args, args->kwonly})
    for (Arg& arg : list) arg.annotation = annotation(arg.name);
  for (Arg* arg : {&args->vararg, &args->kwarg})
    if (!arg->name.empty()) arg->annotation = annotation(arg->name);
  std::vector<Expr*> defaults, kw_defaults(args->kwonly.size());
  if (function.defaults &&
      (!items_of(context_, function.defaults, defaults) || defaults.size() > args->posonly.size() + args->args.size()))
    fail("defaults of a function are no tuple");
  if (function.kw_defaults) {
    auto* dict = as<Dict>(function.kw_defaults);
    if (!dict) fail("defaults of keyword-only arguments are no display");
    for (std::size_t index = 0; index < dict->keys.size(); ++index) {
      auto* name = dict->keys[index] ? constant_of(dict->keys[index], Constant::Kind::string) : nullptr;
      for (std::size_t slot = 0; slot < args->kwonly.size(); ++slot)
        if (name && args->kwonly[slot].name == name->text) kw_defaults[slot] = dict->values[index];
    }
  }
  args->defaults = context_.arena.copy(defaults), args->kw_defaults = context_.arena.copy(kw_defaults);
  return args;
}

Body Lifter::build(const FunctionValue& function) {
  const std::size_t depth = context_.path.size();
  if (function.within >= 0) context_.path.push_back(std::uint32_t(function.within));
  context_.path.push_back(function.constant);
  Body body = context_.build(context_, *function.code);
  context_.path.resize(depth);
  return body;
}

Stmt* Lifter::function_def(const FunctionValue& function, std::string_view name, std::vector<Expr*> decorators) {
  const CodeObject& code = *function.code;
  Expr* returns = nullptr;
  if (function.annotations) {
    std::vector<Expr*> items;
    bool as_text = (code.flags & CodeObject::future_annotations) != 0;
    auto found = [&](Expr* key, Expr* value) {
      auto* text = constant_of(key, Constant::Kind::string);
      if (!text || text->text != "return") return;
      returns = as_text ? context_.annotation(value) : value;
    };
    if (auto* dict = as<Dict>(function.annotations))
      for (std::size_t index = 0; index < dict->keys.size(); ++index) found(dict->keys[index], dict->values[index]);
    else if (items_of(context_, function.annotations, items))
      for (std::size_t index = 0; index + 1 < items.size(); index += 2) found(items[index], items[index + 1]);
  }
  const Arguments* args = arguments(function);
  Body body = build(function);
  bool async = (code.flags & (CodeObject::coroutine | CodeObject::async_generator)) != 0;
  return context_.stmt(
      FunctionDef{name, args, body.block, context_.arena.copy(decorators), returns, async, function.type_params, &code},
      first_offset_, code.firstlineno);
}

Stmt* Lifter::class_def(const Call& call, std::string_view name, std::vector<Expr*> decorators) {
  if (call.args.size() < 2) return nullptr;
  auto* internal = as<Internal>(call.args[0]);
  if (!internal || internal->marker != Marker::function) return nullptr;
  const FunctionValue function = context_.functions[internal->index];
  Body body = build(function);
  std::vector<Expr*> bases(call.args.begin() + 2, call.args.end());
  std::erase_if(bases, [](const Expr* base) {
    auto* marker = as<Internal>(base);
    return marker && marker->marker == Marker::generic_base;
  });
  return context_.stmt(ClassDef{name, context_.arena.copy(bases), call.keywords, body.block,
                                context_.arena.copy(decorators), function.type_params, function.code},
                       first_offset_, function.code->firstlineno);
}

// A body that only returns, as one expression; null: it does more.
Expr* Lifter::as_expression(Context& context, Block block, bool generator) {
  if (block.empty()) return context.none();
  Stmt* first = block[0];
  if (auto* leave = as<Return>(first)) return leave->value ? leave->value : context.none();
  if (auto* branch = as<If>(first)) {
    Block rest = block.subspan(1);
    Expr* body = as_expression(context, branch->body, generator);
    Expr* orelse = as_expression(context, branch->orelse.empty() ? rest : branch->orelse, generator);
    if (!body || !orelse || (!branch->orelse.empty() && !rest.empty())) return nullptr;
    if (branch->body.empty()) return nullptr;
    return context.expr(IfExp{branch->test, body, orelse}, first->offset, first->line);
  }
  if (auto* only = as<ExprStmt>(first); only && generator && block.size() == 1) return only->value;
  if (auto* only = as<ExprStmt>(first); only && generator && block.size() == 2)
    if (auto* leave = as<Return>(block[1]); leave && (!leave->value || is_none(leave->value))) return only->value;
  return nullptr;
}

bool Lifter::lambda(Expr* expr, const FunctionValue& function) {
  const Arguments* args = arguments(function);
  Body body = build(function);
  bool generator = (function.code->flags & (CodeObject::generator | CodeObject::async_generator)) != 0;
  Expr* value = as_expression(context_, body.block, generator);
  if (!value) return false;
  expr->node = Lambda{args, value};
  return true;
}

bool Lifter::comprehension(Expr*& result, const FunctionValue& function, Expr* iterable) {
  const std::string& name = function.code->name;
  ComprehensionKind kind;
  if (name == "<listcomp>") kind = ComprehensionKind::list;
  else if (name == "<setcomp>") kind = ComprehensionKind::set;
  else if (name == "<dictcomp>") kind = ComprehensionKind::dict;
  else if (name == "<genexpr>") kind = ComprehensionKind::generator;
  else return false;
  return comprehension(result, kind, build(function).block, iterable);
}

bool Lifter::comprehension(Expr*& result, ComprehensionKind kind, Block block, Expr* iterable) {
  std::vector<Comprehension> generators;
  Expr *elt = nullptr, *value = nullptr;
  std::vector<Expr*> ifs;
  for (bool first = true; !elt;) {
    // Only a return may follow the outermost loop.
    std::size_t count = block.size();
    if (first && count == 2 && is<Return>(block[1])) count = 1;
    if (count == 0) return false;
    Stmt* stmt = block[0];
    if (auto* branch = as<If>(stmt); branch && !first) {
      if (count == 1 && branch->orelse.empty()) {
        ifs.push_back(branch->test);
        block = branch->body;
        continue;
      }
      if (branch->body.size() == 1 && is<Continue>(branch->body[0])) {
        ifs.push_back(negate(context_, branch->test));
        if (branch->orelse.empty()) block = block.subspan(1);
        else if (count == 1) block = branch->orelse;
        else return false;
        continue;
      }
      return false;
    }
    // `for y in [x]` is compiled as an assignment.
    if (auto* assign = as<Assign>(stmt); !first && assign && assign->targets.size() == 1 && block.size() > 1) {
      generators.back().ifs = context_.arena.copy(ifs);
      ifs.clear();
      generators.push_back({assign->targets[0], make(ListExpr{context_.list({assign->value})}), {}, false});
      block = block.subspan(1);
      continue;
    }
    if (count > 1 && !(count == 2 && is<Continue>(block[1]))) return false;
    if (auto* loop = as<For>(stmt)) {
      if (!loop->orelse.empty()) return false;
      if (!generators.empty()) generators.back().ifs = context_.arena.copy(ifs);
      ifs.clear();
      Expr* iter = loop->iter;
      if (first) {
        auto* argument = as<Name>(iter);
        if (!argument || argument->id != ".0") return false;
        iter = iterable;
      }
      generators.push_back({loop->target, iter, {}, loop->is_async});
      block = loop->body;
      first = false;
      continue;
    }
    if (first) return false;
    if (is<Pass>(stmt) && count == 1 && is<Name>(generators.back().target) && kind != ComprehensionKind::dict) {
      // `(x for x in a if False)`
      elt = generators.back().target, ifs.push_back(context_.constant(Constant::Kind::false_));
      break;
    }
    if (auto* append = as<InternalStmt>(stmt); append && append->marker == StmtMarker::append) {
      elt = append->value, value = append->value2;
    } else if (auto* only = as<ExprStmt>(stmt); only && kind == ComprehensionKind::generator) {
      auto* yield = as<Yield>(only->value);
      if (!yield) return false;
      elt = yield->value ? yield->value : context_.none();
    } else {
      return false;
    }
  }
  generators.back().ifs = context_.arena.copy(ifs);
  result = make(ComprehensionExpr{kind, elt, value, context_.arena.copy(generators)});
  return true;
}

// What `outline_comprehensions` took out of this code.
void Lifter::inlined_comprehension(const Instruction& instruction) {
  const DecodedCode& body = cfg_.comprehensions[instruction.arg].body;
  const Op display = body.instructions[0].op;
  ComprehensionKind kind = display == Op::build_list_  ? ComprehensionKind::list
                           : display == Op::build_set_ ? ComprehensionKind::set
                                                       : ComprehensionKind::dict;
  Expr *iterable = pop(), *made = nullptr;
  if (instruction.aux == 0) {
    auto* iterator = as<Internal>(iterable);
    if (!iterator || iterator->marker != Marker::iterator || !iterator->value) fail("a comprehension over no iterable");
    iterable = iterator->value;
  }
  if (!comprehension(made, kind, context_.build_part(context_, body), iterable))
    fail("a comprehension of another shape");
  push(made);
}

// BUILD_LIST; LIST_APPEND; RETURN_VALUE as statements, where the body fits no comprehension.
Block spell_out_comprehension(Context& context, const CodeObject& code, Block body) {
  std::string_view result = "__result";
  Expr* display = nullptr;  // empty
  if (code.name == "<listcomp>") display = context.expr(ListExpr{});
  if (code.name == "<dictcomp>") display = context.expr(Dict{});
  if (code.name == "<setcomp>")
    display = context.expr(SetExpr{context.list({context.expr(Starred{context.expr(Tuple{})})})});
  if (!display) return body;
  std::function<void(Block)> walk = [&](Block block) {
    for (Stmt* stmt : block) {
      if (auto* append = as<InternalStmt>(stmt); append && append->marker == StmtMarker::append) {
        Expr* name = context.name(result);
        if (append->value2) {
          Expr* target = context.expr(Subscript{name, append->value});
          stmt->node = Assign{context.list({target}), append->value2};
        } else {
          Expr* method = context.expr(Attribute{name, code.name == "<setcomp>" ? "add" : "append"});
          stmt->node = ExprStmt{context.expr(Call{method, context.list({append->value}), {}})};
        }
      }
      for_each_expr(stmt, [&](Expr*& expr) {
        if (auto* internal = as<Internal>(expr)) {
          if (internal->marker == Marker::result) expr = context.name(result);
        }
      });
      for_each_block(stmt, [&](Block& inner) { walk(inner); });
    }
  };
  walk(body);
  std::vector<Stmt*> statements{context.stmt(Assign{context.list({context.name(result)}), display})};
  statements.insert(statements.end(), body.begin(), body.end());
  return context.arena.copy(statements);
}

// A function, class or lambda that stands where only an expression may: defined before, under a name.
void Lifter::hoist(Expr* expr) {
  if (is_class(expr)) {
    const Call call = *as<Call>(expr);
    auto* text = call.args.size() > 1 ? constant_of(call.args[1], Constant::Kind::string) : nullptr;
    std::string_view id = text && is_name(text->text) ? std::string_view(text->text) : fresh_name();
    Stmt* made = class_def(call, id, {});
    if (!made) {
      as<Call>(expr)->func = context_.name("__build_class__");
      if (auto* body = as<Internal>(call.args[0]); body && body->marker == Marker::function) hoist(call.args[0]);
      return;
    }
    *expr = Expr{Name{id}, expr->offset, expr->line};
    emit_raw(made->node);
    return;
  }
  auto* internal = as<Internal>(expr);
  if (internal->marker == Marker::type_alias) {
    Expr* name = context_.name(context_.type_aliases[internal->index].name);
    emit_raw(type_alias(internal->index, name)->node);
    *expr = Expr{name->node, expr->offset, expr->line};
    return;
  }
  const FunctionValue function = context_.functions[internal->index];
  if (function.code->name == "<lambda>" && lambda(expr, function)) {
    settle(expr);
    return;
  }
  std::string_view id = function.code->name;
  bool taken = !is_function(expr);
  for (std::string_view name : decoded_.localsplus) taken |= name == id;
  for (std::string_view name : decoded_.code->names) taken |= name == id;
  if (taken) id = fresh_name();
  else id = context_.arena.copy(id);
  made_.insert(id.data());
  Stmt* made = function_def(function, id, {});
  as<FunctionDef>(made)->body = spell_out_comprehension(context_, *function.code, as<FunctionDef>(made)->body);
  for (Expr** part : {&context_.functions[internal->index].defaults, &context_.functions[internal->index].kw_defaults})
    if (*part) settle(*part);
  *expr = Expr{Name{id}, expr->offset, expr->line};
  emit_raw(made->node);
}

}  // namespace depyf
