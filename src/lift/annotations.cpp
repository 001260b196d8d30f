// Restores annotations that the compiler moved into an __annotate__ function (3.14 and later, PEP 649 and PEP 749).
// Each __annotate__ function starts with the test `if format > 2: raise NotImplementedError`. Only the test of
// `format` loads NotImplementedError by LOAD_COMMON_CONSTANT: in functions of the source, the name NotImplementedError
// is an ordinary global.
//
//   `def f(a: int)` is `<code "__annotate__">; MAKE_FUNCTION; <code f>; MAKE_FUNCTION; SET_FUNCTION_ATTRIBUTE 16`.
//   Behind the test of `format`, the __annotate__ function of `f` is `'a'; int; BUILD_MAP 1; RETURN_VALUE`.
//   A module or class contains `<code "__annotate__">; MAKE_FUNCTION; STORE __annotate__` (or __annotate_func__).
//   Behind the test of `format`, the __annotate__ function of a module or class starts with BUILD_MAP 0.
//   In the __annotate__ function of a module or class, `a: int` is `int; COPY 2; 'a'; STORE_SUBSCR`.
//   If `a: int` is under a condition, the code of this annotation in the __annotate__ function starts with
//   `k in __conditional_annotations__; POP_JUMP_IF_FALSE`.
#include <algorithm>
#include <map>

#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "lift/annotations.h"
#include "lift/definitions.h"
#include "lift/positions.h"
#include "support/table.h"

namespace depyf::lifting {
using namespace ast;

namespace {

// Returns the text of a string constant; an empty text if `expr` is anything else.
std::string_view text_of(const Expr* expr) {
  const Constant* text = constant_of(expr, Constant::Kind::string);
  return text ? std::string_view(text->text) : std::string_view();
}

// Returns the index k of the test `k in __conditional_annotations__`, or -1 if `test` is another expression.
int condition_of(const Expr* test) {
  auto* compare = as<Compare>(test);
  if (!compare || compare->ops.size() != 1 || compare->ops[0] != CompareOp::in) return -1;
  auto* set = as<Name>(compare->comparators[0]);
  auto* index = as<ConstantExpr>(compare->left);
  if (!set || set->id != "__conditional_annotations__" || !index) return -1;
  if (index->value->kind != Constant::Kind::integer || index->value->text.size() > 8) return -1;
  return std::stoi(index->value->text);
}

// Collects the values that statements assign to temporaries: `v` for `__temp_1 = v`, and `*v` for `(__temp_1,) = v`.
class Temporaries {
 public:
  explicit Temporaries(Context& context) : context_(context) {}

  // Records the value that `stmt` assigns to a temporary. Returns false if `stmt` assigns no temporary.
  bool define(const Stmt* stmt) {
    auto* assign = as<Assign>(stmt);
    if (!assign || assign->targets.size() != 1) return false;
    Expr* value = assign->value;
    const Expr* target = assign->targets[0];
    if (auto* tuple = as<Tuple>(target)) {
      if (tuple->elts.size() != 1) return false;
      target = tuple->elts[0];
      value = context_.expr(Starred{meaning(value)}, value->offset, value->line);
    }
    auto* name = as<Name>(target);
    if (!name || !name->id.starts_with("__temp_")) return false;
    values_[name->id] = meaning(value);
    return true;
  }

  // Returns the value recorded for `expr` if it is a temporary, and `expr` itself otherwise.
  Expr* meaning(Expr* expr) const {
    auto* name = as<Name>(expr);
    auto found = name ? values_.find(name->id) : values_.end();
    return found == values_.end() ? expr : found->second;
  }

