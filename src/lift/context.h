// The state of one call of `decompile`, which all code objects of the call share.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "ast/node.h"
#include "ast/stmt_kinds.h"
#include "depyf/decompile.h"
#include "support/arena.h"
#include "support/table.h"

namespace depyf {

struct DecodedCode;
struct Prepared;

// Thrown by a pass that cannot handle the code. pipeline.cpp catches InternalError and prints the code object in a
// simpler form: as a state machine or a stub.
struct InternalError {
  std::string what;
  std::uint32_t offset = 0;
};

// A function object that MAKE_FUNCTION creates, with its attributes.
struct FunctionValue {
  const CodeObject* code = nullptr;
  std::string_view name;  // the name of the code object
  std::uint32_t constant = 0;  // the index of `code` in the constants of the code object that creates the function
  // The expressions of the function's defaults, keyword-only defaults and annotations; null if the function has none.
  ast::Expr *defaults = nullptr, *kw_defaults = nullptr, *annotations = nullptr;
  // If a code object that evaluates type parameters creates the function: the index of that code object in the
  // constants of the code object around it; otherwise -1.
  std::int32_t within = -1;
  // True if the annotations are evaluated lazily, by an __annotate__ function (3.14 and later).
  bool deferred = false;
  // The type parameters of the function, or of the class whose body the function is.
  ast::List<ast::TypeParam> type_params;
};

// A code object whose body is being built: the current code object, or a code object around it.
struct Around {
  const CodeObject* code;
  const Prepared* prepared;
};

// One annotation that an __annotate__ function evaluates lazily (3.14 and later).
struct DeferredAnnotation {
  std::string_view name;
  ast::Expr* value = nullptr;
  // The index k of the condition `k in __conditional_annotations__` of the annotation, or -1 if the annotation has no
  // condition.
  int index = -1;
};

// The test of one case of a match statement.
struct CaseTest {
  ast::Pattern* pattern = nullptr;
  bool guard = false;  // true if the test of the case's guard follows
  bool keeps = false;  // true if the subject stays on the stack for the cases that follow
  std::int32_t line = -1;
};

// The kind of definition as whose body src/validate has checked a block.
enum class CheckedAs : std::uint8_t { nothing, function, class_body };

// The decompiled body of a code object, which is inserted in a `def`, `class`, `lambda` or module.
struct Body {
  ast::Block block;
  Level level = Level::structured;
  CheckedAs checked_as = CheckedAs::nothing;
  // The number of instructions of the code object and of all nested code objects. A nested code object counts once for
  // each instruction that loads it.
  std::size_t size = 0;
  // An upper bound of the levels of indentation in the block and in the definitions that are nested in it.
  int levels = 0;
};

class Ahead;

// The state that the passes behind src/flow share during one call of `decompile`.
class Context {
 public:
  Arena arena;
  std::deque<Constant> constants;  // constants that are in no code object
  Options options;
  // Remarks on the result, for example that a code object is printed as a state machine.
  Table<std::string> notes;
  // The text of each code object after the pass that `options.dump_after` names.
  std::string dump;
  // Constants that have no literal, and the names that the printed source uses for them.
  Table<NamedConstant> named_constants;
  // The next five tables contain data of the placeholder nodes `ast::Internal` and `ast::InternalStmt`. The member
  // `marker` of a node shows whether the node has data in a table, and `index` is the index in that table.
  Table<FunctionValue> functions;
  Table<CaseTest> cases;
  Table<Table<DeferredAnnotation>> deferred;
  Table<ast::TypeParam> type_params;
  Table<ast::TypeAlias> type_aliases;
  std::unordered_map<const CodeObject*, Body> bodies;  // the bodies of the code objects that are already decompiled
  // With `options.prove`: the result of `decode` for each code object, before any pass changes it.
  std::unordered_map<const CodeObject*, std::shared_ptr<const DecodedCode>> decoded;
  // The path from the root code object to the current one: the index of each nested code object in the constants of the
  // code object around it.
  Table<std::uint32_t> path;
  // The code objects from the root to the current one.
  Table<Around> around;
  // Maps a temporary of the current code object to the local variable that receives a copy of the temporary, or to an
  // empty name if several variables do.
  std::map<std::string_view, std::string_view> lent;
  // Maps a temporary of the current code object to the name that the temporary may be renamed to.
  std::map<std::string_view, std::string_view> wanted;
  // The form in which the current code object is printed, and the version of CPython that compiled the code object.
  Level level = Level::structured;
  Version version;
  int depth = 0;
  // An upper bound of the levels of indentation that any single nested definition adds to the current code object. The
  // bound grows while the nested code objects are built.
  int nested_levels = 0;
  // The kinds of all statements that have been made for the current code object. A pass that works only on statements
  // of other kinds has nothing to do.
  ast::StmtKinds stmt_kinds;
  // True if the root code object is a module whose assertions pytest rewrote.
  bool folds_assertions = false;
  // True if some assertions that pytest rewrote could not be folded back to `assert` statements.
  bool has_unfolded_assertions = false;
  // True if a decompiled code object contains a template string (t'...', 3.14).
  bool has_templates = false;

