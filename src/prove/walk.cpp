#include "prove/walk.h"

#include <algorithm>
#include <map>
#include <optional>

#include "decode/decode.h"
#include "decode/op.h"
#include "dialect/dialect.h"
#include "flow/pair_iterators.h"
#include "prove/finally38.h"
#include "prove/held.h"
#include "prove/join.h"
#include "prove/lockstep.h"
#include "prove/machine.h"
#include "prove/words.h"

namespace depyf {
namespace {

// Identifies a place in both code objects at which control flow paths meet, by the instructions, the depths of the
// stacks, and the block stacks.
using Key = std::vector<int>;

// Returns the key of the place that `state` has reached. The key contains each NULL and each return address on the
// stacks, because in 3.8 they decide how a finally clause continues.
Key key_of(const State& state, const Symbols& symbols, bool handler) {
  Key key{handler};
  for (const Side& side : state.sides) {
    key.insert(key.end(), {side.at, side.second, side.asked, static_cast<int>(side.stack.size())});
    for (Block block : side.blocks) key.insert(key.end(), {block.target, block.level});
    for (Symbol symbol : side.stack) {
      if (symbol == Symbols::null || is_return_address(symbols[symbol])) key.push_back(symbol);
    }
    key.push_back(-2);
  }
  return key;
}

// A place in both code objects that the walk has reached.
struct Point {
  State state;  // stands for all executions that have reached this place
  bool queued = false;
};

// Follows all paths through both code objects at once. The proof fails if it fails on any path.
class Walk {
 public:
  Walk(Symbols& symbols, const Program& one, const Program& two, const ProofOptions& options,
       std::vector<CodePair>& codes)
      : symbols_(symbols),
        options_(options),
        programs_{&one, &two},
        machines_{Machine(symbols, one, 0), Machine(symbols, two, 1)},
        codes_(codes),
        steps_most_(options.steps >= 0 ? std::min(options.steps, steps_of(one, two)) : steps_of(one, two)) {}

  Proof run() {
    State start;
    start.sides[0] = start_of(*programs_[0], symbols_);
    start.sides[1] = start_of(*programs_[1], symbols_);
    proof_.proved = from(std::move(start));
    while (proof_.proved) {
      // Handlers come last, because most of the paths into a handler are known by then.
      std::vector<Key>& queue = !queue_.empty() ? queue_ : handlers_;
      if (queue.empty()) break;
      Key key = std::move(queue.back());
      queue.pop_back();
      Point& point = points_.at(key);
      point.queued = false;
      proof_.proved = from(point.state);
    }
    proof_.steps = steps_;
    for (auto& [place, value] : kept_) proof_.kept.push_back(std::move(value));
    return std::move(proof_);
  }

 private:
  // The bound on the number of steps grows with the size of the code.
  static std::int64_t steps_of(const Program& one, const Program& two) {
    return 20000 + 200 * (std::int64_t{one.size} + two.size);
  }

  // A state of the executions of both code objects that the walk has reached, and from which it has not yet continued.
  struct Ahead {
    State state;
    bool known;  // true if `state` is the state of a Point, which need not be looked up again
    bool met;    // true if the path has passed a jump target or the start of a handler
  };

  // Follows all paths from `state` up to the next places where paths meet.
  bool from(State state) {
    std::vector<Ahead> ahead;
    ahead.push_back({std::move(state), true, false});
    while (!ahead.empty()) {
      Ahead now = std::move(ahead.back());
      ahead.pop_back();
      if (!advance(std::move(now), ahead)) return false;
    }
    return true;
  }

  // Runs both code objects to their next effects, which must be equal, and moves both past the effects.
  bool advance(Ahead now, std::vector<Ahead>& ahead) {
    // A step copies the state, so large states count as several steps.
    constexpr std::size_t symbols_of_step = 64;
    for (const Side& side : now.state.sides)
      steps_ += static_cast<std::int64_t>((side.locals.size() + side.stack.size()) / symbols_of_step);
    if (++steps_ > steps_most_) return fail("it takes too long");
    Outcome out[2];
    for (int side = 0; side < 2; ++side) {
      out[side] = machines_[side].run(now.state);
      if (side == 0) now.met = now.met || out[side].met;
      note(side, now.state.sides[side], out[side]);
      if (out[side].step == Step::stuck) return fail(out[side].reason);
      if (out[side].step != Step::split) continue;
      // The code object with the number `side` branches on a boolean, so the walk follows both outcomes.
      Ahead other = now;
      decide(now.state, out[side].split, true);
      decide(other.state, out[side].split, false);
      ahead.push_back(std::move(other));
      ahead.push_back(std::move(now));
      return true;
    }
    if (now.met && !now.known) {
      arrive(std::move(now.state), false);
      return true;
    }
    return match(std::move(now.state), out[0].effect, out[1].effect, ahead);
  }

