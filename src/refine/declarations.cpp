// Adds declarations that leave no instruction, but that the compiler's symbol table must have had. The added
// declarations are `global` and `nonlocal`, locals that are never bound (`if False: x = None`), cells that no closure
// uses (`if False: lambda: x`), and the `yield` of a generator in which no yield is reachable (`if False: yield`). All
// kinds of declarations are in one file, because all of them follow from the ways in which the code uses names.
#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "decode/decode.h"
#include "decode/op.h"
#include "decode/op_info.h"
#include "decode/op_table.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "flow/ahead.h"
#include "flow/cfg.h"
#include "flow/search.h"
#include "refine/refine.h"
#include "support/class_cells.h"

namespace depyf {
using namespace ast;

namespace {
// Returns the instructions that load and store names in the pattern of a case clause.
std::vector<Instruction> pattern_instructions(const DecodedCode& decoded, const CasePattern& pattern) {
  std::vector<Instruction> found;
  auto add = [&](int at) {
    if (at >= 0) found.push_back(decoded.instructions[at]);
  };
  for (const PatternNode& node : pattern.nodes) {
    for (int store : node.stores) add(store);
    add(node.rest);
    for (int at = node.expression.first; at < node.expression.second; ++at) add(at);
    for (auto [begin, end] : node.keys)
      for (int at = begin; at < end; ++at) add(at);
  }
  return found;
}

// True if `code` is the code of a comprehension or generator expression.
bool is_comprehension(const CodeObject& code) {
  return code.name == "<listcomp>" || code.name == "<setcomp>" || code.name == "<dictcomp>" || code.name == "<genexpr>";
}

// Collects the names that comprehensions of `function` bind by a walrus: `[x := a for a in b]` binds x in the function.
// If a comprehension stores x as a global or as a free variable of the function, the function must have declared x
// `global` or `nonlocal`.
void walrus_targets(const CodeObject& function, const CodeObject& code, std::set<std::string_view>& globals,
                    std::set<std::string_view>& nonlocals) {
  for (const Constant& constant : code.constants) {
    if (!constant.code || !is_comprehension(*constant.code)) continue;
    const CodeObject& part = *constant.code;
    walrus_targets(function, part, globals, nonlocals);
    if (part.names.empty() && part.freevars.empty()) continue;
    Result<DecodedCode> decoded = decode(part);
    if (!decoded) continue;
    for (const Instruction& instruction : decoded->instructions) {
      if (instruction.arg < 0) continue;
      if (instruction.op == Op::store_global_ && instruction.arg < int(part.names.size()))
        globals.insert(part.names[std::size_t(instruction.arg)]);
      if (instruction.op != Op::store_deref_ || instruction.arg < decoded->first_free ||
          instruction.arg >= int(decoded->localsplus.size()))
        continue;
      auto found = std::find(function.freevars.begin(), function.freevars.end(), decoded->localsplus[instruction.arg]);
      if (found != function.freevars.end()) nonlocals.insert(*found);
    }
  }
}

// Adds to `hidden` those of the sorted `variables` that are in co_names of `code` or of lambdas and comprehensions in
// `code`. Lambdas and comprehensions contain no statements, so the definition around them has to declare their globals.
void add_hidden(const CodeObject& code, const std::vector<std::string_view>& variables,
                std::set<std::string_view>& hidden) {
  for (const std::string& name : code.names)
    if (std::ranges::binary_search(variables, std::string_view(name))) hidden.insert(name);
  for (const Constant& constant : code.constants)
    if (constant.code && kind_of(*constant.code) == Scope::Kind::expression)
      add_hidden(*constant.code, variables, hidden);
}

// Returns the names in `code` that are also variables of a function around `code`. If code loads the name of a variable
// of an outer function as a global, the code must have declared the name global.
std::set<std::string_view> hidden_globals(const Context& context, const CodeObject& code) {
  std::set<std::string_view> hidden;
  if (context.around.size() < 2) return hidden;
  std::vector<std::string_view> variables;
  for (std::size_t index = 0; index + 1 < context.around.size(); ++index) {
    const CodeObject& outer = *context.around[index].code;
    if (!(outer.flags & CodeObject::new_locals)) continue;
    for (const auto* names : {&outer.varnames, &outer.cellvars})
      variables.insert(variables.end(), names->begin(), names->end());
  }
  if (variables.empty() || code.name == "__annotate__") return hidden;
  std::ranges::sort(variables);
  add_hidden(code, variables, hidden);
  return hidden;
}

// True if `name` is a variable of the function `outer` itself, and not only of comprehensions that are inlined in
// `outer`.
bool is_own_variable(const Around& outer, std::string_view name) {
  const DecodedCode& decoded = outer.prepared->decoded;
  const Cfg& cfg = outer.prepared->cfg;
  const auto& names = decoded.localsplus;
  auto is_named = [&](int slot) { return slot >= 0 && slot < int(names.size()) && names[slot] == name; };
  auto uses = [&](const Instruction& it) { return uses_local(it.op) && is_named(it.arg); };
  for (int slot = 0; slot < outer.code->argument_count(); ++slot)
    if (is_named(slot)) return true;
  // The instructions of inlined comprehensions and of case patterns have been moved out of the control flow graph.
  return std::ranges::any_of(cfg.blocks,
                             [&](const BasicBlock& block) {
                               return std::any_of(cfg.code.begin() + block.begin, cfg.code.begin() + block.end, uses);
                             }) ||
         std::ranges::any_of(cfg.patterns, [&](const CasePattern& pattern) {
           return std::ranges::any_of(pattern_instructions(decoded, pattern), uses);
         });
}

// Removes the names that are variables only of inlined comprehensions in outer functions, because nested code cannot
// see such variables (3.12 and later).
void remove_unseen(const Context& context, std::set<std::string_view>& names) {
  std::erase_if(names, [&](std::string_view name) {
    return std::none_of(context.around.begin(), context.around.end() - 1, [&](const Around& outer) {
      return (outer.code->flags & CodeObject::new_locals) != 0 && is_own_variable(outer, name);
    });
  });
}

// Adds to `globals` those of `names` that lambdas and comprehensions in `code` load as globals.
void loaded_globals(const CodeObject& code, const std::set<std::string_view>& names,
                    std::set<std::string_view>& globals) {
  for (const Constant& constant : code.constants) {
    if (!constant.code || kind_of(*constant.code) != Scope::Kind::expression) continue;
    loaded_globals(*constant.code, names, globals);
    Result<DecodedCode> decoded = decode(*constant.code);
    if (!decoded) continue;
    for (const Instruction& instruction : decoded->instructions) {
      if (instruction.op != Op::load_global_ || std::size_t(instruction.arg) >= constant.code->names.size()) continue;
      if (auto name = names.find(constant.code->names[std::size_t(instruction.arg)]); name != names.end())
        globals.insert(*name);
    }
  }
}

// The ways in which an operation uses the name that its argument refers to.
enum class Way : std::uint8_t {
  none,
  binds_local,
  loads_local,
  binds_global,
  loads_global,
  binds_cell,
  loads_cell,
  shares_cell,  // passes the cell to a closure
  loads_free,  // loads a free variable in a class body
  yields,
  yields_or_awaits,  // in an asynchronous generator, yield_from is an await
};
constexpr OpTable<Way> ways = {Way::none,
                               {{{Op::store_global_, Op::delete_global_}, Way::binds_global},
                                {{Op::load_global_}, Way::loads_global},
                                {{Op::store_fast_, Op::delete_fast_}, Way::binds_local},
                                {{Op::load_fast_}, Way::loads_local},
                                {{Op::store_deref_, Op::delete_deref_}, Way::binds_cell},
                                {{Op::load_deref_}, Way::loads_cell},
                                {{Op::load_closure_}, Way::shares_cell},
                                {{Op::load_class_deref_, Op::load_from_dict_or_deref_}, Way::loads_free},
                                {{Op::yield_value_}, Way::yields},
                                {{Op::yield_from_}, Way::yields_or_awaits}}};

// Contains a set of variables for each `Way` of using variables: those that the reachable instructions of a code object
// use in that way. A set is a number in which bit i belongs to the variable with the index i in localsplus, CPython's
// list of a function's variables. The sets are filled without branches, because the processor could not predict in
// which way an instruction uses a variable.
class VariableSets {
 public:
  // The number of variables that a set can contain. Bit `known_max` of a set stands for all arguments from `known_max`
  // on.
  static constexpr std::uint32_t known_max = 63;

