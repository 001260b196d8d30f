// Read this file first: it lists the steps by which a code object becomes source, and states what happens if a step
// fails. All steps from bytecode to source are in one file, so that they can be read from top to bottom.
#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "ast/visit.h"
#include "decode/decode.h"
#include "decode/op.h"
#include "decode/op_info.h"
#include "depyf/code_object.h"
#include "depyf/decompile.h"
#include "flow/ahead.h"
#include "gate/finished_tree.h"
#include "gate/gate.h"
#include "gate/marks.h"
#include "lift/lift.h"
#include "print/odd_names.h"
#include "print/print.h"
#include "print/trace.h"
#include "refine/locals.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "structure/structure.h"
#include "support/deep_stack.h"
#include "validate/validate.h"

namespace depyf {
using namespace ast;

namespace {

struct RefinePass {
  std::string_view name;
  Block (*run)(Context&, Block, const Scope&);
  std::string_view after;  // the name of a pass that must have run before; empty if no pass must
  std::string_view why;
  // The pass runs only if the code has a statement of one of the kinds in `needs`, or always if `needs` is empty.
  StmtKinds needs = {};
  bool folds = false;          // true if the pass runs only for the readable style
};

// Returns the table entry of a pass that runs only for the readable style.
constexpr RefinePass folding(std::string_view name, Block (*run)(Context&, Block, const Scope&), std::string_view after,
                             std::string_view why) {
  return {name, run, after, why, {}, true};
}

// The refinement passes, in the order in which they run.
constexpr RefinePass refine_passes[] = {
    {"implicit_return", implicit_return, "",
     "runs first, because later passes need to know which paths reach the end of the body"},
    {"assert_statement", assert_statement, "implicit_return",
     "an if statement becomes an assert only if it consists of a raise statement", StmtKinds::of<Raise>()},
    {"pytest_assertions", pytest_assertions, "assert_statement",
     "turns the statements to which pytest rewrites an assert back into the assert"},
    folding("adopt_temporaries", adopt_temporaries, "", "runs before all passes that ask which names are temporaries"),
    folding("fold_displays", fold_displays, "adopt_temporaries", "needs to know where each branch ends"),
    folding("inline_temporaries", inline_temporaries, "fold_displays",
            "the statements between a value and its use have been removed"),
    folding("first_walrus", first_walrus, "inline_temporaries", "no walrus binds a value with a single use any longer"),
    {"try_finally", try_finally, "", "joins two regions that belong to one try statement", StmtKinds::of<Try>()},
    {"with_items", with_items, "", "joins nested with statements that were one statement", StmtKinds::of<With>()},
    {"elif_chain", elif_chain, "assert_statement", "an assert statement in an else branch is no elif",
     StmtKinds::of<If>()},
    {"indentation", indentation, "elif_chain", "columns show with more certainty what is an elif",
     StmtKinds::nesting()},
    {"lines", lines, "indentation", "up to 3.10, the positions have lines but no columns", StmtKinds::of<If, Try>()},
    {"shared_ends", shared_ends, "lines", "the statements behind each else branch are known", StmtKinds::of<If, Try>()},
    {"silent_statements", silent_statements, "shared_ends",
     "the branches are final, and a branch without effects may be restored", StmtKinds::nesting()},
    {"imports", imports, "", "joins import statements that were one statement", StmtKinds::of<Import>()},
    {"annotations", annotations, "", "compares neighbouring statements, so that the blocks must be final"},
    {"class_body", class_body, "annotations", "an annotation of __doc__ is no store of the compiler's own"},
    folding("name_temporaries", name_temporaries, "first_walrus", "names only the temporaries that are left"),
    folding("profiling", profiling, "inline_temporaries", "the statements are final"),
    {"declarations", declarations, "class_body", "inserts declarations in front of all statements"},
    {"docstring", docstring, "declarations", "inserts the docstring in front of the declarations"},
};

constexpr bool each_stands_after_its_own() {
  for (const RefinePass* pass = std::begin(refine_passes); pass != std::end(refine_passes); ++pass)
    if (!pass->after.empty() && std::none_of(std::begin(refine_passes), pass,
                                             [&](const RefinePass& before) { return before.name == pass->after; }))
      return false;
  return true;
}
static_assert(each_stands_after_its_own());

constexpr std::pair<std::string_view, std::string_view> stages[] = {
    {"decode", "reads the bytes as version-neutral instructions"},
    {"flow", "builds basic blocks and one tree of exception regions, and removes the copies of finally bodies"},
    {"lift",
     "turns stack code into statements over expressions, and joined conditions into `and`, `or` and `if` expressions"},
    {"structure", "turns the graph into nested statements, along dominators"},
};

Block refine(Context& context, Block body, const Scope& scope) {
  const Options& options = context.options;
  const bool is_traced = !options.dump_after.empty() || !options.stop_after.empty();
  auto made = [&](std::string_view pass) {
    if (pass == options.dump_after) context.dump += trace_of_statements(pass, *scope.decoded.code, body);
    return pass == options.stop_after;
  };
  if (is_traced && made("structure")) return body;
  const bool folds = options.style == Style::readable;
// In the unrolled loop, the needs of each pass are constants, and each pass is called directly.
#pragma GCC unroll 32
  for (const RefinePass& pass : refine_passes) {
    const bool wanted = !pass.folds || folds;
    if (wanted && (pass.needs.empty() || context.stmt_kinds.has(pass.needs))) body = pass.run(context, body, scope);
    if (is_traced && made(pass.name)) break;
  }
  return body;
}

void note(Context& context, const CodeObject& code, const std::string& what, std::uint32_t offset) {
  std::string text =
      (code.qualname.empty() ? code.name : code.qualname) + ", offset " + std::to_string(offset) + ": " + what;
  if (std::find(context.notes.begin(), context.notes.end(), text) == context.notes.end()) context.notes.push_back(text);
}

// Returns the comment for statements that do not compile to the bytecode from which they were decompiled.
std::string not_equal(const std::string& what, std::uint32_t offset) {
  return "depyf: not equal: " + what + " (offset " + std::to_string(offset) + ")";
}

Block mark(Context& context, Block body, const std::string& what, std::uint32_t offset) {
  return context.with_comment(not_equal(what, offset), body);
}

std::vector<CodeMark> marks_of(const std::vector<Difference>& differences) {
  std::vector<CodeMark> marks;
  for (const Difference& each : differences) marks.push_back({each.code, not_equal(each.what, each.offset)});
  return marks;
}

// The small trees that replace failed code are exempt from the memory limit of trees, so that they cannot fail
// themselves.
class WithoutTreeLimit {
 public:
  explicit WithoutTreeLimit(Arena& arena) : arena_(arena), limit_(arena.limit()) { arena.set_limit(Arena::no_limit); }
  ~WithoutTreeLimit() { arena_.set_limit(limit_); }
  WithoutTreeLimit(const WithoutTreeLimit&) = delete;
  WithoutTreeLimit& operator=(const WithoutTreeLimit&) = delete;

