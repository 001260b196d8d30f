// Replaces the names of the temporaries that no other pass has removed by readable names. A temporary is named after
// the parameter to which it is passed, after the local to which it is copied, or after the expression whose value it
// has. For example, `__temp_3 = graph_out_0[1]` becomes `graph_out_0_1 = graph_out_0[1]`. If `return
// __resume_at_4(__temp_3)` follows, and the parameter of `__resume_at_4` is x, the temporary gets the name x: `x =
// graph_out_0[1]; return __resume_at_4(x)`.
#include <algorithm>
#include <cctype>

#include "ast/overloaded.h"
#include "ast/visit.h"
#include "decode/instruction.h"
#include "depyf/code_object.h"
#include "refine/locals.h"
#include "refine/rewrite.h"

namespace depyf {
using namespace ast;

namespace {

constexpr std::size_t length_max = 32;  // the largest number of characters of a suggested name

// Adds all names that `code` and its nested code objects use to `names`.
void all_names(const CodeObject& code, std::set<std::string_view>& names) {
  for (const auto* list : {&code.names, &code.varnames, &code.cellvars, &code.freevars})
    names.insert(list->begin(), list->end());
  for (const Constant& constant : code.constants)
    if (constant.code) all_names(*constant.code, names);
}

// The keywords, and the builtins that the names of temporaries must not hide.
constexpr std::string_view reserved[] = {
    "False",       "None",   "True",   "and",     "as",       "assert", "async",
    "await",       "break",  "case",   "class",   "continue", "def",    "del",
    "elif",        "else",   "except", "finally", "for",      "from",   "global",
    "if",          "import", "in",     "is",      "lambda",   "match",  "nonlocal",
    "not",         "or",     "pass",   "raise",   "return",   "try",    "type",
    "while",       "with",   "yield",  "print",   "len",      "list",   "dict",
    "set",         "tuple",  "slice",  "super",   "str",      "int",    "AssertionError",
    "RuntimeError"};

// Returns `name` without the underscores at its ends.
std::string plain(std::string_view name) {
  std::size_t begin = name.find_first_not_of('_');
  if (begin == std::string_view::npos) return {};
  std::size_t end = name.find_last_not_of('_');
  return std::string(name.substr(begin, end - begin + 1));
}

// Collects suggestions of names for all temporaries, chooses among the suggestions, and renames the temporaries.
class Namer {
 public:
  Namer(Context& context, const Scope& scope) : context_(context) {
    all_names(*scope.decoded.code, taken_);
    taken_.insert(std::begin(reserved), std::end(reserved));
    const CodeObject& code = *scope.decoded.code;
    // A temporary may get the name of a local of the bytecode that the printed source does not mention any more.
    for (const std::string& local : code.varnames) lendable_.insert(local);
    for (const std::string& cell : code.cellvars) lendable_.erase(cell);
    count(code);
    for (auto [temporary, local] : context.lent) lend(temporary, local);
    for (auto [temporary, name] : context.wanted) suggest(temporary, std::string(name));
  }

  // Collects suggestions of names from all statements.
  void look(Block body) {
    for (Stmt* stmt : body) {
      for_each_expr(stmt, [&](Expr*& expr) { mention(expr); });
      if (auto* assign = as<Assign>(stmt); assign && assign->targets.size() == 1)
        if (auto* name = as<Name>(assign->targets[0])) made(name->id, assign->value);
      if (auto* loop = as<For>(stmt); loop && is<Name>(loop->target)) suggest(as<Name>(loop->target)->id, "item");
      for_each_expr(stmt, [&](Expr*& expr) { arguments(expr); });
      for_each_block(stmt, [&](Block& inner) { look(inner); });
    }
  }

  // Chooses a name for each temporary, in the order in which the temporaries occur.
  void choose() {
    for (std::string_view temporary : order_) {
      std::string wanted;
      if (auto found = lent_.find(temporary); found != lent_.end() && usable(found->second)) wanted = found->second;
      else if (auto seen = suggested_.find(temporary); seen != suggested_.end()) wanted = seen->second;
      names_[temporary] = context_.arena.copy(unique(wanted.empty() ? "value" : wanted));
    }
  }

  void rename(Block body) { depyf::rename(body, names_); }

 private:
  // If `expr` calls a resume function, suggests the names of its parameters for the temporaries that are its arguments.
  void arguments(Expr* expr) {
    auto* call = as<Call>(expr);
    auto* function = call ? as<Name>(call->func) : nullptr;
    if (function) {
      auto known = context_.options.parameters.find(std::string(function->id));
      if (known != context_.options.parameters.end())
        for (std::size_t i = 0; i < call->args.size() && i < known->second.size(); ++i)
          if (auto* name = as<Name>(call->args[i]); name && is_temporary(name->id)) lend(name->id, known->second[i]);
    }
    for_each_child(expr, [&](Expr*& child) { arguments(child); });
  }

  // Records that `temporary` is passed or copied to the variable `name`. If a temporary is passed or copied to two
  // different variables, it gets neither name.
  void lend(std::string_view temporary, std::string_view name) {
    auto [found, fresh] = lent_.try_emplace(temporary, name);
    if (!fresh && found->second != name) found->second = {};
  }