  explicit VariableSets(const Cfg& cfg) {
    InstructionIndex begin = 0, end = 0;
    for (const BlockIndex index : cfg.order) {
      // Most blocks begin where the previous block in `cfg.order` ends. The instructions of adjacent blocks are
      // examined by one call of `look`.
      const BasicBlock& block = cfg.blocks[index];
      if (block.begin != end) look(cfg, begin, end), begin = block.begin;
      end = block.end;
    }
    look(cfg, begin, end);
  }
  std::uint64_t operator[](Way way) const { return sets_[std::size_t(way)]; }
  // Returns the set of the first `count` variables.
  static std::uint64_t first(std::int64_t count) {
    return (std::uint64_t{1} << std::clamp<std::int64_t>(count, 0, known_max)) - 1;
  }

 private:
  void look(const Cfg& cfg, InstructionIndex begin, InstructionIndex end) {
    for (const Instruction& instruction :
         Row<const Instruction, InstructionIndex>(cfg.code).part(int(begin), end - begin))
      sets_[std::size_t(ways[instruction.op])] |= std::uint64_t{1}
                                                  << std::min(static_cast<std::uint32_t>(instruction.arg), known_max);
  }

  std::array<std::uint64_t, std::size_t(Way::yields_or_awaits) + 1> sets_{};
};

// True if the function certainly needs no declaration for its variables. The function must bind all locals that it
// loads, use its free variables without binding them, and share all of its cells with closures. If the function is a
// generator, it must also have a reachable yield.
bool declares_by_use(const Scope& scope) {
  const CodeObject& code = *scope.decoded.code;
  const Cfg& cfg = scope.cfg;
  const auto& variables = scope.decoded.localsplus;
  const std::int64_t count = std::int64_t(variables.size()), first_free = scope.decoded.first_free;
  if (count > VariableSets::known_max || !cfg.patterns.empty()) return false;
  const VariableSets sets(cfg);
  const std::uint64_t all = VariableSets::first(count), inner = VariableSets::first(first_free);
  const std::uint64_t bound =
      VariableSets::first(code.argument_count()) | sets[Way::binds_local] | sets[Way::binds_cell];
  const std::uint64_t cells = sets[Way::loads_cell] | sets[Way::shares_cell];
  const std::uint64_t loaded = sets[Way::loads_local] | (cells & inner);
  const std::uint64_t unused = all & ~inner & ~(cells | sets[Way::loads_free]);
  if (((loaded & all & ~bound) | (sets[Way::binds_cell] & ~inner) | unused) != 0) return false;
  for (const std::string& cell : code.cellvars) {
    const auto slot = std::ranges::find(variables, std::string_view(cell)) - variables.begin();
    if ((sets[Way::shares_cell] >> slot & 1) == 0) return false;
  }
  const bool is_async = (code.flags & CodeObject::async_generator) != 0;
  const bool is_generator = is_async || (code.flags & CodeObject::generator) != 0;
  return !is_generator || (sets[Way::yields] | (is_async ? 0 : sets[Way::yields_or_awaits])) != 0;
}

// True if the code object may need declarations. Most classes and modules need no declarations.
bool has_declarations(const Scope& scope) {
  const CodeObject& code = *scope.decoded.code;
  const SurveyedOps& ops = scope.cfg.ops;
  if (!scope.cfg.comprehensions.empty() || ops.has<Op::store_global_, Op::delete_global_>()) return true;
  const bool binds_cells = ops.has<Op::store_deref_, Op::delete_deref_>();
  if (scope.kind == Scope::Kind::class_body)
    return binds_cells || !code.freevars.empty() || ops.has<Op::load_global_>();
  if (scope.kind != Scope::Kind::function) return binds_cells;
  const auto is_part = [](const Constant& constant) { return constant.code && is_comprehension(*constant.code); };
  if (ops.has<Op::make_function_>() && std::ranges::any_of(code.constants, is_part)) return true;
  const bool is_generator = (code.flags & (CodeObject::generator | CodeObject::async_generator)) != 0;
  const bool has_only_arguments = std::int64_t(scope.decoded.localsplus.size()) <= code.argument_count();
  return (is_generator || !has_only_arguments || !code.cellvars.empty()) && !declares_by_use(scope);
}

// Collects the names that the instructions of a code object use, grouped by the ways in which the instructions use the
// names.
class NameUses {
 public:
  NameUses(const Scope& scope, std::set<std::string_view> hidden)
      : scope_(scope),
        decoded_(scope.decoded),
        code_(*decoded_.code),
        uses_(decoded_.localsplus.size()),
        hidden_(std::move(hidden)) {
    if (!hidden_.empty()) loaded_globals(code_, hidden_, loaded_hidden);
    const std::int64_t arguments = code_.argument_count();
    for (int index = 0; index < arguments && index < int(code_.varnames.size()); ++index)
      uses_[std::size_t(index)].bound = true;
    for (const BlockIndex block : scope.cfg.order) look_at(scope.cfg, scope.cfg.blocks[block]);
    for (const InlinedComprehension& part : scope.cfg.comprehensions) look_into(part);
    if (scope.kind == Scope::Kind::module) return;
    if (scope.kind == Scope::Kind::function) walrus_targets(code_, code_, globals, nonlocals);
    // If no instruction uses a free variable, the code must have declared it nonlocal.
    for (const std::string& name : code_.freevars)
      if (!closed_.contains(name) && !is_class_cell(name)) nonlocals.insert(name);
    // A function that loads the name `super` has the free variable `__class__` without a declaration; any other
    // function must have declared `__class__` nonlocal. If Dynamo removes `super()`, it keeps the variable `__class__`
    // and the name `super` in co_names.
    if (scope.kind == Scope::Kind::function && !loads_super_ &&
        std::ranges::find(code_.freevars, "__class__") != code_.freevars.end() && !closed_.contains("__class__") &&
        std::ranges::find(decoded_.localsplus, "super") == decoded_.localsplus.end())
      nonlocals.insert("__class__");
  }

