// Imports, recognised by the instructions that follow IMPORT_NAME:
//
//   import a.b              level 0; None; IMPORT_NAME a.b; STORE a
//   import a.b as c         ...; IMPORT_NAME a.b; IMPORT_FROM b; SWAP 2; POP_TOP; STORE c
//   from .m import x as y   level 1; ('x',); IMPORT_NAME m; IMPORT_FROM x; STORE y; ...; POP_TOP
//   from m import *         level 0; ('*',); IMPORT_NAME m; IMPORT_STAR
//   lazy import a.b         3.15: a flag of IMPORT_NAME
#include <charconv>

#include "lift/lifter.h"

namespace depyf {
using namespace ast;

namespace {
// Dots of a relative import: each is a byte of the text, and no package is nested so deep.
constexpr int max_level = 1000;

// The number of dots of a relative import; -1 where the expression is no such number, or one that nobody writes.
int level_of(const Expr* expr) {
  auto* constant = as<ConstantExpr>(expr);
  if (!constant || constant->value->kind != Constant::Kind::integer) return -1;
  const std::string& text = constant->value->text;
  int level = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
  return error == std::errc() && end == text.data() + text.size() && level <= max_level ? level : -1;
}
}  // namespace

void Lifter::import_name() {
  std::string_view module = name_of(now().arg);
  constexpr std::int32_t lazy_flag = 1;
  const bool lazy = now().aux == lazy_flag;
  Expr* names = pop();
  Expr* level_expr = pop();
  auto* list = as<ConstantExpr>(names);
  int level = level_of(level_expr);
  auto stored = [&](int at) { return as<Name>(target_name(code_[at]))->id; };
  int next = skip(at_ + 1);
  if (level >= 0 && list && list->value->kind == Constant::Kind::none && level == 0) {
    std::size_t dot = module.find('.');
    std::string_view first = module.substr(0, dot);
    if (next < end_ && is_store_name(code_[next].op)) {
      std::string_view name = stored(next);
      if (name == first || dot == std::string_view::npos) {
        at_ = next;
        Alias alias{module, name == first ? std::string_view{} : name};
        return emit(Import{context_.list({alias}), lazy});
      }
    }
    // import a.b.c as d: the attributes one after the other
    std::string_view rest = dot == std::string_view::npos ? std::string_view{} : module.substr(dot + 1);
    int at = next;
    bool stays = false;
    while (!rest.empty() && at < end_ && (code_[at].op == Op::import_from_ || code_[at].op == Op::load_attr_)) {
      std::size_t end = rest.find('.');
      if (name_of(code_[at].arg) != rest.substr(0, end)) break;
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
      bool from = code_[at].op == Op::import_from_;
      stays = from;  // the module below it, to be popped after the store
      at = skip(at + 1);
      if (from && at < end_ && code_[at].op == Op::swap_) {
        at = skip(at + 1);
        if (at < end_ && code_[at].op == Op::pop_top_) at = skip(at + 1);
        stays = false;
      }
    }
    if (dot != std::string_view::npos && rest.empty() && at < end_ && is_store_name(code_[at].op)) {
      Alias alias{module, stored(at)};
      at_ = at;
      int pop = skip(at + 1);
      if (stays && pop < end_ && code_[pop].op == Op::pop_top_) at_ = pop;
      return emit(Import{context_.list({alias}), lazy});
    }
  }
  if (level >= 0 && list && list->value->kind == Constant::Kind::tuple) {
    bool star =
        next < end_ && (code_[next].op == Op::import_star_ ||
                        (code_[next].op == Op::intrinsic_1_ && Intrinsic1(code_[next].arg) == Intrinsic1::import_star));
    if (star) {
      at_ = next;
      int pop = skip(next + 1);
      if (code_[next].op == Op::intrinsic_1_ && pop < end_ && code_[pop].op == Op::pop_top_) at_ = pop;
      return emit(ImportFrom{module, context_.list({Alias{"*", {}}}), level, lazy});
    }
    std::vector<Alias> aliases;
    int at = next;
    while (at < end_ && code_[at].op == Op::import_from_) {
      int store = skip(at + 1);
      if (store >= end_ || !is_store_name(code_[store].op)) break;
      std::string_view name = name_of(code_[at].arg), as_name = stored(store);
      aliases.push_back({name, name == as_name ? std::string_view{} : as_name});
      at = skip(store + 1);
    }
    if (at < end_ && code_[at].op == Op::pop_top_ && aliases.size() == list->value->items.size()) {
      at_ = at;
      return emit(ImportFrom{module, context_.arena.copy(aliases), level, lazy});
    }
  }
  // No statement of Python: the function behind it.
  if (lazy || (next < end_ && (code_[next].op == Op::import_from_ || code_[next].op == Op::import_star_)))
    fail("import out of place");
  Expr* name = context_.constant(Constant::Kind::string, std::string(module));
  auto scope = [&](std::string_view id) { return make(Call{context_.name(id), {}, {}}); };
  push(Call{
      context_.name("__import__"), context_.list({name, scope("globals"), scope("locals"), names, level_expr}), {}});
}

}  // namespace depyf
