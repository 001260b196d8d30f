// One frame over symbols: instructions run in silence up to the next effect.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "prove/program.h"

namespace depyf {

// What someone else can see, or what may raise. Both sides must have the same next effect: op, detail, name, operands.
struct Effect {
  Op op = Op::nop_;
  std::int32_t detail = 0;
  Symbol name = Symbols::null;
  std::vector<Symbol> operands = {};
  std::vector<Symbol> context = {};  // compared like operands, but no argument: what super() or locals() look at

  // What follows on this side once the effect has been matched.
  enum class Then : std::uint8_t {
    push,     // pops `pops`, pushes the results
    iterate,  // as push; or takes the jump, with the iterator exhausted
    send,     // the receiver has yielded; or has returned, and the jump is taken
    tested,   // the same instruction again, with the truth known
    bound,    // the same instruction again, with operands[0] known to be bound
    with,     // to 3.10: push, with a block below the last result
    end,      // nothing follows
  };
  Then then = Then::push;
  bool raises = true, returns = true;  // may an exception follow, may anything else
  bool boolean = false;                // the last result is True or False
  bool method = false;                 // the result is a method, followed by its self or NULL
  bool half = false;                   // the instruction has a second effect
  bool negated = false;                // the result is negated
  bool none = false;                   // None is pushed after the results
  int outputs = -1;                    // the result is a container of so many items; see ProofOptions. -1: a value
  int pops = 0, results = 0;
};

// 3.8: an address on the stack that a finally returns to.
bool is_return_address(const SymbolInfo& info);

enum class Step : std::uint8_t { silent, effect, split, stuck };

class Machine {
 public:
  Machine(Symbols& symbols, const Program& program, int side) : symbols_(symbols), program_(program), side_(side) {}

  struct Outcome {
    Step step = Step::stuck;
    Effect effect;
    Symbol split = Symbols::null;  // a boolean that the execution branches on
    std::string reason;            // why it is stuck
    bool met = false;              // came along where ways meet
  };
  // Runs the side up to the next effect or branch.
  Outcome run(State& state);

  // After a matched effect: the ways on. `results` are the same symbols for both sides.
  void follow(State& state, const Effect& effect, const std::vector<Symbol>& results);
  void jump(State& state, const Effect& effect, const std::vector<Symbol>& results);
  // False: what happens then is not understood.
  bool raise(State& state, Symbol exception);
  bool has_handler(const State& state) const;

  const Instruction* instruction(const Side& side) const {
    return side.at >= 0 ? &program_.decoded.instructions[static_cast<std::size_t>(side.at)] : nullptr;
  }

 private:
  using Parts = std::vector<Symbol>;

  Step step();
  Step dispatch(const Instruction& it);

  // machine.cpp
  Step stuck(std::string reason);
  Step silent() { return ++frame().at, Step::silent; }
  Step go(int target) { return frame().at = target, Step::silent; }
  Step effect(Effect made);
  Step simple(const Instruction& it, int detail);          // pops operands, pushes unknown results
  Step named(const Instruction& it);                       // the same with a name
  Step peeks(Op op, int count, int results, bool boolean = false, bool raises = true);
  Step constant_test(const Instruction& it);
  Symbol truth(Symbol value, Step& step);                  // -1: see step
  Step branch(const Instruction& it);
  bool threads(Op op) const;
  Symbol fact(Symbol boolean) const;

  // dispatch.cpp
  Step copy_free_variables();
  Step load_super_attribute(const Instruction& it);
  Step import_name(const Instruction& it);
  Step import_from(const Instruction& it);
  Step compare(const Instruction& it);
  Step compare_identity(const Instruction& it);
  Step contains(const Instruction& it);
  Step unary(const Instruction& it);
  Step to_bool();
  Step build_string(const Instruction& it);
  Step for_iter(const Instruction& it);
  Step send(const Instruction& it);
  Step yield_value(const Instruction& it);
  Step return_value(const Instruction& it);
  Step return_generator(const Instruction& it);
  Step push_exc_info();
  Step copy_without_keys(const Instruction& it);
  Step store_name(const Instruction& it);
  Step load_global(const Instruction& it);

