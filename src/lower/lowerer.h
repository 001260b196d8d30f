// One code object at a time, from the tree.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "decode/decode.h"
#include "dialect/dialect.h"
#include "lift/context.h"
#include "lower/lower.h"
#include "lower/scope.h"

namespace depyf::lowering {

using Label = int;

// What the lowering of all scopes shares.
struct Shared {
  Version version;
  bool annotations_are_text = false;
  std::string filename;
  SymbolTable& symbols;
  LoweredTree& tree;
  std::int64_t bytes_left;  // for instructions and constants; a constant may be used any number of times
};

// The first free variable's index, until it is known where free variables begin; those of the others are below it.
constexpr std::int32_t free_marker = -1000;

struct Header {
  std::string name, qualname;
  const CodeObject* origin = nullptr;
  const ast::Arguments* args = nullptr;
  const Constant* docstring = nullptr;
  bool iterates = false;  // a generator expression that makes the iterator itself, before it starts (3.15)
  int posonly = 0;  // where there is no list of arguments
  bool is_lambda = false;  // an iterator's end that leaves it is not made an error
};

class Lowerer {
 public:
  Lowerer(Shared& shared, Scope* scope, Lowerer* outer, const Header& header);

  // The code object, with what `body` emits between its start and its end.
  std::shared_ptr<LoweredCode> run(const std::function<void(Lowerer&)>& body);

  void module(ast::Block body);
  void block(ast::Block body);
  void expr(const ast::Expr* expr);

 private:
  enum class Access : std::uint8_t { load, store, remove };
  enum class Exit : std::uint8_t {
    while_loop,
    for_loop,
    try_body,         // the body of a try statement with handlers
    finally_body,     // the body of a try statement with a finally clause
    finally_handler,  // the finally clause, while an exception is handled
    handler,          // an except clause
    with_body,
    async_with_body,
    value,            // a value to return lies on the stack
  };
  struct Frame {
    Exit kind = Exit::while_loop;
    Label end = -1, next = -1;          // of a loop: where break and continue lead
    int outside = -1;                   // what protects the code around
    ast::Block body = {};               // of a finally clause
    std::string_view name = {};         // of a handler
  };
  struct Handler {
    Label label = -1;
    int depth = 0;
    bool lasti = false;
  };

  // lowerer.cpp
  [[noreturn]] void fail(std::string why) const { throw InternalError{std::move(why), 0}; }
  Instruction& emit(Op op, std::int32_t arg = 0, std::int32_t aux = 0);
  void jump(Op op, Label label, std::int32_t aux = 0);
  Label label();
  void place(Label label);
  int protect(Label handler, int depth, bool lasti = false);
  void start();
  void finish();
  void take(std::size_t bytes);
  void take(const Constant& value);
  std::int32_t constant(const Constant& value);
  std::int32_t name_index(std::string_view name);
  void load(const Constant& value) { emit(Op::load_const_, constant(value)); }
  void load_none();
  static const Constant* take_docstring(ast::Block& body);
  void load_string(std::string_view text);
  void load_integer(std::int64_t value);
  void named(Op op, std::string_view name, std::int32_t aux = 0) { emit(op, name_index(name), aux); }

  // names.cpp
  std::int32_t slot(const Scope* owner, std::string_view name);
  std::int32_t new_slot(const Scope* owner, std::string_view name, bool cell);
  std::int32_t cell_slot(Scope* scope, std::string_view name);
  void name(std::string_view id, Access access);
  void variable(std::string_view mangled, Access access);
  std::string_view mangled(std::string_view id) { return shared_.symbols.mangled(id, *scope_); }
  std::string_view spelled(std::string_view id) const;
  void store_to_self(const ast::Attribute& target);

  // expressions.cpp
  void exprs(ast::List<ast::Expr*> list) {
    for (const ast::Expr* each : list) expr(each);
  }
  void condition(const ast::Expr* test, Label target, bool when);
  void bool_op(const ast::BoolOp& node);
  void compare(const ast::Compare& node);
  void comparison(CompareOp op);
  void compare_condition(const ast::Compare& node, Label target, bool when);
  void sequence(ast::List<ast::Expr*> items, int pushed, Op build, bool tuple = false);
  int gathered_38(ast::List<ast::Expr*> items, int pushed);
  void unpacked_sequence_38(ast::List<ast::Expr*> items, int kind);
  void dict(const ast::Dict& node);
  void some_pairs(const ast::Dict& node, std::size_t begin, std::size_t end);
  void call(const ast::Call& node);
  bool call_of_generator(const ast::Call& node);
  bool super_attribute(const ast::Attribute& node);
  void arguments(int pushed, ast::List<ast::Expr*> args, ast::List<ast::Keyword> keywords);
  void expanded_arguments(int pushed, ast::List<ast::Expr*> args, ast::List<ast::Keyword> keywords);
  void expanded_arguments_38(int pushed, ast::List<ast::Expr*> args, ast::List<ast::Keyword> keywords);
  void some_keywords(ast::List<ast::Keyword> keywords);
  void subscript(const ast::Subscript& node);
  bool is_binary_slice(const ast::Expr* slice) const;
  void slice(const ast::Slice& node);
  void joined(ast::List<ast::Expr*> values);
  void formatted(const ast::FormattedValue& node);
  void template_string(const ast::TemplateStr& node);
  void await();
  void yield_from();
  void send_loop(bool await);
  void yield(const ast::Yield& node);

