// Restores annotations of variables. From 3.14 on, the function `__annotate__` evaluates the annotations of variables
// (see lift/annotations.cpp). In a module, instructions at the place of each annotation add the index of the annotation
// to the set `__conditional_annotations__`. In a class, only annotations that are not always reached have these
// instructions. If no instruction adds the index of an annotation, only the line of the annotation shows its place.
//
// Up to 3.13, `x = v; __annotations__['x'] = T` becomes `x: T = v` in module and class bodies. Up to 3.13, the compiler
// evaluates the annotation of an attribute or a subscript and drops its value, as for an expression statement. If a
// body annotates only attributes and subscripts, only the instruction SETUP_ANNOTATIONS at its start shows that the
// body contains annotations. If a body has SETUP_ANNOTATIONS but no annotated variable, `o.a = v; T` becomes `o.a: T =
// v`. If a body has SETUP_ANNOTATIONS, but no statement for which the compiler would emit SETUP_ANNOTATIONS, the pass
// adds `if False: (_): None`, for which the compiler emits SETUP_ANNOTATIONS and no other instruction.
#include <algorithm>
#include <map>

#include "decode/instruction.h"
#include "decode/op.h"
#include "depyf/code_object.h"
#include "dialect/dialect.h"
#include "flow/cfg.h"
#include "lift/context.h"
#include "lift/definitions.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "support/function_ref.h"