 private:
  Arena& arena_;
  const std::size_t limit_;
};

// Returns a body that raises an error, whose message states why the code object could not be decompiled.
Body stub(Context& context, const CodeObject& code, const std::string& what, std::uint32_t offset) {
  const WithoutTreeLimit unlimited(context.arena);
  note(context, code, what, offset);
  Expr* text = context.constant(Constant::Kind::string,
                                "depyf cannot decompile this: " + what + " at offset " + std::to_string(offset));
  Expr* error = context.expr(Call{context.name("RuntimeError"), context.list({text}), {}});
  return {mark(context, context.list({context.stmt(Raise{error, nullptr}, offset)}), what, offset), Level::stub};
}

// CPython's tokenizer accepts 99 levels of indentation.
constexpr int indentation_max = 99;

Block body_of_definition(const Stmt* stmt) {  // empty if `stmt` is no definition
  if (auto* function = as<FunctionDef>(stmt)) return function->body;
  auto* definition = as<ClassDef>(stmt);
  return definition ? definition->body : Block{};
}

int nesting(Block body) {
  int deepest = 0;
  auto count = [&](Block inner) { deepest = std::max(deepest, inner.empty() ? 0 : 1 + nesting(inner)); };
  for (Stmt* stmt : body) {
    auto* branch = as<If>(stmt);
    for (; branch && branch->orelse.size() == 1 && is<If>(branch->orelse[0]); branch = as<If>(stmt)) {
      count(branch->body);  // an elif follows
      stmt = branch->orelse[0];
    }
    for_each_block(stmt, count);
    count(body_of_definition(stmt));
  }
  return deepest;
}

// Returns the number of levels of indentation in the body of a definition. Throws InternalError if Python's parser
// accepts fewer levels.
int checked_nesting(const Context& context, Block body) {
  const int levels = nesting(body);
  if (levels + context.depth - 1 > indentation_max) throw InternalError{"nested too deeply for Python's parser", 0};
  return levels;
}

// The nested statements of a code object.
struct Nested {
  Block block;
  bool has_temporaries = false;
  int levels = 0;  // see Body::levels
};

// As long as an object of this class exists, `context.stmt_kinds` contains only the kinds of the statements that were made for
// one code object.
class OwnStatements {
 public:
  explicit OwnStatements(Context& context) : context_(context), outer_(std::exchange(context.stmt_kinds, {})) {}
  ~OwnStatements() { context_.stmt_kinds = outer_; }
  OwnStatements(const OwnStatements&) = delete;
  OwnStatements& operator=(const OwnStatements&) = delete;