  // Continues `state` with the assumption that the boolean `test` has the truth `holds`.
  void decide(State& state, Symbol test, bool holds) {
    while (symbols_.is_term(test) && symbols_[test].text == "not") test = symbols_[test].args[0], holds = !holds;
    substitute(state, symbols_, {{test, symbols_.boolean(holds)}});
    // The code may compute the same term again later, so the truth of the term is recorded in `facts`.
    if (symbols_.is_term(test)) state.facts.emplace_back(test, holds);
  }

  // Merges `state` into the state of a place where paths meet. The walk continues from a place only if the place is
  // new, or if its state became more general.
  void arrive(State state, bool handler) {
    for (Side& side : state.sides) collect(side, symbols_);
    state.facts.clear();
    Key key = key_of(state, symbols_, handler);
    auto [found, fresh] = points_.try_emplace(key);
    Point& point = found->second;
    if (fresh) {
      point.state = std::move(state);
    } else {
      if (covers(point.state, state, symbols_)) return;
      if (!generalise(point.state, std::move(state), symbols_, codes_)) return;
      for (Side& side : point.state.sides) collect(side, symbols_);
    }
    if (point.queued) return;
    point.queued = true;
    (handler ? handlers_ : queue_).push_back(std::move(key));
  }

  // Compares the next effects of both code objects. If the effects match, the states after them are appended to
  // `ahead`.
  bool match(State state, const Effect& one, const Effect& two, std::vector<Ahead>& ahead) {
    if (one.op != two.op) return fail("the effects differ");
    if (one.detail != two.detail || one.name != two.name || one.then != two.then) {
      // Up to 3.10 a with statement also pushes a block, so the two effects may differ in their field `then`.
      if (one.op != Op::before_with_ || one.detail != two.detail) return fail("the effects differ");
    }
    Pairing pairing(state, symbols_);
    if (!same_class_detail(state, one, two)) {
      if (!pairing.add(one.operands, two.operands)) return fail("the operands differ");
      if (!pairing.add(one.context, two.context)) return fail("what the call finds in the frame differs");
    }
    if (!pairing.add(state.sides[0].handled, state.sides[1].handled))
      return fail("the exceptions being handled differ");
    if (one.results != two.results || one.raises != two.raises || one.returns != two.returns) {
      return fail("the effects differ");
    }
    codes_.insert(codes_.end(), pairing.codes().begin(), pairing.codes().end());
    if (one.then == Effect::Then::end) return true;
    if (one.then != Effect::Then::tested) state.tested = state.truth = Symbols::null;
    Symbol unbound = one.then == Effect::Then::bound ? one.operands[0] : -1;
    const bool looks_at_kept = options_.list_kept && lets_time_pass(two);
    const std::vector<Symbol> in_tuples = looks_at_kept ? items_of_tuples(state.sides[0], one) : std::vector<Symbol>{};
    // From this effect on, other code may have seen the operands.
    pairing.publish(state);
    if (looks_at_kept) note_kept(state, two, one.pops, two.pops, in_tuples);
    if (one.raises && !raise(state, unbound)) return false;
    if (!one.returns) return true;
    if (unbound >= 0) substitute(state, symbols_, {{unbound, symbols_.opaque(symbols_[unbound].text)}});
    if (one.outputs >= 0) {
      go_on_with_outputs(std::move(state), one, two, ahead);
      return true;
    }
    std::vector<Symbol> results;
    for (int i = 0; i < one.results; ++i) {
      results.push_back(symbols_.opaque(result_words(one, symbols_), one.boolean && i + 1 == one.results, false,
                                        one.op == Op::build_set_ ? Exact::set : Exact::unknown));
    }
    // An effect that advances an iterator or sends a value has a second outcome: the iterator is exhausted, or the
    // receiver of the value returns.
    if (one.then == Effect::Then::iterate || one.then == Effect::Then::send) {
      State other = state;
      machines_[0].jump(other, one, results);
      machines_[1].jump(other, two, results);
      ahead.push_back({std::move(other), false, false});
    }
    machines_[0].follow(state, one, results);
    machines_[1].follow(state, two, results);
    ahead.push_back({std::move(state), false, false});
    return true;
  }