  // Returns the locals that are loaded but never bound. If a variable of an inlined comprehension is captured by code
  // outside of the comprehension, but not loaded there, the compiler binds it in the function, without a declaration:
  // `[x for x in f(lambda: x)]`.
  std::set<std::string_view> unbound() const {
    std::set<std::string_view> names;
    for (std::size_t index = 0; index < uses_.size(); ++index) {
      const Use& use = uses_[index];
      const std::string_view name = decoded_.localsplus[index];
      if (!use.bound && (use.used || (use.captured && !of_comprehensions_.contains(name)))) names.insert(name);
    }
    for (std::size_t index = 0; !names.empty() && index < uses_.size(); ++index)
      if (uses_[std::size_t(index)].bound) names.erase(decoded_.localsplus[index]);
    return names;
  }

  // True if some instruction binds the local `name`, or if `name` is an argument.
  bool is_bound(std::string_view name) const {
    for (std::size_t index = 0; index < uses_.size(); ++index)
      if (uses_[std::size_t(index)].bound && decoded_.localsplus[index] == name) return true;
    return false;
  }

  std::set<std::string_view> globals, nonlocals;
  std::set<std::string_view>
      loaded_hidden;  // loaded globals that variables of outer functions hide (see `hidden_globals`)
  std::set<std::string_view> shared;  // cells that closures contain
  bool yields = false;