 private:
  Context& context_;
  const StmtKinds outer_;
};

// Turns decoded instructions into nested Python statements. Throws InternalError if no nested statements express the
// instructions.
Nested structured(Context& context, const DecodedCode& decoded, const Cfg& cfg, Scope::Kind kind, bool may_return,
                  Split split) {
  if (cfg.odd_regions) throw InternalError{"exception handlers that no Python statement produces", 0};
  if (cfg.irreducible) throw InternalError{"a loop with two entries", 0};
  const OwnStatements own(context);
  Lifted lifted = lift(context, decoded, cfg, split);
  if (context.options.dump_after == "lift") context.dump += trace_of_nodes("lift", *decoded.code, lifted);
  simplify_graph(context, lifted, cfg, may_return);
  const Structured nested = structure(context, lifted, cfg, may_return);
  const Block block = refine(context, nested.body, Scope{decoded, cfg, kind, nested.returns});
  if (!may_return && context.options.stop_after.empty() && has_return(block))
    throw InternalError{"an end of the code in the middle of other statements", 0};
  // The levels are counted only if there may be too many. Each level of a code object's own statements has a block.
  int levels = int(cfg.blocks.size()) + context.nested_levels;
  if (levels + context.depth > indentation_max) levels = checked_nesting(context, block);
  return {block, lifted.has_temporaries && stores_temporary(block), levels};
}

Block build_part(Context& context, const DecodedCode& decoded) {
  const Nested part = structured(context, decoded, build_cfg(decoded, GraphForm::statements), Scope::Kind::expression,
                                 true, Split::none);
  context.nested_levels = std::max(context.nested_levels, part.levels + 1);
  return part.block;
}

// Returns the exception that is being handled as an InternalError. All exceptions from stages are caught where a code
// object is built, so that only the code object that failed gets a plainer form.
InternalError failure_at_hand() {
  try {
    throw;
  } catch (const InternalError& failure) {
    return failure;
  } catch (const std::exception& failure) {
    return {failure.what(), 0};
  } catch (...) {
    return {"a failure without a description", 0};
  }
}

// In the exact style each truth test becomes a separate branch, unless separate branches cannot be nested as
// statements. Only functions get the exact style: it needs temporaries, which would be visible in classes and modules,
// and statements, which lambdas and comprehensions do not have.
//
// In the readable and the plain style, the control flow graph is built with a guess about which ends of the function
// are copies of one `return`. If the statements of the first graph cannot be nested, or if temporaries remain in the
// nested statements, a second attempt keeps all ends apart that may be copies. A third attempt joins all ends of the
// function that may be copies.
Nested statements(Context& context, const CodeObject& code, const Prepared& prepared) {
  const DecodedCode& decoded = prepared.decoded;
  const Cfg& cfg = prepared.cfg;
  const Scope::Kind kind = kind_of(code);
  const bool may_return = (code.flags & CodeObject::new_locals) != 0;
  const std::size_t functions = context.functions.size();
  const auto with = [&](const Cfg& graph, Split split) {
    context.functions.resize(functions);
    return structured(context, decoded, graph, kind, may_return, split);
  };
  if (context.options.style == Style::exact && kind == Scope::Kind::function) {
    try {
      return with(cfg, Split::effects_and_tests);
    } catch (const InternalError&) {
      return with(cfg, Split::effects);
    }
  }
  std::optional<Nested> best;
  InternalError failure;
  const auto try_graph = [&](const Cfg& graph) {
    try {
      Nested nested = with(graph, Split::none);
      if (!best || !nested.has_temporaries) best = nested;
    } catch (...) {
      failure = failure_at_hand();
    }
    return best && !best->has_temporaries;
  };
  if (!try_graph(cfg) && cfg.has_guessed_ends && !try_graph(build_cfg(decoded, GraphForm::statements_with_ends_apart)))
    try_graph(build_cfg(decoded, GraphForm::statements_with_ends_joined));
  if (!best) throw failure;
  return *best;
}

// Returns the number of instructions of a code object and of the code nested in it. Nested code counts once for each
// instruction that loads it, because one code object may be loaded any number of times.
std::size_t size_with_nested(const Context& context, const Prepared& prepared) {
  const DecodedCode& decoded = prepared.decoded;
  std::size_t size = decoded.instructions.size();
  if (!prepared.cfg.ops.has<Op::make_function_>()) return size;  // only functions are printed with their code
  const std::span<const Constant> constants = decoded.constants;
  // Counts how many instructions load each constant. The loop adds 0 for an instruction that loads no constant, because
  // the processor could not predict a branch on the operation. The last element of `loads` is for arguments that are no
  // index of a constant.
  std::vector<std::size_t> loads(constants.size() + 1);
  for (const Instruction& instruction : decoded.instructions)
    loads[std::min(std::size_t(instruction.arg), constants.size())] += instruction.op == Op::load_const_;
  for (std::size_t index = 0; index < constants.size(); ++index) {
    const CodeObject* nested = constants[index].code.get();
    if (!nested || loads[index] == 0) continue;
    if (auto known = context.bodies.find(nested); known != context.bodies.end())
      size += loads[index] * known->second.size;
  }
  return size;
}

// As long as an object of this class exists, `code` is the innermost code object around the code that is built.
class Within {
 public:
  Within(Context& context, const CodeObject& code, const Prepared& prepared)
      : context_(context), outer_levels_(std::exchange(context.nested_levels, 0)) {
    context_.ahead->enter(code);
    context_.around.push_back({&code, &prepared});
    ++context_.depth;
  }
  ~Within() {
    --context_.depth, context_.around.pop_back(), context_.ahead->leave();
    context_.nested_levels = outer_levels_;
  }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  Context& context_;
  const int outer_levels_;
};

// While a code object is built, its own tree may take half of the memory that is left for all trees.
class TreeLimit {
 public:
  explicit TreeLimit(Context& context)
      : arena_(context.arena), outer_limit_(arena_.limit()), taken_before_(arena_.taken()) {
    const std::size_t all = context.options.limits.tree;
    arena_.set_limit(taken_before_ + (all - std::min(all, taken_before_)) / 2);
  }
  // The memory of nested code is not counted for the enclosing code.
  ~TreeLimit() {
    const std::size_t taken = arena_.taken() - taken_before_;
    arena_.set_limit(outer_limit_ > Arena::no_limit - taken ? Arena::no_limit : outer_limit_ + taken);
  }
  TreeLimit(const TreeLimit&) = delete;
  TreeLimit& operator=(const TreeLimit&) = delete;