  Ahead* ahead = nullptr;  // decodes code objects and builds their graphs in advance; owned by the pipeline

  // Decompiles a nested code object; set by the pipeline.
  Body (*build)(Context&, const CodeObject&) = nullptr;
  // Replaces the statements of a definition's body that do not compile (see src/validate); set by the pipeline.
  void (*check)(Context&, Body&, const CodeObject&, CheckedAs) = nullptr;
  // Decompiles the body of an inlined comprehension; throws InternalError if no statements express it.
  ast::Block (*build_part)(Context&, const DecodedCode&) = nullptr;

  // `expr` and `stmt` are templates so that a node is constructed in the arena directly, and not copied as a variant.
  template <class Node>
  ast::Expr* expr(const Node& node, std::uint32_t offset = 0, std::int32_t line = -1) {
    return arena.make<ast::Expr>(ast::held(arena, node), offset, line);
  }
  template <class Node>
  ast::Stmt* stmt(const Node& node, std::uint32_t offset = 0, std::int32_t line = -1, std::int32_t column = -1,
                  std::int32_t width = -1) {
    stmt_kinds.add(node);
    return arena.make<ast::Stmt>(ast::held(arena, node), offset, line, column, width);
  }
  // Returns a block that consists of a comment and the statements of `body`. The block `body` itself is not changed,
  // because other blocks may share it.
  ast::Block with_comment(std::string_view text, ast::Block body) {
    Table<ast::Stmt*> statements{stmt(ast::Comment{arena.copy(text)})};
    statements.insert(statements.end(), body.begin(), body.end());
    return arena.copy(statements);
  }
  ast::Expr* name(std::string_view id) { return expr(ast::Name{id}); }
  ast::Expr* constant(Constant value) {
    constants.push_back(std::move(value));
    return expr(ast::ConstantExpr{&constants.back()});
  }
  ast::Expr* constant(Constant::Kind kind, std::string text = {}) {
    Constant value;
    value.kind = kind, value.text = std::move(text);
    return constant(std::move(value));
  }
  // If `text` is a string constant, which contains an annotation as source (`from __future__ import annotations`),
  // returns that source as an expression. Returns any other `text` itself. The stage src/validate checks that the
  // source is an expression.
  ast::Expr* annotation(ast::Expr* text) {
    auto* constant = ast::as<ast::ConstantExpr>(text);
    if (!constant || constant->value->kind != Constant::Kind::string) return text;
    return expr(ast::Verbatim{constant->value->text}, text->offset, text->line);
  }
  ast::Expr* none() { return constant(Constant::Kind::none); }
  template <class T>
  std::span<T> list(std::initializer_list<T> items) {
    return arena.copy(items.begin(), items.size());
  }
};

// Returns the parameters of a function, without annotations and defaults.
ast::Arguments* parameters_of(Context& context, const CodeObject& code);

// If `code_name` is `<listcomp>`, `<setcomp>` or `<dictcomp>`, returns the comprehension's body `body` as plain
// statements that build the result in a variable. Otherwise, returns `body` itself.
ast::Block spell_out_comprehension(Context& context, std::string_view code_name, ast::Block body);

// Returns `block` without the test `if format > 2: raise NotImplementedError` at its start, or `block` itself if it
// does not start with this test. Each function that the compiler makes for lazy evaluation (3.14 and later) starts with
// the test.
ast::Block without_format_test(ast::Block block);

// Returns `not test` as a condition, without a double negation.
ast::Expr* negate(Context& context, ast::Expr* test);
// True if the negation of `test` needs another instruction (`in` becomes `not in`, `is` becomes `is not`), and not just
// the opposite jump.
bool negation_changes(const Context& context, const ast::Expr* test);
// Returns the number of `not` operators in the negation of `test`. The result is at least `other_operator` if the
// negation turns `in` into `not in`, or `is` into `is not`, which compile to another instruction.
constexpr int other_operator = 1000;
int negation_cost(const Context& context, const ast::Expr* test);

}  // namespace depyf
