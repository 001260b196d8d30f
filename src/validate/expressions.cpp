// All kinds of expressions are in one file, because one recursive walk visits them.
#include "validate/expressions.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "ast/visit.h"
#include "dialect/dialect.h"
#include "print/unicode.h"
#include "validate/expression_text.h"

namespace depyf::validate {

using namespace ast;

namespace {

constexpr std::string_view debug_constant = "__debug__";  // a name that nothing can be assigned to
constexpr std::string_view wildcard = "_";             // binds nothing in a pattern, and begins no dotted name
// The parser of 3.8 has a small stack of its own; later tokenizers accept 200 levels.
constexpr int depth_max_38 = 80, depth_max = 150;
constexpr std::size_t before_star_max = 255;  // the most targets in front of a starred target

// True if the name is printed as `_`. The name may be `_` itself, or a name that is no identifier, such as `?`.
bool is_wildcard(std::string_view name) {
  return name == wildcard || (!print::is_identifier(name) && print::identifier(name) == wildcard);
}

int depth_of(const Constant& constant) {
  int deepest = 0;
  for (const Constant& item : constant.items) deepest = std::max(deepest, depth_of(item));
  return deepest + (constant.items.empty() ? 0 : 1);
}

// Collects the targets of `for` clauses and of `:=` in a comprehension and in the comprehensions nested in it.
void assigned_names(Expr* expr, std::set<std::string_view>& iterated, std::set<std::string_view>& named) {
  std::vector<Expr*> todo{expr};
  while (!todo.empty()) {
    Expr* next = todo.back();
    todo.pop_back();
    if (is<Lambda>(next)) continue;
    if (auto* assignment = as<NamedExpr>(next))
      if (auto* name = as<Name>(assignment->target)) named.insert(name->id);
    if (auto* inner = as<ComprehensionExpr>(next))
      for (const Comprehension& each : inner->generators) {
        std::vector<const Expr*> targets{each.target};
        while (!targets.empty()) {
          const Expr* target = targets.back();
          targets.pop_back();
          if (auto* name = as<Name>(target)) iterated.insert(name->id);
          if (auto* tuple = as<Tuple>(target)) targets.insert(targets.end(), tuple->elts.begin(), tuple->elts.end());
          if (auto* list = as<ListExpr>(target)) targets.insert(targets.end(), list->elts.begin(), list->elts.end());
          if (auto* starred = as<Starred>(target)) targets.push_back(starred->value);
        }
      }
    for_each_child(next, [&](Expr*& child) { todo.push_back(child); });
  }
}

// True for a name, or a name with attributes such as `a.b`, that a pattern may contain as a value.
bool is_dotted_name(const Expr* expr) {
  while (auto* attribute = as<Attribute>(expr)) expr = attribute->value;
  auto* name = as<Name>(expr);
  return name && !is_wildcard(name->id);
}

// True for a literal that a pattern may contain: text, bytes, or a number, which may have a sign and an imaginary part.
bool is_pattern_literal(const Expr* expr) {
  auto* constant = as<ConstantExpr>(expr);
  if (auto* unary = as<UnaryExpr>(expr)) return unary->op == UnaryOp::negative && is_pattern_literal(unary->operand);
  if (auto* binary = as<BinOp>(expr))
    return (binary->op == BinaryOp::add || binary->op == BinaryOp::subtract) && is_pattern_literal(binary->left) &&
           is_pattern_literal(binary->right);
  if (!constant) return false;
  switch (constant->value->kind) {
    case Constant::Kind::integer:
    case Constant::Kind::real:
    case Constant::Kind::complex:
    case Constant::Kind::string:
    case Constant::Kind::bytes: return true;
    case Constant::Kind::none:
    case Constant::Kind::true_:
    case Constant::Kind::false_:
    case Constant::Kind::ellipsis:
    case Constant::Kind::tuple:
    case Constant::Kind::frozenset:
    case Constant::Kind::slice:
    case Constant::Kind::code:
    case Constant::Kind::opaque: return false;
  }
  return false;
}

// Finds out quickly, for most lists of names, that no name occurs twice and no name is `__debug__`. The names are added
// one by one.
class NameFilter {
 public:
  void add(std::string_view name) {
    if (name.empty()) return add(wildcard);
    const auto code_of = [&](std::size_t index) { return static_cast<unsigned char>(name[index]); };
    const std::size_t hash =
        name.size() + 5u * code_of(0) + 9u * code_of(name.size() - 1) + 17u * code_of(name.size() / 2);
    const std::uint64_t bit = std::uint64_t{1} << (hash % 64);
    suspects_ |= hashes_ & bit;
    hashes_ |= bit;
    if (name[0] == '_') suspects_ |= std::uint64_t{name == debug_constant};
  }
  // True only if no two of the added names are equal, and no name is `__debug__`. The result may be false although the
  // names have no fault, because different names may have the same hash.
  bool is_faultless() const { return suspects_ == 0; }