 private:
  Arena& arena_;
  const std::size_t outer_limit_, taken_before_;
};

// Returns a body for any graph: a state machine, which is a loop around a branch on a variable that contains the number
// of the next block. `reason` states why the statements of `code` do not nest.
Body state_machine_body(Context& context, const CodeObject& code, const DecodedCode& decoded,
                        const InternalError& reason) {
  Cfg cfg = build_cfg(decoded, GraphForm::instructions);
  Lifted lifted = lift_flat(context, decoded, cfg);
  Block block = state_machine(context, lifted, cfg, (code.flags & CodeObject::new_locals) != 0);
  note(context, code, "shown as a state machine: " + reason.what, reason.offset);
  // A state machine may contain all blocks of the graph, in any order, so `cfg.order` lists all blocks.
  cfg.order.clear();
  for (int index = 0; index < int(cfg.blocks.size()); ++index) cfg.order.push_back(index);
  Scope scope{decoded, cfg, kind_of(code)};
  block = docstring(context, declarations(context, block, scope), scope);
  const int levels = checked_nesting(context, block);
  const Block marked = mark(context, block, "shown as a state machine: " + reason.what, reason.offset);
  return {.block = marked, .level = Level::state_machine, .levels = levels};
}

Body build_within_limits(Context& context, const CodeObject& code) {
  PreparedCode prepared;
  InternalError failure;
  try {
    const TreeLimit limit(context);
    auto is_done = [&](const CodeObject* nested) { return context.bodies.contains(nested); };
    Result<PreparedCode> taken = context.ahead->take(code, is_done);
    if (!taken) throw InternalError{taken.error().message, std::uint32_t(taken.error().offset)};
    prepared = std::move(*taken);
    const Within within(context, code, *prepared);
    const Nested nested = statements(context, code, *prepared);
    Body body{.block = nested.block, .level = Level::structured, .levels = nested.levels};
    body.size = size_with_nested(context, *prepared);
    return body;
  } catch (...) {
    failure = failure_at_hand();
  }
  if (!prepared) return stub(context, code, failure.what, failure.offset);
  try {
    const TreeLimit limit(context);
    const Within within(context, code, *prepared);
    Body body = state_machine_body(context, code, prepared->decoded, failure);
    body.size = size_with_nested(context, *prepared);
    return body;
  } catch (...) {
    failure = failure_at_hand();
  }
  return stub(context, code, failure.what, failure.offset);
}

Body build(Context& context, const CodeObject& code) {
  const auto with_levels = [&](const Body& body) {
    context.nested_levels = std::max(context.nested_levels, body.levels + 1);
    return body;
  };
  auto known = context.bodies.find(&code);
  if (known != context.bodies.end()) return with_levels(known->second);
  if (context.depth >= int(context.options.limits.depth))
    return with_levels(stub(context, code, "nested too deeply", 0));
  context.version = code.version;
  Body body = build_within_limits(context, code);
  if (body.size > context.options.limits.text / Limits::text_of_code) {
    body = stub(context, code, "too long, with all that is nested in it", 0);
    body.size = 1;
  }
  context.level = std::max(context.level, body.level);
  context.bodies[&code] = body;
  return with_levels(body);
}

// Checks the body of a definition, and stores the checked body, so that no statement is replaced twice.
void check(Context& context, Body& body, const CodeObject& code, CheckedAs kind) {
  if (!context.options.stop_after.empty()) return;
  const Block before = body.block;
  check_body(context, body, code, kind);
  if (body.block.data() == before.data()) return;
  if (auto known = context.bodies.find(&code); known != context.bodies.end()) known->second.block = body.block;
}

// Returns the free variables of `code` that need a `nonlocal` statement: those that `code` binds, and those that no
// instruction of `code` reads. An enclosing function has to define each variable that a `nonlocal` statement declares.
std::vector<std::string_view> bound_free_variables(const CodeObject& code) {
  std::vector<std::string_view> names;
  Result<DecodedCode> decoded = decode(code);
  if (!decoded) return names;
  std::set<std::string_view> seen;
  std::set<std::string_view> read;
  for (const Instruction& instruction : decoded->instructions) {
    if (instruction.arg < decoded->first_free || instruction.arg >= int(decoded->localsplus.size())) continue;
    std::string_view name = decoded->localsplus[instruction.arg];
    if (!uses_cell(instruction.op) || instruction.op == Op::make_cell_) continue;
    const bool binds = instruction.op == Op::store_deref_ || instruction.op == Op::delete_deref_;
    if (!binds) read.insert(name);
    else if (seen.insert(name).second) names.push_back(name);
  }
  for (const std::string& name : code.freevars)
    if (name != "__class__" && name != "__classdict__" && !name.starts_with(".") && !read.contains(name) &&
        seen.insert(name).second)
      names.push_back(name);
  // Free variables of `code` that only nested functions bind are returned too.
  for (const Constant& constant : code.constants)
    if (constant.code)
      for (std::string_view name : bound_free_variables(*constant.code))
        if (std::find(code.freevars.begin(), code.freevars.end(), name) != code.freevars.end() &&
            seen.insert(name).second)
          names.push_back(name);
  return names;
}

// Collects the names in `nonlocal` statements at any depth. The `nonlocal` statements may declare more names than
// `bound_free_variables` finds, such as a name that only unreachable code reads.
void declared_nonlocal(Block block, std::set<std::string_view>& names) {
  for (Stmt* stmt : block) {
    if (auto* nonlocal = as<Nonlocal>(stmt)) names.insert(nonlocal->names.begin(), nonlocal->names.end());
    for_each_block(stmt, [&](Block& inner) { declared_nonlocal(inner, names); });
    declared_nonlocal(body_of_definition(stmt), names);
  }
}

// Puts a comment in front of `body`. The comment states that the assertions are printed as they were written, before
// pytest rewrote them.
Block with_mark_of_pytest(Context& context, Block body) {
  const std::string_view text =
      context.has_unfolded_assertions
          ? "depyf: not equal: pytest rewrote the assertions of this module; those that could be folded are shown as they were "
            "written"
          : "depyf: not equal: pytest rewrote the assertions of this module; they are shown as they were written";
  return context.with_comment(text, body);
}

// Returns the statements of `block`, preceded by an import of those `__future__` features whose flags are set in
// `code`.
Block with_future_imports(Context& context, const CodeObject& code, Block block) {
  static constexpr std::array<std::pair<std::uint32_t, std::string_view>, 7> features{{{0x20000, "division"},
                                                                                       {0x40000, "absolute_import"},
                                                                                       {0x80000, "with_statement"},
                                                                                       {0x100000, "print_function"},
                                                                                       {0x200000, "unicode_literals"},
                                                                                       {0x800000, "generator_stop"},
                                                                                       {0x1000000, "annotations"}}};
  std::vector<Alias> names;
  for (const auto& [flag, name] : features)
    if (code.flags & flag) names.push_back({name, {}});
  if (names.empty()) return block;
  std::vector<Stmt*> all{context.stmt(ImportFrom{"__future__", context.arena.copy(names), 0, false})};
  all.insert(all.end(), block.begin(), block.end());
  return context.arena.copy(all);
}

// Returns the tree of a source file that contains the code: a module, or one function or class with the definitions
// that it needs to compile.
Block whole(Context& context, const CodeObject& code) {
  const Scope::Kind kind = kind_of(code);
  // Code that is no module is printed as the body of a definition. The definition may lie in a function `__outer`, so
  // the body may be indented by two levels.
  if (kind != Scope::Kind::module) context.depth = 2;
  const Body body = build(context, code);
  if (kind == Scope::Kind::module) return body.block;
  std::string_view name =
      context.options.name.empty() ? std::string_view(code.name) : context.arena.copy(context.options.name);
  Block block = body.block;
  std::vector<std::string_view> outer = bound_free_variables(code);
  std::set<std::string_view> declared;
  declared_nonlocal(block, declared);
  for (const std::string& free : code.freevars)
    if (declared.contains(free) && std::find(outer.begin(), outer.end(), free) == outer.end()) outer.push_back(free);
  // `super()` reads the cell `__class__`, which a class body creates, or else a variable `__class__` of an enclosing
  // function.
  if (kind != Scope::Kind::class_body && std::ranges::find(code.freevars, "__class__") != code.freevars.end() &&
      std::ranges::find(outer, "__class__") == outer.end())
    outer.push_back("__class__");
  if (context.options.standalone && kind == Scope::Kind::function)
    for (const std::string& free : code.freevars)
      if (!free.starts_with(".") && std::ranges::find(outer, free) == outer.end()) outer.push_back(free);
  if (kind == Scope::Kind::class_body) {
    block = context.list({context.stmt(ClassDef{name, {}, {}, block, {}, {}, &code}, 0, code.firstlineno)});
  } else {
    if (kind == Scope::Kind::expression && !outer.empty()) {
      std::vector<Stmt*> with_names{context.stmt(Nonlocal{context.arena.copy(outer)})};
      with_names.insert(with_names.end(), block.begin(), block.end());
      block = context.arena.copy(with_names);
    }
    block = spell_out_comprehension(context, code.name, block);
    bool async = (code.flags & (CodeObject::coroutine | CodeObject::async_generator)) != 0;
    block = context.list({context.stmt(
        FunctionDef{name, parameters_of(context, code), block, {}, nullptr, async, {}, &code}, 0, code.firstlineno)});
  }
  const auto finished = [&](Block definition) {
    return context.options.standalone ? with_future_imports(context, code, definition) : definition;
  };
  if (outer.empty()) return finished(block);
  std::vector<Stmt*> around;
  for (std::string_view variable : outer)
    around.push_back(context.stmt(Assign{context.list({context.name(variable)}), context.none()}));
  around.insert(around.end(), block.begin(), block.end());
  around.push_back(context.stmt(Return{context.name(name)}));
  return finished(context.list({context.stmt(
      FunctionDef{"__outer", context.arena.make<Arguments>(), context.arena.copy(around), {}, nullptr, false, {}})}));
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> passes() {
  std::vector<std::pair<std::string_view, std::string_view>> all(std::begin(stages), std::end(stages));
  for (const RefinePass& pass : refine_passes) all.push_back({pass.name, pass.why});
  all.push_back({"print", "prints the statements, and maps the lines to offsets"});
  return all;
}

namespace {

using LinesByCode = std::unordered_map<const CodeObject*, std::vector<LineMapping>>;

// Adds the line mappings of each code object nested in `code`. `path` contains the indices of the constants through
// which `code` is reached from the outermost code object.
void add_nested_lines(Decompiled& result, LinesByCode& lines, const CodeObject& code, std::vector<std::uint32_t>& path,
                      std::uint32_t depth) {
  if (path.size() >= depth) return;
  for (std::uint32_t index = 0; index < code.constants.size(); ++index) {
    const CodeObject* nested = code.constants[index].code.get();
    if (!nested) continue;
    path.push_back(index);
    if (auto found = lines.find(nested); found != lines.end())
      result.nested.push_back(
          {nested->qualname.empty() ? nested->name : nested->qualname, path, std::move(found->second)});
    add_nested_lines(result, lines, *nested, path, depth);
    path.pop_back();
  }
}

// Distributes the line mappings of the source over the code objects to which the lines belong.
void add_lines(Decompiled& result, const std::vector<LineOfCode>& printed, const CodeObject& code,
               std::uint32_t depth) {
  LinesByCode lines;
  const CodeObject* last = nullptr;
  std::vector<LineMapping>* of_last = nullptr;  // most lines belong to the same code object as the line before
  for (const LineOfCode& it : printed) {
    if (it.code != last || !of_last) last = it.code, of_last = &lines[it.code];
    of_last->push_back(it.mapping);
  }
  result.lines = std::move(lines[&code]);
  std::vector<std::uint32_t> path;
  add_nested_lines(result, lines, code, path, depth);
}

// The name under which a module whose assertions pytest has rewritten imports the helpers of pytest.
constexpr std::string_view pytest_helpers = "@pytest_ar";

// Returns the finished tree of `code`, which is built in `context`. `context` must be empty.
Block finished_tree(Context& context, const CodeObject& code, const Options& options) {
  context.options = options;
  Ahead ahead(options.limits.instructions, options.prove ? &context.decoded : nullptr);
  context.ahead = &ahead;
  context.folds_assertions =
      kind_of(code) == Scope::Kind::module && std::ranges::find(code.names, pytest_helpers) != code.names.end();
  context.build = build;
  context.build_part = build_part;
  context.check = check;
  Block block = whole(context, code);
  if (options.stop_after.empty()) {
    block = valid_statements(context, block, code.version);
    if (context.has_templates) block = settle_interpolations(context, block, code.version);
    add_marks(context, block, code, kind_of(code) == Scope::Kind::module, marks_of(options.marks));
  }
  context.ahead = nullptr;
  return block;
}

Decompiled decompile_here(const CodeObject& code, const Options& options) {
  Context context;
  Block block = finished_tree(context, code, options);
  const CodeObject* module = kind_of(code) == Scope::Kind::module ? &code : nullptr;
  auto print = [&] {
    const Block marked = context.folds_assertions ? with_mark_of_pytest(context, block) : block;
    return print_block(marked, code.version, module,
                       {options.limits.text, options.lines, &code, options.width, options.align});
  };
  Printed printed = print();
  if (printed.has_renamed) {
    // `globals()[...]` does not compile where the grammar allows only a name: in a pattern or in front of `:=`.
    block = reach_odd_names(context, block, module != nullptr);
    block = valid_statements(context, block, code.version, Bodies::all);
    printed = print();
  }
  std::vector<CodeProof> proofs;
  if (options.prove && options.stop_after.empty()) {
    proofs = prove_tree(block, code, module != nullptr, options, context.decoded);
    if (add_marks(context, block, code, module != nullptr, marks_of(proofs))) printed = print();
  }
  Decompiled result;
  result.source = std::move(printed.source);
  if (options.lines) add_lines(result, printed.lines, code, options.limits.depth);
  result.level = context.level;
  result.notes = std::move(context.notes);
  result.dump = std::move(context.dump);
  result.proofs = std::move(proofs);
  result.constants = std::move(context.named_constants);
  return result;
}

}  // namespace

void with_finished_tree(const CodeObject& code, const Options& options, FunctionRef<void(Context&, Block, bool)> look) {
  on_deep_stack([&] {
    Context context;
    const Block block = finished_tree(context, code, options);
    look(context, block, kind_of(code) == Scope::Kind::module);
  });
}

Decompiled decompile(const CodeObject& code, const Options& options) {
  return with_deep_stack([&] { return decompile_here(code, options); });
}

}  // namespace depyf