 private:
  struct Use {
    bool bound = false, used = false, captured = false;
  };

  // Records a load of a global. In a class body, LOAD_GLOBAL shows that the name is declared global: all other names
  // are loaded by LOAD_NAME, which looks in the namespace of the class first.
  void load_global(std::string_view name) {
    loads_super_ |= name == "super";
    if (scope_.kind != Scope::Kind::class_body) {
      if (hidden_.contains(name)) loaded_hidden.insert(name);
    } else if (name != "AssertionError" || !dialect_of(code_.version).global_assertion_error) {
      globals.insert(name);
    }
  }

  bool is_known(int index) const { return index >= 0 && index < int(uses_.size()); }
  std::string_view local(int index) const { return is_known(index) ? decoded_.localsplus[index] : std::string_view{}; }

  void bind(int index) {
    if (is_known(index)) uses_[std::size_t(index)].bound = true;
  }
  void use(int index) {
    if (is_known(index)) uses_[std::size_t(index)].used = true;
  }
  void capture(int index) {
    if (is_known(index)) uses_[std::size_t(index)].captured = true;
  }

  // Records the ways in which `instructions` use names.
  void look(std::span<const Instruction> instructions) {
    for_each_marked(instructions, ways, [&](int at) {
      const Instruction& instruction = instructions[std::size_t(at)];
      const Way way = ways[instruction.op];
      // Most uses are uses of locals. A use of a local is recorded without a branch on whether the local is bound or
      // loaded.
      if (way > Way::loads_local) return add(way, instruction.arg);
      if (!is_known(instruction.arg)) return;
      Use& use = uses_[std::size_t(instruction.arg)];
      use.bound |= way == Way::binds_local;
      use.used |= way == Way::loads_local;
    });
  }

