// Restores import statements. The instructions behind IMPORT_NAME determine the kind of statement.
//
//   `import a.b` is `0; None; IMPORT_NAME a.b; STORE a`, where 0 is the level (the number of leading dots).
//   `import a.b as c` is `0; None; IMPORT_NAME a.b; IMPORT_FROM b; SWAP 2; POP_TOP; STORE c`.
//   `from .m import x as y` is `1; ('x',); IMPORT_NAME m; IMPORT_FROM x; STORE y; POP_TOP`.
//   `from m import *` is `0; ('*',); IMPORT_NAME m; IMPORT_STAR`.
//   `lazy import a.b` sets a flag of IMPORT_NAME (3.15).
#include <charconv>

#include "decode/op.h"
#include "lift/operations.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {
// True if `name` may be the mangled form of the private name `spelled`: in class C, `__x` becomes `_C__x`.
bool is_private_form(std::string_view name, std::string_view spelled) {
  return spelled.starts_with("__") && !spelled.ends_with("__") && name.size() > spelled.size() + 1 &&
         name.starts_with("_") && !name.starts_with("__") && name.ends_with(spelled);
}

// The largest number of dots of a relative import that is printed. No real package needs a thousand dots, and an
// unlimited number of dots could make the printed text very long.
constexpr int max_level = 1000;

// Returns the number of dots of a relative import, which is the constant `expr`; -1 if `expr` is no integer constant or
// exceeds `max_level`.
int level_of(const Expr* expr) {
  auto* constant = as<ConstantExpr>(expr);
  if (!constant || constant->value->kind != Constant::Kind::integer) return -1;
  const std::string& text = constant->value->text;
  int level = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
  return error == std::errc() && end == text.data() + text.size() && level <= max_level ? level : -1;
}
}  // namespace

// Handles IMPORT_NAME together with the following instructions of the import statement.
void import_name(Simulation& sim) {
  std::string_view module = sim.cursor.name_of(sim.cursor.now().arg);
  constexpr std::int32_t lazy_flag = 1;
  const bool lazy = sim.cursor.now().aux == lazy_flag;
  Expr* names = sim.pop();
  Expr* level_expr = sim.pop();
  auto* list = as<ConstantExpr>(names);
  int level = level_of(level_expr);
  auto stored = [&](int at) { return as<Name>(sim.cursor.target_name(sim.cursor.code[at]))->id; };
  int next = sim.cursor.skip(sim.cursor.at + 1);
  if (level >= 0 && list && list->value->kind == Constant::Kind::none && level == 0) {
    std::size_t dot = module.find('.');
    std::string_view first = module.substr(0, dot);
    if (next < sim.cursor.end && is_store_name(sim.cursor.code[next].op)) {
      std::string_view name = stored(next);
      // In class C, `import __a.b` binds `_C__a`, but imports the module `__a.b` under its unmangled name.
      const bool binds_first = name == first || (dot != std::string_view::npos && is_private_form(name, first));
      if (binds_first || dot == std::string_view::npos) {
        sim.cursor.at = next;
        Alias alias{module, binds_first ? std::string_view{} : name};
        return sim.emit(Import{sim.context.list({alias}), lazy});
      }
    }
    // `import a.b.c as d` loads the attributes `b` and `c` one after the other.
    std::string_view rest = dot == std::string_view::npos ? std::string_view{} : module.substr(dot + 1);
    int at = next;
    bool stays = false;
    while (!rest.empty() && at < sim.cursor.end &&
           (sim.cursor.code[at].op == Op::import_from_ || sim.cursor.code[at].op == Op::load_attr_)) {
      std::size_t end = rest.find('.');
      if (sim.cursor.name_of(sim.cursor.code[at].arg) != rest.substr(0, end)) break;
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
      bool from = sim.cursor.code[at].op == Op::import_from_;
      // IMPORT_FROM leaves the module on the stack below the attribute; a POP_TOP behind the store removes the module.
      stays = from;
      at = sim.cursor.skip(at + 1);
      if (from && at < sim.cursor.end && sim.cursor.code[at].op == Op::swap_) {
        at = sim.cursor.skip(at + 1);
        if (at < sim.cursor.end && sim.cursor.code[at].op == Op::pop_top_) at = sim.cursor.skip(at + 1);
        stays = false;
      }
    }
    if (dot != std::string_view::npos && rest.empty() && at < sim.cursor.end && is_store_name(sim.cursor.code[at].op)) {
      Alias alias{module, stored(at)};
      sim.cursor.at = at;
      int pop = sim.cursor.skip(at + 1);
      if (stays && pop < sim.cursor.end && sim.cursor.code[pop].op == Op::pop_top_) sim.cursor.at = pop;
      return sim.emit(Import{sim.context.list({alias}), lazy});
    }
  }
  // Each name of `from m import x, y` compiles to an IMPORT_FROM and a store.
  if (level >= 0 && list && list->value->kind == Constant::Kind::tuple) {
    bool star = next < sim.cursor.end && (sim.cursor.code[next].op == Op::import_star_ ||
                                          (sim.cursor.code[next].op == Op::intrinsic_1_ &&
                                           Intrinsic1(sim.cursor.code[next].arg) == Intrinsic1::import_star));
    if (star) {
      sim.cursor.at = next;
      int pop = sim.cursor.skip(next + 1);
      if (sim.cursor.code[next].op == Op::intrinsic_1_ && pop < sim.cursor.end &&
          sim.cursor.code[pop].op == Op::pop_top_)
        sim.cursor.at = pop;
      return sim.emit(ImportFrom{module, sim.context.list({Alias{"*", {}}}), level, lazy});
    }
    Table<Alias> aliases;
    int at = next;
    while (at < sim.cursor.end && sim.cursor.code[at].op == Op::import_from_) {
      int store = sim.cursor.skip(at + 1);
      if (store >= sim.cursor.end || !is_store_name(sim.cursor.code[store].op)) break;
      std::string_view name = sim.cursor.name_of(sim.cursor.code[at].arg), as_name = stored(store);
      if (aliases.size() == list->value->items.size()) break;
      const std::string& listed = list->value->items[aliases.size()].text;
      if (listed != name && !is_private_form(name, listed)) break;
      // In class C, the constant of `from m import __x` contains `__x`, while IMPORT_FROM and the store use `_C__x`.
      aliases.push_back({listed, listed == as_name ? std::string_view{} : as_name});
      at = sim.cursor.skip(store + 1);
    }
    if (at < sim.cursor.end && sim.cursor.code[at].op == Op::pop_top_ && aliases.size() == list->value->items.size()) {
      sim.cursor.at = at;
      return sim.emit(ImportFrom{module, sim.context.arena.copy(aliases), level, lazy});
    }
  }
  // If no import statement compiles to the instructions, IMPORT_NAME becomes a call of __import__(), which cannot
  // express a lazy import or `from`.
  if (lazy || (next < sim.cursor.end &&
               (sim.cursor.code[next].op == Op::import_from_ || sim.cursor.code[next].op == Op::import_star_)))
    sim.cursor.fail("import out of place");
  Expr* name = sim.context.constant(Constant::Kind::string, std::string(module));
  auto scope = [&](std::string_view id) { return sim.cursor.make(Call{sim.context.name(id), {}, {}}); };
  sim.push(sim.builtin_call("__import__",
                            sim.context.list({name, scope("globals"), scope("locals"), names, level_expr}),
                            sim.cursor.now().offset));
}

}  // namespace depyf::lifting