  // frame_values.cpp
  Step load_local(const Instruction& it);
  Step load_cell(const Instruction& it);
  Step store_cell(const Instruction& it);
  Step delete_cell(const Instruction& it);
  Step unbound(const Instruction& it, Symbol content);
  Step class_cell(const Instruction& it);

  // displays.cpp
  Step build(const Instruction& it);
  Step build_map(const Instruction& it);
  Step build_slice(int count);
  Symbol slice_of(Symbol start, Symbol stop);
  Step append(const Instruction& it);
  Step extend(const Instruction& it);
  Step merge(const Instruction& it);
  Step subscript(const Instruction& it);
  Step store_subscript(const Instruction& it);
  Step delete_subscript(const Instruction& it);
  Step unpack(const Instruction& it);
  Step list_to_tuple();
  Symbol make(Object::Kind kind, Parts items, Parts keys = {});
  Object* object(Symbol symbol);
  bool sequence(Symbol symbol, Parts& items);              // a tuple or list whose items are known
  bool plain_key(Symbol symbol) const;
  bool index(Symbol symbol, std::size_t size, std::size_t& found) const;
  bool bounds(Symbol slice, std::size_t size, std::size_t& start, std::size_t& stop);

  // methods.cpp
  Step load_attribute(const Instruction& it);
  Step super_attribute(const Instruction& it);
  bool is_class_of_super(const Instruction& it) const;
  Exact exact_type_of(Symbol symbol) const;
  Step call_method(Symbol method, const Parts& arguments, int pops);

  // calls.cpp
  Step call(const Instruction& it);
  Step call_expanded(const Instruction& it);
  Step finish_call(Symbol callable, Parts arguments, Symbol names, int pops);
  Step make_function(const Instruction& it);
  Step set_function_attribute(const Instruction& it);
  bool callable_of(Symbol low, Symbol high, Symbol& callable, Parts& arguments) const;
  void add_context(Effect& effect);
  void add_locals(Effect& effect);

  // exceptions.cpp
  bool unwind(Side& side, Symbol exception);
  Step throw_now(Symbol exception);
  Step reraise(const Instruction& it);
  Step pop_except();
  Step exception_match(const Instruction& it);
  Step end_async_for();
  Step cleanup_throw();
  Step with_except_start();
  Step blocks(const Instruction& it);

  // finally38.cpp
  Step finally38(const Instruction& it);
  Symbol exception_on_top() const;
  int address_on_top() const;
  bool leave_handler(int& level);

  Side& frame() { return state_->sides[side_]; }
  const Side& frame() const { return state_->sides[side_]; }
  int depth() const { return static_cast<int>(frame().stack.size()); }
  Symbol peek(int n) const { return frame().stack[frame().stack.size() - static_cast<std::size_t>(n)]; }
  void push(Symbol symbol) { frame().stack.push_back(symbol); }
  Symbol pop() {
    Symbol top = frame().stack.back();
    frame().stack.pop_back();
    return top;
  }
  void drop(int n) { frame().stack.resize(frame().stack.size() - static_cast<std::size_t>(n)); }
  Parts top(int n) const { return {frame().stack.end() - n, frame().stack.end()}; }
  Symbol& local(const Instruction& it) { return frame().locals[static_cast<std::size_t>(it.arg)]; }
  Symbol name_of_local(const Instruction& it) {
    return symbols_.string(program_.decoded.localsplus[static_cast<std::size_t>(it.arg)]);
  }

  Symbols& symbols_;
  const Program& program_;
  const int side_;
  State* state_ = nullptr;
  std::int64_t steps_ = 0;
  Outcome outcome_;
};

}  // namespace depyf