  // targets.cpp
  void store(const ast::Expr* target);
  void store_items(ast::List<ast::Expr*> items);
  void remove(const ast::Expr* target);
  void augmented(const ast::AugAssign& node);

  // definitions.cpp
  void function(const ast::FunctionDef& node, const ast::Stmt* stmt);
  void lambda(const ast::Lambda& node, const ast::Expr* expr);
  void class_def(const ast::ClassDef& node, const ast::Stmt* stmt);
  void class_body(const ast::ClassDef& node, const Header& header);
  void type_params(ast::List<ast::TypeParam> params);
  void evaluator(const ast::Expr* value, std::string_view name);
  void format_test();
  int default_format();
  void deferred_annotations();
  void conditional_annotations();
  bool annotate_function(const ast::FunctionDef& node);
  void mark_annotation(const ast::AnnAssign& node);
  bool names_and_annotations(const ast::FunctionDef& node, int& count);
  void type_alias(const ast::TypeAlias& node, const ast::Stmt* stmt);
  void generic(const void* node, std::string_view name, int arguments, const std::function<void(Lowerer&)>& body);
  void plain_function(const ast::FunctionDef& node, const ast::Stmt* stmt, int flags);
  void plain_class(const ast::ClassDef& node, const ast::Stmt* stmt);
  int defaults(const ast::Arguments* args);
  bool annotations(const ast::FunctionDef& node);
  void annotation(const ast::Expr* value);
  void make_function(const std::shared_ptr<LoweredCode>& code, int flags);
  std::string qualified(std::string_view name) const;
  std::shared_ptr<LoweredCode> nested(const void* node, Scope* scope, const Header& header,
                                      const std::function<void(Lowerer&)>& body);
  void comprehension(const ast::ComprehensionExpr& node, const ast::Expr* expr);
  void inlined_comprehension(const ast::ComprehensionExpr& node, Scope* scope);
  void generators(const ast::ComprehensionExpr& node, std::size_t index, int depth);

  // statements.cpp
  void stmt(const ast::Stmt* stmt);
  void simple_stmt(const ast::Stmt* stmt);
  void assign(const ast::Assign& node);
  void annotated(const ast::AnnAssign& node);
  void for_stmt(const ast::For& node);
  void async_for(const ast::For& node);
  template <class F>
  void loop_body(Exit kind, Label again, Label end, F emit_body);
  void while_stmt(const ast::While& node);
  void if_stmt(const ast::If& node);
  void with_stmt(ast::List<ast::WithItem> items, ast::Block body, bool async);
  void try_stmt(const ast::Try& node);
  void try_except(const ast::Try& node);
  void try_star(const ast::Try& node);
  void unbind_name(std::string_view id);
  std::int32_t import_kind(bool lazy) const;
  void import(const ast::Import& node);
  void import_from(const ast::ImportFrom& node);
  void unwind(const Frame& frame, bool value);
  void unwind_to_loop(bool is_break);
  void return_stmt(const ast::Return& node);
  void call_exit(bool async);

  // matching.cpp
  struct PatternState;
  void match(const ast::Match& node);
  void pattern(const ast::Pattern* pattern, PatternState& state);
  void sequence_pattern(const ast::MatchSequence& node, PatternState& state);
  void mapping_pattern(const ast::MatchMapping& node, PatternState& state);
  void class_pattern(const ast::MatchClass& node, PatternState& state);
  void or_pattern(const ast::MatchOr& node, PatternState& state);
  void parts_by_index(ast::List<ast::Pattern*> patterns, std::size_t first, PatternState& state);
  void capture(std::string_view name, PatternState& state);
  void fail_if(Op op, PatternState& state);
  void fail_if_none(PatternState& state);
  void fail_points(PatternState& state);

  Shared& shared_;
  const Dialect& dialect_;
  Scope* scope_;        // of the names that are lowered now: the code object's own, or that of a comprehension in it
  Lowerer* outer_;
  std::shared_ptr<LoweredCode> result_;
  std::vector<Instruction>& code_;
  std::vector<int> handler_of_;  // by instruction: index into handlers_, or -1
  std::vector<Handler> handlers_;
  std::vector<std::int32_t> label_at_, label_depth_;
  std::vector<Frame> frames_;
  int handler_ = -1;             // what protects the instructions that are emitted now
  int depth_ = 0, deepest_ = 0;
  bool reached_ = true;
  std::map<std::string_view, std::int32_t> names_;
  std::map<std::pair<const Scope*, std::string_view>, std::int32_t> slots_;
  std::map<const void*, std::shared_ptr<LoweredCode>> nested_;
  std::set<std::string> static_attributes_;  // of a class: what its functions store to attributes of `self`
  const bool wraps_stop_iteration_, iterates_;
};

}  // namespace depyf::lowering
