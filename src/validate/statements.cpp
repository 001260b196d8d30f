// Checks the rules of CPython's parser, symbol table and compiler that a tree can break, statement by statement. The
// rules of all statements are in one file, so that their order can be compared with that of the checks in CPython.
#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "ast/visit.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "print/unicode.h"
#include "refine/refine.h"
#include "support/private_names.h"
#include "validate/expressions.h"
#include "validate/validate.h"

namespace depyf {
using namespace ast;
using validate::Expressions;
using validate::Reason;
using validate::Where;

namespace {

constexpr std::string_view debug_constant = "__debug__";
// The greatest depth to which loops, with statements and try statements may nest: the compiler has room for 20 blocks.
constexpr int blocks_max = 20;

constexpr std::string_view future_features[] = {"nested_scopes",    "generators",     "division",
                                                "absolute_import",  "with_statement", "print_function",
                                                "unicode_literals", "generator_stop", "annotations"};

// A module, class or function, with facts about its names that are computed on first use.
struct NameScope {
  enum class Kind : std::uint8_t { module, class_body, function } kind = Kind::module;
  NameScope* outer = nullptr;
  Block body;
  std::string_view class_name = {};  // the name of the class if the scope is a class body
  const Arguments* args = nullptr;
  List<TypeParam> type_params = {};
  bool is_async = false;
  std::optional<std::set<std::string_view>> bound = std::nullopt;
  std::optional<bool> yields = std::nullopt;
};

// True if the scope is a class in which the compiler mangles the name: `__x` becomes `_C__x`, which is another variable
// than `__x` outside of the class.
bool changes(const NameScope& scope, std::string_view name) {
  return scope.kind == NameScope::Kind::class_body && is_private_name(name) &&
         !class_in_private_names(scope.class_name).empty();
}

// Facts about the statements of the same scope that enclose a statement.
struct Place {
  // `leaves_star_handler` is true if a `break` or `continue` in place of the statement would leave a handler of
  // `except*`.
  bool in_loop = false, in_star_handler = false, leaves_star_handler = false;
  bool in_try = false;
  int blocks = 0;
};

void add_targets(const Expr* target, std::set<std::string_view>& names) {
  if (!target) return;
  if (auto* name = as<Name>(target)) names.insert(name->id);
  if (auto* tuple = as<Tuple>(target))
    for (const Expr* each : tuple->elts) add_targets(each, names);
  if (auto* list = as<ListExpr>(target))
    for (const Expr* each : list->elts) add_targets(each, names);
  if (auto* starred = as<Starred>(target)) add_targets(starred->value, names);
}

void add_pattern(const Pattern* pattern, std::set<std::string_view>& names) {
  if (!pattern) return;
  auto all = [&](List<Pattern*> patterns) {
    for (const Pattern* each : patterns) add_pattern(each, names);
  };
  if (auto* n = as<MatchSequence>(pattern)) all(n->patterns);
  if (auto* n = as<MatchMapping>(pattern)) all(n->patterns), names.insert(n->rest);
  if (auto* n = as<MatchClass>(pattern)) all(n->patterns), all(n->kwd_patterns);
  if (auto* n = as<MatchStar>(pattern)) names.insert(n->name);
  if (auto* n = as<MatchAs>(pattern)) add_pattern(n->pattern, names), names.insert(n->name);
  if (auto* n = as<MatchOr>(pattern)) all(n->patterns);
}

std::string_view first_part(std::string_view dotted) { return dotted.substr(0, dotted.find('.')); }

// Collects the names that the statements of one scope bind. A `nonlocal` statement binds no name, because an outer
// scope has to bind the name.
void add_bound(Block body, std::set<std::string_view>& names) {
  for (Stmt* stmt : body) {
    if (auto* n = as<Assign>(stmt))
      for (const Expr* target : n->targets) add_targets(target, names);
    if (auto* n = as<AugAssign>(stmt)) add_targets(n->target, names);
    if (auto* n = as<AnnAssign>(stmt)) add_targets(n->target, names);
    if (auto* n = as<Delete>(stmt))
      for (const Expr* target : n->targets) add_targets(target, names);
    if (auto* n = as<For>(stmt)) add_targets(n->target, names);
    if (auto* n = as<With>(stmt))
      for (const WithItem& item : n->items) add_targets(item.optional_vars, names);
    if (auto* n = as<FunctionDef>(stmt)) names.insert(n->name);
    if (auto* n = as<ClassDef>(stmt)) names.insert(n->name);
    if (auto* n = as<TypeAlias>(stmt)) names.insert(n->name);
    if (auto* n = as<Import>(stmt))
      for (const Alias& alias : n->names) names.insert(alias.asname.empty() ? first_part(alias.name) : alias.asname);
    if (auto* n = as<ImportFrom>(stmt))
      for (const Alias& alias : n->names) names.insert(alias.asname.empty() ? alias.name : alias.asname);
    if (auto* n = as<Try>(stmt))
      for (const ExceptHandler& handler : n->handlers) names.insert(handler.name);
    if (auto* n = as<Match>(stmt))
      for (const MatchCase& each : n->cases) add_pattern(each.pattern, names);
    for_each_expr(stmt, [&](Expr*& expr) {  // targets of `:=`, in comprehensions too
      std::vector<Expr*> todo{expr};
      while (!todo.empty()) {
        Expr* next = todo.back();
        todo.pop_back();
        if (auto* named = as<NamedExpr>(next)) add_targets(named->target, names);
        if (!is<Lambda>(next)) for_each_child(next, [&](Expr*& child) { todo.push_back(child); });
      }
    });
    for_each_block(stmt, [&](Block& inner) { add_bound(inner, names); });
  }
}

void add_global(Block body, std::set<std::string_view>& names) {
  for (Stmt* stmt : body) {
    if (auto* n = as<Global>(stmt)) names.insert(n->names.begin(), n->names.end());
    for_each_block(stmt, [&](Block& inner) { add_global(inner, names); });
  }
}

// Adds the names to which `:=` in a comprehension of `body` assigns.
void add_assigned_in_comprehensions(Block body, std::set<std::string_view>& names) {
  struct Visit {
    Expr* expr;
    bool in_comprehension;
  };
  for (Stmt* stmt : body) {
    for_each_expr(stmt, [&](Expr*& expr) {
      std::vector<Visit> todo{{expr, false}};
      while (!todo.empty()) {
        const auto [next, in_comprehension] = todo.back();
        todo.pop_back();
        if (is<Lambda>(next)) continue;
        if (auto* named = as<NamedExpr>(next); named && in_comprehension) add_targets(named->target, names);
        const bool within = in_comprehension || is<ComprehensionExpr>(next);
        for_each_child(next, [&](Expr*& child) { todo.push_back({child, within}); });
      }
    });
    for_each_block(stmt, [&](Block& inner) { add_assigned_in_comprehensions(inner, names); });
  }
}

bool has_yield(Expr* expr) {
  std::vector<Expr*> todo{expr};
  while (!todo.empty()) {
    Expr* next = todo.back();
    todo.pop_back();
    if (is<Yield>(next) || is<YieldFrom>(next)) return true;
    if (is<Name>(next) || is<ConstantExpr>(next) || is<Lambda>(next)) continue;
    for_each_child(next, [&](Expr*& child) { todo.push_back(child); });
  }
  return false;
}

bool has_yield(Block body) {
  return std::ranges::any_of(body, [](Stmt* stmt) {
    bool found = false;
    for_each_expr(stmt, [&](Expr*& expr) { found = found || has_yield(expr); });
    for_each_block(stmt, [&](Block& inner) { found = found || has_yield(inner); });
    return found;
  });
}

bool is_parameter(const Arguments* args, std::string_view name) {
  if (!args || name.empty()) return false;  // an empty name in Arguments stands for a parameter that is absent
  auto has = [&](List<Arg> list) {
    return std::ranges::any_of(list, [&](const Arg& arg) { return arg.name == name; });
  };
  return has(args->posonly) || has(args->args) || has(args->kwonly) || args->vararg.name == name ||
         args->kwarg.name == name;
}

bool is_dotted_identifier(std::string_view name) {
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    if (!print::is_identifier(name.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

bool has_surrogates(std::string_view text) {
  for (std::size_t at = text.find('\xed'); at != text.npos; at = text.find('\xed', at + 1))
    if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xa0) return true;
  return false;
}

// True if an import from __future__ may follow the statement `stmt`, which is number `at` of a module, from 0.
bool leads(const Stmt* stmt, std::size_t at) {
  if (is<Comment>(stmt)) return true;
  if (auto* import = as<ImportFrom>(stmt)) return import->module == "__future__";
  auto* text = as<ExprStmt>(stmt);
  return text && at == 0 && constant_of(text->value, Constant::Kind::string);
}

// True if a statement directly in `body` declares the name as `global` or `nonlocal`.
bool declares(Block body, std::string_view name) {
  const auto has = [&](const List<std::string_view>& names) { return std::ranges::find(names, name) != names.end(); };
  return std::ranges::any_of(body, [&](const Stmt* stmt) {
    if (auto* n = as<Global>(stmt)) return has(n->names);
    auto* n = as<Nonlocal>(stmt);
    return n && has(n->names);
  });
}

// True if a comprehension in the scope assigns one of `names`, and the compiler mangles this name because a class is
// around. If `is_alone` is true, the surroundings of the scope are unknown, and may contain a class of any name.
bool assigns_private(const NameScope& scope, List<std::string_view> names, bool is_alone) {
  const NameScope* around = &scope;
  while (around && around->kind != NameScope::Kind::class_body) around = around->outer;
  const std::string_view mangled = around ? class_in_private_names(around->class_name) : std::string_view();
  if (mangled.empty() && !is_alone) return false;
  std::set<std::string_view> assigned;
  add_assigned_in_comprehensions(scope.body, assigned);
  return std::ranges::any_of(names, [&](std::string_view name) {
    if (!assigned.contains(name)) return false;
    const bool is_mangled = name.starts_with('_') && name.substr(1).starts_with(mangled);
    return is_alone || is_private_name(name) || (is_mangled && is_private_name(name.substr(1 + mangled.size())));
  });
}

class Statements {
 public:
  Statements(Context& context, Version version, Bodies bodies)
      : context_(context), version_(version), bodies_(bodies), expressions_(version) {}

  Block module(Block body) {
    NameScope scope;
    scope.body = body;
    return in_scope(scope, body);
  }

  // Checks the body of a definition whose surroundings are unknown.
  void check_alone(Body& body, CheckedAs kind, const CodeObject& code) {
    NameScope scope;
    const bool is_function = kind == CheckedAs::function;
    scope.kind = is_function ? NameScope::Kind::function : NameScope::Kind::class_body;
    scope.body = body.block;
    scope.is_async = is_function && (code.flags & (CodeObject::coroutine | CodeObject::async_generator)) != 0;
    alone_ = &code;
    body.block = in_scope(scope, body.block);
    if (!needs_surroundings_) body.checked_as = kind;
  }

 private:
  Block in_scope(NameScope& scope, Block body) {
    NameScope* const outer = scope_;
    const Where around = here_;
    const bool future = future_may_follow_;
    scope_ = &scope, here_ = directly_in(scope);
    future_may_follow_ = scope.kind == NameScope::Kind::module;
    const Block valid = documented(block(body, {}));
    scope_ = outer, here_ = around, future_may_follow_ = future;
    return valid;
  }

  // From 3.13 on, the compiler removes the indentation of a docstring, which fails if the docstring has surrogates.
  Block documented(Block body) {
    if (!dialect_of(version_).trimmed_docstrings) return body;
    const auto first = std::ranges::find_if_not(body, [](const Stmt* stmt) { return is<Comment>(stmt); });
    auto* text = first != body.end() ? as<ExprStmt>(*first) : nullptr;
    const Constant* constant = text ? constant_of(text->value, Constant::Kind::string) : nullptr;
    if (!constant || !has_surrogates(constant->text)) return body;
    return replaced(body, std::size_t(first - body.begin()), "a docstring with surrogates", false);
  }

  // Replaces the statement `body[at]` by a comment. If `raises` is true, a statement that raises follows the comment,
  // so that the program does not continue as if the statement had run.
  Block replaced(Block body, std::size_t at, Reason reason, bool raises) {
    const std::string text(reason);
    Stmt* const old = body[at];
    std::vector<Stmt*> statements(body.begin(), body.end());
    const std::string where = " (offset " + std::to_string(old->offset) + ")";
    Stmt* mark = context_.stmt(Comment{context_.arena.copy("depyf: not equal: " + text + where)});
    statements[at] = mark;
    if (raises) {
      Expr* message = context_.constant(Constant::Kind::string, "depyf cannot show this: " + text);
      Expr* error = context_.expr(Call{context_.name("RuntimeError"), context_.list({message}), {}});
      std::vector<Stmt*> instead{context_.stmt(Raise{error, nullptr}, old->offset, old->line)};
      if (Stmt* bindings = bindings_of(old)) instead.push_back(bindings);
      statements.insert(statements.begin() + std::ptrdiff_t(at) + 1, instead.begin(), instead.end());
    }
    context_.notes.push_back("no Python syntax for " + text + where);
    return context_.arena.copy(statements);
  }

  // Returns `a = b = None` for the names that the statement binds in a function; null if it binds no names. The
  // assignment is never executed, but makes the compiler treat the names as local variables, which nested functions may
  // declare as `nonlocal`.
  Stmt* bindings_of(Stmt* stmt) {
    if (scope_->kind != NameScope::Kind::function) return nullptr;
    std::set<std::string_view> names;
    add_bound({&stmt, 1}, names);
    std::vector<Expr*> targets;
    for (std::string_view name : names)
      if (print::is_identifier(name) && bound_name(name).empty()) targets.push_back(context_.name(name));
    return targets.empty() ? nullptr : context_.stmt(Assign{context_.arena.copy(targets), context_.none()});
  }

  Block block(Block body, const Place& place) {
    if (body.empty()) return body;
    ++depth_;
    for (std::size_t at = 0; at < body.size(); ++at) {
      if (Reason reason = statement(body[at], place); !reason.empty()) {
        const std::size_t behind = body.size() - at - 1;
        body = replaced(body, at, reason, true);
        at = body.size() - behind - 1;
        future_may_follow_ = false;
        continue;
      }
      if (future_may_follow_ && depth_ == 1) future_may_follow_ = leads(body[at], at);
    }
    --depth_;
    return body;
  }

  // Returns which kinds of expressions, such as `yield` and `await`, an expression directly in `scope` may contain.
  static Where directly_in(const NameScope& scope) {
    Where where;
    where.yields = scope.kind == NameScope::Kind::function;
    where.delegates = where.yields && !scope.is_async;
    where.awaits = where.async_inside = where.yields && scope.is_async;
    where.in_class = scope.kind == NameScope::Kind::class_body;
    return where;
  }

  Reason expression(Expr* expr, bool starred_allowed = false) {
    return expressions_.reason(expr, here_, starred_allowed);
  }
  Reason target(Expr* expr, Expressions::Use use) {
    if (auto* name = as<Name>(expr)) return bound_name(name->id);
    if (Reason reason = expressions_.target_reason(expr, use); !reason.empty()) return reason;
    return expression(expr);
  }
  // Returns `where` with the limits on an expression in the scope that the compiler makes for type parameters, or for
  // the value of a type alias. The scope for type parameters contains their bounds, the annotations of a generic
  // function, and the bases of a generic class.
  Where in_type_scope(Where where) const {
    where.no_functions = !dialect_of(version_).functions_in_type_scopes && scope_->kind == NameScope::Kind::class_body;
    where.no_effects = true;
    return where;
  }
  Reason annotation(Expr* expr, bool starred_allowed = false, bool is_generic = false) {
    if (!expr) return {};
    Where where = is_generic ? in_type_scope(here_) : here_;
    where.no_effects = where.no_effects || dialect_of(version_).deferred_annotations || is<Verbatim>(expr);
    where.is_annotation = true;
    return expressions_.reason(expr, where, starred_allowed);
  }
  Reason bound_name(std::string_view name) const {
    if (!name.starts_with('_')) return {};
    if (name == debug_constant) return "an assignment to __debug__";
    // The compiler itself makes the variable `__classdict__` in classes, for the scopes of type parameters.
    const bool own = name == "__classdict__" && scope_->kind == NameScope::Kind::class_body;
    return own && dialect_of(version_).type_parameters ? Reason("an assignment to __classdict__ in a class") : Reason{};
  }

  Reason statement(Stmt* stmt, const Place& place) {
    using Use = Expressions::Use;
    Reason reason;
    auto wrong = [&](Reason found) {
      reason = found;
      return !reason.empty();
    };
    if (auto* n = as<Assign>(stmt)) {
      for (Expr* each : n->targets)
        if (wrong(target(each, Use::assign))) return reason;
      return expression(n->value);
    }
    if (auto* n = as<ExprStmt>(stmt)) return expression(n->value);
    if (auto* n = as<Return>(stmt)) return leave(*n, place);
    if (auto* n = as<If>(stmt)) {
      if (wrong(expression(n->test))) return reason;
      n->body = block(n->body, place), n->orelse = block(n->orelse, place);
      return {};
    }
    if (auto* n = as<FunctionDef>(stmt)) return function(*n);
    if (auto* n = as<ClassDef>(stmt)) return class_definition(*n);
    if (auto* n = as<Import>(stmt)) return import(n->names, n->is_lazy, place);
    if (auto* n = as<ImportFrom>(stmt)) return import_from(*n, place);
    if (auto* n = as<AugAssign>(stmt)) {
      if (wrong(target(n->target, Use::augment))) return reason;
      return expression(n->value);
    }
    if (auto* n = as<AnnAssign>(stmt)) {
      if (wrong(target(n->target, Use::annotate)) || wrong(annotation(n->annotation))) return reason;
      auto* name = as<Name>(n->target);
      if (name && n->simple && scope_->kind != NameScope::Kind::module && declares(scope_->body, name->id))
        return "an annotation of a name that is global or nonlocal";
      return expression(n->value);
    }
    if (auto* n = as<Delete>(stmt)) {
      for (Expr* each : n->targets)
        if (wrong(target(each, Use::remove))) return reason;
      return {};
    }
    if (auto* n = as<Raise>(stmt)) {
      if (wrong(expression(n->exc))) return reason;
      return expression(n->cause);
    }
    if (auto* n = as<Assert>(stmt)) {
      if (wrong(expression(n->test))) return reason;
      return expression(n->msg);
    }
    if (auto* n = as<Global>(stmt)) return global(*n);
    if (auto* n = as<Nonlocal>(stmt)) return nonlocal(*n);
    if (is<Break>(stmt) || is<Continue>(stmt)) {
      if (!place.in_loop) return "a break or continue outside of a loop";
      return place.leaves_star_handler ? Reason("a statement that leaves an except* clause") : Reason{};
    }
    if (auto* n = as<TypeAlias>(stmt)) return type_alias(*n);
    if (is<InternalStmt>(stmt)) return "an operation of the interpreter that no statement produces";
    if (is<Pass>(stmt) || is<Comment>(stmt)) return {};
    return compound(stmt, place);
  }

  // Returns the reason why a compound statement without a scope of its own, such as `for` or `try`, does not compile;
  // the reason is empty if the statement compiles. `compound` does not check an `if`, which the function `statement`
  // checks.
  Reason compound(Stmt* stmt, const Place& place) {
    using Use = Expressions::Use;
    Reason reason;
    auto wrong = [&](Reason found) {
      reason = found;
      return !reason.empty();
    };
    Place inner = place;
    if (!is<Match>(stmt) && ++inner.blocks > blocks_max) return "statements that nest too deeply";
    Place loop = inner;
    loop.in_loop = true, loop.leaves_star_handler = false;
    if (auto* n = as<For>(stmt)) {
      if (n->is_async && !here_.awaits) return "an async for outside of an async function";
      if (wrong(target(n->target, Use::assign)) || wrong(expression(n->iter))) return reason;
      n->body = block(n->body, loop), n->orelse = block(n->orelse, place);
      return {};
    }
    if (auto* n = as<While>(stmt)) {
      if (wrong(expression(n->test))) return reason;
      n->body = block(n->body, loop), n->orelse = block(n->orelse, place);
      return {};
    }
    if (auto* n = as<With>(stmt)) {
      if (n->is_async && !here_.awaits) return "an async with outside of an async function";
      if (n->items.empty()) return "a with statement without a context manager";
      inner.blocks += int(n->items.size()) - 1;
      if (inner.blocks > blocks_max) return "statements that nest too deeply";
      for (WithItem& item : n->items) {
        if (wrong(expression(item.context_expr))) return reason;
        if (item.optional_vars && wrong(target(item.optional_vars, Use::assign))) return reason;
      }
      n->body = block(n->body, inner);
      return {};
    }
    if (auto* n = as<Match>(stmt)) {
      if (wrong(expression(n->subject, true)) || wrong(expressions_.cases_reason(n->cases))) return reason;
      for (MatchCase& each : n->cases)
        if (wrong(expression(each.guard))) return reason;
      for (MatchCase& each : n->cases) each.body = block(each.body, place);
      return {};
    }
    if (auto* n = as<Try>(stmt)) return try_statement(*n, inner);
    return {};
  }

  Reason try_statement(Try& n, Place inner) {
    if (n.is_star && !dialect_of(version_).except_star) return "an except* clause";
    for (ExceptHandler& handler : n.handlers) {
      if (!handler.type && (n.is_star || &handler != &n.handlers.back())) return "an except clause without a type";
      if (!handler.type && !handler.name.empty()) return "an except clause with a name and no type";
      if (Reason reason = expression(handler.type); !reason.empty()) return reason;
      if (Reason reason = bound_name(handler.name); !reason.empty()) return reason;
    }
    if (!n.handlers.empty() && !n.finalbody.empty() && ++inner.blocks > blocks_max)
      return "statements that nest too deeply";
    Place within = inner, handling = inner;
    within.in_try = handling.in_try = true;
    // From 3.9 on, an except clause takes two of the at most 20 nested blocks that the compiler allows.
    if (!dialect_of(version_).finally_subroutines && ++handling.blocks > blocks_max && !n.handlers.empty())
      return "statements that nest too deeply";
    if (n.is_star) handling.in_star_handler = handling.leaves_star_handler = true;
    n.body = block(n.body, within);
    for (ExceptHandler& handler : n.handlers) handler.body = block(handler.body, handling);
    n.orelse = block(n.orelse, within), n.finalbody = block(n.finalbody, within);
    return {};
  }

  Reason leave(const Return& n, const Place& place) {
    if (scope_->kind != NameScope::Kind::function) return "a return outside of a function";
    if (place.in_star_handler) return "a statement that leaves an except* clause";
    if (!n.value) return {};
    if (scope_->is_async) {
      if (!scope_->yields) scope_->yields = has_yield(scope_->body);
      if (*scope_->yields) return "a return with a value in an async generator";
    }
    return expression(n.value);
  }

  Reason type_parameters(List<TypeParam> params) {
    if (params.empty()) return {};
    if (!dialect_of(version_).type_parameters) return "type parameters";
    std::vector<std::string_view> names;
    bool defaults = false;
    for (const TypeParam& param : params) {
      names.push_back(param.name);
      if (param.name == debug_constant || param.name == "__classdict__") return "a type parameter of a reserved name";
      if (param.default_value && !dialect_of(version_).type_parameter_defaults) return "a default of a type parameter";
      if (defaults && !param.default_value)
        return "a type parameter without a default after a type parameter with a default";
      defaults = param.default_value != nullptr;
      if (param.bound && param.kind != TypeParam::Kind::type_var) return "a bound of a type parameter that allows none";
      const Where where = in_type_scope({});
      if (Reason reason = expressions_.reason(param.bound, where); !reason.empty()) return reason;
      const bool starred = param.kind == TypeParam::Kind::type_var_tuple;
      if (Reason reason = expressions_.reason(param.default_value, where, starred); !reason.empty()) return reason;
    }
    return validate::has_duplicates(names) ? Reason("two type parameters with the same name") : Reason{};
  }

  Reason type_alias(const TypeAlias& n) {
    if (!dialect_of(version_).type_parameters) return "a type alias";
    if (Reason reason = bound_name(n.name); !reason.empty()) return reason;
    if (Reason reason = type_parameters(n.type_params); !reason.empty()) return reason;
    return expressions_.reason(n.value, in_type_scope({}));
  }

  Reason decorators(List<Expr*> list) {
    for (Expr* each : list) {
      if (Reason reason = expression(each); !reason.empty()) return reason;
      if (dialect_of(version_).any_decorator) continue;
      const Expr* named = each;
      if (auto* call = as<Call>(named)) named = call->func;
      while (auto* attribute = as<Attribute>(named)) named = attribute->value;
      if (!is<Name>(named)) return "a decorator that is not a name";
    }
    return {};
  }

  Reason function(FunctionDef& n) {
    if (Reason reason = bound_name(n.name); !reason.empty()) return reason;
    if (Reason reason = decorators(n.decorators); !reason.empty()) return reason;
    if (Reason reason = type_parameters(n.type_params); !reason.empty()) return reason;
    if (Reason reason = expressions_.parameters_reason(n.args); !reason.empty()) return reason;
    const bool is_generic = !n.type_params.empty();
    if (n.args) {
      for (List<Expr*> defaults : {n.args->defaults, n.args->kw_defaults})
        for (Expr* each : defaults)
          if (Reason reason = expression(each); !reason.empty()) return reason;
      for (List<Arg> list : {n.args->posonly, n.args->args, n.args->kwonly})
        for (const Arg& arg : list)
          if (Reason reason = annotation(arg.annotation, false, is_generic); !reason.empty()) return reason;
      if (Reason reason = annotation(n.args->vararg.annotation, dialect_of(version_).starred_annotations, is_generic);
          !reason.empty())
        return reason;
      if (Reason reason = annotation(n.args->kwarg.annotation, false, is_generic); !reason.empty()) return reason;
    }
    if (Reason reason = annotation(n.returns, false, is_generic); !reason.empty()) return reason;
    NameScope scope{.kind = NameScope::Kind::function,
                    .outer = scope_,
                    .body = n.body,
                    .args = n.args,
                    .type_params = n.type_params,
                    .is_async = n.is_async};
    n.body = definition_body(scope, n.body, n.is_checked);
    return {};
  }

  // Checks the body of a definition, unless it has been checked before.
  Block definition_body(NameScope& scope, Block body, bool is_checked) {
    if (is_checked && bodies_ == Bodies::unchecked) return body;
    if (!alone_) return in_scope(scope, body);
    needs_surroundings_ = true;
    return body;
  }

  Reason class_definition(ClassDef& n) {
    if (Reason reason = bound_name(n.name); !reason.empty()) return reason;
    if (Reason reason = decorators(n.decorators); !reason.empty()) return reason;
    if (Reason reason = type_parameters(n.type_params); !reason.empty()) return reason;
    if (Reason reason = expressions_.keywords_reason(n.keywords); !reason.empty()) return reason;
    const Where within = n.type_params.empty() ? here_ : in_type_scope(here_);
    for (Expr* base : n.bases)
      if (Reason reason = expressions_.reason(base, within, true); !reason.empty()) return reason;
    for (const Keyword& keyword : n.keywords)
      if (Reason reason = expressions_.reason(keyword.value, within, false); !reason.empty()) return reason;
    NameScope scope{.kind = NameScope::Kind::class_body,
                    .outer = scope_,
                    .body = n.body,
                    .class_name = n.name,
                    .type_params = n.type_params};
    n.body = definition_body(scope, n.body, n.is_checked);
    return {};
  }

  Reason lazy(const Place& place) const {
    if (!dialect_of(version_).lazy_imports) return "a lazy import";
    if (scope_->kind != NameScope::Kind::module) return "a lazy import outside of a module";
    return place.in_try ? Reason("a lazy import in a try statement") : Reason{};
  }

  Reason import(List<Alias> names, bool is_lazy, const Place& place) {
    for (const Alias& alias : names) {
      if (!is_dotted_identifier(alias.name)) return "an import of a module whose name is not an identifier";
      const std::string_view bound = alias.asname.empty() ? first_part(alias.name) : alias.asname;
      if (Reason reason = bound_name(bound); !reason.empty()) return reason;
    }
    return is_lazy ? lazy(place) : Reason{};
  }

  Reason import_from(const ImportFrom& n, const Place& place) {
    if (n.names.empty()) return {};
    if ((!n.module.empty() || n.level <= 0) && !is_dotted_identifier(n.module))
      return "an import from a module whose name is not an identifier";
    for (const Alias& alias : n.names) {
      if (alias.name == "*") {
        if (scope_->kind != NameScope::Kind::module) return "an import of all names outside of a module";
        if (n.is_lazy || n.names.size() > 1 || !alias.asname.empty())
          return "an import of all names together with other names";
        if (n.module == "__future__") return "a feature of __future__ that this version does not have";
        continue;
      }
      if (!print::is_identifier(alias.name)) return "an import of a name that is not an identifier";
      if (Reason reason = bound_name(alias.asname.empty() ? alias.name : alias.asname); !reason.empty()) return reason;
    }
    if (n.module == "__future__") {  // the compiler does not check whether the import is relative
      if (n.level > 0) return "a relative import from __future__";
      if (!future_may_follow_ || depth_ > 1 || n.is_lazy) return "an import from __future__ after other statements";
      for (const Alias& alias : n.names)
        if (std::ranges::find(future_features, alias.name) == std::end(future_features))
          return "a feature of __future__ that this version does not have";
    }
    return n.is_lazy ? lazy(place) : Reason{};
  }

  Reason global(const Global& n) {
    const Arguments* args =
        alone_ && scope_->kind == NameScope::Kind::function ? parameters_of(context_, *alone_) : scope_->args;
    for (std::string_view name : n.names)
      if (is_parameter(args, name)) return "a parameter that is declared global";
    if (!dialect_of(version_).private_globals_in_comprehensions && assigns_private(*scope_, n.names, alone_)) {
      if (!alone_) return "a global private name that a comprehension assigns";
      needs_surroundings_ = true;
    }
    return {};
  }

  Reason nonlocal(const Nonlocal& n) {
    if (n.names.empty()) return {};
    if (alone_) {
      needs_surroundings_ = true;
      return {};
    }
    if (scope_->kind == NameScope::Kind::module) return "a nonlocal declaration in a module";
    std::set<std::string_view> globals;
    add_global(scope_->body, globals);
    for (std::string_view name : n.names) {
      if (is_parameter(scope_->args, name)) return "a parameter that is declared nonlocal";
      if (globals.contains(name)) return "a name that is declared global and nonlocal";
      if (!is_bound_outside(name)) return "a nonlocal name that no enclosing function binds";
    }
    return {};
  }

  bool is_bound_outside(std::string_view name) {
    const auto is_type_param = [&](const NameScope& scope) {
      return std::ranges::any_of(scope.type_params, [&](const TypeParam& param) { return param.name == name; });
    };
    if (is_type_param(*scope_)) return false;
    for (NameScope *scope = scope_->outer, *inner = scope_; scope; inner = scope, scope = scope->outer) {
      if (changes(*inner, name)) return false;
      if (scope->kind == NameScope::Kind::class_body && name == "__class__") return true;
      if (scope->kind == NameScope::Kind::function) {
        if (is_parameter(scope->args, name)) return true;
        if (!scope->bound) {
          scope->bound.emplace();
          add_bound(scope->body, *scope->bound);
          std::set<std::string_view> globals;
          add_global(scope->body, globals);
          for (std::string_view each : globals) scope->bound->erase(each);
          scope->bound->erase("");  // the name that add_bound adds for a handler or pattern without a name
          scope->bound->erase(debug_constant);  // a statement that assigns `__debug__` is replaced
        }
        if (scope->bound->contains(name)) return true;
      }
      if (is_type_param(*scope)) return false;  // "nonlocal binding not allowed for type parameter"
    }
    return false;
  }

  Context& context_;
  const Version version_;
  const Bodies bodies_;
  Expressions expressions_;
  // The code object of the definition whose body is checked without its surroundings, or null.
  const CodeObject* alone_ = nullptr;
  // True if a rule depends on the surroundings of the definition, so that the body has to be checked again.
  bool needs_surroundings_ = false;
  NameScope* scope_ = nullptr;
  Where here_ = {};                 // the parts that an expression in `scope_` may contain
  int depth_ = 0;                   // nesting depth of blocks, including those of outer scopes
  bool future_may_follow_ = false;  // true while `from __future__ import` is allowed
};

}  // namespace

Block valid_statements(Context& context, Block body, Version version, Bodies bodies) {
  return Statements(context, version, bodies).module(body);
}

void check_body(Context& context, Body& body, const CodeObject& code, CheckedAs kind) {
  const Scope::Kind usual = kind == CheckedAs::function ? Scope::Kind::function : Scope::Kind::class_body;
  if (kind_of(code) != usual) return;
  Statements(context, code.version, Bodies::unchecked).check_alone(body, kind, code);
}

}  // namespace depyf