  // Continues after a call that ProofOptions::outputs describes: its result is a container in each frame, and both
  // containers have the same items.
  void go_on_with_outputs(State state, const Effect& one, const Effect& two, std::vector<Ahead>& ahead) {
    std::vector<Symbol> items;
    for (int i = 0; i < one.outputs; ++i) {
      items.push_back(symbols_.opaque("item " + std::to_string(i) + " of the " + result_words(one, symbols_)));
    }
    for (int side = 0; side < 2; ++side) {
      Symbol container = symbols_.object();
      state.sides[side].objects.emplace(container, Object{Object::Kind::outputs, {}, items});
      machines_[side].follow(state, side ? two : one, {container});
    }
    ahead.push_back({std::move(state), false, false});
  }

  // Returns true if both code objects are in handlers that can only raise. In a handler that can only raise, the
  // traceback of the exception keeps the locals of the frame alive.
  bool is_leaving_by_exception(const State& state) {
    for (int side = 0; side < 2; ++side) {
      const Side& frame = state.sides[side];
      if (frame.handled == symbols_.known(handled_by_caller)) return false;
      if (frame.at >= 0 && programs_[side]->may_return[static_cast<std::size_t>(frame.at)]) return false;
    }
    return true;
  }

  // Returns the values in those operands of the effect that are tuples, and in tuples within these tuples. A frame that
  // holds a tuple also keeps the values in the tuple alive, because no callee can remove an item from a tuple.
  std::vector<Symbol> items_of_tuples(const Side& side, const Effect& effect) const {
    std::vector<Symbol> result, todo = effect.operands;
    while (!todo.empty()) {
      auto found = side.objects.find(todo.back());
      todo.pop_back();
      if (found == side.objects.end() || found->second.kind != Object::Kind::tuple) continue;
      for (Symbol item : found->second.items) (symbols_.is_object(item) ? todo : result).push_back(item);
    }
    return result;
  }

  // Records in `kept_` the values that the second frame holds during the matched effect and the first frame does not
  // hold. `in_tuples` is the result of `items_of_tuples` for the first frame, from before the effect.
  void note_kept(State& state, const Effect& effect, int pops_one, int pops_two, const std::vector<Symbol>& in_tuples) {
    if (is_leaving_by_exception(state)) return;
    const bool handed = hands_operands_over(effect, options_.calls_keep_operands);
    const int at = state.sides[1].at;
    const Instruction* instruction = machines_[1].instruction(state.sides[1]);
    for (const Held& held : held_too_long(state, symbols_, handed ? pops_one : 0, handed ? pops_two : 0,
                                          handed ? std::vector<Symbol>{} : in_tuples)) {
      // Each local is reported once at each instruction.
      auto [place, fresh] = kept_.try_emplace({at, held.local});
      if (!fresh) continue;
      KeptValue& value = place->second;
      value.function = programs_[1]->name();
      value.offset = instruction ? static_cast<std::int32_t>(instruction->offset) : -1;
      value.line = instruction ? instruction->line : -1;
      if (held.local >= 0) {
        value.local = programs_[1]->decoded.localsplus[static_cast<std::size_t>(held.local)];
      }
      value.value = symbols_.words(held.value);
      value.effect = effect_words(effect, symbols_);
    }
  }

  // Follows the exception that a matched effect may raise, if one of the code objects has a handler for it. `unbound`
  // is the symbol of the variable whose load raises if the variable is unbound; -1 for other effects.
  bool raise(const State& before, Symbol unbound) {
    if (!machines_[0].has_handler(before) && !machines_[1].has_handler(before)) return true;
    State state = before;
    if (unbound >= 0) substitute(state, symbols_, {{unbound, Symbols::null}});
    state.tested = state.truth = Symbols::null;
    Symbol exception = symbols_.opaque("an exception");
    if (!machines_[0].raise(state, exception) || !machines_[1].raise(state, exception)) {
      return fail("a handler that the stack is too short for");
    }
    arrive(std::move(state), true);
    return true;
  }

