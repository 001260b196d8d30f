// What one call of `decompile` shares over all code objects in it.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ast/node.h"
#include "depyf/decompile.h"
#include "support/arena.h"

namespace depyf {

struct DecodedCode;

// A pass met what it was not made for; caught in pipeline.cpp, where that code object degrades.
struct InternalError {
  std::string what;
  std::uint32_t offset = 0;
};

// A function that MAKE_FUNCTION made.
struct FunctionValue {
  const CodeObject* code = nullptr;
  std::uint32_t constant = 0;                      // its index in the constants of the outer code
  ast::Expr *defaults = nullptr, *kw_defaults = nullptr, *annotations = nullptr;
  std::int32_t within =
      -1;  // made in the code that evaluates type parameters, which is that constant of the outer code
  bool deferred = false;     // the annotations are not evaluated where the function is made
  ast::List<ast::TypeParam> type_params;  // of the function, or of the class of which this is the body
};

// One annotation of a module or class whose annotations are made later (3.14).
struct DeferredAnnotation {
  std::string_view name;
  ast::Expr* value = nullptr;
  int index = -1;  // of the mark where it stands; -1: it has none, and always holds
};

// The test of a case.
struct CaseTest {
  ast::Pattern* pattern = nullptr;
  bool guard = false;   // what follows is its guard
  bool keeps = false;   // other cases follow
  std::int32_t line = -1;
};

// The body of a code object, ready to stand in a `def`, `class`, `lambda` or module.
struct Body {
  ast::Block block;
  Level level = Level::structured;
  std::size_t size = 0;  // in instructions, those of nested code counted wherever it is used
};

class Ahead;

class Context {
 public:
  Arena arena;
  std::deque<Constant> constants;                  // those that no code object holds
  Options options;
  std::unordered_map<const CodeObject*, const Difference*> marks;  // by the code object whose body says it
  std::vector<std::string> notes;
  std::string dump;  // what the pass `options.dump_after` made, by code object
  std::vector<NamedConstant> named_constants;
  std::vector<FunctionValue> functions;
  std::vector<CaseTest> cases;
  std::vector<std::vector<DeferredAnnotation>> deferred;
  std::vector<ast::TypeParam> type_params;
  std::vector<ast::TypeAlias> type_aliases;
  std::unordered_map<const CodeObject*, Body> bodies;   // those brought back already
  std::vector<std::uint32_t> path;                 // to the code object at work
  std::map<std::string_view, std::string_view>
      lent;    // temporary -> the local that it was copied to; of the code at work
  std::map<std::string_view, std::string_view> wanted;  // temporary -> what it may be called; of the code at work
  Level level = Level::structured;
  Version version;                                 // of the code object at work
  int depth = 0;
  bool folds_assertions = false;  // the root is a module whose assertions pytest rewrote
  bool has_unfolded_assertions = false;  // some of them could not be folded back

  Ahead* ahead = nullptr;  // of the pipeline

  // Brings a nested code object back; set by the pipeline.
  Body (*build)(Context&, const CodeObject&) = nullptr;
  // The same of a comprehension that was taken out of a code object; throws InternalError where no statements fit.
  ast::Block (*build_part)(Context&, const DecodedCode&) = nullptr;

  ast::Expr* expr(ast::Expr::Node node, std::uint32_t offset = 0, std::int32_t line = -1) {
    return arena.make<ast::Expr>(std::move(node), offset, line);
  }
  ast::Stmt* stmt(ast::Stmt::Node node, std::uint32_t offset = 0, std::int32_t line = -1, std::int32_t column = -1,
                  std::int32_t width = -1) {
    return arena.make<ast::Stmt>(std::move(node), offset, line, column, width);
  }
  // The statements below a comment. Statements that others share stay as they are.
  ast::Block with_comment(std::string_view text, ast::Block body) {
    std::vector<ast::Stmt*> statements{stmt(ast::Comment{arena.copy(text)})};
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
  // An annotation that was kept as text, as source again; where it is no expression on one line, the text as a string.
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
    return plain && nested == 0 ? expr(ast::Verbatim{source}) : text;
  }
  ast::Expr* none() { return constant(Constant::Kind::none); }
  template <class T>
  std::span<T> list(std::initializer_list<T> items) {
    return arena.copy(items.begin(), items.size());
  }
};

// The parameters of a function, without annotations and defaults.
ast::Arguments* parameters_of(Context& context, const CodeObject& code);

// The body of a comprehension's code object as statements that stand by themselves.
ast::Block spell_out_comprehension(Context& context, const CodeObject& code, ast::Block body);

// What follows the test that begins each function which the compiler makes for a value to come (3.14).
ast::Block without_format_test(ast::Block block);

// `not test` as a condition, without a double negation.
ast::Expr* negate(Context& context, ast::Expr* test);
// Does the negation need another instruction (`in` to `not in`, `is` to `is not`), not just the other jump?
bool negation_changes(const Context& context, const ast::Expr* test);
// How many `not` the negation of `test` takes; `other_operator` at least where it needs other instructions.
constexpr int other_operator = 1000;
int negation_cost(const Context& context, const ast::Expr* test);

}  // namespace depyf
