// Compares two code objects by walking their control flow graphs in step. A node of a graph is one instruction. Plain
// jumps are followed and not compared, because the layout of blocks does not matter.
#include "depyf/compare.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

#include "decode/class_details.h"
#include "decode/decode.h"
#include "decode/op.h"
#include "decode/op_info.h"
#include "depyf/code_object.h"
#include "prove/symbols.h"
#include "support/deep_stack.h"
#include "support/table.h"

namespace depyf {
namespace {

// One instruction in the form in which it is compared.
struct CompareNode {
  Op op = Op::nop_;
  Symbol value = 0;             // the argument: a number, a name or a constant
  std::int32_t detail = 0;      // the second argument, or the kind of a constant
  int first = -1, second = -1;  // the successors, or -1; in a POP_JUMP_IF_x, `first` is taken if the test is true
  int handler = -1;             // the index of the protected range around the instruction, or -1
  const CodeObject* child = nullptr;
};

// The flags that change how a code object runs; flags that only record how the code object was compiled are not
// compared.
constexpr std::uint32_t compared_flags =
    CodeObject::optimized | CodeObject::new_locals | CodeObject::varargs | CodeObject::varkeywords |
    CodeObject::nested | CodeObject::generator | CodeObject::coroutine | CodeObject::iterable_coroutine |
    CodeObject::async_generator | CodeObject::future_annotations | CodeObject::method;

bool ends(Op op) { return leaves_function(op) || op == Op::unreachable_; }

// The control flow graph of one code object, with equivalent instructions normalised to one form.
class CompareGraph {
 public:
  CompareGraph(const CodeObject& code, Symbols& symbols) : code_(code), symbols_(symbols) {
    Result<DecodedCode> decoded = decode(code);
    if (!decoded) return;
    decoded_ = std::move(*decoded);
    class_details_ = class_details(*decoded_);
    for (std::size_t at = 0; at < decoded_->instructions.size(); ++at) nodes.push_back(node(at));
    for (std::size_t range = 0; range < decoded_->ranges.size(); ++range) {
      const ProtectedRange& info = decoded_->ranges[range];
      for (int at = info.begin; at < info.end && at < int(nodes.size()); ++at)
        if (nodes[at].handler < 0) nodes[at].handler = int(range);
    }
    shorten_tests();
  }

  bool valid() const { return decoded_.has_value(); }
  const ProtectedRange& range(int index) const { return decoded_->ranges[index]; }
  std::uint32_t offset(int at) const {
    return at >= 0 && at < int(nodes.size()) ? decoded_->instructions[at].offset : 0;
  }

  // Follows plain jumps and NOPs from `at`, and returns the first instruction of another kind; -1 if the code ends
  // before an instruction of another kind. For an endless loop of jumps, the function returns the last jump of the
  // loop, because a signal handler may raise an exception at this jump.
  int resolve(int at) const {
    for (std::size_t steps = 0; at >= 0 && at < int(nodes.size()); ++steps) {
      if (nodes[at].op != Op::nop_ && nodes[at].op != Op::jump_) return at;
      if (steps > nodes.size()) return last_of_loop(at);
      at = nodes[at].first;
    }
    return -1;
  }

  // Returns the code objects that reachable instructions load, in the order of the code.
  std::vector<const CodeObject*> children() const {
    std::vector<const CodeObject*> found;
    Table<bool> seen(nodes.size());
    std::vector<int> todo{0};
    while (!todo.empty()) {
      const int at = todo.back();
      todo.pop_back();
      if (at < 0 || at >= int(nodes.size()) || seen[at]) continue;
      seen[at] = true;
      todo.insert(todo.end(), {nodes[at].first, nodes[at].second});
      if (nodes[at].handler >= 0) todo.push_back(range(nodes[at].handler).target);
    }
    for (std::size_t at = 0; at < nodes.size(); ++at)
      if (const CodeObject* child = nodes[at].child;
          seen[at] && child && std::find(found.begin(), found.end(), child) == found.end())
        found.push_back(child);
    return found;
  }

  Table<CompareNode> nodes;

 private:
  // Returns the last instruction of an endless loop of jumps.
  int last_of_loop(int at) const {
    int last = at;
    for (int next = nodes[at].first; next != at; next = nodes[next].first) last = std::max(last, next);
    return last;
  }

  // Values of `detail` for a load of a constant; they distinguish constants of different meaning that have equal
  // symbols.
  enum ConstantDetail : std::int32_t { code_object = 1, line_of_class, names_of_class, common_constant };