  // Records a use of a variable that is not a local, or records that the code yields.
  void add(Way way, int index) {
    switch (way) {
      case Way::none:
      case Way::binds_local:
      case Way::loads_local: return;
      case Way::binds_global:
        if (std::size_t(index) < code_.names.size()) globals.insert(code_.names[std::size_t(index)]);
        return;
      case Way::loads_global:
        if (std::size_t(index) < code_.names.size()) load_global(code_.names[std::size_t(index)]);
        return;
      case Way::binds_cell:
        if (index < decoded_.first_free) return bind(index);
        nonlocals.insert(local(index));
        return;
      case Way::shares_cell:
        shared.insert(local(index));
        if (index < decoded_.first_free) return capture(index);
        [[fallthrough]];
      case Way::loads_cell:
        if (index < decoded_.first_free) return use(index);
        closed_.insert(local(index));
        return;
      case Way::loads_free: closed_.insert(local(index)); return;
      case Way::yields: yields = true; return;
      case Way::yields_or_awaits: yields |= !(code_.flags & CodeObject::async_generator); return;
    }
  }

  void look_at(const Cfg& cfg, const BasicBlock& block) {
    const auto instructions =
        Row<const Instruction, InstructionIndex>(cfg.code).part(int(block.begin), block.end - block.begin);
    look(instructions);
    if (cfg.patterns.empty()) return;
    for (const Instruction& instruction : instructions)
      if (instruction.op == Op::match_case_) look(pattern_instructions(decoded_, cfg.patterns[instruction.arg]));
  }

  // Records the uses of names in the body of an inlined comprehension, except those of the comprehension's own
  // variables.
  void look_into(const InlinedComprehension& part) {
    std::set<int> own(part.variables.begin(), part.variables.end());
    own.insert(int(part.body.localsplus.size()) - 1);  // the argument .0
    for (const int index : part.variables) of_comprehensions_.insert(local(index));
    for (const Instruction& instruction : part.body.instructions)
      if (instruction.op == Op::load_fast_and_clear_)
        own.insert(instruction.arg), of_comprehensions_.insert(local(instruction.arg));
    // If a variable of the comprehension is captured by a lambda, and has the name of a free variable, the compiler
    // stores it in the slot of the free variable: `[lambda: x for x in (x, 1)]`.
    auto shadows_free = [&](int index) {
      return index >= decoded_.first_free &&
             std::ranges::any_of(own, [&](int variable) { return local(variable) == local(index); });
    };
    for (const Instruction& instruction : part.body.instructions) {
      if (instruction.op == Op::load_closure_) shared.insert(local(instruction.arg));
      const bool is_global = instruction.op == Op::store_global_ || instruction.op == Op::load_global_;
      if (instruction.op == Op::load_global_ && scope_.kind == Scope::Kind::class_body) continue;
      if (instruction.op == Op::store_deref_ && shadows_free(instruction.arg)) continue;
      if (is_global ? scope_.kind != Scope::Kind::module : !own.contains(instruction.arg)) look({&instruction, 1});
    }
  }

