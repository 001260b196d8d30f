// Returns expressions of values that are built from several other values: displays, calls and items of unpackings.
#include <algorithm>

#include "decode/op.h"
#include "stack/expressions.h"
#include "support/table.h"

namespace depyf {
using namespace ast;

ValueExpression Expressions::display(const StackValue& value, const Instruction& it) {
  const Parts& in = value.inputs;
  const std::size_t count = in.size();
  // The interpreter relies on the type of a display that it has built, and does not check the type. The kind `internal`
  // states that the value must not be replaced by an object of another type.
  auto with_type = [](ValueExpression result) {
    result.make_internal();
    return result;
  };
  if (it.op == Op::build_tuple_) return with_type(compound(Tuple{list(in, 0, count)}, in, value));
  if (it.op == Op::build_list_) return with_type(compound(ListExpr{list(in, 0, count)}, in, value));
  if (it.op == Op::build_set_) return with_type(compound(SetExpr{list(in, 0, count)}, in, value));
  if (it.op == Op::build_map_) {
    Table<Expr*> keys, items;
    for (std::size_t i = 0; i + 1 < count; i += 2) keys.push_back(part(in[i])), items.push_back(part(in[i + 1]));
    return with_type(compound(Dict{arena_.copy(keys), arena_.copy(items)}, in, value));
  }
  if (it.op == Op::build_const_key_map_) {
    Table<Expr*> keys;
    auto* names = count ? as<ConstantExpr>(part(in.back())) : nullptr;
    if (!names || names->value->items.size() != count - 1) return note("dict", true);
    for (const Constant& key : names->value->items) keys.push_back(expr(ConstantExpr{&key}));
    return with_type(compound(Dict{arena_.copy(keys), list(in, 0, count - 1)}, in, value));
  }
  if (it.op == Op::build_slice_) {
    ValueExpression result =
        compound(Slice{part(in[0]), count > 1 ? part(in[1]) : nullptr, count > 2 ? part(in[2]) : nullptr}, in, value);
    return result;
  }
  // FORMAT_VALUE without a format specification becomes an f-string of one field. FORMAT_VALUE with a format
  // specification becomes the note `<formatted value>`.
  if (it.op == Op::format_value_) {
    const char conversions[] = {0, 's', 'r', 'a'};
    if (it.aux) return note("formatted value", true);
    FormattedValue field{part(in[0]), conversions[it.arg & 3], nullptr};
    ValueExpression result = with_type(compound(JoinedStr{arena_.copy(Table<Expr*>{expr(field)})}, in, value));
    result.reads_memory = true;
    return result;
  }
  if (it.op == Op::convert_value_) return note("text of a value", true);
  if (it.op == Op::build_string_) {
    Table<Expr*> pieces;
    for (int id : in) {
      Expr* one = part(id);
      if (auto* joined = as<JoinedStr>(one)) pieces.insert(pieces.end(), joined->values.begin(), joined->values.end());
      else if (is<ConstantExpr>(one)) pieces.push_back(one);
      else return note("string", true);
    }
    ValueExpression result = with_type(compound(JoinedStr{arena_.copy(pieces)}, in, value));
    result.reads_memory = true;
    return result;
  }
  // If no `if` above has returned, the operation is LIST_TO_TUPLE.
  if (auto* elements = as<ListExpr>(part(in[0]))) return with_type(compound(Tuple{elements->elts}, in, value));
  return note("tuple of " + text(in[0]), true);
}

// Returns the expression of a display after an item was added: `[a, *b]` is compiled to BUILD_LIST; LIST_EXTEND.
ValueExpression Expressions::addition(const StackValue& value, const Instruction& it) {
  const Parts& in = value.inputs;
  Expr* before = part(in[0]);
  // True if the items of the operand are added, and not the operand itself.
  const bool whole = it.op == Op::list_extend_ || it.op == Op::set_update_;
  auto added = [&](List<Expr*> elements) {
    Table<Expr*> all(elements.begin(), elements.end());
    Expr* one = part(in.back());
    auto* constant = as<ConstantExpr>(one);
    if (whole && constant) {
      for (const Constant& item : constant->value->items) all.push_back(expr(ConstantExpr{&item}));
    } else {
      all.push_back(whole ? expr(Starred{one}) : one);
    }
    return arena_.copy(all);
  };
  ValueExpression result;
  if (auto* list = as<ListExpr>(before); list && (it.op == Op::list_append_ || it.op == Op::list_extend_)) {
    result = compound(ListExpr{added(list->elts)}, in, value);
  } else if (auto* set = as<SetExpr>(before); set && (it.op == Op::set_add_ || it.op == Op::set_update_)) {
    result = compound(SetExpr{added(set->elts)}, in, value);
  } else if (auto* dict = as<Dict>(before)) {
    Table<Expr*> keys(dict->keys.begin(), dict->keys.end()), items(dict->values.begin(), dict->values.end());
    if (it.op == Op::map_add_) keys.push_back(part(in[in.size() - 2]));
    else keys.push_back(nullptr);
    items.push_back(part(in.back()));
    result = compound(Dict{arena_.copy(keys), arena_.copy(items)}, in, value);
  } else {
    return note("display", true);
  }
  // Iterating over an operand may call user code.
  auto* constant = as<ConstantExpr>(part(in.back()));
  const bool iterates = whole && !constant;
  result.effects |= iterates || it.op == Op::dict_update_ || it.op == Op::dict_merge_;
  result.make_internal();
  return result;
}

// Returns the expression of a call.
ValueExpression Expressions::call(const StackValue& value, const Instruction& it) {
  const Parts& in = value.inputs;
  Table<Expr*> args;
  Table<Keyword> keywords;
  // The receiver of a method call counts like a NULL, because the expression of the method contains the receiver, as in
  // `x.f`.
  auto is_null = [&](int id) { return of(id).null() || of(id).kind == StackSlot::Kind::receiver; };
  std::size_t first = 0, last = in.size();
  Expr* function = nullptr;
  const Constant* names = nullptr;
  auto names_of = [&](int id) -> const Constant* {
    auto* constant = as<ConstantExpr>(part(id));
    return constant && constant->value->kind == Constant::Kind::tuple ? constant->value : nullptr;
  };
  if (it.op == Op::call_ || it.op == Op::call_kw_) {
    if (in.size() < 2) return note("call");
    // The callable and its NULL or self are in two slots, whose order depends on the version.
    if (is_null(in[0])) function = part(in[1]);
    else if (is_null(in[1])) function = part(in[0]);
    else function = part(in[0]), args.push_back(part(in[1]));
    first = 2;
    if (it.op == Op::call_ && it.aux >= 0 && std::size_t(it.aux) < values_.decoded().constants.size())
      names = &values_.decoded().constants[std::size_t(it.aux)];
  } else if (it.op == Op::call_function_ || it.op == Op::call_function_kw_) {
    if (in.empty()) return note("call");
    function = part(in[0]), first = 1;
  } else {  // CALL_FUNCTION_EX
    // The NULLs among the operands of CALL_FUNCTION_EX are left out, so that the callable, the tuple and the dict
    // remain.
    Parts left;
    for (int id : in) {
      if (!is_null(id)) left.push_back(id);
    }
    if (left.size() < 2) return note("call");
    function = part(left[0]);
    if (auto* tuple = as<Tuple>(part(left[1]))) args.assign(tuple->elts.begin(), tuple->elts.end());
    else args.push_back(expr(Starred{part(left[1])}));
    if (left.size() > 2) keywords.push_back({{}, part(left[2])});
    first = last = 0;
  }
  if (it.op == Op::call_kw_ || it.op == Op::call_function_kw_) names = names_of(in.back()), --last;
  if (function && is<Verbatim>(function) && as<Verbatim>(function)->text == "NULL") return note("call");
  const std::size_t count = last - first, named = names ? std::min(names->items.size(), count) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    Expr* one = part(in[first + i]);
    if (i < count - named) args.push_back(one);
    else keywords.push_back({names->items[i - (count - named)].text, one});
  }
  ValueExpression result = compound(Call{function, arena_.copy(args), arena_.copy(keywords)}, in, value);
  result.effects = true;
  return result;
}

