// The passes that make the finished tree more readable. Each pass keeps the meaning of the tree, and may be left out.
// Each pass takes and returns the statements of one code object, including nested blocks but not the bodies of nested
// definitions.
#pragma once

#include <span>

#include "ast/visit.h"
#include "lift/context.h"
#include "support/function_ref.h"

namespace depyf {

struct Cfg;
struct DecodedCode;

// The facts about a code object that a pass over its statements may use.
struct Scope {
  const DecodedCode& decoded;
  const Cfg& cfg;
  // The kind of scope; `expression` is the kind of lambdas and comprehensions.
  enum class Kind : std::uint8_t { module, class_body, function, expression } kind;
  // The return statements of the tree before the first pass. The passes make no return statements.
  std::span<ast::Stmt* const> returns = {};
};

// Returns the kind of the scope of `code`, which follows from the flags and the name of the code object.
Scope::Kind kind_of(const CodeObject& code);

// The passes that pipeline.cpp runs in all styles; the file of each pass shows source before and after the pass.
ast::Block implicit_return(Context& context, ast::Block body, const Scope& scope);
ast::Block assert_statement(Context& context, ast::Block body, const Scope& scope);
ast::Block pytest_assertions(Context& context, ast::Block body, const Scope& scope);
ast::Block try_finally(Context& context, ast::Block body, const Scope& scope);
ast::Block elif_chain(Context& context, ast::Block body, const Scope& scope);
ast::Block indentation(Context& context, ast::Block body, const Scope& scope);
ast::Block lines(Context& context, ast::Block body, const Scope& scope);
ast::Block shared_ends(Context& context, ast::Block body, const Scope& scope);
ast::Block silent_statements(Context& context, ast::Block body, const Scope& scope);
ast::Block imports(Context& context, ast::Block body, const Scope& scope);
ast::Block with_items(Context& context, ast::Block body, const Scope& scope);
ast::Block annotations(Context& context, ast::Block body, const Scope& scope);
ast::Block class_body(Context& context, ast::Block body, const Scope& scope);
ast::Block declarations(Context& context, ast::Block body, const Scope& scope);
// The passes that run in the readable style only:
ast::Block adopt_temporaries(Context& context, ast::Block body, const Scope& scope);
ast::Block fold_displays(Context& context, ast::Block body, const Scope& scope);
ast::Block inline_temporaries(Context& context, ast::Block body, const Scope& scope);
ast::Block first_walrus(Context& context, ast::Block body, const Scope& scope);
ast::Block name_temporaries(Context& context, ast::Block body, const Scope& scope);
ast::Block profiling(Context& context, ast::Block body, const Scope& scope);
// States what the source had in place of a statement of the tree that returns None: `written` stands for a `return`,
// `broke` for a `break`, and `implied` for no statement, because the compiler added the return. Only the columns of
// 3.11 and later show the difference; `unknown` stands for a return without known columns. The return that the compiler
// adds at the end of a function has the position of the statement in front of it, for example a `pass`, or a `break`
// out of the last loop.
enum class WrittenReturn : std::uint8_t { unknown, written, implied, broke };
// The length of the word `return`.
constexpr int width_of_return = 6;
WrittenReturn written_return(const ast::Stmt* stmt);
// `first_line` returns the first source line of a statement, and `last_line` returns the last source line of a block.
// The lines inside nested definitions do not count. The result is -1 if no line is known.
int first_line(const ast::Stmt* stmt);
int last_line(ast::Block body);
// True if some try statement of the code may have a finally clause.
bool has_finally(const Cfg& cfg);
// True if `value` is a call by which Dynamo measures the time of its own bytecode.
bool is_profiling(const ast::Expr* value);
ast::Block docstring(Context& context, ast::Block body, const Scope& scope);
// True if `stmt` is `__doc__ = "text"`, to which the docstring of a module compiles.
bool is_docstring(const ast::Stmt* stmt);

}  // namespace depyf