  CompareNode node(std::size_t at) const {
    const Instruction& it = decoded_->instructions[at];
    CompareNode made{.op = it.op, .value = symbols_.integer(it.arg), .detail = it.aux};
    made.first = ends(it.op) ? -1 : int(at) + 1;
    made.second = it.target;
    // Jumps on true and on false, or on None and not None, are normalised to one form: the successor for a true test
    // comes first.
    if (it.op == Op::jump_) {
      made.first = it.target, made.second = -1;
      made.value = 0, made.detail = 0;
    } else if (it.op == Op::pop_jump_if_false_) {
      made.op = Op::pop_jump_if_true_;
    } else if (it.op == Op::pop_jump_if_not_none_) {
      made.op = Op::pop_jump_if_none_;
    } else if (it.op == Op::pop_jump_if_true_ || it.op == Op::pop_jump_if_none_) {
      std::swap(made.first, made.second);
    } else if (it.op == Op::load_const_) {
      const int beyond = it.arg - int(code_.constants.size());
      // Indices past the constants of the code object stand for the constants that all code of 3.15 and later shares.
      if (beyond < 0) constant(made, code_.constants[std::size_t(it.arg)], at);
      else made.value = symbols_.integer(beyond), made.detail = common_constant;
    } else if (it.op == Op::load_int_) {
      made.op = Op::load_const_;
      if (int(at) + 1 == class_details_.line) made.value = 0, made.detail = line_of_class;
    } else if (it.op == Op::resume_) {
      made.value = 0;
    } else if (it.op == Op::call_ && it.aux >= 0) {
      made.detail = symbols_.constant(code_.constants[std::size_t(it.aux)]);
    } else if (uses_name(it.op)) {
      made.value = symbols_.string(code_.names[std::size_t(it.arg)]);
    } else if (uses_local(it.op)) {
      made.value = symbols_.string(decoded_->localsplus[it.arg]);
    }
    return made;
  }

  // Fills in a node that loads a constant. The symbol of a nested code object is only its name, because `compare_trees`
  // compares the content of nested code objects.
  void constant(CompareNode& node, const Constant& value, std::size_t at) const {
    node.detail = 0;
    if (value.kind == Constant::Kind::code) {
      node.child = value.code.get();
      node.value = symbols_.string(value.code->name), node.detail = code_object;
      return;
    }
    node.value = symbols_.constant(value);
    // The source does not determine two facts that the compiler stores in a class: `__firstlineno__`, and the order of
    // the names in `__static_attributes__`.
    if (int(at) + 1 == class_details_.line) {
      node.value = 0, node.detail = line_of_class;
    } else if (int(at) + 1 == class_details_.attributes && value.kind == Constant::Kind::tuple) {
      Constant sorted = value;
      std::sort(sorted.items.begin(), sorted.items.end(),
                [](const Constant& a, const Constant& b) { return a.text < b.text; });
      std::string all;
      for (const Constant& item : sorted.items) all += item.text + '\n';
      node.value = symbols_.string(all), node.detail = names_of_class;
    }
  }

  // Replaces each JUMP_IF_TRUE_OR_POP or JUMP_IF_FALSE_OR_POP that jumps to a second test of the same value by a jump
  // to the place where the second test leads. CPython 3.10 threads such jumps only if both are on one line, so the
  // graphs of both code objects are brought into the threaded form.
  void shorten_tests() {
    auto or_pop = [](Op op) { return op == Op::jump_if_true_or_pop_ || op == Op::jump_if_false_or_pop_; };
    for (int at = int(nodes.size()) - 1; at >= 0; --at) {
      CompareNode& test = nodes[at];
      for (int steps = 0; or_pop(test.op) && steps < 1000; ++steps) {
        const bool holds = test.op == Op::jump_if_true_or_pop_;
        const int to = resolve(test.second);
        if (to < 0 || to == at) break;
        const CompareNode& target = nodes[to];
        if (target.op == test.op) {
          test.second = target.second;
          continue;
        }
        if (target.op != Op::pop_jump_if_true_ && !or_pop(target.op)) break;
        const int fall = test.first;
        const int jump = or_pop(target.op) ? target.first : holds ? target.first : target.second;
        test.op = Op::pop_jump_if_true_, test.value = symbols_.integer(0), test.detail = 0;
        test.first = holds ? jump : fall, test.second = holds ? fall : jump;
      }
    }
  }

