// The stack simulation behind lift.h. One instruction does one small thing to a symbolic stack. Each group of members has a
// file, of which simulate.cpp is the one to read first.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ast/visit.h"
#include "decode/decode.h"
#include "flow/cfg.h"
#include "lift/lift.h"

namespace depyf {

// Lifting starts again with these instructions taken literally: what a swap or copy moves is given a name first.
struct Restart {
  int at;
};

class Lifter {
 public:
  Lifter(Context& context, const DecodedCode& decoded, const Cfg& cfg, bool flat, const std::set<int>& literal,
         Split split = Split::none);
  Lifted run();
  Lifted run_flat();
  ast::Expr* run_generic();

 private:
  // A value on the stack, its expression not yet part of a statement.
  struct Entry {
    ast::Expr* expr = nullptr;
    int block = -1;  // node in which it was pushed
    int mover = -1;  // instruction that took it out of the order of evaluation
  };
  // How a node's block ends, while blocks are still being merged. Edges hold block numbers.
  struct State {
    std::vector<Entry> stack;  // at the end
    bool lifted = false, keep_a = false, keep_b = false;  // keep: the tested value stays on the stack along that edge
    int alias = -1;  // merged into that node
    bool pops = false;  // nothing in it so far but iterators that are popped
  };
  using Annotations = std::vector<std::pair<std::string_view, ast::Expr*>>;
  // Targets of one unpacking, filled by the stores that follow it.
  struct Unpacking {
    Entry source;
    std::vector<ast::Expr*> markers, targets;
    int star = -1;
    std::size_t filled = 0;
    bool open = true;
    int at = 0;
  };
  // SWAP before stores: `a, b = x, y`.
  struct SwapGroup {
    std::vector<ast::Expr*> values;  // in order of evaluation
    std::vector<ast::Expr*> targets;  // in order of the stores
  };

  // simulate.cpp
  void add_installed();
  void lift_block(int block);
  void count_iterators(int block);
  bool only_after_chains(int block) const;
  void simulate(int begin, int end);
  void step(const Instruction& instruction);
  void branch(const Instruction& instruction);
  void loop(const Instruction& instruction);
  void leave(const Instruction& instruction);
  [[noreturn]] void fail(std::string what) const;
  void push(ast::Expr::Node node);
  void push(ast::Expr* expr);
  ast::Expr* pop();  // for use as an operand
  Entry pop_entry();
  std::vector<ast::Expr*> pop_many(int count);
  Entry& peek(int from_top);  // 1: top
  ast::Expr* local(int index);
  ast::Expr* make(ast::Expr::Node node) { return context_.expr(std::move(node), now().offset, now().line); }
  const Instruction& now() const { return code_[at_]; }
  int skip(int at) const;  // the next instruction from `at` that does something, or the block's end
  bool is_fast(std::string_view id) const;
  std::int32_t column_of_for(const Instruction& instruction, int body) const;
  std::string_view fresh_name();
  ast::Expr* fresh() { return context_.name(fresh_name()); }
  bool literal_here() const { return flat_ || split_ == Split::effects_and_tests || literal_.contains(at_); }
  std::string_view name_of(int index) const;

  // statements.cpp
  // May it be evaluated later, or twice? Not where it has many parts: copies of copies would grow without bound.
  bool stable(const ast::Expr* expr) const;
  bool stable(const ast::Expr* expr, int& parts) const;
  void emit(ast::Stmt::Node node);
  void emit_raw(ast::Stmt::Node node);
  std::int32_t first_column() const;
  void settle(ast::Expr*& expr);  // resolves what must not stay in a statement
  void spill(Entry& entry);
  void spill_all(std::size_t count);  // the lowest `count` entries

  // name_effects.cpp
  void name_effects();
  bool part_of_condition() const;

  // operations.cpp
  void operation(const Instruction& instruction);
  void load_common_constant(CommonName constant);
  void load_closure(int index);
  void to_bool();
  ast::Expr::Node subscript(bool is_slice, bool is_target);
  void build_slice(int parts);
  void length();
  void intrinsic(Intrinsic1 function);
  void raise(int operands);
  void load_const(int index);
  ast::Expr* named_constant(int index);
  void stop();  // the node does not go on
  ast::Expr* attribute(ast::Expr* object, std::string_view name);