// Returns the expression of one item of an unpacking. An item of a call's result is written as `f()[0]`. A value other
// than the result of a call may be an iterable without subscripts, so an item of such a value x is written as
// `[*x][0]`.
ValueExpression Expressions::unpacked(const StackValue& value, const Instruction& it) {
  const Parts& in = value.inputs;
  const int total = it.op == Op::unpack_ex_ ? it.arg + it.aux + 1 : it.arg;
  int index = total - 1 - value.index;  // the first item is on top
  Expr* whole = part(in[0]);
  ValueExpression result;
  auto* tuple = as<Tuple>(whole);
  if (tuple && it.op == Op::unpack_sequence_ && std::size_t(index) < tuple->elts.size()) {
    result = of(in[0]);
    result.expr = tuple->elts[std::size_t(index)];
    result.kind = StackSlot::Kind::value;
    return result;
  }
  Expr* base = is<Call>(whole) ? whole : expr(ListExpr{arena_.copy(Table<Expr*>{expr(Starred{whole})})});
  Expr* subscript;
  // The value of a starred target, as of b in `a, *b, c = x`, is a slice of x. The items behind the slice are counted
  // from the end.
  if (it.op == Op::unpack_ex_ && index == it.arg) {
    Expr* stop = it.aux ? expr(UnaryExpr{UnaryOp::negative, integer(it.aux)}) : nullptr;
    subscript = expr(Slice{it.arg ? integer(it.arg) : nullptr, stop, nullptr});
  } else if (it.op == Op::unpack_ex_ && index > it.arg) {
    subscript = expr(UnaryExpr{UnaryOp::negative, integer(total - index)});
  } else {
    subscript = integer(index);
  }
  result = compound(Subscript{base, subscript}, in, value);
  // Iterating over the unpacked value may have effects.
  result.effects = true;
  return result;
}

}  // namespace depyf