 private:
  std::uint64_t hashes_ = 0;  // bit i is set if a name with the hash i has been added
  std::uint64_t suspects_ = 0;  // nonzero if two added names have the same hash, or if a name is `__debug__`
};

}  // namespace

bool has_duplicates(std::span<std::string_view> names) {
  constexpr std::size_t few = 8;  // the most names for which comparing all pairs is faster than sorting
  if (names.size() <= few) {
    for (auto name = names.begin(); name != names.end(); ++name)
      if (std::find(name + 1, names.end(), *name) != names.end()) return true;
    return false;
  }
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) != names.end();
}

Expressions::Expressions(Version version)
    : version_(version), depth_max_(dialect_of(version).peg_parser ? depth_max : depth_max_38) {}

Reason Expressions::check_all(List<Expr*> exprs, Where where, int depth, bool starred_allowed) {
  for (Expr* expr : exprs | std::views::reverse)
    if (Reason reason = check(expr, where, depth, starred_allowed); !reason.empty()) return reason;
  return {};
}

// The operand in front of an operator, a call or an index has the same depth as the whole expression, so operands of
// this kind are visited in a loop. All parts of an expression other than its front operand are deeper, so the limit of
// the depth bounds the recursion.
Reason Expressions::visit(Expr* expr, Where where, int depth, bool starred_allowed) {
  const int inner = depth + 1;
  do {
    if (depth > depth_max_) return "an expression that nests too deeply";
    Reason reason;
    if (auto* n = as<Call>(expr)) {
      if (!n->keywords.empty()) {
        reason = keywords_reason(n->keywords);
        for (const Keyword& keyword : n->keywords | std::views::reverse)
          if (reason.empty()) reason = check(keyword.value, where, inner);
      }
      if (reason.empty()) reason = check_all(n->args, where, inner, true);
      expr = n->func;
    } else if (auto* binary = as<BinOp>(expr)) {
      reason = check(binary->right, where, inner);
      expr = binary->left;
    } else if (auto* comparison = as<Compare>(expr)) {
      reason = check_all(comparison->comparators, where, inner);
      expr = comparison->left;
    } else if (auto* subscript = as<Subscript>(expr)) {
      reason = check(subscript->slice, where, inner);
      expr = subscript->value;
    } else {
      return visit_bracketed(expr, where, depth, starred_allowed);
    }
    if (!reason.empty()) return reason;
    starred_allowed = false;
  } while (needs_visit(expr, where, depth, starred_allowed));
  return {};
}