  // drops.cpp
  void pop_top();

  // moves.cpp
  void copy(int n);
  void swap(int n);
  bool swap_starts_stores(int n) const;
  void rotate(int n);

  // comparisons.cpp
  void compare(CompareOp op);
  bool test_for_none(bool jumps_on_none);

  // displays.cpp
  void build_dict(int count, bool has_constant_keys);
  void list_to_tuple();
  void build_unpack(const Instruction& instruction);
  void extend(const Instruction& instruction);
  bool extend_display(ast::Expr* display, Op op, ast::Expr* key, ast::Expr* value);
  void call_method(ast::Expr* object, std::string_view method, ast::Expr* arg);

  // binary.cpp
  void binary(BinaryOp op, bool in_place);

  // yields.cpp
  void yields(const Instruction& instruction);

  // handlers.cpp
  void handler(const Instruction& instruction);
  void reraise(const Instruction& instruction);

  // context_managers.cpp
  void call_exit(const Instruction& instruction);
  void enter_with(const Instruction& instruction);

  // stores.cpp
  void store(ast::Expr* target, Entry value);
  void store_name(ast::Expr* target);
  bool store_run(ast::Expr* target);
  void assign(ast::Expr* target, ast::Expr* value);
  void unpack(int before, int after, bool star);
  void fill_unpacking(const ast::Expr* value, ast::Expr* target);
  void close_unpacking(Unpacking& unpacking);
  void flush_unpackings();
  bool define(ast::Expr* target, ast::Expr* value);
  ast::Expr* target_name(const Instruction& instruction);

  // calls.cpp
  std::vector<ast::Keyword> keywords_of(const Constant& names, std::vector<ast::Expr*>& args);
  void call(const Instruction& instruction);
  void super_attribute(const Instruction& instruction);
  void finish_call(ast::Expr* function, std::vector<ast::Expr*> args, std::vector<ast::Keyword> keywords);
  void call_ex(const Instruction& instruction);
  bool with_exit_call(ast::Expr* function, const std::vector<ast::Expr*>& args);

  // definitions.cpp
  void make_function(const Instruction& instruction);
  void set_function_attribute(int which);
  Annotations annotations_of(const FunctionValue& function);
  const ast::Arguments* arguments(const FunctionValue& function, const Annotations& annotations);
  Body build(const FunctionValue& function);
  bool lambda(ast::Expr* expr, const FunctionValue& function);
  ast::Stmt* function_def(const FunctionValue& function, std::string_view name, std::vector<ast::Expr*> decorators);
  ast::Stmt* class_def(const ast::Call& call, std::string_view name, std::vector<ast::Expr*> decorators);
  void hoist(ast::Expr* expr);
  static bool is_name(std::string_view text);  // an identifier and no keyword
  bool is_function(const ast::Expr* expr) const;
  bool is_class(const ast::Expr* expr) const;
  static ast::Expr* as_expression(Context& context, ast::Block block, bool generator);

  // comprehensions.cpp
  bool comprehension(ast::Expr*& result, const FunctionValue& function, ast::Expr* iterable);
  bool comprehension(ast::Expr*& result, ast::ComprehensionKind kind, ast::Block block, ast::Expr* iterable);
  void inlined_comprehension(const Instruction& instruction);

  // generics.cpp
  bool generics(const Instruction& instruction);
  bool may_be_generic(Op op) const { return generic_ || op == Op::intrinsic_1_ || op == Op::intrinsic_2_; }
  ast::Expr* generic(const FunctionValue& function, const std::vector<ast::Expr*>& args);
  bool is_generic(const ast::Expr* expr) const;
  bool before_generic(int at) const;
  ast::Expr* lazy_value(const ast::Expr* function);
  ast::List<ast::TypeParam> type_params_of(const ast::Expr* tuple) const;
  ast::Stmt* type_alias(int index, ast::Expr* target);

  // long_fstrings.cpp
  ast::Expr* long_fstring(const ast::Expr* function, const std::vector<ast::Expr*>& args);