namespace depyf {
using namespace ast;

namespace {

using Statements = std::vector<Stmt*>;

// Returns `name: annotation = value` if the last statement of `before` is `name = value`, and removes that statement.
// Returns `name: annotation` if `before` is empty, or if its last statement is not `name = value`.
Stmt* annotated(Context& context, Statements& before, std::string_view name, Expr* annotation, const Stmt& place) {
  Expr* value = nullptr;
  auto* assign = before.empty() ? nullptr : as<Assign>(before.back());
  auto* target = assign && assign->targets.size() == 1 ? as<Name>(assign->targets[0]) : nullptr;
  if (target && target->id == name) {
    value = assign->value;
    before.pop_back();
  }
  return context.stmt(AnnAssign{context.name(name), annotation, value, true}, place.offset, place.line);
}

// Returns `stmt` as a marker statement if it is a marker of the kind `wanted`; otherwise null.
const InternalStmt* marker(const Stmt* stmt, StmtMarker wanted) {
  auto* internal = as<InternalStmt>(stmt);
  return internal && internal->marker == wanted ? internal : nullptr;
}

// Returns the assigned name if `stmt` is `name = value` with a single target; an empty name for any other statement.
std::string_view assigned_name(const Stmt* stmt) {
  auto* assign = as<Assign>(stmt);
  auto* name = assign && assign->targets.size() == 1 ? as<Name>(assign->targets[0]) : nullptr;
  return name ? name->id : std::string_view{};
}

// Calls `see` with the index of each annotation whose place a marker statement shows, for `stmt` itself and for the
// statements of its nested blocks.
void for_each_mark(Stmt* stmt, FunctionRef<void(int)> see) {
  if (auto* mark = marker(stmt, StmtMarker::annotated)) see(mark->index);
  for_each_block(stmt, [&](Block& inner) {
    for (Stmt* each : inner) for_each_mark(each, see);
  });
}

bool is_text(const Expr* expr) {
  auto* constant = as<ConstantExpr>(expr);
  return constant && constant->value->kind == Constant::Kind::string;
}

// Returns `if False: <annotation>`. The compiler emits no code for `if False: x: T`, but records that the body has
// annotations.
Stmt* never_reached(Context& context, Stmt* annotation) {
  Expr* never = context.constant(Constant::Kind::false_);
  return context.stmt(If{never, context.list({annotation}), {}}, annotation->offset);
}

// Inserts the annotations without a marker statement into the body, in their order, at the places that their lines
// show. If no code adds the index of an annotation to `__conditional_annotations__`, the annotation was in unreachable
// code, so it is written as `if False: x: T`.
void place_unmarked(Context& context, Statements& statements, const std::vector<DeferredAnnotation>& table) {
  std::size_t at = 0, inserted = 0;
  // Skip the stores that the compiler emits at the start of the body, such as `__module__ = __name__`; in a module, the
  // first of them is the store of the function `__annotate__`.
  if (!statements.empty() && marker(statements[0], StmtMarker::annotate)) at = 1;
  while (at < statements.size() && assigned_name(statements[at]).starts_with("__")) ++at;
  // In a class, annotations are inserted in front of the store of `__annotate__`, which is at the end of the body.
  std::size_t end = at;
  while (end < statements.size() && !marker(statements[end], StmtMarker::annotate)) ++end;
  std::map<int, std::size_t> marked;  // by annotation: the index in `statements` of the statement with its marker
  for (std::size_t index = 0; index < end; ++index)
    for_each_mark(statements[index], [&](int mark) { marked.emplace(mark, index); });
  for (const DeferredAnnotation& each : table) {
    if (each.index >= 0) {
      if (auto mark = marked.find(each.index); mark != marked.end()) {
        at = std::max(at, mark->second + inserted + 1);
        continue;
      }
      const std::uint32_t offset = at < statements.size() ? statements[at]->offset : 0;
      Stmt* annotation = context.stmt(AnnAssign{context.name(each.name), each.value, nullptr, true}, offset);
      statements.insert(statements.begin() + std::ptrdiff_t(at), never_reached(context, annotation));
      ++at, ++end, ++inserted;
      continue;
    }
    const std::int32_t line = each.value->line;
    // If an assignment to the annotated name is on the line of the annotation, the assignment and the annotation are
    // merged. If no assignment to the annotated name is on the line of the annotation, the annotation is inserted in
    // front of the first statement on a later line.
    std::size_t place = at;
    bool found = false;
    for (std::size_t next = at; next < end && !found; ++next) {
      const std::int32_t here = statements[next]->line;
      if (line >= 0 && here > line) break;
      place = line < 0 ? at : next + 1;
      const std::int32_t after = next + 1 < end ? statements[next + 1]->line : -1;
      found = assigned_name(statements[next]) == each.name && (after < 0 || after > line || after == here);
      if (found) place = next;
    }
    if (found) {
      auto* assign = as<Assign>(statements[place]);
      statements[place] = context.stmt(AnnAssign{context.name(each.name), each.value, assign->value, true},
                                       statements[place]->offset, statements[place]->line);
    } else {
      const std::uint32_t offset = place < statements.size() ? statements[place]->offset : 0;
      Stmt* made = context.stmt(AnnAssign{context.name(each.name), each.value, nullptr, true}, offset, line);
      statements.insert(statements.begin() + std::ptrdiff_t(place), made);
      ++end, ++inserted;
    }
    at = place + 1;
  }
}

// Adds `(_): None` at the end of the body, inside `if False:` if `is_conditional` is true. The statement `(_): None`
// stands in for an annotation of the source for which the compiler emitted no instructions.
Block with_unknown_annotation(Context& context, Block body, bool is_conditional) {
  const std::uint32_t offset = body.empty() ? 0 : body.back()->offset;
  Stmt* annotation = context.stmt(AnnAssign{context.name("_"), context.none(), nullptr, false}, offset);
  Statements whole(body.begin(), body.end());
  auto end = whole.end();
  // The stores that the compiler emits at the end of a body stay behind the annotation.
  auto is_own = [&](const Stmt* stmt) {
    const std::string_view name = assigned_name(stmt);
    return is<Return>(stmt) || name == "__static_attributes__" || name == "__classdictcell__";
  };
  while (end != whole.begin() && is_own(end[-1])) --end;
  whole.insert(end, is_conditional ? never_reached(context, annotation) : annotation);
  return context.arena.copy(whole);
}

// True if the code contains SETUP_ANNOTATIONS, which the compiler emits for a body with any annotated assignment, even
// if the assignment is unreachable.
bool sets_up_annotations(const Scope& scope) { return scope.cfg.ops.has<Op::setup_annotations_>(); }

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// True if a class that is nested in the code has a set `__conditional_annotations__`. The compiler adds a set to the
// class around such a class, too.
bool contains_set(const CodeObject& code) {
  return std::ranges::any_of(code.constants, [](const Constant& constant) {
    return constant.code && constant.code->name != "__annotate__" &&
           contains(constant.code->freevars, "__conditional_annotations__");
  });
}

// Adds `(_): None` to a body of 3.14 or later if the code of the body can only come from an annotation whose target is
// no simple name. The annotation in `o.a: T` is not evaluated, but makes a class keep its namespace in the cell
// `__classdict__`. A module with an annotation such as `o.a: T` creates the set `__conditional_annotations__`; a class
// creates this set only if the annotation is inside another statement.
Block show_unstored(Context& context, Block body, const Scope& scope, bool has_set) {
  const CodeObject& code = *scope.decoded.code;
  // A class also has the cell `__classdict__` if the class contains a function, or a lambda or comprehension that reads
  // the cell.
  auto names_class = [](const std::vector<std::string>& names) { return contains(names, "__classdict__"); };
  auto may_read_class = [&](const Constant& constant) {
    return constant.code &&
           (kind_of(*constant.code) != Scope::Kind::expression || names_class(constant.code->freevars));
  };
  const bool has_cell = scope.kind == Scope::Kind::class_body && names_class(code.cellvars) &&
                        std::ranges::none_of(code.constants, may_read_class);
  return has_set || has_cell ? with_unknown_annotation(context, body, has_set) : body;
}

// Inserts the annotations of 3.14 and later at their places, and removes the marker statements that show these places.
Block deferred(Context& context, Block body, const Scope& scope) {
  const std::vector<DeferredAnnotation>* table = nullptr;
  auto find = [&](Statements& statements) {
    for (Stmt* stmt : statements)
      if (auto* made = marker(stmt, StmtMarker::annotate)) table = &context.deferred[std::size_t(made->index)];
  };
  rewrite_blocks(context, body, find);
  // With `from __future__ import annotations`, the table of deferred annotations is empty.
  static const std::vector<DeferredAnnotation> none;
  if (!table) table = &none;
  Statements whole(body.begin(), body.end());
  place_unmarked(context, whole, *table);
  bool has_set = false;
  body = rewrite_blocks(context, context.arena.copy(whole), [&](Statements& statements) {
    Statements result;
    for (Stmt* stmt : statements) {
      if (marker(stmt, StmtMarker::annotate)) continue;
      auto* assign = as<Assign>(stmt);
      auto* empty = assign ? as<SetExpr>(assign->value) : nullptr;
      // The compiler generated the assignment to `__conditional_annotations__`, which is the set of the indices of the
      // annotations that were reached.
      if (empty && empty->elts.empty() && assigned_name(stmt) == "__conditional_annotations__") {
        has_set = true;
        continue;
      }
      auto* mark = marker(stmt, StmtMarker::annotated);
      if (!mark) {
        result.push_back(stmt);
        continue;
      }
      for (const DeferredAnnotation& each : *table)
        if (each.index == mark->index) {
          Stmt* made = annotated(context, result, each.name, each.value, *stmt);
          result.push_back(made);
          break;
        }
    }
    statements = std::move(result);
  });
  // Code with `from __future__ import annotations` has SETUP_ANNOTATIONS, which the caller handles.
  if (sets_up_annotations(scope)) return body;
  const bool needs_set = has_set && !contains_set(*scope.decoded.code) &&
                         std::ranges::none_of(*table, [](const auto& each) { return each.index >= 0; });
  return show_unstored(context, body, scope, needs_set);
}

// Merges the first `target = value; annotation` of a block, where the target is an attribute or a subscript, into
// `target: annotation = value`. Returns true if two statements of the block were merged.
bool annotate_target(Context& context, Statements& statements) {
  for (std::size_t at = 0; at + 1 < statements.size(); ++at) {
    auto* assign = as<Assign>(statements[at]);
    auto* dropped = as<ExprStmt>(statements[at + 1]);
    if (!assign || !dropped || assign->targets.size() != 1) continue;
    Expr* target = assign->targets[0];
    if (!is<Attribute>(target) && !is<Subscript>(target)) continue;
    statements[at] = context.stmt(AnnAssign{target, dropped->value, assign->value, false}, statements[at]->offset,
                                  statements[at]->line);
    statements.erase(statements.begin() + std::ptrdiff_t(at) + 1);
    return true;
  }
  return false;
}

// Changes a body that stores no annotation, so that the compiler emits SETUP_ANNOTATIONS for the body. Merges an
// assignment to an attribute or a subscript with the expression statement behind it, or adds `if False: (_): None` if
// the body has no pair of statements to merge.
Block show_setup(Context& context, Block body, bool as_text) {
  // With `from __future__ import annotations`, the annotation of an attribute is not evaluated, so no statement of the
  // tree contains the annotation.
  bool is_shown = false;
  if (!as_text)
    body = rewrite_blocks(context, body,
                          [&](Statements& statements) { is_shown = is_shown || annotate_target(context, statements); });
  if (is_shown) return body;
  return with_unknown_annotation(context, body, true);
}

}  // namespace

Block annotations(Context& context, Block body, const Scope& scope) {
  if (scope.kind != Scope::Kind::module && scope.kind != Scope::Kind::class_body) return body;
  if (dialect_of(scope.decoded.version).deferred_annotations) body = deferred(context, body, scope);
  // A body without SETUP_ANNOTATIONS has no annotations: its stores to `__annotations__` are assignments of the user.
  if (!sets_up_annotations(scope)) return body;
  bool as_text = (scope.decoded.code->flags & CodeObject::future_annotations) != 0;
  bool has_any = false;
  body = rewrite_blocks(context, body, [&](Statements& statements) {
    Statements result;
    for (Stmt* stmt : statements) {
      auto* assign = as<Assign>(stmt);
      auto* place = assign && assign->targets.size() == 1 ? as<Subscript>(assign->targets[0]) : nullptr;
      auto* table = place ? as<Name>(place->value) : nullptr;
      auto* key = place ? as<ConstantExpr>(place->slice) : nullptr;
      // With `from __future__ import annotations`, the compiler stores texts. A statement that stores another value is an assignment of the user.
      if (!table || table->id != "__annotations__" || !key || key->value->kind != Constant::Kind::string ||
          !lifting::is_name(key->value->text) || (as_text && !is_text(assign->value))) {
        result.push_back(stmt);
        continue;
      }
      Expr* annotation = as_text ? context.annotation(assign->value) : assign->value;
      Stmt* made = annotated(context, result, key->value->text, annotation, *stmt);
      result.push_back(made);
      has_any = true;
    }
    statements = std::move(result);
  });
  return has_any ? body : show_setup(context, body, as_text);
}

}  // namespace depyf