Reason Expressions::visit_bracketed(Expr* expr, Where where, int depth, bool starred_allowed) {
  const int inner = depth + 1;
  if (is<Name>(expr)) return {};
  if (auto* n = as<ConstantExpr>(expr)) {
    const std::string_view text = n->value->text;
    const bool is_long = text.starts_with("0x") || text.starts_with("-0x");
    if (where.is_annotation && n->value->kind == Constant::Kind::integer && is_long)
      return "an integer in an annotation that is too long for the text of the annotation";
    if (n->value->items.empty()) return {};
    const bool deep = depth + depth_of(*n->value) > depth_max_;
    return deep ? "a constant that nests too deeply" : Reason{};
  }
  if (auto* n = as<Tuple>(expr)) return check_all(n->elts, where, inner, true);
  if (auto* n = as<ListExpr>(expr)) return check_all(n->elts, where, inner, true);
  if (auto* n = as<SetExpr>(expr)) return check_all(n->elts, where, inner, true);
  if (auto* n = as<BoolOp>(expr)) return check_all(n->values, where, inner);
  if (auto* n = as<UnaryExpr>(expr)) return check(n->operand, where, inner);
  if (auto* n = as<JoinedStr>(expr)) return check_all(n->values, where, inner);
  if (auto* n = as<Starred>(expr))
    return starred_allowed ? check(n->value, where, inner) : "a starred expression where Python allows none";
  if (where.no_functions && (is<Lambda>(expr) || is<ComprehensionExpr>(expr)))
    return "a lambda or comprehension in the annotations of a generic method";
  if (auto* n = as<Lambda>(expr)) {
    Where body;
    body.yields = body.delegates = true;
    Reason reason = parameters_reason(n->args);
    if (reason.empty()) reason = check(n->body, body, inner);
    for (List<Expr*> defaults : {n->args->kw_defaults, n->args->defaults})
      if (reason.empty()) reason = check_all(defaults, where, inner);
    return reason;
  }
  if (is<ComprehensionExpr>(expr)) return comprehension(expr, where, inner);
  if (auto* n = as<NamedExpr>(expr)) {
    auto* name = as<Name>(n->target);
    if (!name) return "an assignment expression whose target is not a name";
    if (name->id == debug_constant) return "an assignment to __debug__";
    if (where.no_effects) return "an assignment expression in an annotation or a generic definition";
    if (where.in_iterable) return "an assignment expression in the iterable of a comprehension";
    if (where.in_comprehension && where.in_class) return "an assignment expression in a comprehension of a class body";
    return check(n->value, where, inner);
  }
  if (is<Yield>(expr) || is<YieldFrom>(expr)) {
    const bool delegates = is<YieldFrom>(expr);
    if (where.no_effects) return "a yield in an annotation or a generic definition";
    if (!where.yields) return where.in_comprehension ? "a yield in a comprehension" : "a yield outside of a function";
    if (delegates && !where.delegates) return "`yield from` in an async function";
    return check(delegates ? as<YieldFrom>(expr)->value : as<Yield>(expr)->value, where, inner);
  }
  if (auto* n = as<Await>(expr)) {
    if (where.no_effects) return "an await in an annotation or a generic definition";
    if (!where.awaits) return "an await outside of an async function";
    return check(n->value, where, inner);
  }
  if (auto* n = as<Verbatim>(expr)) {
    const bool starred = starred_allowed && n->text.starts_with('*');
    if (is_expression(starred ? n->text.substr(1) : n->text, dialect_of(version_))) return {};
    return "an annotation that is not an expression";
  }
  if (is<Internal>(expr)) return "a value of the interpreter that no expression produces";
  if (is<TemplateStr>(expr) && !dialect_of(version_).template_strings) return "a template string";
  Reason last;
  for_each_child(expr, [&](Expr*& child) {
    if (Reason reason = check(child, where, inner); !reason.empty()) last = reason;
  });
  return last;
}

Reason Expressions::comprehension(Expr* expr, Where where, int depth) {
  const ComprehensionExpr& node = *as<ComprehensionExpr>(expr);
  if (node.generators.empty()) return "a comprehension without an iterable";
  const bool generator = node.kind == ComprehensionKind::generator;
  Where within = where;
  within.yields = within.delegates = false;
  within.in_comprehension = true;
  within.awaits = generator || where.async_inside;
  within.async_inside =
      where.async_inside || (where.in_comprehension && dialect_of(version_).nested_async_comprehensions) || generator;
  if (generator && !dialect_of(version_).nested_async_comprehensions) within.async_inside = where.async_inside;
  for (const Comprehension& each : node.generators) {
    if (each.is_async && !within.awaits) return "an asynchronous comprehension outside of an async function";
    if (Reason reason = target_reason(each.target, Use::assign); !reason.empty()) return reason;
  }
  if (!where.in_comprehension) {
    std::set<std::string_view> iterated, named;
    assigned_names(expr, iterated, named);
    for (std::string_view name : named)
      if (iterated.contains(name)) return "an assignment expression to a variable of its comprehension";
  }
  // In a dict comprehension, `**` may unpack a whole item, but `*` unpacks neither a key nor a value.
  const bool unpacks = dialect_of(version_).unpacking_comprehensions && node.kind != ComprehensionKind::dict;
  for (Expr* part : {node.value, node.elt})
    if (Reason reason = check(part, within, depth, unpacks); !reason.empty()) return reason;
  for (const Comprehension& each : node.generators | std::views::reverse) {
    Where iterable = &each == &node.generators.front() ? where : within;
    iterable.in_iterable = true;
    Reason reason = check(each.target, within, depth);
    if (reason.empty()) reason = check_all(each.ifs, within, depth);
    if (reason.empty()) reason = check(each.iter, iterable, depth);
    if (!reason.empty()) return reason;
  }
  return {};
}