  const CodeObject& code_;
  Symbols& symbols_;
  std::optional<DecodedCode> decoded_;
  ClassDetails class_details_;
};

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the field in which two code objects differ; nothing if all compared fields are equal.
std::optional<std::string> compare_fields(const CodeObject& one, const CodeObject& two) {
  if (one.version != two.version) return "the version of Python";
  if (one.name != two.name || one.qualname != two.qualname) return "the name";
  if ((one.flags & compared_flags) != (two.flags & compared_flags)) return "the flags";
  auto arguments = [](const CodeObject& code) {
    const std::int64_t count = std::clamp<std::int64_t>(code.argument_count(), 0, std::int64_t(code.varnames.size()));
    return std::vector<std::string>(code.varnames.begin(), code.varnames.begin() + count);
  };
  if (one.argcount != two.argcount || one.posonlyargcount != two.posonlyargcount ||
      one.kwonlyargcount != two.kwonlyargcount || arguments(one) != arguments(two))
    return "the parameters";
  if (sorted(one.freevars) != sorted(two.freevars)) return "the free variables";
  if (sorted(one.cellvars) != sorted(two.cellvars)) return "the cell variables";
  return std::nullopt;
}

// Returns the first difference between two code objects, leaving aside the code objects nested in them; nothing if the
// two code objects are equal.
std::optional<Difference> compare_code(const CodeObject& one, const CodeObject& two, const CompareGraph& left,
                                       const CompareGraph& right) {
  if (auto field = compare_fields(one, two)) return Difference{&one, *field, 0};
  if (!left.valid() || !right.valid()) {
    if (one.bytecode == two.bytecode) return std::nullopt;
    return Difference{&one, "bytecode that cannot be read", 0};
  }
  std::vector<std::pair<int, int>> todo{{0, 0}};
  std::set<std::pair<int, int>> seen;
  while (!todo.empty()) {
    auto [a, b] = todo.back();
    todo.pop_back();
    a = left.resolve(a), b = right.resolve(b);
    if (!seen.emplace(a, b).second || (a < 0 && b < 0)) continue;
    if (a < 0 || b < 0) return Difference{&one, "where control goes", left.offset(std::max(a, 0))};
    const CompareNode &m = left.nodes[a], &n = right.nodes[b];
    if (m.op != n.op || m.value != n.value || m.detail != n.detail) {
      std::string what(op_name(m.op));
      if (m.op != n.op) what += " became " + std::string(op_name(n.op));
      return Difference{&one, what, left.offset(a)};
    }
    if ((m.handler < 0) != (n.handler < 0)) return Difference{&one, "what is protected", left.offset(a)};
    if (m.handler >= 0) {
      const ProtectedRange &x = left.range(m.handler), &y = right.range(n.handler);
      if (x.depth != y.depth || x.lasti != y.lasti) return Difference{&one, "what is protected", left.offset(a)};
      todo.emplace_back(x.target, y.target);
    }
    if ((m.first < 0) != (n.first < 0) || (m.second < 0) != (n.second < 0))
      return Difference{&one, "where control goes", left.offset(a)};
    if (m.first >= 0) todo.emplace_back(m.first, n.first);
    if (m.second >= 0) todo.emplace_back(m.second, n.second);
  }
  return std::nullopt;
}

// Reports a code object that has no counterpart, and all code objects in it.
void lost(const CodeObject& code, Symbols& symbols, std::vector<Difference>& found) {
  found.push_back({&code, "the whole code object is lost", 0});
  for (const CodeObject* child : CompareGraph(code, symbols).children()) lost(*child, symbols, found);
}

// Compares two code objects and the pairs of code objects nested in them.
void compare_trees(const CodeObject& one, const CodeObject& two, Symbols& symbols, std::vector<Difference>& found,
                   int depth) {
  // The limit bounds the recursion for hostile files, in which code objects may nest very deep.
  if (depth > 500) {
    found.push_back({&one, "nested too deeply to compare", 0});
    return;
  }
  const CompareGraph left(one, symbols), right(two, symbols);
  if (auto difference = compare_code(one, two, left, right)) found.push_back(*difference);
  // Nested code objects are paired by name. Nested code objects with the same name are paired in the order in which the
  // code loads them.
  std::map<std::string_view, std::vector<const CodeObject*>> others;
  for (const CodeObject* child : right.children()) others[child->name].push_back(child);
  std::map<std::string_view, std::size_t> next;
  for (const CodeObject* child : left.children()) {
    const auto& same = others[child->name];
    std::size_t& at = next[child->name];
    if (at < same.size()) compare_trees(*child, *same[at++], symbols, found, depth + 1);
    else lost(*child, symbols, found);
  }
}

}  // namespace

std::vector<Difference> compare(const CodeObject& one, const CodeObject& two) {
  return with_deep_stack([&] {
    std::vector<Difference> found;
    Symbols symbols;
    compare_trees(one, two, symbols, found, 0);
    return found;
  });
}

}  // namespace depyf
