// Turns the body of a comprehension, which src/structure has nested as loops and tests, into one expression. For
// example, the body `for x in .0: if x: append(f(x))` becomes `[f(x) for x in v if x]`, where v is the iterable whose
// iterator is passed as the argument `.0`.
//
// The body of a comprehension is a separate code object, which is called at once. From 3.12 on, the compiler inlines
// the bodies of most comprehensions, and `outline_comprehensions` separates the inlined bodies again. A body that does
// not have the form of a comprehension is printed as statements: `__result = []`, then the loops, then `return
// __result`.
#include <algorithm>
#include <functional>

#include "ast/visit.h"
#include "decode/op.h"
#include "dialect/dialect.h"
#include "flow/cfg.h"
#include "lift/comprehensions.h"
#include "lift/definitions.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {

// Returns a condition that evaluates the tests of `block` and is always false; null if `block` contains anything but
// tests.
Expr* tests_without_element(Context& context, Block block) {
  auto is_pass = [](const Stmt* stmt) { return is<Pass>(stmt) || is<Continue>(stmt); };
  if (std::ranges::all_of(block, is_pass)) return context.constant(Constant::Kind::false_);
  auto* branch = as<If>(block[0]);
  if (!branch || !std::ranges::all_of(block.subspan(1), is_pass)) return nullptr;
  Expr* body = tests_without_element(context, branch->body);
  Expr* orelse = tests_without_element(context, branch->orelse);
  if (!body || !orelse) return nullptr;
  if (std::ranges::all_of(branch->orelse, is_pass)) {
    Table<Expr*> tests;
    for (Expr* part : {branch->test, body}) {
      auto* both = as<BoolOp>(part);
      if (both && !both->is_or) tests.insert(tests.end(), both->values.begin(), both->values.end());
      else tests.push_back(part);
    }
    return context.expr(BoolOp{false, context.arena.copy(tests)});
  }
  return context.expr(IfExp{branch->test, body, orelse});
}

// Sets `elt` and `value` to the parts of the item that `stmt` adds to the result. Returns false if `stmt` adds no item.
bool element(Context& context, ComprehensionKind kind, const Stmt* stmt, Expr*& elt, Expr*& value) {
  if (auto* append = as<InternalStmt>(stmt); append && append->marker == StmtMarker::append) {
    elt = append->value, value = append->value2;
    return true;
  }
  auto* only = kind == ComprehensionKind::generator ? as<ExprStmt>(stmt) : nullptr;
  auto* yield = only ? as<Yield>(only->value) : nullptr;
  if (yield) elt = yield->value ? yield->value : context.none();
  return yield != nullptr;
}

// True if the innermost loop comes from `*y` in the source. From 3.15 on, the compiler turns `(*y for y in x)` into a
// loop over x with an inner loop over y, which yields each item of y without storing it in a variable.
bool yields_items(const Table<Comprehension>& generators, const Expr* elt) {
  const Comprehension& last = generators.back();
  const auto* item = as<Name>(elt);
  const auto* target = as<Name>(last.target);
  return generators.size() > 1 && !last.is_async && last.ifs.empty() && item && target && target->id == item->id &&
         item->id.starts_with("__temp_");
}

// Returns an element for a comprehension whose element the compiler removed: the body of the loop of
// `(x for x in a if False)` is `pass`.
Expr* removed_element(Context& context, Expr* target) { return is<Name>(target) ? target : context.none(); }

// Walks inwards through the loops and tests of `block`, and collects the generators and conditions of the
// comprehension. Returns false if the body of the comprehension contains a statement other than loops, tests and the
// addition of an item.
bool comprehension(Context& context, const Cursor& cursor, Expr*& result, ComprehensionKind kind, Block block,
                   Expr* iterable) {
  Table<Comprehension> generators;
  Expr *elt = nullptr, *value = nullptr;
  Table<Expr*> ifs;
  for (bool first = true; !elt && !value;) {
    // Only a return may follow the outermost loop.
    std::size_t count = block.size();
    if (first && count == 2 && is<Return>(block[1])) count = 1;
    if (count == 0) return false;
    Stmt* stmt = block[0];
    if (auto* branch = as<If>(stmt); branch && !first) {
      // The compiler folds a condition with a constant result. Of `if x or True`, only the evaluation of x remains. For
      // `if x and False`, the compiler also removes the code that adds an element.
      if (branch->orelse.empty() && std::ranges::all_of(branch->body, [](Stmt* inner) { return is<Pass>(inner); })) {
        const bool always = count > 1;
        Expr* decided = context.constant(always ? Constant::Kind::true_ : Constant::Kind::false_);
        ifs.push_back(context.expr(BoolOp{always, context.list({branch->test, decided})}));
        block = block.subspan(1);
        if (always) continue;
        if (!is<Name>(generators.back().target)) return false;
        elt = generators.back().target;
        if (kind == ComprehensionKind::dict) value = elt;
        break;
      }
      if (count == 1 && branch->orelse.empty()) {
        ifs.push_back(branch->test);
        block = branch->body;
        continue;
      }
      // For `if x or y and False`, the compiler keeps the test of y, although no path from the test leads to the code
      // that adds an element.
      if (count == 1 && !branch->orelse.empty()) {
        Expr* test = negate(context, branch->test);
        Expr* fails = tests_without_element(context, branch->body);
        Block rest = branch->orelse;
        if (!fails) {
          test = branch->test, rest = branch->body;
          fails = tests_without_element(context, branch->orelse);
        }
        if (fails) {
          ifs.push_back(context.expr(BoolOp{true, context.list({test, fails})}));
          block = rest;
          continue;
        }
      }
      if (branch->body.size() == 1 && is<Continue>(branch->body[0])) {
        ifs.push_back(negate(context, branch->test));
        if (branch->orelse.empty()) block = block.subspan(1);
        else if (count == 1) block = branch->orelse;
        else return false;
        continue;
      }
      return false;
    }
    // The compiler turns `for y in [x]` in a comprehension into an assignment to y.
    if (auto* assign = as<Assign>(stmt); !first && assign && assign->targets.size() == 1 && block.size() > 1) {
      generators.back().ifs = context.arena.copy(ifs);
      ifs.clear();
      generators.push_back({assign->targets[0], cursor.make(ListExpr{context.list({assign->value})}), {}, false});
      block = block.subspan(1);
      continue;
    }
    // A `continue` at the end of the body of a loop changes nothing.
    if (count > 1 && !(count == 2 && is<Continue>(block[1]))) return false;
    if (auto* loop = as<For>(stmt)) {
      if (!loop->orelse.empty()) return false;
      if (!generators.empty()) generators.back().ifs = context.arena.copy(ifs);
      ifs.clear();
      Expr* iter = loop->iter;
      // The outermost loop runs over the argument `.0`.
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
    if (is<Pass>(stmt) && count == 1) {
      elt = removed_element(context, generators.back().target);
      if (kind == ComprehensionKind::dict) value = context.none();
      ifs.push_back(context.constant(Constant::Kind::false_));
      break;
    }
    if (!element(context, kind, stmt, elt, value)) return false;
  }
  const bool unpacks = dialect_of(cursor.decoded.version).unpacking_comprehensions;
  if (!unpacks && (!elt || is<Starred>(elt))) return false;
  generators.back().ifs = context.arena.copy(ifs);
  if (unpacks && kind == ComprehensionKind::generator && yields_items(generators, elt)) {
    elt = cursor.make(Starred{generators.back().iter});
    generators.pop_back();
  }
  result = cursor.make(ComprehensionExpr{elt, value, context.arena.copy(generators), kind});
  return true;
}

}  // namespace