Reason Expressions::keywords_reason(List<Keyword> keywords) {
  NameFilter filter;
  for (const Keyword& keyword : keywords)
    if (!keyword.arg.empty()) filter.add(keyword.arg);
  if (filter.is_faultless()) return {};
  names_.clear();
  for (const Keyword& keyword : keywords)
    if (!keyword.arg.empty()) names_.push_back(keyword.arg);
  for (std::string_view name : names_)
    if (name == debug_constant) return "a keyword argument __debug__";
  return has_duplicates(names_) ? "a keyword argument that is passed twice" : Reason{};
}

Reason Expressions::parameters_reason(const Arguments* args) {
  if (!args) return {};
  NameFilter filter;
  for (List<Arg> list : {args->posonly, args->args, args->kwonly})
    for (const Arg& arg : list) filter.add(arg.name);
  if (!args->vararg.name.empty()) filter.add(args->vararg.name);
  if (!args->kwarg.name.empty()) filter.add(args->kwarg.name);
  if (filter.is_faultless()) return {};
  names_.clear();
  const auto add_all = [&](List<Arg> list) {
    for (const Arg& arg : list) names_.push_back(arg.name);
  };
  add_all(args->posonly), add_all(args->args), add_all(args->kwonly);
  if (!args->vararg.name.empty()) names_.push_back(args->vararg.name);
  if (!args->kwarg.name.empty()) names_.push_back(args->kwarg.name);
  for (std::string_view name : names_)
    if (name == debug_constant) return "a parameter __debug__";
  return has_duplicates(names_) ? "two parameters with the same name" : Reason{};
}

Reason Expressions::target_reason(const Expr* target, Use use) const {
  std::vector<std::pair<const Expr*, bool>> todo{{target, false}};  // true for an item of a tuple or list
  while (!todo.empty()) {
    auto [next, item] = todo.back();
    todo.pop_back();
    if (!next) return "a target that is missing";
    if (auto* name = as<Name>(next)) {
      if (name->id == debug_constant) return "an assignment to __debug__";
      continue;
    }
    if (auto* attribute = as<Attribute>(next)) {
      if (attribute->attr == debug_constant) return "an assignment to an attribute __debug__";
      continue;
    }
    if (is<Subscript>(next)) continue;
    const List<Expr*>* items = nullptr;
    if (auto* tuple = as<Tuple>(next)) items = &tuple->elts;
    if (auto* list = as<ListExpr>(next)) items = &list->elts;
    if (items && (use == Use::assign || use == Use::remove)) {
      std::size_t starred = 0, before = 0;
      for (const Expr* each : *items) {
        if (is<Starred>(each)) ++starred;
        else if (!starred) ++before;
        todo.push_back({each, true});
      }
      if (starred > 1) return "two starred targets";
      if (starred && before > before_star_max) return "too many targets before a starred one";
      continue;
    }
    auto* starred = as<Starred>(next);
    if (!starred || !item || use != Use::assign) return "a target to which Python cannot assign";
    todo.push_back({starred->value, false});
  }
  return {};
}

bool Expressions::is_irrefutable(const Pattern* pattern) const {
  auto* capture = as<MatchAs>(pattern);
  if (capture) return !capture->pattern || is_irrefutable(capture->pattern);
  auto* ways = as<MatchOr>(pattern);
  return ways && std::ranges::any_of(ways->patterns, [&](const Pattern* each) { return is_irrefutable(each); });
}

