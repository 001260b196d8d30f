// Defines the syntax tree. The nodes and fields of the tree have the names of Python's `ast` module
// (https://docs.python.org/3/library/ast.html), and an arena owns the nodes. A pass rewrites a node in place
// (`expr->node = IfExp{...}`), so nodes need no pointer to their parent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "decode/operators.h"
#include "depyf/constant.h"
#include "support/arena.h"

namespace depyf::ast {

struct Expr;
struct Stmt;
struct Pattern;
template <class T>
using List = std::span<T>;
using Block = List<Stmt*>;

// All expressions have the size of the largest expression, and all statements that of the largest statement. A small
// size of the nodes is important, because the passes spend much of their time waiting for memory. A kind of node whose
// fields have more than `largest_fields` bytes therefore contains a pointer to its fields (`Boxed`). The functions `as`
// and `is`, and the functions in ast/visit.h, hide whether a node contains its fields or a pointer to them.
constexpr std::size_t largest_fields = 40;
template <class Kind>
struct Boxed {
  Kind* fields;
  operator Kind&() const { return *fields; }
};
template <class Kind>
using Held = std::conditional_t<(sizeof(Kind) > largest_fields), Boxed<Kind>, Kind>;
template <class... Kinds>
using OneOf = std::variant<Held<Kinds>...>;

// ---- expressions -------------------------------------------------------------------------------------------------

// clang-format off: a table with one row on each line
struct Name { std::string_view id; };
struct ConstantExpr { const Constant* value; };           // the kind of `value` is never code or opaque
struct Attribute { Expr* value; std::string_view attr; };
struct Subscript { Expr* value; Expr* slice; };
struct Slice { Expr* lower; Expr* upper; Expr* step; };   // each field may be null
struct Keyword { std::string_view arg; Expr* value; };    // an empty `arg` means `**value`
struct Call { Expr* func; List<Expr*> args; List<Keyword> keywords; };
struct BinOp { Expr* left; BinaryOp op; Expr* right; bool in_place; };  // `in_place`: `+=`, which becomes an AugAssign
struct UnaryExpr { UnaryOp op; Expr* operand; };
struct BoolOp { bool is_or; List<Expr*> values; };
struct Compare { Expr* left; List<CompareOp> ops; List<Expr*> comparators; };
struct IfExp { Expr* test; Expr* body; Expr* orelse; };
struct Tuple { List<Expr*> elts; };
struct ListExpr { List<Expr*> elts; };
struct SetExpr { List<Expr*> elts; };
struct Dict { List<Expr*> keys; List<Expr*> values; };    // a null key means `**value`
// `conversion` is 0, 's', 'r' or 'a', and `format_spec` is null or a JoinedStr.
struct FormattedValue { Expr* value; char conversion; Expr* format_spec; };
// `values` contains strings (ConstantExpr) and fields (FormattedValue). `is_percent` is true if the source was `"..." %
// (...)`, which the compilers of 3.11 and later turn into the bytecode of an f-string.
struct JoinedStr { List<Expr*> values; bool is_percent = false; };
// `text` is the source text of the expression in a field of a t-string; programs can read this text. `shown` states
// what the printer writes (see validate/interpolations.cpp). With `Shown::text`, the printer writes `text`, which
// evaluates to `value`. With `Shown::likely_text`, the printer writes `text`, which only probably evaluates to `value`.
// With `Shown::value`, the printer writes the expression `value` itself.
struct Interpolation {
  enum class Shown : std::uint8_t { text, likely_text, value };
  Expr* value; std::string_view text; char conversion; Expr* format_spec; Shown shown = Shown::text;
};
struct TemplateStr { List<Expr*> values; };
struct Arg { std::string_view name; Expr* annotation; };
struct Arguments {
  List<Arg> posonly, args, kwonly;
  Arg vararg{}, kwarg{};                                  // an empty name means that there is no such parameter
  List<Expr*> defaults;                                   // the default values of the last parameters in posonly + args
  List<Expr*> kw_defaults;                                // the default of each kwonly parameter, or null
};
// `code` is the code object of the body, or null if it is unknown.
struct Lambda { const Arguments* args; Expr* body; const CodeObject* code = nullptr; };
struct Comprehension { Expr* target; Expr* iter; List<Expr*> ifs; bool is_async; };
enum class ComprehensionKind : std::uint8_t { list, set, dict, generator };
struct ComprehensionExpr {                                // a dict comprehension has items `elt: value`
  Expr* elt; Expr* value; List<Comprehension> generators; ComprehensionKind kind;
  bool is_awaited = false;                                // true if the code around the comprehension awaits its result
  const CodeObject* code = nullptr;                       // the comprehension's own code object; null if it is inlined
};
struct Await { Expr* value; };
struct Yield { Expr* value; };                            // `value` may be null
struct YieldFrom { Expr* value; };
struct NamedExpr { Expr* target; Expr* value; };
struct Starred { Expr* value; };
// `text` is the source of an expression, such as an annotation that the bytecode keeps as text.
struct Verbatim { std::string_view text; };

// The kinds of expressions that exist only during lifting and structuring; a printed tree contains no Internal
// expression.
enum class Marker : std::uint8_t {
  null,          // the NULL of PUSH_NULL, or the self slot beside a method on the stack
  exception,     // the exception that is being handled; index: the region whose body raised it
  previous_exception,
  // The iterator of a for loop. In front of the loop, `index` is the GET_ITER and `value` is the iterable; within the
  // loop, `index` is the block of the FOR_ITER and `value` is null.
  iterator,
  with_exit,     // the exit method of a with statement, or its result
  enter_result,  // the result of `__enter__`, which `with` binds; value: the context manager
  awaitable,     // the result of GET_AWAITABLE, or of GET_YIELD_FROM_ITER if index is 1; value: its operand
  item,          // the item that a for loop binds to its target; index: the node of the loop
  result,        // the list, set or dict that a comprehension fills
  code,          // a code object; index: into the constants
  chain,         // the unfinished part `a < b` of `a < b < c`; value: this comparison
  unbound,       // a local variable that LOAD_FAST_AND_CLEAR saved and cleared
  build_class,
  function,      // a function; index: into Context::functions
  type_param,    // a type parameter; index: into Context::type_params
  type_alias,    // a type alias; index: into Context::type_aliases
  generic_base,  // the implicit base `.generic_base` of `class C[T]`
  exc_match, eg_match,  // the result of CHECK_EXC_MATCH or CHECK_EG_MATCH; value: the exception type
  match_case,    // the test of a case clause; value: the subject; index: into Context::cases
  import_module, import_member,
  unpacked,      // an item of an unpacked value; index: the UNPACK instruction
  copied,        // a value that COPY duplicated; index: the COPY instruction; value: the original
  locals,
  other,
};
struct Internal { Marker marker; std::int32_t index; Expr* value; };

struct Expr {
  using Node = OneOf<Name, ConstantExpr, Attribute, Subscript, Slice, Call, BinOp, UnaryExpr, BoolOp, Compare, IfExp,
                     Tuple, ListExpr, SetExpr, Dict, FormattedValue, JoinedStr, Interpolation, TemplateStr, Lambda,
                     ComprehensionExpr, Await, Yield, YieldFrom, NamedExpr, Starred, Verbatim, Internal>;
  Node node;
  std::uint32_t offset = 0;  // the offset of the instruction that pushed the expression
  std::int32_t line = -1;
};
static_assert(sizeof(Expr) <= 56);

// ---- patterns of `match` ------------------------------------------------------------------------------------------

struct MatchValue { Expr* value; };
struct MatchSingleton { const Constant* value; };
struct MatchSequence { List<Pattern*> patterns; };
struct MatchMapping { List<Expr*> keys; List<Pattern*> patterns; std::string_view rest; };  // `rest` may be empty
struct MatchClass { Expr* cls; List<Pattern*> patterns; List<std::string_view> kwd_attrs; List<Pattern*> kwd_patterns; };
struct MatchStar { std::string_view name; };              // an empty name means `*_`
struct MatchAs { Pattern* pattern; std::string_view name; };  // `_` if both fields are empty
struct MatchOr { List<Pattern*> patterns; };
struct Pattern {
  OneOf<MatchValue, MatchSingleton, MatchSequence, MatchMapping, MatchClass, MatchStar, MatchAs, MatchOr> node;
};

// ---- statements ----------------------------------------------------------------------------------------------------

struct TypeParam {
  enum class Kind : std::uint8_t { type_var, param_spec, type_var_tuple };
  Kind kind; std::string_view name; Expr* bound; Expr* default_value;
};
struct FunctionDef {
  std::string_view name; const Arguments* args; Block body; List<Expr*> decorators; Expr* returns; bool is_async;
  List<TypeParam> type_params;
  const CodeObject* code = nullptr;  // the code object of the body
  std::int32_t keyword_line = -1;  // the line of `def`, below the decorators; -1 if it is unknown
  bool is_one_line = false;        // true if the parameters are known to be on the line of `def`
  bool is_checked = false;         // true if src/validate has checked `body`
};
struct ClassDef {
  std::string_view name; List<Expr*> bases; List<Keyword> keywords; Block body; List<Expr*> decorators;
  List<TypeParam> type_params;
  const CodeObject* code = nullptr;  // the code object of the body
  std::int32_t keyword_line = -1;  // the line of `class`, below the decorators; -1 if it is unknown
  bool is_checked = false;         // true if src/validate has checked `body`
};
struct Return { Expr* value; };                           // `value` may be null
struct Delete { List<Expr*> targets; };
// `comment` is printed at the end of the line.
struct Assign { List<Expr*> targets; Expr* value; std::string_view comment = {}; };
struct AugAssign { Expr* target; BinaryOp op; Expr* value; };
struct AnnAssign { Expr* target; Expr* annotation; Expr* value; bool simple; };  // `value` may be null
struct TypeAlias { std::string_view name; List<TypeParam> type_params; Expr* value; };
struct For { Expr* target; Expr* iter; Block body; Block orelse; bool is_async; };
struct While { Expr* test; Block body; Block orelse; };
struct If { Expr* test; Block body; Block orelse; };
struct WithItem { Expr* context_expr; Expr* optional_vars; };  // `optional_vars` may be null
struct With { List<WithItem> items; Block body; bool is_async; };
struct MatchCase { Pattern* pattern; Expr* guard; Block body; std::int32_t line = -1; };  // line of the pattern; -1: unknown
struct Match { Expr* subject; List<MatchCase> cases; };
struct Raise { Expr* exc; Expr* cause; };                 // both fields may be null
struct ExceptHandler { Expr* type; std::string_view name; Block body; };  // null type: `except:`; empty name: no `as`
struct Try { Block body; List<ExceptHandler> handlers; Block orelse; Block finalbody; bool is_star; };
struct Assert { Expr* test; Expr* msg; };                 // `msg` may be null
struct Alias { std::string_view name, asname; };          // an empty `asname` means no `as`
struct Import { List<Alias> names; bool is_lazy; };  // `is_lazy`: a lazy import (3.15)
struct ImportFrom { std::string_view module; List<Alias> names; int level; bool is_lazy; };
struct Global { List<std::string_view> names; };
struct Nonlocal { List<std::string_view> names; };
struct ExprStmt { Expr* value; std::string_view comment = {}; };  // `comment` is printed at the end of the line
struct Pass {};
struct Break {};
struct Continue {};
struct Comment { std::string_view text; };                // printed as a line `# text`

// The kinds of statements that exist only during lifting and structuring.
enum class StmtMarker : std::uint8_t {
  bind_exception,   // `as value` at the start of a handler; `value` is null if the exception is dropped
  pop_except,       // a POP_EXCEPT, by which control leaves the handler
  reraise,          // a RERAISE, which raises the handled exception again
  with_exit,        // the call `__exit__(None, None, None)` for the innermost `with`
  annotated,        // the place of `name: T` (3.14); index: its number among the annotations of the module or class
  annotate,         // the store of an `__annotate__` function (3.14); index: into Context::deferred
  append,           // adds to a comprehension's result; value: the item, or a dict's key; value2: a dict's value
  other,
};
struct InternalStmt { StmtMarker marker; std::int32_t index; Expr* value; Expr* value2; };

struct Stmt {
  using Node = OneOf<FunctionDef, ClassDef, Return, Delete, Assign, AugAssign, AnnAssign, TypeAlias, For, While, If, With,
                     Match, Raise, Try, Assert, Import, ImportFrom, Global, Nonlocal, ExprStmt, Pass, Break, Continue,
                     Comment, InternalStmt>;
  Node node;
  std::uint32_t offset = 0;  // the offset of the first instruction behind the statement that was lifted before it
  std::int32_t line = -1;    // the line in the source that was compiled; -1 if it is unknown
  // The first column of the statement in bytes, counted from 0; -1 if it is unknown, as for compound statements and
  // before 3.11.
  std::int32_t column = -1;
  // The width of a `return` statement in bytes; for `return constant`, `column` and `width` are those of the constant.
  std::int32_t width = -1;
};
static_assert(sizeof(Stmt) <= 64);
// clang-format on

// Returns `fields` in the form in which a node contains them: the fields themselves or, if they are large, a pointer to
// a copy of them in the arena.
template <class Kind>
Held<Kind> held(Arena& arena, const Kind& fields) {
  if constexpr (std::is_same_v<Held<Kind>, Kind>) return fields;
  else return {arena.make<Kind>(fields)};
}
template <class... Kinds>
const std::variant<Kinds...>& held(Arena&, const std::variant<Kinds...>& node) {
  return node;
}
template <class Kind>
Kind& unboxed(Kind& fields) {
  return fields;
}
template <class Kind>
Kind& unboxed(Boxed<Kind>& box) {
  return box;
}
template <class Kind>
const Kind& unboxed(const Boxed<Kind>& box) {
  return box;
}

template <class T, class N>
auto as(N* node) {
  auto* fields = node ? std::get_if<Held<T>>(&node->node) : nullptr;
  return fields ? &unboxed(*fields) : nullptr;
}
template <class T, class N>
bool is(const N* node) {
  return node && std::holds_alternative<Held<T>>(node->node);
}
// Returns the comment that is printed at the end of the line of `stmt`; empty if there is none.
inline std::string_view comment_of(const Stmt* stmt) {
  if (auto* assign = as<Assign>(stmt)) return assign->comment;
  auto* single = as<ExprStmt>(stmt);
  return single ? single->comment : std::string_view();
}
// Returns the constant of `expr` if it is a constant of the kind `kind`; null otherwise.
inline const Constant* constant_of(const Expr* expr, Constant::Kind kind) {
  auto* constant = as<ConstantExpr>(expr);
  return constant && constant->value->kind == kind ? constant->value : nullptr;
}
inline bool is_none(const Expr* expr) { return constant_of(expr, Constant::Kind::none) != nullptr; }

}  // namespace depyf::ast
