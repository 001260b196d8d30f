// Rewrites accesses to names that are no identifiers, which the source cannot contain. An access to a global or class
// variable `a b` becomes `globals()['a b']`, or `locals()['a b']` in the class that sets the variable. A store to an
// attribute, such as `x.<a b> = v`, becomes `setattr(x, 'a b', v)`. A definition such as `def <a b>(): ...`, or an
// import, binds the identifier `a_b` instead, and `globals()['a b'] = a_b; del a_b` follows it. A local variable `a b`
// becomes `a_b`, or `a_b_` if `a_b` is another variable.
#include "print/odd_names.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ast/visit.h"
#include "depyf/code_object.h"
#include "print/unicode.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

namespace {

// Returns true if `name` is a user's name and no identifier. Returns false for names that the compiler generates, such
// as the parameter `.0` of a comprehension.
bool is_odd(std::string_view name) { return !name.empty() && name[0] != '.' && !print::is_identifier(name); }

// The kind of the scope that is rewritten. In the scope `definition`, which only surrounds the printed definition, all
// names are treated as local.
enum class Namespace : std::uint8_t { module, class_body, function, definition };

// Rewrites one scope; nested definitions get a `Reach` of their own.
class Reach {
 public:
  Reach(Context& context, Namespace space, const CodeObject* code) : context_(context), space_(space) {
    if (code)
      for (const auto* names : {&code->varnames, &code->cellvars, &code->freevars})
        locals_.insert(names->begin(), names->end());
    changed_ = space == Namespace::function && std::ranges::any_of(locals_, is_odd);
  }

  Block run(Block body) {
    if (space_ == Namespace::class_body) find_stored(body);
    body = rewrite_blocks(context_, body, [&](std::vector<Stmt*>& statements) { rewrite(statements); });
    if (!changed_ || space_ == Namespace::definition) return body;
    return context_.with_comment(
        "depyf: not equal: names that are no identifiers are written in another way (offset 0)", body);
  }

 private:
  Expr* text(std::string_view name) { return context_.constant(Constant::Kind::string, std::string(name)); }

  // Returns true if the variable `name` must be reached through `globals()` or `locals()`.
  bool is_reached(std::string_view name) const {
    if (!is_odd(name) || space_ == Namespace::definition || inner_.contains(name)) return false;
    return space_ != Namespace::function || !locals_.contains(name);
  }

  // Returns the expression `globals()['a b']`, or `locals()['a b']` for a variable that the class body sets.
  Expr* variable(std::string_view name) {
    const bool own = space_ == Namespace::class_body && stored_.contains(name);
    Expr* names = context_.expr(Call{context_.name(own ? "locals" : "globals"), {}, {}});
    return context_.expr(Subscript{names, text(name)});
  }

  // Collects the names that a class body sets, because the `locals()` of the class body contain no other names.
  void find_stored(Block body) {
    for (Stmt* stmt : body) {
      auto add = [&](const Expr* target) {
        if (auto* name = as<Name>(target)) stored_.insert(name->id);
      };
      if (auto* assign = as<Assign>(stmt)) std::ranges::for_each(assign->targets, add);
      if (auto* function = as<FunctionDef>(stmt)) stored_.insert(function->name);
      if (auto* definition = as<ClassDef>(stmt)) stored_.insert(definition->name);
      for_each_block(stmt, [&](Block& inner) { find_stored(inner); });
    }
  }

  // Adds to `inner_` the parameters of a lambda, or the targets of a comprehension, which are local variables of that
  // expression.
  void add_inner(Expr* expr) {
    if (auto* lambda = as<Lambda>(expr)) {
      for (List<Arg> list : {lambda->args->posonly, lambda->args->args, lambda->args->kwonly})
        for (const Arg& arg : list) inner_.insert(arg.name);
      for (const Arg* arg : {&lambda->args->vararg, &lambda->args->kwarg}) inner_.insert(arg->name);
    }
    if (auto* comprehension = as<ComprehensionExpr>(expr))
      for (const Comprehension& each : comprehension->generators) add_names(each.target);
  }
  void add_names(Expr* target) {
    if (auto* name = as<Name>(target)) inner_.insert(name->id);
    for_each_child(target, [&](Expr*& child) { add_names(child); });
  }

  // Rewrites, in `expr`, the loads of names that are no identifiers, children first. Names that a lambda or
  // comprehension binds are treated as local only inside the expression.
  void reach(Expr*& expr) {
    if (!expr) return;
    const std::set<std::string_view> around = inner_;
    add_inner(expr);
    for_each_child(expr, [&](Expr*& child) { reach(child); });
    inner_ = around;
    if (auto* name = as<Name>(expr); name && is_odd(name->id)) {
      changed_ = true;
      if (is_reached(name->id)) expr = variable(name->id);
    }
    if (auto* attribute = as<Attribute>(expr)) changed_ |= is_odd(attribute->attr);
  }

