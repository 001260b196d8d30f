// The state that one call of `decompile` shares over all code objects in it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "ast/node.h"
#include "depyf/decompile.h"
#include "support/arena.h"
#include "support/table.h"

namespace depyf {

struct DecodedCode;
struct Prepared;

// Thrown by a pass that meets code which it was not made for. pipeline.cpp catches it, and gives the code object a
// plainer form.
struct InternalError {
  std::string what;
  std::uint32_t offset = 0;
};

// A function that MAKE_FUNCTION has made, with what was given to it.
struct FunctionValue {
  const CodeObject* code = nullptr;
  std::string_view name;  // of the code object
  std::uint32_t constant = 0;  // its index in the constants of the outer code
  // Null if the function has none.
  ast::Expr *defaults = nullptr, *kw_defaults = nullptr, *annotations = nullptr;
  // If the function is made by the code that evaluates type parameters: the index of that code in the constants of the
  // outer code; otherwise -1.
  std::int32_t within = -1;
  // True if the annotations are not evaluated where the function is made (3.14 and later).
  bool deferred = false;
  ast::List<ast::TypeParam> type_params;  // of the function, or of the class whose body it is
};

// A code object whose body is being built.
struct Around {
  const CodeObject* code;
  const Prepared* prepared;
};

// One annotation of a module or class whose annotations are evaluated later (3.14 and later).
struct DeferredAnnotation {
  std::string_view name;
  ast::Expr* value = nullptr;
  // The index of the mark where the annotation stands in the code, or -1 for an annotation without a mark, which is
  // always reached.
  int index = -1;
};

// The test of one case of a match statement.
struct CaseTest {
  ast::Pattern* pattern = nullptr;
  bool guard = false;  // the guard of the case follows
  bool keeps = false;  // other cases follow
  std::int32_t line = -1;
};

// The body of a code object, ready to stand in a `def`, `class`, `lambda` or module.
struct Body {
  ast::Block block;
  Level level = Level::structured;
  // The number of instructions. Those of nested code count wherever the nested code is used.
  std::size_t size = 0;
};

class Ahead;

// Everything that the passes after flow share while one call of `decompile` runs.
class Context {
 public:
  Arena arena;
  std::deque<Constant> constants;  // constants that no code object holds
  Options options;
  // By code object: the difference that a comment in its body reports.
  std::unordered_map<const CodeObject*, const Difference*> marks;
  Table<std::string> notes;
  // What the pass named by `options.dump_after` made, for each code object.
  std::string dump;
  // Constants without a literal, and the names that stand for them.
  Table<NamedConstant> named_constants;
  // The tables below are indexed by the markers in expressions (`Internal::index`).
  Table<FunctionValue> functions;
  Table<CaseTest> cases;
  Table<Table<DeferredAnnotation>> deferred;
  Table<ast::TypeParam> type_params;
  Table<ast::TypeAlias> type_aliases;
  std::unordered_map<const CodeObject*, Body> bodies;  // the bodies that are finished
  // With `options.prove`: what `decode` made of each code object, before any pass has changed it.
  std::unordered_map<const CodeObject*, std::shared_ptr<const DecodedCode>> decoded;
  // The way to the current code object: indices of constants, from the root.
  Table<std::uint32_t> path;
  // The code objects from the root to the current one.
  Table<Around> around;
  // In the current code object: a temporary, and the local that it was copied to.
  std::map<std::string_view, std::string_view> lent;
  // In the current code object: a temporary, and the name that it may get.
  std::map<std::string_view, std::string_view> wanted;
  // The level and version of the current code object.
  Level level = Level::structured;
  Version version;
  int depth = 0;
  // True if the root is a module whose assertions pytest rewrote.
  bool folds_assertions = false;
  // True if some of these assertions could not be folded back.
  bool has_unfolded_assertions = false;
  // True if there is a template string in the tree.
  bool has_templates = false;

  Ahead* ahead = nullptr;  // owned by the pipeline

  // Decompiles a nested code object; set by the pipeline.
  Body (*build)(Context&, const CodeObject&) = nullptr;
  // Decompiles the body of an inlined comprehension; throws InternalError if no statements express it.
  ast::Block (*build_part)(Context&, const DecodedCode&) = nullptr;

  // These are templates so that a node is written into the arena at once, and not copied as a variant.
  template <class Node>
  ast::Expr* expr(const Node& node, std::uint32_t offset = 0, std::int32_t line = -1) {
    return arena.make<ast::Expr>(node, offset, line);
  }
  template <class Node>
  ast::Stmt* stmt(const Node& node, std::uint32_t offset = 0, std::int32_t line = -1, std::int32_t column = -1,
                  std::int32_t width = -1) {
    return arena.make<ast::Stmt>(node, offset, line, column, width);
  }
  // Returns a block of a comment and the statements of `body`. The statements themselves are not changed, as other
  // blocks may share them.
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
  // Returns an annotation that was kept as text as source. Returns the text itself if it would not be one expression on
  // one line.
  ast::Expr* annotation(ast::Expr* text) {
    auto* constant = ast::as<ast::ConstantExpr>(text);
    if (!constant || constant->value->kind != Constant::Kind::string) return text;
    std::string_view source = constant->value->text;
    int nested = 0;
    bool plain = !source.empty() && source.front() != ' ';
    for (char c : source) {
      plain &= c >= ' ' && c != '#' && c != '\\' && c != 0x7f;
      if (c == '(' || c == '[' || c == '{') ++nested;
      if (c == ')' || c == ']' || c == '}') plain &= --nested >= 0;
    }
    return plain && nested == 0 ? expr(ast::Verbatim{source}, text->offset, text->line) : text;
  }
  ast::Expr* none() { return constant(Constant::Kind::none); }
  template <class T>
  std::span<T> list(std::initializer_list<T> items) {
    return arena.copy(items.begin(), items.size());
  }
};

// Returns the parameters of a function, without annotations and defaults.
ast::Arguments* parameters_of(Context& context, const CodeObject& code);

// Returns the body of a comprehension, whose code object has the name `code_name`, as statements that do not need a comprehension around them.
ast::Block spell_out_comprehension(Context& context, std::string_view code_name, ast::Block body);

// Returns `block` without the test `if format > 2: raise NotImplementedError`, which begins each function that the
// compiler makes for lazy evaluation (3.14 and later).
ast::Block without_format_test(ast::Block block);

// Returns `not test` as a condition, without a double negation.
ast::Expr* negate(Context& context, ast::Expr* test);
// True if the negation needs another instruction (`in` becomes `not in`, `is` becomes `is not`), and not just the
// opposite jump.
bool negation_changes(const Context& context, const ast::Expr* test);
// Returns the number of `not` operators in the negation of `test`. The result is at least `other_operator` if the
// negation needs other instructions.
constexpr int other_operator = 1000;
int negation_cost(const Context& context, const ast::Expr* test);

}  // namespace depyf
