// Builds the symbol table, which determines the scope that binds each name of a tree. The functions of the symbol table
// are in one file, because they form one recursive walk over all kinds of nodes.
#include "lower/scope.h"

#include <algorithm>
#include <utility>

#include "ast/overloaded.h"
#include "ast/visit.h"
#include "dialect/dialect.h"
#include "lift/context.h"
#include "support/class_cells.h"

namespace depyf::lowering {
using namespace ast;

std::string_view SymbolTable::keep(std::string text) { return *names_.insert(std::move(text)).first; }

std::string_view SymbolTable::in_class(std::string_view name, std::string_view private_class) {
  return keep("_" + std::string(private_class) + std::string(name));
}

// A nested scope inherits the name of the enclosing class, with which private names are mangled.
Scope* SymbolTable::open(Scope* parent, const void* node, ScopeKind kind) {
  Scope*& child = parent->children[node];
  // If the tree contains the node several times, the scope may exist already.
  if (child) return nullptr;
  child = &scopes_.emplace_back();
  child->kind = kind;
  child->parent = parent;
  child->private_class = parent->private_class;
  if (kind != ScopeKind::class_body) child->mangled_only = parent->mangled_only;
  child->may_have_free = parent->is_function_like() || parent->may_have_free || !around_.empty();
  return child;
}

// The kind of variable that a name refers to (`Home`) can be determined only after all scopes have been visited.
Scope* SymbolTable::build(Block body) {
  Scope* root = &scopes_.emplace_back();
  block(root, body);
  deferred(root);
  for (Scope& scope : scopes_) resolve(&scope);
  return root;
}

// Most names that a scope uses need no symbol, because without an enclosing function, a name that is not bound is a
// global. The cells that the compiler adds to a class always get a symbol. An inlined comprehension has a symbol for
// each of its names, because it may access globals and free variables by other operations than the scope around it.
// `super()` uses the cell of __class__.
void SymbolTable::use(Scope* scope, std::string_view name) {
  if (!scope->may_have_free && !scope->inlined && name != "super" && !is_class_cell(name)) return;
  scope->use(mangled(name, *scope));
  if (name == "super" && scope->is_function_like()) scope->use("__class__");
}

void SymbolTable::block(Scope* scope, Block body) {
  for (const Stmt* each : body) stmt(scope, each);
}

// Parameters are bound in the order of their slots.
void SymbolTable::arguments(Scope* scope, const Arguments* args) {
  if (!args) return;
  auto add = [&](const Arg& arg) {
    const std::string_view name = mangled(arg.name, *scope);
    scope->bind(name);
    scope->parameters.push_back(name);
  };
  scope->parameters.reserve(args->posonly.size() + args->args.size() + args->kwonly.size() + 2);
  for (List<Arg> list : {args->posonly, args->args, args->kwonly})
    for (const Arg& arg : list) add(arg);  // includes parameters with an empty name, which damaged code may have
  if (!args->vararg.name.empty()) add(args->vararg);
  if (!args->kwarg.name.empty()) add(args->kwarg);
}

void SymbolTable::defaults(Scope* scope, const Arguments* args) {
  if (!args) return;
  for (const Expr* each : args->defaults) expr(scope, each);
  for (const Expr* each : args->kw_defaults) expr(scope, each);
}

// Opens the scope of a function that the compiler adds to evaluate an expression lazily. From 3.14 on, a function for
// lazy evaluation has the parameter `.format`. Annotations that are kept as text need no access to the namespace of the
// class.
Scope* SymbolTable::open_evaluator(Scope* scope, const void* node, bool is_text) {
  Scope* inner = open(scope, node, ScopeKind::type_params);
  if (!inner) return nullptr;
  inner->sees_class = !is_text && (scope->kind == ScopeKind::class_body || scope->sees_class);
  if (inner->sees_class) inner->use("__classdict__");
  if (dialect_of(version_).deferred_annotations) {
    inner->parameters.push_back(".format");
    inner->bind(".format");
  }
  return inner;
}

// Visits the annotations of a module or class in the scope of `__annotate__`, including those of attributes and
// subscripts, which `__annotate__` does not evaluate.
void SymbolTable::deferred(Scope* scope) {
  if (scope->annotations.empty()) return;
  Scope* inner = open_evaluator(scope, &scope->deferred);
  if (!inner) return;
  if (scope->has_conditional_annotations) inner->use("__conditional_annotations__");
  for (const Expr* each : scope->annotations) expr(inner, each);
}

// Before 3.14, annotations are evaluated in the scope around the function.
void SymbolTable::annotations(Scope* scope, const FunctionDef& node) {
  if (dialect_of(version_).deferred_annotations) {
    scope = open_evaluator(scope, &node.returns, text_);
    if (!scope) return;
  }
  if (text_ || !node.args) return;
  for (List<Arg> list : {node.args->posonly, node.args->args, node.args->kwonly})
    for (const Arg& arg : list) expr(scope, arg.annotation);
  expr(scope, node.args->vararg.annotation);
  expr(scope, node.args->kwarg.annotation);
  expr(scope, node.returns);
}

// Opens the scope of the function that evaluates type parameters, and binds the type parameters in this scope. Returns
// the scope that contains the definition itself, which is `scope` if there are no type parameters.
Scope* SymbolTable::type_params(Scope* scope, const void* node, List<TypeParam> params) {
  if (params.empty()) return scope;
  Scope* inner = open(scope, node, ScopeKind::type_params);
  if (!inner) return scope->children.at(node);
  inner->sees_class = scope->kind == ScopeKind::class_body;
  if (inner->sees_class) inner->use("__classdict__");
  for (const TypeParam& param : params) {
    bind(inner, param.name);
    for (const Expr* value : {param.bound, param.default_value}) {
      if (!value) continue;
      if (Scope* evaluated = open_evaluator(inner, value)) expr(evaluated, value);
    }
  }
  return inner;
}

// Decorators and defaults are evaluated in the scope around the function.
void SymbolTable::function(Scope* scope, const FunctionDef& node, const Stmt* stmt) {
  for (const Expr* each : node.decorators) expr(scope, each);
  defaults(scope, node.args);
  bind(scope, node.name);
  Scope* around = type_params(scope, &node.type_params, node.type_params);
  // The defaults of a generic function are passed as arguments to the function that evaluates its type parameters. The
  // first of these arguments is called `.defaults`, even if only keyword-only parameters have defaults.
  if (around != scope && around->parameters.empty() && node.args) {
    const auto pass = [&](std::string_view name) {
      around->parameters.push_back(name);
      around->bind(name);
    };
    const bool has_defaults = !node.args->defaults.empty();
    if (has_defaults) pass(".defaults");
    if (std::ranges::any_of(node.args->kw_defaults, [](const Expr* value) { return value != nullptr; }))
      pass(has_defaults ? ".kwdefaults" : ".defaults");
  }
  annotations(around, node);
  Scope* inner = open(around, stmt, ScopeKind::function);
  if (!inner) return;
  arguments(inner, node.args);
  inner->is_coroutine = node.is_async;
  // Enclosing statements are counted separately for each scope.
  const int conditions = std::exchange(conditions_, 0);
  block(inner, node.body);
  conditions_ = conditions;
}

// Private names in the type parameters of a class, and in the bases of a generic class, are mangled with the name of
// the class itself.
void SymbolTable::class_def(Scope* scope, const ClassDef& node, const Stmt* stmt) {
  for (const Expr* each : node.decorators) expr(scope, each);
  bind(scope, node.name);
  const std::string_view private_class = class_in_private_names(node.name);
  const std::string_view outer_class = std::exchange(scope->private_class, private_class);
  const List<TypeParam>* outer_only = scope->mangled_only;
  if (dialect_of(version_).unmangled_bases) scope->mangled_only = &node.type_params;
  Scope* around = type_params(scope, &node.type_params, node.type_params);
  scope->private_class = outer_class, scope->mangled_only = outer_only;
  if (around != scope) around->bind(".type_params"), around->bind(".generic_base");
  for (const Expr* each : node.bases) expr(around, each);
  for (const Keyword& each : node.keywords) expr(around, each.value);
  Scope* inner = open(around, stmt, ScopeKind::class_body);
  if (!inner) return;
  inner->private_class = private_class;
  if (around != scope) inner->use(".type_params");
  const int conditions = std::exchange(conditions_, 0);
  block(inner, node.body);
  conditions_ = conditions;
  deferred(inner);
}

// Names in patterns are bound in the scope of the match statement.
void SymbolTable::pattern(Scope* scope, const Pattern* pattern) {
  if (!pattern) return;
  auto each_of = [&](List<Pattern*> list) {
    for (const Pattern* each : list) this->pattern(scope, each);
  };
  std::visit(Overloaded{
                 [&](const MatchValue& n) { expr(scope, n.value); },
                 [&](const MatchSingleton&) {},
                 [&](const MatchSequence& n) { each_of(n.patterns); },
                 [&](const MatchMapping& n) {
                   for (const Expr* key : n.keys) expr(scope, key);
                   each_of(n.patterns);
                   if (!n.rest.empty()) bind(scope, n.rest);
                 },
                 [&](const MatchClass& n) {
                   expr(scope, n.cls);
                   each_of(n.patterns);
                   each_of(n.kwd_patterns);
                 },
                 [&](const MatchStar& n) {
                   if (!n.name.empty()) bind(scope, n.name);
                 },
                 [&](const MatchAs& n) {
                   this->pattern(scope, n.pattern);
                   if (!n.name.empty()) bind(scope, n.name);
                 },
                 [&](const MatchOr& n) { each_of(n.patterns); },
             },
             pattern->node);
}

// Visits a target, and binds the names in it.
void SymbolTable::target(Scope* scope, const Expr* target) {
  if (auto* name = as<Name>(target)) return bind(scope, name->id);
  if (auto* starred = as<Starred>(target)) return this->target(scope, starred->value);
  if (auto* tuple = as<Tuple>(target)) {
    for (const Expr* each : tuple->elts) this->target(scope, each);
    return;
  }
  if (auto* list = as<ListExpr>(target)) {
    for (const Expr* each : list->elts) this->target(scope, each);
    return;
  }
  expr(scope, target);
}

// An annotated name without a value, as in `x: int`, is bound in the scope, too. Only simple names of modules and
// classes have deferred annotations.
void SymbolTable::annotated_assignment(Scope* scope, const AnnAssign& assign) {
  const bool are_deferred = dialect_of(version_).deferred_annotations;
  scope->has_annotations = true;
  if (!is<Name>(assign.target) || assign.simple || assign.value) target(scope, assign.target);
  expr(scope, assign.value);
  if (!text_ && !are_deferred) expr(scope, assign.annotation);
  if (!are_deferred || scope->is_function_like()) return;
  if (!text_) scope->annotations.push_back(assign.annotation);
  // Annotations in a module, and annotations in a class within another statement, are evaluated only if
  // `__conditional_annotations__` records that their statements have run.
  const bool is_conditional = scope->kind == ScopeKind::module || conditions_ > 0;
  scope->has_conditional_annotations |= is_conditional;
  if (is_conditional && scope->kind == ScopeKind::class_body) scope->use("__conditional_annotations__").is_cell = true;
  if (!assign.simple || !is<Name>(assign.target)) return;
  const std::int32_t index = is_conditional ? scope->conditional_annotations++ : -1;
  if (!text_) scope->deferred.push_back({&assign, index});
}

// Visits a statement, by a table over the kinds of nodes.
void SymbolTable::stmt(Scope* scope, const Stmt* stmt) {
  const bool nesting = StmtKinds::of(stmt).has(StmtKinds::nesting());
  conditions_ += nesting;
  std::visit(Overloaded{
                 [&](const FunctionDef& n) { function(scope, n, stmt); },
                 [&](const ClassDef& n) { class_def(scope, n, stmt); },
                 [&](const Return& n) { expr(scope, n.value); },
                 [&](const Delete& n) {
                   for (const Expr* each : n.targets) target(scope, each);
                 },
                 [&](const Assign& n) {
                   for (const Expr* each : n.targets) target(scope, each);
                   expr(scope, n.value);
                 },
                 [&](const AugAssign& n) {
                   target(scope, n.target);
                   expr(scope, n.value);
                 },
                 [&](const AnnAssign& n) { annotated_assignment(scope, n); },
                 [&](const TypeAlias& n) {
                   bind(scope, n.name);
                   Scope* around = type_params(scope, &n.type_params, n.type_params);
                   if (Scope* inner = open_evaluator(around, stmt)) {
                     // Before 3.14, qualified names contain the function that evaluates the value of a type alias.
                     if (!dialect_of(version_).deferred_annotations) inner->kind = ScopeKind::function;
                     expr(inner, n.value);
                   }
                 },
                 [&](const For& n) {
                   target(scope, n.target);
                   expr(scope, n.iter);
                   block(scope, n.body);
                   block(scope, n.orelse);
                 },
                 [&](const While& n) {
                   expr(scope, n.test);
                   block(scope, n.body);
                   block(scope, n.orelse);
                 },
                 [&](const If& n) {
                   expr(scope, n.test);
                   block(scope, n.body);
                   block(scope, n.orelse);
                 },
                 [&](const With& n) {
                   for (const WithItem& item : n.items) {
                     expr(scope, item.context_expr);
                     if (item.optional_vars) target(scope, item.optional_vars);
                   }
                   block(scope, n.body);
                 },
                 [&](const Match& n) {
                   expr(scope, n.subject);
                   for (const MatchCase& each : n.cases) {
                     pattern(scope, each.pattern);
                     expr(scope, each.guard);
                     block(scope, each.body);
                   }
                 },
                 [&](const Raise& n) {
                   expr(scope, n.exc);
                   expr(scope, n.cause);
                 },
                 [&](const Try& n) {
                   block(scope, n.body);
                   block(scope, n.orelse);
                   for (const ExceptHandler& handler : n.handlers) {
                     expr(scope, handler.type);
                     if (!handler.name.empty()) bind(scope, handler.name);
                     block(scope, handler.body);
                   }
                   block(scope, n.finalbody);
                 },
                 [&](const Assert& n) {
                   expr(scope, n.test);
                   expr(scope, n.msg);
                 },
                 [&](const Import& n) {
                   for (const Alias& alias : n.names)
                     bind(scope, alias.asname.empty() ? alias.name.substr(0, alias.name.find('.')) : alias.asname);
                 },
                 [&](const ImportFrom& n) {
                   for (const Alias& alias : n.names)
                     if (alias.name != "*") bind(scope, alias.asname.empty() ? alias.name : alias.asname);
                 },
                 [&](const Global& n) {
                   for (std::string_view name : n.names) scope->use(mangled(name, *scope)).is_declared_global = true;
                 },
                 [&](const Nonlocal& n) {
                   for (std::string_view name : n.names) scope->use(mangled(name, *scope)).is_declared_nonlocal = true;
                 },
                 [&](const ExprStmt& n) { expr(scope, n.value); },
                 [&](const Pass&) {},
                 [&](const Break&) {},
                 [&](const Continue&) {},
                 [&](const Comment&) {},
                 [&](const InternalStmt&) {},
             },
             stmt->node);
  conditions_ -= nesting;
}

// A walrus in a comprehension binds its name in the enclosing function or module, and the enclosing comprehensions
// refer to the name as a free or a global variable.
void SymbolTable::bind_named(Scope* scope, std::string_view name) {
  if (!scope->is_comprehension) return bind(scope, name);
  Scope* outer = scope;
  while (outer->is_comprehension) outer = outer->parent;
  const NameKey text = mangled(name, *scope);
  if (outer->kind == ScopeKind::module) outer->use(text).is_declared_global = true;
  const Symbol* known = outer->symbols.find(text);
  const bool is_global = known && known->is_declared_global;
  if (!is_global) outer->bind(text);
  for (Scope* each = scope; each != outer; each = each->parent) {
    Symbol& symbol = each->use(text);
    (is_global ? symbol.is_declared_global : symbol.is_declared_nonlocal) = true;
  }
}

// The outermost iterable is evaluated in the scope around the comprehension.
void SymbolTable::comprehension(Scope* scope, const ComprehensionExpr& node, const Expr* whole) {
  if (node.generators.empty()) return;
  expr(scope, node.generators[0].iter);
  Scope* inner = open(scope, whole, ScopeKind::function);
  if (!inner) return;
  inner->is_comprehension = true;
  const bool generator = node.kind == ComprehensionKind::generator;
  inner->is_generator = generator;
  // Generator expressions are never inlined, nor are comprehensions in the type parameters of a class.
  inner->inlined = dialect_of(version_).inlined_comprehensions && !generator && !scope->sees_class;
  for (std::size_t i = 0; i < node.generators.size(); ++i) {
    const Comprehension& each = node.generators[i];
    if (i > 0) expr(inner, each.iter);
    target(inner, each.target);
    for (const Expr* test : each.ifs) expr(inner, test);
    inner->is_coroutine = inner->is_coroutine || each.is_async;
  }
  expr(inner, node.elt);
  expr(inner, node.value);
  // A comprehension that contains an asynchronous comprehension is asynchronous, too.
  if (inner->is_coroutine && !generator && scope->is_comprehension) scope->is_coroutine = true;
  if (!inner->inlined) inner->parameters.push_back(".0"), inner->bind(".0");
}

// Visits an expression, and opens scopes for lambdas and comprehensions. The most frequent kinds of expressions are
// tested first.
void SymbolTable::expr(Scope* scope, const Expr* expr) {
  if (!expr || is<ConstantExpr>(expr)) return;
  if (auto* name = as<Name>(expr)) return use(scope, name->id);
  if (auto* attribute = as<Attribute>(expr)) return this->expr(scope, attribute->value);
  if (auto* call = as<Call>(expr)) {
    this->expr(scope, call->func);
    for (const Expr* each : call->args) this->expr(scope, each);
    for (const Keyword& each : call->keywords) this->expr(scope, each.value);
    return;
  }
  if (auto* lambda = as<Lambda>(expr)) {
    defaults(scope, lambda->args);
    Scope* inner = open(scope, expr, ScopeKind::function);
    if (!inner) return;
    arguments(inner, lambda->args);
    return this->expr(inner, lambda->body);
  }
  if (auto* node = as<ComprehensionExpr>(expr)) return comprehension(scope, *node, expr);
  if (auto* named = as<NamedExpr>(expr)) {
    this->expr(scope, named->value);
    if (auto* name = as<Name>(named->target)) bind_named(scope, name->id);
    return;
  }
  if (is<Yield>(expr) || is<YieldFrom>(expr)) scope->is_generator = true;
  if (is<Await>(expr)) scope->is_coroutine = true;
  for_each_child(const_cast<Expr*>(expr), [&](Expr*& child) { this->expr(scope, child); });
}

// home_of adds symbols only to scopes around `scope`, so the loop over the symbols of `scope` stays valid.
void SymbolTable::resolve(Scope* scope) {
  for (auto& [name, symbol] : scope->symbols.entries())
    if (symbol.is_mentioned) symbol.home = home_of(scope, name, symbol);
}

// A name is local in a scope that binds it, else free if an enclosing function binds it, else global. Scopes in a class
// do not see the names of the class, except for the cells that the compiler adds, such as `__class__`. So a class with
// the cell `__conditional_annotations__`, which the class does not bind as a name, also has the cell of the class around
// it as a free variable. A function that evaluates annotations or type parameters in a class looks up a name that the
// class binds in the namespace of the class, and then among the globals.
Home SymbolTable::home_of(Scope* scope, const NameKey& name, const Symbol& symbol) {
  if (symbol.is_declared_global) return Home::global_explicit;
  if (symbol.is_bound && !symbol.is_declared_nonlocal) return Home::local;
  Scope* owner = scope->parent;
  if (scope->sees_class) {
    const Scope* around = owner;
    while (around->kind != ScopeKind::class_body) around = around->parent;
    const Symbol* of_class = around->symbols.find(name);
    if (of_class && of_class->is_declared_global) return Home::global_explicit;
    if (of_class && of_class->is_bound && !of_class->is_declared_nonlocal) return Home::global_implicit;
  }
  for (; owner; owner = owner->parent) {
    if (owner->kind == ScopeKind::class_body) {
      if (is_class_cell(name.text())) break;
      continue;
    }
    if (owner->kind == ScopeKind::module) {
      if (!around_.contains(name.text())) return Home::global_implicit;
      break;
    }
    const Symbol* around = owner->symbols.find(name);
    if (!around) continue;
    if (around->is_declared_global) return Home::global_implicit;
    if (around->is_bound && !around->is_declared_nonlocal) break;
  }
  if (!owner) return Home::global_implicit;
  // All code objects between the owner of the cell and `scope` pass the cell on as a free variable.
  Scope* from = scope->unit();
  if (from == owner->unit() && owner->kind != ScopeKind::class_body) return Home::free;  // `scope` has the cell itself
  if (from == owner) return Home::free;
  owner->symbols[name].is_cell = true;
  for (Scope* each = from; each != owner->unit(); each = each->parent->unit()) each->symbols[name].is_free = true;
  return Home::free;
}

std::vector<std::string_view> Scope::free_names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, symbol] : symbols.entries())
    if (symbol.is_free) names.push_back(name.text());
  std::ranges::sort(names);
  return names;
}

}  // namespace depyf::lowering