  const Scope& scope_;
  const DecodedCode& decoded_;
  const CodeObject& code_;
  std::vector<Use> uses_;
  std::set<std::string_view> closed_;  // free variables that are loaded
  std::set<std::string_view> of_comprehensions_;  // the variables of inlined comprehensions
  bool loads_super_ = false;  // true if some instruction loads the global `super`
  const std::set<std::string_view> hidden_;  // the result of `hidden_globals`
};

// Returns the function that evaluates the type parameters of the definition with the code `inner` in the code `outer`;
// null if the definition has no type parameters.
const CodeObject* generic_between(const CodeObject& outer, const CodeObject& inner) {
  for (const Constant& constant : outer.constants) {
    if (!constant.code || !evaluates_type_parameters(*constant.code)) continue;
    const auto& nested = constant.code->constants;
    if (std::ranges::any_of(nested, [&](const Constant& each) { return each.code.get() == &inner; }))
      return constant.code.get();
  }
  return nullptr;
}

// True if the free variable `name` of the code that is being built is a type parameter of a definition around it.
bool is_type_parameter(const Context& context, std::string_view name) {
  auto binds = [&](const CodeObject& code) { return std::ranges::find(code.cellvars, name) != code.cellvars.end(); };
  for (std::size_t at = context.around.size(); at-- > 1;) {
    const CodeObject& outer = *context.around[at - 1].code;
    if (const CodeObject* generic = generic_between(outer, *context.around[at].code); generic && binds(*generic))
      return true;
    if (binds(outer)) return false;
  }
  return false;
}

// Returns statements, most of them inside `if False:`, from which the compiler builds the symbol table of the original
// source. Few code objects need this function, so it is not inlined into `declarations`.
[[gnu::noinline]] std::vector<Stmt*> declaring_statements(Context& context, const Scope& scope,
                                                          std::set<std::string_view> hidden) {
  NameUses uses(scope, std::move(hidden));
  remove_unseen(context, uses.loaded_hidden);
  uses.globals.merge(uses.loaded_hidden);
  const CodeObject& code = *scope.decoded.code;
  std::vector<Stmt*> statements;
  auto names = [&](const std::set<std::string_view>& set) {
    return context.arena.copy(std::vector<std::string_view>(set.begin(), set.end()));
  };
  if (!uses.globals.empty()) statements.push_back(context.stmt(Global{names(uses.globals)}));
  // Adds `if False: stmt`.
  auto never = [&](Stmt* stmt) {
    statements.push_back(context.stmt(If{context.constant(Constant::Kind::false_), context.list({stmt}), {}}));
  };
  // No declaration may name a type parameter. Most functions that do not use a type parameter that is one of their free
  // variables have it in the annotation of a local variable, which the compiler drops.
  std::vector<std::string_view> parameters;
  std::ranges::copy_if(uses.nonlocals, std::back_inserter(parameters),
                       [&](std::string_view name) { return is_type_parameter(context, name); });
  for (std::string_view name : parameters) uses.nonlocals.erase(name);
  if (!uses.nonlocals.empty()) statements.push_back(context.stmt(Nonlocal{names(uses.nonlocals)}));
  for (std::string_view name : parameters) never(context.stmt(ExprStmt{context.name(name)}));
  if (scope.kind != Scope::Kind::function) return statements;
  for (std::string_view name : uses.unbound())
    if (!uses.nonlocals.contains(name) && !name.empty())
      never(context.stmt(Assign{context.list({context.name(name)}), context.none()}));
  // If no closure contains a cell variable, the compiler removed the function that uses the variable as dead code. If
  // no instruction binds a cell variable, the compiler also removed the statement that binds the variable.
  for (const std::string& name : code.cellvars)
    if (!uses.shared.contains(name)) {
      auto* nothing = context.arena.make<Arguments>();
      Expr* mention = context.expr(Lambda{nothing, context.name(name)});
      never(uses.is_bound(name) ? context.stmt(ExprStmt{mention})
                                : context.stmt(Assign{context.list({context.name(name)}), mention}));
    }
  const bool is_generator = (code.flags & (CodeObject::generator | CodeObject::async_generator)) != 0;
  if (is_generator && !uses.yields) never(context.stmt(ExprStmt{context.expr(Yield{nullptr})}));
  return statements;
}
}  // namespace

Block declarations(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::expression) return body;
  std::set<std::string_view> hidden = hidden_globals(context, *scope.decoded.code);
  if (hidden.empty() && !has_declarations(scope)) return body;
  const std::vector<Stmt*> statements = declaring_statements(context, scope, std::move(hidden));
  if (statements.empty()) return body;
  // In a module or a class, the declarations are inserted behind the docstring and imports from __future__, because the
  // docstring and these imports must come first.
  std::size_t first = 0;
  auto must_lead = [](const Stmt* stmt) {
    auto* import = as<ImportFrom>(stmt);
    auto* text = as<ExprStmt>(stmt);  // the docstring of a class
    return is_docstring(stmt) || (import && import->module == "__future__") ||
           (text && constant_of(text->value, Constant::Kind::string));
  };
  if (scope.kind != Scope::Kind::function)
    while (first < body.size() && must_lead(body[first])) ++first;
  std::vector<Stmt*> whole(body.begin(), body.begin() + std::ptrdiff_t(first));
  whole.insert(whole.end(), statements.begin(), statements.end());
  whole.insert(whole.end(), body.begin() + std::ptrdiff_t(first), body.end());
  return context.arena.copy(whole);
}

}  // namespace depyf