 private:
  Context& context_;
  std::map<std::string_view, Expr*> values_;
};

}  // namespace

namespace {

// True if `expr` is an __annotate__ function that the compiler made.
bool is_annotate(const Context& context, const Expr* expr) {
  auto* internal = as<Internal>(expr);
  if (!internal || internal->marker != Marker::function) return false;
  const CodeObject& code = *context.functions[internal->index].code;
  if (!dialect_of(code.version).deferred_annotations || code.name != "__annotate__" || code.argcount != 1) return false;
  Result<DecodedCode> decoded = decode(code);
  if (!decoded) return false;
  // The test `if format > 2` is within the first dozen instructions of an __annotate__ function.
  const Instructions& start = decoded->instructions;
  return std::any_of(start.begin(), start.begin() + std::min<std::ptrdiff_t>(12, std::ptrdiff_t(start.size())),
                     [](const Instruction& it) {
                       return it.op == Op::load_common_constant_ &&
                              CommonName(it.arg) == CommonName::not_implemented_error;
                     });
}

// Returns the annotations that the __annotate__ function `function` computes, in order. Throws InternalError if the
// body of `function` does not have the form that the compiler emits.
Table<DeferredAnnotation> deferred_annotations(Context& context, const Cursor& cursor, const Expr* function) {
  const char* const other = "annotations of another shape";
  auto* internal = as<Internal>(function);
  if (!internal || internal->marker != Marker::function) cursor.fail("annotations that no function makes");
  Block block = without_format_test(build(context, context.functions[internal->index]).block);
  Table<DeferredAnnotation> result;
  Temporaries temporaries(context);
  auto add = [&](const Stmt* stmt, int index) {
    auto* assign = as<Assign>(stmt);
    auto* place = assign && assign->targets.size() == 1 ? as<Subscript>(assign->targets[0]) : nullptr;
    if (!place || !is<Dict>(temporaries.meaning(place->value)) || text_of(place->slice).empty()) return false;
    Expr* value = temporaries.meaning(assign->value);
    forget_columns(value);
    result.push_back({text_of(place->slice), value, index});
    return true;
  };
  for (const Stmt* stmt : block) {
    // The __annotate__ function of a function returns all annotations as one dict.
    if (auto* leave = as<Return>(stmt)) {
      auto* made = as<Dict>(temporaries.meaning(leave->value));
      if (!made || stmt != block.back()) cursor.fail(other);
      for (std::size_t index = 0; index < made->keys.size(); ++index) {
        std::string_view name = made->keys[index] ? text_of(temporaries.meaning(made->keys[index])) : "";
        if (name.empty()) cursor.fail(other);
        Expr* value = temporaries.meaning(made->values[index]);
        forget_columns(value);
        result.push_back({name, value, -1});
      }
      return result;
    }
    // The __annotate__ function of a module or class stores the annotations one by one, some of them under a condition.
    if (add(stmt, -1)) continue;
    if (auto* branch = as<If>(stmt); branch && branch->orelse.empty()) {
      const int index = condition_of(branch->test);
      if (index < 0) cursor.fail(other);
      for (const Stmt* inner : branch->body)
        if (!add(inner, index) && !temporaries.define(inner)) cursor.fail(other);
      continue;
    }
    if (!temporaries.define(stmt)) cursor.fail(other);
  }
  cursor.fail(other);
}

}  // namespace

// The annotations are printed at the definition of the function, as if the definition evaluated them.
void annotate(Context& context, const Cursor& cursor, FunctionValue& function, const Expr* annotate) {
  Table<Expr*> keys, values;
  for (const DeferredAnnotation& each : deferred_annotations(context, cursor, annotate)) {
    keys.push_back(context.constant(Constant::Kind::string, std::string(each.name)));
    values.push_back(each.value);
  }
  function.annotations = cursor.make(Dict{context.arena.copy(keys), context.arena.copy(values)});
  function.deferred = true;
}

// Emits an InternalStmt marker in place of the store of an __annotate__ function. A pass of src/refine replaces the
// marker by the annotations of the module or class. Returns false if the store does not store an __annotate__ function, or
// if the body of this function does not have the form that the compiler emits. The statement `def __annotate__` is then printed.
bool store_annotate(Simulation& sim, const Expr* target, const Expr* value) {
  auto* name = as<Name>(target);
  if (sim.cursor.flat || !name || (name->id != "__annotate__" && name->id != "__annotate_func__") ||
      !is_annotate(sim.context, value))
    return false;
  try {
    sim.context.deferred.push_back(deferred_annotations(sim.context, sim.cursor, value));
  } catch (const InternalError&) {
    return false;
  }
  sim.emit(InternalStmt{StmtMarker::annotate, int(sim.context.deferred.size()) - 1, nullptr, nullptr});
  return true;
}

}  // namespace depyf::lifting

namespace depyf {
using namespace ast;

// Returns `block` without the test `if format > 2: raise NotImplementedError` at its start, or `block` itself if it
// does not start with this test.
Block without_format_test(Block block) {
  auto* test = block.empty() ? nullptr : as<If>(block[0]);
  auto* compare = test && test->orelse.empty() && test->body.size() == 1 ? as<Compare>(test->test) : nullptr;
  auto* format = compare ? as<Name>(compare->left) : nullptr;
  auto* raise = format ? as<Raise>(test->body[0]) : nullptr;
  auto* error = raise ? as<Name>(raise->exc) : nullptr;
  if (!error || error->id != "NotImplementedError" || (format->id != "format" && format->id != ".format")) return block;
  return block.subspan(1);
}

}  // namespace depyf
