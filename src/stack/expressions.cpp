#include "stack/expressions.h"

#include <algorithm>

#include "print/print.h"

namespace depyf {
using namespace ast;

namespace {

constexpr int size_max = 300;  // nodes of one expression; a value that is copied and used twice doubles it
constexpr int depth_max = 60;

}  // namespace

const ValueExpression& Expressions::of(int value) {
  auto found = known_.find(value);
  if (found != known_.end()) return found->second;
  if (depth_ >= depth_max) return known_[-1] = note("...");
  known_[value] = note("...");  // a value that is made of itself, in a loop
  ++depth_;
  ValueExpression built = build(values_.value(value));
  --depth_;
  if (built.size > size_max) built = note("...", built.internal());
  return known_[value] = std::move(built);
}

bool Expressions::is_current(const ValueExpression& expression, const MachineState& state) {
  if (expression.effects || expression.null()) return false;
  if (expression.reads_memory && expression.memory != state.memory) return false;
  return std::all_of(expression.locals.begin(), expression.locals.end(), [&](const auto& read) {
    return std::size_t(read.first) < state.locals.size() && state.locals[read.first] == read.second;
  });
}

Expr* Expressions::holder(int value, const MachineState& state) {
  for (std::size_t local = 0; local < state.locals.size(); ++local) {
    const VersionId version = state.locals[local];
    if (version >= 0 && version < int(values_.code().size()) && values_.stored_by(version) == value)
      return expr(Name{values_.decoded().localsplus[local]});
  }
  return nullptr;
}

std::string_view Expressions::name(int index) const {
  return index >= 0 && std::size_t(index) < code_.names.size() ? std::string_view(code_.names[index])
                                                               : std::string_view("_");
}

ast::List<Expr*> Expressions::list(const Parts& parts, std::size_t begin, std::size_t end) {
  std::vector<Expr*> exprs;
  for (std::size_t i = begin; i < end && i < parts.size(); ++i) exprs.push_back(part(parts[i]));
  return arena_.copy(exprs);
}

Expr* Expressions::integer(int value) {
  Constant constant;
  constant.kind = Constant::Kind::integer;
  constant.text = std::to_string(value);
  constants_.push_back(std::move(constant));
  return expr(ConstantExpr{&constants_.back()});
}

std::string Expressions::text(int value) {
  std::string text = print_expr(part(value), code_.version);
  return text.size() > 200 ? "..." : text;
}

ValueExpression Expressions::note(std::string text, bool internal) {
  ValueExpression result;
  result.expr = expr(Verbatim{arena_.copy("<" + text + ">")});
  result.effects = true;
  if (internal) result.make_internal();
  return result;
}

// An expression over others: it reads what they read, when the last of them was made.
ValueExpression Expressions::compound(Expr::Node node, const Parts& parts, const StackValue& value) {
  ValueExpression result;
  result.expr = expr(std::move(node));
  result.memory = value.memory;
  for (int id : parts) {
    const ValueExpression& one = of(id);
    result.size += one.size;
    result.effects |= one.effects;
    if (one.reads_memory) {
      // Where something had effects between the parts, they cannot be read together again.
      result.effects |= one.memory != value.memory;
      result.reads_memory = true;
    }
    result.locals.insert(result.locals.end(), one.locals.begin(), one.locals.end());
  }
  std::sort(result.locals.begin(), result.locals.end());
  result.locals.erase(std::unique(result.locals.begin(), result.locals.end()), result.locals.end());
  return result;
}

ValueExpression Expressions::build(const StackValue& value) {
  using Kind = StackValue::Kind;
  switch (value.kind) {
    case Kind::made: return made(value);
    case Kind::met: return met(value);
    case Kind::exception: return note("exception", true);
    case Kind::previous_exception: return note("exception handled before", true);
    case Kind::traceback: return note("exception's traceback and type", true);
    case Kind::lasti: return note("where it was raised", true);
    default: return note("unknown", true);
  }
}

ValueExpression Expressions::met(const StackValue& value) {
  ValueExpression chosen = choice(value);
  if (chosen.expr) return chosen;
  std::string both;
  bool internal = false;
  for (int id : value.inputs) {
    std::string one = text(id);
    internal |= of(id).internal();
    if (!both.empty()) both += " | ";
    both += both.size() + one.size() > 200 ? "..." : one;
  }
  return note(both.empty() ? "unknown" : both, internal);
}

// `a or b`, `a and b`, `a if test else b`: two ways from one conditional jump, each with a value.
ValueExpression Expressions::choice(const StackValue& value) {
  const std::vector<int>& ways = values_.ways_to(value.at);
  if (ways.size() != 2 || value.inputs.size() != 2) return {};
  // The test is the block that jumps here itself, or the one before both arms.
  int test = -1, arms[2] = {ways[0], ways[1]};
  auto only_way = [&](int block) { return values_.ways_to(block).size() == 1 ? values_.ways_to(block)[0] : -1; };
  if (only_way(arms[1]) == arms[0]) test = arms[0];
  else if (only_way(arms[0]) == arms[1]) test = arms[1];
  else if (only_way(arms[0]) >= 0 && only_way(arms[0]) == only_way(arms[1])) test = only_way(arms[0]);
  if (test < 0 || test >= value.at) return {};
  const int tested = values_.tested_by(test);
  const Instruction& jump = values_.code()[values_.end_of(test) - 1];
  if (tested < 0 || jump.target < 0) return {};
  bool jumps_if_true;
  switch (jump.op) {
    case Op::jump_if_true_or_pop_:
    case Op::pop_jump_if_true_: jumps_if_true = true; break;
    case Op::jump_if_false_or_pop_:
    case Op::pop_jump_if_false_: jumps_if_true = false; break;
    default: return {};
  }
  // Which value is made on which way: one made before the test is that of the way that makes none.
  auto made_in = [&](int id) {
    const StackValue& one = values_.value(id);
    return one.kind == StackValue::Kind::made ? values_.block_of(one.at) : one.at;
  };
  int first = value.inputs[0], second = value.inputs[1];
  const int fallen = values_.block_of(values_.end_of(test) - 1) + 1, jumped = values_.block_of(jump.target);
  auto belongs = [&](int id, int arm) { return made_in(id) == arm; };
  int on_fall = -1, on_jump = -1;
  for (int id : {first, second}) {
    const int other = id == first ? second : first;
    if (jumped != value.at && belongs(id, jumped)) on_jump = id, on_fall = other;
    if (fallen != value.at && belongs(id, fallen)) on_fall = id, on_jump = other;
  }
  if (on_fall < 0 || on_jump < 0) return {};
  auto is_test = [&](int id) {
    if (id == tested) return true;
    const StackValue& one = values_.value(tested);  // 3.12: COPY; TO_BOOL
    return one.kind == StackValue::Kind::made && values_.code()[one.at].op == Op::to_bool_ && one.inputs[0] == id;
  };
  ValueExpression result;
  if (jumped == value.at && is_test(on_jump)) {
    result = compound(BoolOp{jumps_if_true, arena_.copy(std::vector<Expr*>{part(on_jump), part(on_fall)})},
                      {on_jump, on_fall}, values_.value(on_fall));
  } else {
    const int if_true = jumps_if_true ? on_jump : on_fall, if_false = jumps_if_true ? on_fall : on_jump;
    int condition = tested;
    const StackValue& one = values_.value(tested);
    if (one.kind == StackValue::Kind::made && values_.code()[one.at].op == Op::to_bool_) condition = one.inputs[0];
    result = compound(IfExp{part(condition), part(if_true), part(if_false)}, {condition, if_true, if_false}, one);
  }
  result.reads_memory = true;  // operators of what it tests
  return result;
}

ValueExpression Expressions::constant(int index) {
  if (index < 0 || index >= values_.decoded().constant_count()) return note("unknown");
  const Constant& value = values_.decoded().constant(index);
  if (value.kind == Constant::Kind::code) return note("code of " + value.code->name, true);
  auto opaque = [](const Constant& one, auto& self) -> bool {
    return one.kind == Constant::Kind::opaque || one.kind == Constant::Kind::code ||
           std::any_of(one.items.begin(), one.items.end(), [&](const Constant& item) { return self(item, self); });
  };
  if (opaque(value, opaque)) return note("constant " + std::to_string(index));
  ValueExpression result;
  result.expr = expr(ConstantExpr{&value});
  return result;
}

ValueExpression Expressions::local(const StackValue& value, int index) {
  if (index < 0 || std::size_t(index) >= values_.decoded().localsplus.size()) return note("unknown");
  const std::string_view name = values_.decoded().localsplus[index];
  if (name.starts_with('.')) return note("argument " + std::string(name));
  ValueExpression result;
  result.expr = expr(Name{name});
  result.locals.push_back({index, value.local});
  if (values_.decoded().is_cell[index]) result.reads_memory = true, result.memory = value.memory;
  return result;
}

ValueExpression Expressions::made(const StackValue& value) {
  const Instruction& it = values_.code()[value.at];
  const Parts& in = value.inputs;
  auto reads = [&](ValueExpression result) {
    // What it reads has to be as it was when it was made.
    result.reads_memory = true;
    result.memory = value.memory;
    return result;
  };
  auto plain = [&](Expr::Node node) {
    ValueExpression result;
    result.expr = expr(std::move(node));
    return result;
  };
  auto internal = [&](ValueExpression result) {
    result.make_internal();
    return result;
  };
  switch (it.op) {
    case Op::load_const_: return constant(it.arg);
    case Op::load_int_: {
      ValueExpression result;
      result.expr = integer(it.arg);
      return result;
    }
    case Op::push_null_: {
      ValueExpression result = plain(Verbatim{"NULL"});
      result.kind = StackSlot::Kind::null;
      result.effects = true;
      return result;
    }
    case Op::load_fast_:
    case Op::load_deref_:
    case Op::load_class_deref_: return local(value, it.arg);
    case Op::load_fast_and_clear_:
      return note("what was in " + std::string(values_.decoded().localsplus[it.arg]), true);
    case Op::load_from_dict_or_deref_: return note(std::string(values_.decoded().localsplus[it.arg]));
    case Op::load_name_:
    case Op::load_global_:
    case Op::load_from_dict_or_globals_: return reads(plain(Name{name(it.arg)}));
    case Op::load_closure_: return note("cell of " + std::string(values_.decoded().localsplus[it.arg]), true);
    case Op::load_assertion_error_: return plain(Name{"AssertionError"});
    case Op::load_locals_: return note("locals()", true);
    case Op::load_build_class_: return note("__build_class__");
    case Op::load_attr_: return reads(compound(Attribute{part(in[0]), name(it.arg)}, in, value));
    case Op::load_method_:
    case Op::load_super_attr_: {
      ValueExpression result;
      const bool super = it.op == Op::load_super_attr_, pair = !super || (it.aux & 1) != 0;
      if (value.index == 0) {
        if (super) result = note("super()." + std::string(name(it.arg)));
        else result = reads(compound(Attribute{part(in[0]), name(it.arg)}, in, value));
        if (pair) result.kind = StackSlot::Kind::method;
      } else {
        result = of(in.back());
        result.kind = StackSlot::Kind::receiver;
      }
      return result;
    }
    case Op::binary_op_:
      if (it.aux) return note(text(in[0]) + " changed in place by " + text(in[1]));
      return reads(compound(BinOp{part(in[0]), BinaryOp(it.arg), part(in[1]), false}, in, value));
    case Op::binary_subscr_: return reads(compound(Subscript{part(in[0]), part(in[1])}, in, value));
    case Op::binary_slice_:
      return reads(compound(Subscript{part(in[0]), expr(Slice{part(in[1]), part(in[2]), nullptr})}, in, value));
    case Op::unary_op_: return reads(compound(UnaryExpr{UnaryOp(it.arg), part(in[0])}, in, value));
    case Op::compare_op_:
    case Op::is_op_:
    case Op::contains_op_: {
      CompareOp op = CompareOp(it.arg);
      if (it.op == Op::is_op_) op = it.arg ? CompareOp::is_not : CompareOp::is;
      if (it.op == Op::contains_op_) op = it.arg ? CompareOp::not_in : CompareOp::in;
      auto ops = arena_.copy(std::vector<CompareOp>{op});
      return reads(compound(Compare{part(in[0]), ops, list(in, 1, 2)}, in, value));
    }
    case Op::to_bool_: return internal(reads(compound(Call{expr(Name{"bool"}), list(in, 0, 1), {}}, in, value)));
    case Op::build_tuple_:
    case Op::build_list_:
    case Op::build_set_:
    case Op::build_map_:
    case Op::build_const_key_map_:
    case Op::build_slice_:
    case Op::build_string_:
    case Op::format_value_:
    case Op::convert_value_:
    case Op::list_to_tuple_: return display(value, it);
    case Op::list_append_:
    case Op::set_add_:
    case Op::map_add_:
    case Op::list_extend_:
    case Op::set_update_:
    case Op::dict_update_:
    case Op::dict_merge_: return addition(value, it);
    case Op::call_:
    case Op::call_kw_:
    case Op::call_function_:
    case Op::call_function_kw_:
    case Op::call_function_ex_: return call(value, it);
    case Op::unpack_sequence_:
    case Op::unpack_ex_: return unpacked(value, it);
    case Op::get_iter_:
    case Op::get_aiter_: {
      ValueExpression result = compound(Call{expr(Name{"iter"}), list(in, 0, 1), {}}, in, value);
      result.effects = true;
      result.make_internal();
      return result;
    }
    case Op::for_iter_:
      if (value.index >= jump_values) return note("nothing", true);
      return note("item of " + text(in[0]));
    case Op::get_len_: return note("length of the subject");
    case Op::import_name_: return note("module " + std::string(name(it.arg)));
    case Op::import_from_: return note("module's " + std::string(name(it.arg)));
    case Op::make_function_:
    case Op::set_function_attribute_: return note("function", true);
    case Op::before_with_:
    case Op::before_async_with_:
    case Op::setup_with_: {
      const bool exit = value.index == 0;
      return note(text(in[0]) + (exit ? ".__exit__" : ".__enter__()"));
    }
    case Op::with_except_start_: return note("result of __exit__");
    case Op::yield_value_:
    case Op::yield_from_: return note("sent to yield " + text(in.back()));
    case Op::send_: return note("result of sending to " + text(in[0]));
    case Op::get_awaitable_:
    case Op::get_yield_from_iter_: return note("awaitable of " + text(in[0]), true);
    case Op::return_generator_: return note("None, sent to start");
    case Op::check_exc_match_: return note("exception matches " + text(in.back()), true);
    case Op::match_sequence_:
    case Op::match_mapping_: return note("subject has the shape of the case", true);
    default: return note(std::string(op_name(it.op)), true);
  }
}

}  // namespace depyf