  // annotations.cpp
  bool is_annotate(const ast::Expr* expr) const;
  std::vector<DeferredAnnotation> deferred_annotations(const ast::Expr* function);
  void annotate(FunctionValue& function, const ast::Expr* annotate);
  bool store_annotate(const ast::Expr* target, const ast::Expr* value);

  // fstrings.cpp
  ast::Expr* format_spec(ast::Expr* spec);
  void format(const Instruction& instruction);
  void join_string(int count);
  void convert(int conversion);
  void build_interpolation(const Instruction& instruction);
  void build_template();

  // imports.cpp
  void import_name();

  // exception_groups.cpp
  bool exception_group(const Instruction& instruction);

  // matching.cpp
  void matching(const Instruction& instruction);

  // patterns.cpp
  void match_case(const Instruction& instruction);
  ast::Pattern* pattern(const std::vector<PatternNode>& nodes, int index, std::vector<ast::Expr*>& bound);
  ast::Expr* pattern_expression(int begin, int end);

  // merge.cpp
  int find(int block);
  std::vector<std::pair<int, bool>> edges_to(int block);  // (node, along b)
  std::optional<std::pair<int, bool>> only_edge_to(int block);  // none where there are several, too
  void enter(int block);  // sets node_ and stack_
  void enter_merge(int block, const std::vector<std::pair<int, bool>>& edges);
  void finish_block(int block);
  void spill_at_end(int node, std::size_t count);
  void settle_ends();
  std::vector<Entry> stack_on_edge(int node, bool along_b);
  bool is_loop_header(int block) const;
  bool ends_in_break(int node, int block) const;

  // conditions.cpp
  bool reduce_values(int block);
  ast::Expr* bool_op(bool is_or, ast::Expr* left, ast::Expr* right);
  ast::Expr* conditional(ast::Expr* test, ast::Expr* if_true, ast::Expr* if_false, bool true_first);
  bool merge_condition(int block);
  bool pushes_one(int block, int test);

  // flat.cpp
  ast::Expr* slot(std::size_t index);
  void flat_enter(int block, std::vector<ast::Expr*> stack);
  void flat_end(int block);

  Context& context_;
  const DecodedCode& decoded_;
  const Cfg& cfg_;
  const std::vector<Instruction>& code_;
  const bool flat_;
  const std::set<int>& literal_;
  const Split split_;
  std::vector<Node> nodes_;
  std::vector<State> states_;
  std::vector<Entry> stack_;
  int current_block_ = 0;  // being lifted
  int node_ = 0;  // that it is lifted into: itself, or what it was merged into
  int at_ = 0, end_ = 0;  // instruction at work, end of its block
  bool ended_ = false;  // the block has its end
  bool comprehension_ = false;
  bool generic_ = false;  // the code evaluates the type parameters of a definition, and returns that
  ast::Expr* class_params_ = nullptr;  // in such code: the tuple in `.type_params`
  int temporaries_ = 0;
  std::uint32_t first_offset_ = 0;  // of the statement being made
  int first_at_ = 0;  // the index of its first instruction
  std::vector<const char*> fast_;  // ids of locals that nobody else can change, sorted
  std::unordered_set<const char*> made_;  // and of the temporaries
  std::vector<ast::Expr**> settling_;  // what is left of each `settle` at work
  std::vector<Unpacking> unpackings_;
  std::vector<SwapGroup> swaps_;
  std::unordered_map<const ast::Expr*, int> swap_of_;
  std::set<std::string_view> bound_names_;  // names that handlers bind
  std::unordered_map<int, int> with_at_;  // by first instruction of the body: region of the with statement
  std::unordered_map<int, ast::Expr*> enter_target_;  // by instruction: what `with` binds
  std::unordered_map<int, std::vector<Entry>> header_stacks_;  // at the start of each loop
  std::vector<ast::Expr*> items_;  // what for loops bind
  std::vector<std::optional<std::vector<ast::Expr*>>> flat_stacks_;
  std::vector<int> flat_todo_;
  std::set<std::string_view> subjects_;  // names that match statements give to what they match
  std::set<int> chains_;  // blocks that only clean up after a chained comparison
  int chain_fails_ =
      -1;  // the block that the last chained comparison goes to where a part before its last does not hold
};

}  // namespace depyf