  // Returns the call that replaces a statement of the form `x.<a b> = v` or `del x.<a b>`; null for a statement of any
  // other form.
  Expr* call_for(Stmt* stmt) {
    auto* assign = as<Assign>(stmt);
    auto* remove = as<Delete>(stmt);
    List<Expr*> targets = assign ? assign->targets : remove ? remove->targets : List<Expr*>{};
    auto* target = targets.size() == 1 ? as<Attribute>(targets[0]) : nullptr;
    if (!target || !is_odd(target->attr)) return nullptr;
    Expr* name = text(target->attr);
    if (remove) return context_.expr(Call{context_.name("delattr"), context_.list({target->value, name}), {}});
    return context_.expr(Call{context_.name("setattr"), context_.list({target->value, name, assign->value}), {}});
  }

  // Rewrites the body of a nested definition in its own scope.
  void enter(Stmt* stmt) {
    auto* function = as<FunctionDef>(stmt);
    auto* definition = as<ClassDef>(stmt);
    if (!function && !definition) return;
    Block& body = function ? function->body : definition->body;
    const Namespace space = definition       ? Namespace::class_body
                            : function->code ? Namespace::function
                                             : Namespace::definition;
    body = Reach(context_, space, function ? function->code : definition->code).run(body);
  }

  void rewrite(std::vector<Stmt*>& statements) {
    std::vector<Stmt*> result;
    for (Stmt* stmt : statements) {
      for_each_expr(stmt, [&](Expr*& expr) { reach(expr); });
      enter(stmt);
      // A `global` declaration cannot contain a name that is no identifier, and `globals()['a b']` needs no
      // declaration.
      if (auto* global = as<Global>(stmt)) {
        std::vector<std::string_view> names(global->names.begin(), global->names.end());
        std::erase_if(names, is_odd);
        if (names.empty()) continue;
        global->names = context_.arena.copy(names);
      }
      if (Expr* call = call_for(stmt)) stmt->node = ExprStmt{call, comment_of(stmt)};
      result.push_back(stmt);
      // A printed definition or import binds an identifier, and its value is then moved to the name that is no
      // identifier: `globals()['a b'] = a_b; del a_b`.
      for (std::string_view name : defined(stmt)) {
        if (!is_odd(name)) continue;
        changed_ = true;
        if (!is_reached(name)) continue;
        result.push_back(context_.stmt(Assign{context_.list({variable(name)}), context_.name(name)}, stmt->offset));
        result.push_back(context_.stmt(Delete{context_.list({context_.name(name)})}, stmt->offset));
      }
    }
    statements = std::move(result);
  }

  // Returns the names that a definition or an import binds.
  static std::vector<std::string_view> defined(Stmt* stmt) {
    if (auto* function = as<FunctionDef>(stmt)) return {function->name};
    if (auto* definition = as<ClassDef>(stmt)) return {definition->name};
    std::vector<std::string_view> names;
    auto add = [&](const Alias& alias, bool whole) {
      std::string_view bound = alias.asname.empty() ? alias.name : alias.asname;
      // `import a.b` binds `a`.
      if (whole && alias.asname.empty()) bound = bound.substr(0, bound.find('.'));
      if (bound != "*") names.push_back(bound);
    };
    if (auto* import = as<Import>(stmt))
      for (const Alias& alias : import->names) add(alias, true);
    if (auto* import = as<ImportFrom>(stmt))
      for (const Alias& alias : import->names) add(alias, false);
    return names;
  }

  Context& context_;
  const Namespace space_;
  std::set<std::string_view> locals_;  // variables of the function
  std::set<std::string_view> stored_;  // names that the class body sets
  std::set<std::string_view> inner_;   // variables of the lambdas and comprehensions around the current expression
  bool changed_ = false;
};

}  // namespace

Block reach_odd_names(Context& context, Block body, bool is_module) {
  return Reach(context, is_module ? Namespace::module : Namespace::definition, nullptr).run(body);
}

namespace print {

void Renamed::take_names_of(const CodeObject& code) {
  if (!seen_.insert(&code).second) return;
  for (const auto* names : {&code.names, &code.varnames, &code.cellvars, &code.freevars})
    taken_.insert(names->begin(), names->end());
  taken_.insert(code.name);
  for (const Constant& constant : code.constants)
    if (constant.code) take_names_of(*constant.code);
}

const std::string& Renamed::operator()(std::string_view name) {
  if (auto known = names_.find(name); known != names_.end()) return known->second;
  if (root_ && seen_.empty()) take_names_of(*root_);
  std::string free = identifier(name);
  // Names that start with `__` are reserved for temporaries of the decompiler, so the prefix `name` is added.
  if (free.size() > 2 && free.starts_with("__") && free[2] != '_') free = "name" + free;
  while (taken_.contains(free)) free += '_';
  taken_.insert(free);
  return names_.emplace(name, free).first->second;
}

}  // namespace print
}  // namespace depyf
