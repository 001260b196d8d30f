// What the compiler's symbol table knew and no instruction says: `global` and `nonlocal`; locals that are never bound
// (`if False: x = None`) or that nothing shares (`if False: lambda: x`); that a function without a reachable yield is a
// generator (`if False: yield`).
#include <algorithm>
#include <set>

#include "decode/decode.h"
#include "refine/refine.h"

namespace depyf {
using namespace ast;

namespace {
// The loads and stores of a case's pattern.
std::vector<Instruction> pattern_instructions(const Scope& scope, int pattern) {
  std::vector<Instruction> found;
  auto add = [&](int at) {
    if (at >= 0) found.push_back(scope.decoded.instructions[at]);
  };
  for (const PatternNode& node : scope.cfg.patterns[pattern].nodes) {
    for (int store : node.stores) add(store);
    add(node.rest);
    for (int at = node.expression.first; at < node.expression.second; ++at) add(at);
    for (auto [begin, end] : node.keys)
      for (int at = begin; at < end; ++at) add(at);
  }
  return found;
}

// Cells that classes have by themselves.
bool is_implied(std::string_view name) {
  return name == "__class__" || name == "__classdict__" || name == "__conditional_annotations__";
}

// `[x := a for a in b]` binds x in the function around: what is no variable of that function it has declared.
void walrus_targets(const CodeObject& function, const CodeObject& code, std::set<std::string_view>& globals,
                    std::set<std::string_view>& nonlocals) {
  for (const Constant& constant : code.constants) {
    if (!constant.code) continue;
    const CodeObject& part = *constant.code;
    if (part.name != "<listcomp>" && part.name != "<setcomp>" && part.name != "<dictcomp>" && part.name != "<genexpr>")
      continue;
    walrus_targets(function, part, globals, nonlocals);
    Result<DecodedCode> decoded = decode(part);
    if (!decoded) continue;
    for (const Instruction& instruction : decoded->instructions) {
      if (instruction.arg < 0) continue;
      if (instruction.op == Op::store_global_ && instruction.arg < int(part.names.size()))
        globals.insert(part.names[instruction.arg]);
      if (instruction.op != Op::store_deref_ || instruction.arg < decoded->first_free ||
          instruction.arg >= int(decoded->localsplus.size()))
        continue;
      auto found = std::find(function.freevars.begin(), function.freevars.end(), decoded->localsplus[instruction.arg]);
      if (found != function.freevars.end()) nonlocals.insert(*found);
    }
  }
}

// Of most classes and modules, and of functions whose only locals are their arguments, there is nothing to say.
bool has_declarations(const Scope& scope) {
  const CodeObject& code = *scope.decoded.code;
  const OpSet& ops = scope.cfg.ops;
  if (!scope.cfg.comprehensions.empty() ||
      ops.has(Op::store_global_, Op::delete_global_, Op::store_deref_, Op::delete_deref_))
    return true;
  if (scope.kind != Scope::Kind::function) return false;
  return !code.freevars.empty() || !code.cellvars.empty() ||
         std::int64_t(code.varnames.size()) > code.argument_count() ||
         (code.flags & (CodeObject::generator | CodeObject::async_generator)) != 0 ||
         std::ranges::any_of(code.constants, [](const Constant& constant) { return constant.code != nullptr; });
}
}  // namespace

Block declarations(Context& context, Block body, const Scope& scope) {
  const DecodedCode& decoded = scope.decoded;
  const CodeObject& code = *decoded.code;
  if (scope.kind == Scope::Kind::expression || !has_declarations(scope)) return body;
  std::set<std::string_view> globals, nonlocals, closed, shared;
  struct Use {
    bool bound = false, used = false;
  };
  std::vector<Use> uses(decoded.localsplus.size());
  bool yields = false;
  const std::int64_t arguments = code.argument_count();
  for (int index = 0; index < arguments && index < int(code.varnames.size()); ++index) uses[index].bound = true;
  auto known = [&](int index) { return index >= 0 && index < int(uses.size()); };
  auto local = [&](int index) { return known(index) ? decoded.localsplus[index] : std::string_view{}; };
  auto bind = [&](int index) {
    if (known(index)) uses[index].bound = true;
  };
  auto use = [&](int index) {
    if (known(index)) uses[index].used = true;
  };
  auto look = [&](const Instruction& instruction) {
    switch (instruction.op) {
      case Op::store_global_:
      case Op::delete_global_:
        if (instruction.arg < int(code.names.size())) globals.insert(code.names[instruction.arg]);
        break;
      case Op::store_deref_:
      case Op::delete_deref_:
        if (instruction.arg >= decoded.first_free) nonlocals.insert(local(instruction.arg));
        else bind(instruction.arg);
        break;
      case Op::load_class_deref_:
      case Op::load_from_dict_or_deref_: closed.insert(local(instruction.arg)); break;
      case Op::store_fast_:
      case Op::delete_fast_: bind(instruction.arg); break;
      case Op::load_fast_: use(instruction.arg); break;
      case Op::load_closure_: shared.insert(local(instruction.arg)); [[fallthrough]];
      case Op::load_deref_:
        if (instruction.arg < decoded.first_free) use(instruction.arg);
        else closed.insert(local(instruction.arg));
        break;
      case Op::yield_value_: yields = true; break;
      case Op::yield_from_: yields |= !(code.flags & CodeObject::async_generator); break;  // there it is an await
      default: break;
    }
  };
  for (int block : scope.cfg.order)
    for (int at = scope.cfg.blocks[block].begin; at < scope.cfg.blocks[block].end; ++at) {
      look(scope.cfg.code[at]);
      if (scope.cfg.code[at].op == Op::match_case_)
        for (const Instruction& instruction : pattern_instructions(scope, scope.cfg.code[at].arg)) look(instruction);
    }
  // Inlined comprehensions: their variables are names of their own.
  for (const InlinedComprehension& part : scope.cfg.comprehensions) {
    std::set<int> own(part.variables.begin(), part.variables.end());
    own.insert(int(part.body.localsplus.size()) - 1);  // .0
    for (const Instruction& instruction : part.body.instructions)
      if (instruction.op == Op::load_fast_and_clear_) own.insert(instruction.arg);
    for (const Instruction& instruction : part.body.instructions) {
      if (instruction.op == Op::load_closure_) shared.insert(local(instruction.arg));
      bool global = instruction.op == Op::store_global_;
      if (global ? scope.kind != Scope::Kind::module : !own.contains(instruction.arg)) look(instruction);
    }
  }
  if (scope.kind == Scope::Kind::function) walrus_targets(code, code, globals, nonlocals);
  std::vector<Stmt*> result;
  auto names = [&](const std::set<std::string_view>& set) {
    return context.arena.copy(std::vector<std::string_view>(set.begin(), set.end()));
  };
  // A free variable that nothing mentions was declared, and that is all.
  if (scope.kind == Scope::Kind::function)
    for (const std::string& name : code.freevars)
      if (!closed.contains(name) && !is_implied(name)) nonlocals.insert(name);
  if (!globals.empty()) result.push_back(context.stmt(Global{names(globals)}));
  if (!nonlocals.empty()) result.push_back(context.stmt(Nonlocal{names(nonlocals)}));
  auto never = [&](Stmt* stmt) {
    return context.stmt(If{context.constant(Constant::Kind::false_), context.list({stmt}), {}});
  };
  if (scope.kind == Scope::Kind::function) {
    std::set<std::string_view> unbound;
    for (std::size_t index = 0; index < uses.size(); ++index)
      if (uses[index].used && !uses[index].bound) unbound.insert(decoded.localsplus[index]);
    for (std::size_t index = 0; !unbound.empty() && index < uses.size(); ++index)
      if (uses[index].bound) unbound.erase(decoded.localsplus[index]);
    for (std::string_view name : unbound)
      if (!nonlocals.contains(name) && !name.empty())
        result.push_back(never(context.stmt(Assign{context.list({context.name(name)}), context.none()})));
    for (const std::string& name : code.cellvars)
      if (!shared.contains(name)) {
        auto* nothing = context.arena.make<Arguments>();
        result.push_back(never(context.stmt(ExprStmt{context.expr(Lambda{nothing, context.name(name)})})));
      }
    bool generator = (code.flags & (CodeObject::generator | CodeObject::async_generator)) != 0;
    if (generator && !yields) result.push_back(never(context.stmt(ExprStmt{context.expr(Yield{nullptr})})));
  }
  if (result.empty()) return body;
  // In a module they stand behind what has to come first.
  std::size_t first = 0;
  auto must_lead = [&](const Stmt* stmt) {
    auto* assign = as<Assign>(stmt);
    auto* target = assign && assign->targets.size() == 1 ? as<Name>(assign->targets[0]) : nullptr;
    auto* import = as<ImportFrom>(stmt);
    return (target && target->id == "__doc__") || (import && import->module == "__future__");
  };
  if (scope.kind == Scope::Kind::module)
    while (first < body.size() && must_lead(body[first])) ++first;
  std::vector<Stmt*> whole(body.begin(), body.begin() + std::ptrdiff_t(first));
  whole.insert(whole.end(), result.begin(), result.end());
  whole.insert(whole.end(), body.begin() + std::ptrdiff_t(first), body.end());
  return context.arena.copy(whole);
}

Block docstring(Context& context, Block body, const Scope& scope) {
  const CodeObject& code = *scope.decoded.code;
  Expr* text = nullptr;
  std::int32_t line = -1;  // no instruction has the docstring of a function
  std::vector<Stmt*> result(body.begin(), body.end());
  if (scope.kind == Scope::Kind::function) {
    if (has_docstring(code)) text = context.expr(ConstantExpr{&code.constants[0]});
  } else if (scope.kind == Scope::Kind::module && !result.empty()) {
    auto* assign = as<Assign>(result[0]);
    auto* name = assign && assign->targets.size() == 1 ? as<Name>(assign->targets[0]) : nullptr;
    if (name && name->id == "__doc__" && constant_of(assign->value, Constant::Kind::string)) {
      text = assign->value;
      line = result[0]->line;
      result.erase(result.begin());
    }
  }
  if (!text) return body;
  result.insert(result.begin(), context.stmt(ExprStmt{text}, 0, line));
  return context.arena.copy(result);
}

}  // namespace depyf