Reason Expressions::pattern_reason(const Pattern* pattern, std::vector<std::string_view>& bound, bool in_sequence) {
  if (!pattern) return {};
  auto bind = [&](std::string_view name) -> Reason {
    if (name.empty()) return {};
    if (name == debug_constant) return "an assignment to __debug__";
    if (is_wildcard(name)) return "a pattern that binds _";
    bound.push_back(name);
    return {};
  };
  auto all = [&](List<Pattern*> patterns, bool sequence) -> Reason {
    for (const Pattern* each : patterns)
      if (Reason reason = pattern_reason(each, bound, sequence); !reason.empty()) return reason;
    return {};
  };
  if (auto* n = as<MatchValue>(pattern)) {
    const bool value = is_pattern_literal(n->value) || (is<Attribute>(n->value) && is_dotted_name(n->value));
    return value ? Reason{} : "a value pattern that is neither a literal nor an attribute";
  }
  if (auto* n = as<MatchSequence>(pattern)) {
    const auto stars = std::ranges::count_if(n->patterns, [](const Pattern* each) { return is<MatchStar>(each); });
    return stars > 1 ? "two starred patterns" : all(n->patterns, true);
  }
  if (auto* n = as<MatchMapping>(pattern)) {
    for (const Expr* key : n->keys) {
      const bool single =
          is_none(key) || constant_of(key, Constant::Kind::true_) || constant_of(key, Constant::Kind::false_);
      if (!single && !is_pattern_literal(key) && !(is<Attribute>(key) && is_dotted_name(key)))
        return "a key of a mapping pattern that is neither a literal nor an attribute";
    }
    for (std::size_t i = 0; i < n->keys.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        auto *a = as<ConstantExpr>(n->keys[i]), *b = as<ConstantExpr>(n->keys[j]);
        if (a && b && a->value->kind == b->value->kind && a->value->text == b->value->text &&
            a->value->real == b->value->real && a->value->imag == b->value->imag)
          return "a mapping pattern that contains a key twice";
      }
    if (Reason reason = all(n->patterns, false); !reason.empty()) return reason;
    return bind(n->rest);
  }
  if (auto* n = as<MatchClass>(pattern)) {
    if (!is_dotted_name(n->cls)) return "a class pattern whose class is not a name";
    for (std::string_view attribute : n->kwd_attrs)
      if (attribute == debug_constant || !print::is_identifier(attribute))
        return "a class pattern of an attribute that it cannot name";
    names_.assign(n->kwd_attrs.begin(), n->kwd_attrs.end());
    if (has_duplicates(names_)) return "a class pattern that contains an attribute twice";
    if (Reason reason = all(n->patterns, false); !reason.empty()) return reason;
    return all(n->kwd_patterns, false);
  }
  if (auto* n = as<MatchStar>(pattern)) return in_sequence ? bind(n->name) : "a starred pattern outside of a sequence";
  if (auto* n = as<MatchAs>(pattern)) {
    if (Reason reason = pattern_reason(n->pattern, bound, false); !reason.empty()) return reason;
    if (n->pattern && n->name.empty()) return "a pattern that binds an empty name";
    return bind(n->name);
  }
  if (auto* n = as<MatchOr>(pattern)) {
    std::set<std::string_view> first_names;
    for (std::size_t i = 0; i < n->patterns.size(); ++i) {
      std::vector<std::string_view> own;
      if (Reason reason = pattern_reason(n->patterns[i], own, false); !reason.empty()) return reason;
      if (i + 1 < n->patterns.size() && is_irrefutable(n->patterns[i]))
        return "a pattern that makes the following patterns unreachable";
      if (has_duplicates(own)) return "a name that a pattern binds twice";
      const std::set<std::string_view> names(own.begin(), own.end());
      if (i > 0 && names != first_names) return "alternative patterns that bind different names";
      first_names = names;
    }
    bound.insert(bound.end(), first_names.begin(), first_names.end());
    return {};
  }
  return {};  // a singleton pattern: None, True or False
}

Reason Expressions::cases_reason(List<MatchCase> cases) {
  if (!dialect_of(version_).match_statement) return "a match statement";
  if (cases.empty()) return "a match statement without cases";
  for (const MatchCase& each : cases) {
    std::vector<std::string_view> bound;
    if (Reason reason = pattern_reason(each.pattern, bound, false); !reason.empty()) return reason;
    if (has_duplicates(bound)) return "a name that a pattern binds twice";
    if (&each != &cases.back() && !each.guard && is_irrefutable(each.pattern))
      return "a pattern that makes the following patterns unreachable";
  }
  return {};
}

}  // namespace depyf::validate