  // True if both code objects store `__firstlineno__`, with any line, or `__static_attributes__`, with the same names
  // in any order.
  bool same_class_detail(const State& state, const Effect& one, const Effect& two) const {
    auto at = [&](int side, int place) { return place >= 0 && state.sides[side].at == place; };
    if (at(0, programs_[0]->stores_line) && at(1, programs_[1]->stores_line)) return true;
    if (!at(0, programs_[0]->stores_attributes) || !at(1, programs_[1]->stores_attributes)) return false;
    std::vector<std::string> names[2];
    for (int side = 0; side < 2; ++side) {
      const Constant* value = symbols_.value((side ? two : one).operands[0]);
      if (!value || value->kind != Constant::Kind::tuple) return false;
      for (const Constant& item : value->items) names[side].push_back(item.text);
      std::sort(names[side].begin(), names[side].end());
    }
    return names[0] == names[1];
  }

  // Remembers the place and the effect of one code object, for the message if the proof fails.
  void note(int side, const Side& frame, const Outcome& out) {
    const Instruction* at = machines_[side].instruction(frame);
    ProofPlace& where = proof_.where;
    (side ? where.offset_two : where.offset_one) = at ? static_cast<std::int32_t>(at->offset) : -1;
    (side ? where.line_two : where.line_one) = at ? at->line : -1;
    last_[side] = out.effect;
    stuck_[side] = out.step == Step::stuck;
  }

  bool fail(std::string reason) {
    proof_.reason = std::move(reason);
    proof_.where.one = stuck_[0] ? std::string("not understood") : effect_words(last_[0], symbols_);
    proof_.where.two = stuck_[1] ? std::string("not understood") : effect_words(last_[1], symbols_);
    return false;
  }

  Symbols& symbols_;
  const ProofOptions& options_;
  const Program* programs_[2];
  Machine machines_[2];
  std::vector<CodePair>& codes_;
  const std::int64_t steps_most_;
  std::int64_t steps_ = 0;
  std::map<Key, Point> points_;
  std::vector<Key> queue_, handlers_;
  Proof proof_;
  std::map<std::pair<int, int>, KeptValue> kept_;  // keyed by instruction and local (-1 for the value stack)
  Effect last_[2];
  bool stuck_[2] = {};
};

}  // namespace

namespace {

// Rewrites code of 3.15, where an iterator takes two stack values, to use one stack value.
Decoding united(Decoding decoded) {
  if (!decoded || !dialect_of((*decoded)->version).pair_iterators) return decoded;
  DecodedCode changed = **decoded;
  if (Result<bool> done = unite_pair_iterators(changed); !done) return done.error();
  return std::make_shared<const DecodedCode>(std::move(changed));
}

}  // namespace

Decoding decoded_anew(const CodeObject& code) {
  Result<DecodedCode> decoded = decode(code);
  if (!decoded) return decoded.error();
  return std::make_shared<const DecodedCode>(std::move(*decoded));
}

Proof walk(const CodeObject& one, const CodeObject& two, const ProofOptions& options, std::vector<CodePair>& codes,
           Decoder decoder_of_one, Decoder decoder_of_two) {
  const CodeObject* sides[] = {&one, &two};
  const Decoding decoded[] = {united(decoder_of_one(one)), united(decoder_of_two(two))};
  // The quick pass is tried first, because most pairs of code objects match instruction by instruction.
  if (options.lockstep != ProofOptions::Lockstep::never && decoded[0] && decoded[1]) {
    Proof proof;
    proof.proved = run_in_lockstep(**decoded[0], **decoded[1], codes, proof.steps);
    if (proof.proved) return proof;
    if (options.lockstep == ProofOptions::Lockstep::only) {
      proof.reason = "the effects are not the same one after the other";
      return proof;
    }
  }
  Symbols symbols;
  std::optional<Program> programs[2];
  for (int side = 0; side < 2; ++side) {
    Result<Program> made = decoded[side] ? make_program(*sides[side], **decoded[side], symbols, options)
                                         : Result<Program>(decoded[side].error());
    if (!made) {
      Proof proof;
      proof.reason = "bytecode that cannot be decoded: " + made.error().message;
      (side ? proof.where.offset_two : proof.where.offset_one) = static_cast<std::int32_t>(made.error().offset);
      (side ? proof.where.two : proof.where.one) = made.error().message;
      return proof;
    }
    programs[side] = std::move(*made);
  }
  for (int side = 0; side < 2; ++side) programs[side]->other = programs[1 - side]->decoded.version;
  return Walk(symbols, *programs[0], *programs[1], options, codes).run();
}

}  // namespace depyf
