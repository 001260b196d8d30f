// The symbol table of a finished tree. It says which scope binds each name, by the rules of CPython's symtable.c.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ast/node.h"
#include "lower/name_map.h"
#include "support/private_names.h"

namespace depyf {
struct LoweredCode;
}

namespace depyf::lowering {

enum class ScopeKind : std::uint8_t { module, class_body, function, type_params };

// The place where the value of a name lives, as one scope sees it.
enum class Home : std::uint8_t {
  unknown,  // the scope does not mention the name
  local,
  free,
  global_explicit,
  global_implicit
};

// A name in one scope.
struct Symbol {
  Home home = Home::unknown;
  bool is_mentioned = false;  // the scope binds, uses or declares the name
  bool is_bound = false;
  bool is_declared_global = false, is_declared_nonlocal = false;
  bool is_cell = false;  // bound here, and used by nested code
  bool is_free = false;  // a free variable of the code object
  // The index among the variables of the code object, and among its free variables; -1 if it has none yet.
  std::int32_t slot = -1, free_index = -1;
};

// An annotation of a module or class that is evaluated when somebody asks for it (3.14 and later).
struct Deferred {
  const ast::AnnAssign* node = nullptr;
  // Its index among the annotations that hold only if their statement has run; -1 if it always holds.
  std::int32_t index = -1;
};

// The names of one module, class, function, comprehension or function that evaluates something later.
struct Scope {
  ScopeKind kind = ScopeKind::module;
  Scope* parent = nullptr;
  // A comprehension whose code is part of the scope around it (3.12 and later).
  bool inlined = false;
  bool is_comprehension = false;
  bool is_generator = false;  // contains a yield, or is a generator expression
  bool is_coroutine = false;
  bool has_annotations = false;  // contains an annotated assignment, in any block
  // Names of the scope may be free variables: a function is around it.
  bool may_have_free = false;
  // The scope is evaluated in a class body, and looks names up in the class first (3.12 and later).
  bool sees_class = false;
  std::vector<const ast::Expr*> annotations;  // of any target
  bool has_conditional_annotations = false;
  std::vector<Deferred> deferred;
  // The number of annotations that need a mark.
  std::int32_t conditional_annotations = 0;
  std::string_view private_class;  // the part of the name of the class around that stands in private names
  NameMap<Symbol> symbols;  // by mangled name
  std::vector<std::string_view> parameters;
  std::unordered_map<const void*, Scope*> children;  // by the node that opens the scope
  std::shared_ptr<LoweredCode> code;  // null until it is lowered, and if it is a part of the code around

  // Returns where the value of a name lives.
  Home home_of(const NameKey& name) const {
    const Symbol* symbol = symbols.find(name);
    return symbol ? symbol->home : Home::unknown;
  }
  bool has_cell(const NameKey& name) const {
    const Symbol* symbol = symbols.find(name);
    return symbol && symbol->is_cell;
  }
  // Each of these returns the symbol of a name that the scope uses or binds.
  Symbol& use(const NameKey& name) {
    Symbol& symbol = symbols[name];
    symbol.is_mentioned = true;
    return symbol;
  }
  Symbol& bind(const NameKey& name) {
    Symbol& symbol = use(name);
    symbol.is_bound = true;
    return symbol;
  }
  // Returns the names of the free variables of the code object, sorted.
  std::vector<std::string_view> free_names() const;
  bool is_function_like() const { return kind == ScopeKind::function || kind == ScopeKind::type_params; }
  // Returns the scope whose code object contains the code of this scope.
  Scope* unit() {
    Scope* scope = this;
    while (scope->inlined) scope = scope->parent;
    return scope;
  }
};

// Builds the scopes in one walk over the tree, and then finds the home of each name.
class SymbolTable {
 public:
  // `around` holds names that functions around the tree bind.
  SymbolTable(Version version, bool annotations_are_text, std::set<std::string_view> around = {})
      : version_(version), text_(annotations_are_text), around_(std::move(around)) {}

  // Returns the scope of the whole tree. All scopes live as long as the table.
  Scope* build(ast::Block body);

  // Returns the name as the compiler stores it: a private name in a class gets the name of the class in front.
  std::string_view mangled(std::string_view name, const Scope& scope) {
    return scope.private_class.empty() || !is_private_name(name) ? name : in_class(name, scope.private_class);
  }
  // Keeps a text alive and returns a view of it.
  std::string_view keep(std::string text);
  // Returns the kept texts. All views of them stay valid as long as the result lives.
  std::unordered_set<std::string> take_names() { return std::move(names_); }

 private:
  // Returns a private name with the name of its class in front.
  std::string_view in_class(std::string_view name, std::string_view private_class);
  // Opens the scope of a function that evaluates something later. `is_text` is true if it returns texts.
  Scope* open_evaluator(Scope* scope, const void* node, bool is_text = false);
  // Visits the annotations of a module or class.
  void deferred(Scope* scope);
  // Opens a scope. Returns null if the node was visited before.
  Scope* open(Scope* parent, const void* node, ScopeKind kind);
  void bind(Scope* scope, std::string_view name) { scope->bind(mangled(name, *scope)); }
  // Records that a scope uses a name.
  void use(Scope* scope, std::string_view name);
  // These functions visit one kind of node each, and record the names in it.
  void block(Scope* scope, ast::Block body);
  void annotated_assignment(Scope* scope, const ast::AnnAssign& assign);
  void stmt(Scope* scope, const ast::Stmt* stmt);
  void function(Scope* scope, const ast::FunctionDef& node, const ast::Stmt* stmt);
  void class_def(Scope* scope, const ast::ClassDef& node, const ast::Stmt* stmt);
  void arguments(Scope* scope, const ast::Arguments* args);
  void defaults(Scope* scope, const ast::Arguments* args);
  void annotations(Scope* scope, const ast::FunctionDef& node);
  Scope* type_params(Scope* scope, const void* node, ast::List<ast::TypeParam> params);
  void expr(Scope* scope, const ast::Expr* expr);
  void comprehension(Scope* scope, const ast::ComprehensionExpr& node, const ast::Expr* expr);
  void pattern(Scope* scope, const ast::Pattern* pattern);
  // Binds the target of a walrus.
  void bind_named(Scope* scope, std::string_view name);
  void target(Scope* scope, const ast::Expr* target);
  // Finds the homes of all names of a scope.
  void resolve(Scope* scope);
  // Returns the home of one name.
  Home home_of(Scope* scope, const NameKey& name, const Symbol& symbol);

  const Version version_;
  // The number of statements around the current one, in its scope, that may or may not run it.
  int conditions_ = 0;
  // True if annotations are kept as text, as with `from __future__ import annotations`.
  const bool text_;
  const std::set<std::string_view> around_;
  std::deque<Scope> scopes_;
  std::unordered_set<std::string> names_;  // texts that names refer to
};

}  // namespace depyf::lowering
