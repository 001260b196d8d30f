// Passes over the finished tree. Each keeps the meaning and may be left out; each takes and gives the statements of one
// code object, nested blocks included, nested definitions not.
#pragma once

#include "lift/context.h"
#include "support/function_ref.h"

namespace depyf {

struct Cfg;
struct DecodedCode;

// What a pass may ask about the code object whose statements it gets.
struct Scope {
  const DecodedCode& decoded;
  const Cfg& cfg;
  enum class Kind : std::uint8_t {
    module,
    class_body,
    function,
    expression
  } kind;  // expression: lambda, comprehension
};

Scope::Kind kind_of(const CodeObject& code);

// Calls `look` with each code object that `root` holds, itself first, and the one whose definition, class or module it is
// printed in: itself, unless it is a lambda or a comprehension within another one. Does not look deeper than `limit`.
void for_each_code(const CodeObject& root, std::uint32_t limit,
                   FunctionRef<void(const CodeObject& code, const CodeObject* definition)> look);

ast::Block implicit_return(Context& context, ast::Block body, const Scope& scope);
ast::Block assert_statement(Context& context, ast::Block body, const Scope& scope);
ast::Block pytest_assertions(Context& context, ast::Block body, const Scope& scope);
ast::Block try_finally(Context& context, ast::Block body, const Scope& scope);
ast::Block elif_chain(Context& context, ast::Block body, const Scope& scope);
ast::Block indentation(Context& context, ast::Block body, const Scope& scope);
ast::Block lines(Context& context, ast::Block body, const Scope& scope);
ast::Block shared_ends(Context& context, ast::Block body, const Scope& scope);
ast::Block imports(Context& context, ast::Block body, const Scope& scope);
ast::Block with_items(Context& context, ast::Block body, const Scope& scope);
ast::Block annotations(Context& context, ast::Block body, const Scope& scope);
ast::Block class_body(Context& context, ast::Block body, const Scope& scope);
ast::Block declarations(Context& context, ast::Block body, const Scope& scope);
// The passes of the readable style.
ast::Block adopt_temporaries(Context& context, ast::Block body, const Scope& scope);
ast::Block fold_displays(Context& context, ast::Block body, const Scope& scope);
ast::Block inline_temporaries(Context& context, ast::Block body, const Scope& scope);
ast::Block first_walrus(Context& context, ast::Block body, const Scope& scope);
ast::Block name_temporaries(Context& context, ast::Block body, const Scope& scope);
ast::Block profiling(Context& context, ast::Block body, const Scope& scope);
// What a `return` without a value, or of None, was in the source, by the columns of 3.11 and later. The return at the end of a
// function stands where what comes before it stands: a `pass` or the like, or a `break` out of the last loop.
enum class WrittenReturn : std::uint8_t { unknown, written, implied, broke };
constexpr int width_of_return = 6;
WrittenReturn written_return(const ast::Stmt* stmt);
// The first and the last line of the source that anything stands on, nested definitions not looked into; -1: unknown.
int first_line(const ast::Stmt* stmt);
int last_line(ast::Block body);
// Is it a call of what Dynamo measures itself with?
bool is_profiling(const ast::Expr* value);
ast::Block docstring(Context& context, ast::Block body, const Scope& scope);

}  // namespace depyf