  // True if a temporary may get the name `name` of a variable to which the temporary is passed or copied.
  bool usable(std::string_view name) const {
    if (name.empty() || mentioned_.contains(name) || name.starts_with("___stack")) return false;
    // A usable name is new to the code, or belongs to a local that the code uses for nothing else.
    if (!taken_.contains(name)) return is_identifier(name);
    return lendable_.contains(name) && uses_.at(name) == 0;
  }

  static bool is_identifier(std::string_view name) {
    return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
           std::ranges::all_of(name, [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); });
  }

  // Counts for each local how often a global, attribute or parameter has the same name, or nested code uses the name. A
  // temporary never gets the name of a local for which `uses_` contains a number other than 0.
  void count(const CodeObject& code) {
    for (const std::string& local : code.varnames) uses_.try_emplace(local, 0);
    for (const std::string& name : code.names)
      if (uses_.contains(name)) ++uses_[name];
    std::set<std::string_view> nested;
    for (const Constant& constant : code.constants)
      if (constant.code) all_names(*constant.code, nested);
    for (std::string_view name : nested)
      if (uses_.contains(name)) ++uses_[name];
    for (int i = 0; i < code.argument_count() && i < int(code.varnames.size()); ++i)
      ++uses_[code.varnames[std::size_t(i)]];
  }

  // Records the names in `expr`, and the order in which temporaries occur.
  void mention(Expr* expr) {
    if (auto* name = as<Name>(expr)) {
      if (!is_temporary(name->id)) mentioned_.insert(name->id);
      else if (seen_.insert(name->id).second) order_.push_back(name->id);
    }
    for_each_child(expr, [&](Expr*& child) { mention(child); });
  }

  // Suggests `text` as the name of the temporary `name`. The first suggestion for a temporary is kept.
  void suggest(std::string_view name, std::string text) {
    if (!is_temporary(name) || !is_identifier(text) || text.size() > length_max) return;
    suggested_.try_emplace(name, std::move(text));
  }

  // Suggests a name for the temporary `name`, whose value is the result of the expression `value`.
  void made(std::string_view name, const Expr* value) { suggest(name, said(value)); }

  // Returns a name that describes the result of the expression `value`; an empty text if no name describes it.
  std::string said(const Expr* value) const {
    if (auto* read = as<Name>(value)) {
      if (!is_temporary(read->id)) return plain(read->id);
      if (auto lent = lent_.find(read->id); lent != lent_.end() && usable(lent->second))
        return std::string(lent->second);
      auto found = suggested_.find(read->id);
      return found == suggested_.end() ? std::string{} : found->second;
    }
    if (auto* attribute = as<Attribute>(value)) return plain(attribute->attr);
    if (auto* item = as<Subscript>(value)) {
      std::string base = said(item->value);
      auto* index = as<ConstantExpr>(item->slice);
      if (base.empty() || !index) return base.empty() ? base : base + "_item";
      if (index->value->kind == Constant::Kind::integer && is_identifier("i" + index->value->text))
        return base + "_" + index->value->text;
      if (index->value->kind == Constant::Kind::string && is_identifier(index->value->text))
        return plain(index->value->text);
      return base + "_item";
    }
    if (is_profiling(value)) return "profiling";
    if (auto* call = as<Call>(value)) {
      std::string function = said(call->func);
      return function.empty() || function.size() + 7 > length_max ? "result" : function + "_result";
    }
    if (auto* awaited = as<Await>(value)) return said(awaited->value);
    if (is<Compare>(value) || is<BoolOp>(value)) return "test";
    if (is<ListExpr>(value) || is<Tuple>(value)) return "items";
    if (is<Dict>(value)) return "table";
    if (is<Lambda>(value)) return "function";
    if (is<JoinedStr>(value)) return "text";
    if (is<Yield>(value) || is<YieldFrom>(value)) return "sent";
    return {};
  }

  // Returns the name `wanted`, with a number behind it if the name is taken.
  std::string unique(const std::string& wanted) {
    std::string name = wanted;
    bool lent = lendable_.contains(name) && usable(name);
    for (int n = 2; !lent && (taken_.contains(name) || given_.contains(name)); ++n)
      name = wanted + "_" + std::to_string(n);
    given_.insert(name);
    mentioned_.insert(*given_.find(name));
    return name;
  }

  Context& context_;
  // `taken_` contains the names that this code or nested code uses, `lendable_` the locals of this code that are no
  // cells, `mentioned_` the names in the source, and `seen_` the temporaries in `order_`.
  std::set<std::string_view> taken_, lendable_, mentioned_, seen_;
  // Maps each local to a number that `count` computes: how often the name of the local is also the name of a global, an
  // attribute or a parameter, or is used by nested code.
  std::map<std::string_view, int> uses_;
  // The temporaries in the order in which they occur.
  std::vector<std::string_view> order_;
  // `lent_` maps each temporary to the variable to which it is passed or copied; `suggested_` maps each temporary to
  // the name that its value suggests.
  std::map<std::string_view, std::string_view> lent_;
  std::map<std::string_view, std::string> suggested_;
  // `given_` contains the names that were chosen for temporaries; `names_` maps each temporary to its chosen name.
  std::set<std::string, std::less<>> given_;
  std::map<std::string_view, std::string_view> names_;
};

}  // namespace

Block name_temporaries(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::module || scope.kind == Scope::Kind::class_body) return body;
  Namer namer(context, scope);
  namer.look(body);
  namer.choose();
  namer.rename(body);
  return body;
}

}  // namespace depyf