// The name of the code object shows the kind of the comprehension: `<listcomp>` is a list comprehension.
bool comprehension(Context& context, const Cursor& cursor, Expr*& result, const FunctionValue& function,
                   Expr* iterable) {
  const std::string_view name = function.name;
  ComprehensionKind kind;
  if (name == "<listcomp>") kind = ComprehensionKind::list;
  else if (name == "<setcomp>") kind = ComprehensionKind::set;
  else if (name == "<dictcomp>") kind = ComprehensionKind::dict;
  else if (name == "<genexpr>") kind = ComprehensionKind::generator;
  else return false;
  if (!comprehension(context, cursor, result, kind, build(context, function).block, iterable)) return false;
  as<ComprehensionExpr>(result)->code = function.code;
  return true;
}

void inlined_comprehension(Simulation& sim, const Instruction& instruction) {
  const DecodedCode& body = sim.cursor.cfg.comprehensions[instruction.arg].body;
  const Op display = body.instructions[0].op;
  ComprehensionKind kind = display == Op::build_list_  ? ComprehensionKind::list
                           : display == Op::build_set_ ? ComprehensionKind::set
                                                       : ComprehensionKind::dict;
  Expr *iterable = sim.pop(), *made = nullptr;
  if (instruction.aux == 0) {
    auto* iterator = as<Internal>(iterable);
    if (!iterator || iterator->marker != Marker::iterator || !iterator->value)
      sim.cursor.fail("a comprehension over no iterable");
    iterable = iterator->value;
  }
  if (!comprehension(sim.context, sim.cursor, made, kind, sim.context.build_part(sim.context, body), iterable))
    sim.cursor.fail("a comprehension of another shape");
  // BUILD_LIST has the position of the whole comprehension, while the last instruction has the position of a loop in
  // the comprehension.
  made->offset = body.instructions[0].offset, made->line = body.instructions[0].line;
  sim.push(made);
}

}  // namespace depyf::lifting

namespace depyf {
using namespace ast;

// Turns the body of a comprehension (`BUILD_LIST; ...; LIST_APPEND; ...; RETURN_VALUE`) into statements that build the
// result in a variable `__result`.
Block spell_out_comprehension(Context& context, std::string_view code_name, Block body) {
  std::string_view result = "__result";
  Expr* display = nullptr;  // an empty list, dict or set
  if (code_name == "<listcomp>") display = context.expr(ListExpr{});
  if (code_name == "<dictcomp>") display = context.expr(Dict{});
  if (code_name == "<setcomp>")
    display = context.expr(SetExpr{context.list({context.expr(Starred{context.expr(Tuple{})})})});
  if (!display) return body;
  std::function<void(Block)> walk = [&](Block block) {
    for (Stmt* stmt : block) {
      if (auto* append = as<InternalStmt>(stmt); append && append->marker == StmtMarker::append) {
        Expr* name = context.name(result);
        auto* starred = append->value ? as<Starred>(append->value) : nullptr;
        if (starred || !append->value) {
          Expr* method = context.expr(Attribute{name, code_name == "<listcomp>" ? "extend" : "update"});
          Expr* items = starred ? starred->value : append->value2;
          stmt->node = ExprStmt{context.expr(Call{method, context.list({items}), {}})};
        } else if (append->value2) {
          Expr* target = context.expr(Subscript{name, append->value});
          stmt->node = Assign{context.list({target}), append->value2};
        } else {
          Expr* method = context.expr(Attribute{name, code_name == "<setcomp>" ? "add" : "append"});
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
  Table<Stmt*> statements{context.stmt(Assign{context.list({context.name(result)}), display})};
  statements.insert(statements.end(), body.begin(), body.end());
  return context.arena.copy(statements);
}

}  // namespace depyf
