// depyf-tree-mutants: makes single mutants of decompiled syntax trees, each of which the gate must refuse.
//
//   depyf-tree-mutants COUNT SEED FILE.pyc...
//
// Prints each accepted mutant, which either has the same meaning as the original or reveals an error in the gate, and
// the numbers of tried and refused mutants of each kind.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ast/equal.h"
#include "ast/visit.h"
#include "depyf/code_object.h"
#include "depyf/load.h"
#include "gate/finished_tree.h"
#include "gate/gate.h"
#include "print/print.h"

namespace depyf {
namespace {

using namespace ast;

struct Mutation {
  std::string kind, what;
  std::function<void()> apply, undo;
  const Stmt* place = nullptr;
};

// Collects all single changes of a tree, each of which usually changes the tree's meaning.
class Sites {
 public:
  explicit Sites(Context& context) : context_(context) {}

  std::vector<Mutation> of(Block& body) {
    visit_block(body);
    return std::move(mutations_);
  }

 private:
  template <class T>
  void change(std::string kind, std::string what, T& slot, T changed) {
    const T before = slot;
    mutations_.push_back({std::move(kind), std::move(what), [&slot, changed] { slot = changed; },
                          [&slot, before] { slot = before; }, place_});
  }

  void rename(std::string kind, std::string_view& name) {
    if (name.empty() || name.starts_with(".")) return;
    const std::string_view changed = context_.arena.copy(std::string(name) + "_x");
    change(std::move(kind), std::string(name) + " to " + std::string(changed), name, changed);
  }

  Expr* negated(Expr* test) { return context_.expr(UnaryExpr{UnaryOp::not_, test}); }

  void constant(ConstantExpr& node) {
    Constant changed = *node.value;
    switch (changed.kind) {
      case Constant::Kind::string:
      case Constant::Kind::bytes: changed.text += "x"; break;
      case Constant::Kind::integer:
        if (changed.text.size() > 9 || changed.text.starts_with("0x")) return;
        changed.text = std::to_string(std::stol(changed.text) + 1);
        break;
      case Constant::Kind::real: changed.real += 1; break;
      case Constant::Kind::true_: changed.kind = Constant::Kind::false_; break;
      case Constant::Kind::false_: changed.kind = Constant::Kind::true_; break;
      case Constant::Kind::none: changed.kind = Constant::Kind::ellipsis; break;
      case Constant::Kind::tuple: changed.items.emplace_back(); break;
      default: return;
    }
    context_.constants.push_back(std::move(changed));
    change("constant", "", node.value, static_cast<const Constant*>(&context_.constants.back()));
  }

  template <class T>
  void order(const char* kind, List<T> items) {
    for (std::size_t i = 0; i + 1 < items.size(); ++i) {
      if constexpr (std::is_same_v<T, Expr*> || std::is_same_v<T, Stmt*>)
        if (equal(items[i], items[i + 1])) continue;
      auto swap = [items, i] { std::swap(items[i], items[i + 1]); };
      mutations_.push_back({kind, "", swap, swap, place_});
    }
  }

  void arguments(const Arguments* args) {
    if (!args) return;
    auto* own = const_cast<Arguments*>(args);
    for (List<Arg> list : {own->posonly, own->args, own->kwonly})
      for (Arg& arg : list) rename("parameter", arg.name);
    if (!own->defaults.empty()) change("default", "one less", own->defaults, own->defaults.subspan(1));
    for (Expr* value : own->defaults) visit(value);
    for (Expr* value : own->kw_defaults) visit(value);
  }

  void visit(Expr* expr) {
    if (!expr) return;
    if (auto* node = as<Name>(expr)) rename("name", node->id);
    if (auto* node = as<ConstantExpr>(expr)) constant(*node);
    if (auto* node = as<Attribute>(expr)) rename("attribute", node->attr);
    if (auto* node = as<BinOp>(expr)) {
      change("operator", "", node->op, node->op == BinaryOp::add ? BinaryOp::subtract : BinaryOp::add);
      mutations_.push_back({"order", "operands", [node] { std::swap(node->left, node->right); },
                            [node] { std::swap(node->left, node->right); }, place_});
    }
    if (auto* node = as<UnaryExpr>(expr))
      change("operator", "", node->op, node->op == UnaryOp::not_ ? UnaryOp::negative : UnaryOp::not_);
    if (auto* node = as<BoolOp>(expr)) {
      change("operator", "and, or", node->is_or, !node->is_or);
      order("order", node->values);
    }
    if (auto* node = as<Compare>(expr))
      for (CompareOp& op : node->ops) {
        const auto next = static_cast<CompareOp>((static_cast<int>(op) + 1) % 10);
        change("operator", "comparison", op, next);
      }
    if (auto* node = as<IfExp>(expr)) {
      change("branch", "conditional", node->test, negated(node->test));
    }
    if (auto* node = as<Call>(expr)) {
      order("order", node->args);
      order("order", node->keywords);
      if (!node->args.empty()) change("argument", "one less", node->args, node->args.first(node->args.size() - 1));
      for (Keyword& keyword : node->keywords) rename("keyword", keyword.arg);
    }
    if (auto* node = as<Tuple>(expr)) order("order", node->elts);
    if (auto* node = as<ListExpr>(expr)) order("order", node->elts);
    if (auto* node = as<Dict>(expr)) order("order", node->values);
    if (auto* node = as<FormattedValue>(expr))
      change("conversion", "", node->conversion, node->conversion == 'r' ? 's' : 'r');
    if (auto* node = as<Lambda>(expr)) arguments(node->args);
    if (auto* node = as<ComprehensionExpr>(expr))
      for (Comprehension& each : node->generators) {
        for (Expr*& test : each.ifs) change("branch", "comprehension", test, negated(test));
        if (!each.ifs.empty()) change("branch", "comprehension without", each.ifs, each.ifs.subspan(1));
      }
    for_each_child(expr, [&](Expr*& child) { visit(child); });
  }

  void pattern(Pattern* pattern) {
    if (!pattern) return;
    auto all = [&](List<Pattern*> list) {
      for (Pattern* each : list) this->pattern(each);
    };
    if (auto* node = as<MatchValue>(pattern)) visit(node->value);
    if (auto* node = as<MatchSequence>(pattern)) order("order", node->patterns), all(node->patterns);
    if (auto* node = as<MatchMapping>(pattern)) {
      rename("target", node->rest);
      all(node->patterns);
    }
    if (auto* node = as<MatchClass>(pattern)) {
      visit(node->cls);
      for (std::string_view& attribute : node->kwd_attrs) rename("attribute", attribute);
      all(node->patterns);
      all(node->kwd_patterns);
    }
    if (auto* node = as<MatchStar>(pattern)) rename("target", node->name);
    if (auto* node = as<MatchAs>(pattern)) rename("target", node->name), this->pattern(node->pattern);
    if (auto* node = as<MatchOr>(pattern)) all(node->patterns);
  }

  void statement(Stmt* stmt) {
    if (auto* node = as<FunctionDef>(stmt)) {
      rename("target", node->name);
      arguments(node->args);
      if (!node->decorators.empty()) change("decorator", "one less", node->decorators, node->decorators.subspan(1));
      visit_block(node->body);
    }
    if (auto* node = as<ClassDef>(stmt)) {
      rename("target", node->name);
      order("order", node->bases);
      visit_block(node->body);
    }
    if (auto* node = as<Return>(stmt); node && node->value && !is_none(node->value))
      change("statement", "return without a value", node->value, static_cast<Expr*>(nullptr));
    if (auto* node = as<Assign>(stmt)) order("order", node->targets);
    if (auto* node = as<AugAssign>(stmt))
      change("operator", "in place", node->op, node->op == BinaryOp::add ? BinaryOp::subtract : BinaryOp::add);
    if (auto* node = as<For>(stmt); node && !node->orelse.empty())
      change("branch", "for without else", node->orelse, Block{});
    if (auto* node = as<While>(stmt)) change("branch", "while", node->test, negated(node->test));
    if (auto* node = as<If>(stmt)) {
      change("branch", "if", node->test, negated(node->test));
      if (!node->orelse.empty()) change("branch", "if without else", node->orelse, Block{});
    }
    if (auto* node = as<With>(stmt)) {
      order("order", node->items);
      for (WithItem& item : node->items)
        if (item.optional_vars) change("target", "with", item.optional_vars, static_cast<Expr*>(nullptr));
    }
    if (auto* node = as<Match>(stmt))
      for (MatchCase& each : node->cases) {
        pattern(each.pattern);
        if (each.guard) change("branch", "guard", each.guard, negated(each.guard));
      }
    if (auto* node = as<Raise>(stmt); node && node->cause)
      change("statement", "raise without its cause", node->cause, static_cast<Expr*>(nullptr));
    if (auto* node = as<Try>(stmt)) {
      for (ExceptHandler& handler : node->handlers) {
        rename("handler", handler.name);
        if (handler.type) change("handler", "all", handler.type, static_cast<Expr*>(nullptr));
        visit_block(handler.body);
      }
      order("handler", node->handlers);
      if (node->handlers.size() > 1)
        change("handler", "one less", node->handlers, node->handlers.first(node->handlers.size() - 1));
      if (!node->finalbody.empty() && !node->handlers.empty())
        change("handler", "no finally", node->finalbody, Block{});
      if (!node->orelse.empty() && !node->handlers.empty()) change("handler", "no else", node->orelse, Block{});
    }
    if (auto* node = as<Import>(stmt))
      for (Alias& alias : node->names) rename("target", alias.name);
    if (auto* node = as<ImportFrom>(stmt))
      for (Alias& alias : node->names)
        if (alias.name != "*") rename("target", alias.asname.empty() ? alias.name : alias.asname);
    if (is<Break>(stmt)) change("statement", "break", stmt->node, Stmt::Node(Continue{}));
    if (is<Continue>(stmt)) change("statement", "continue", stmt->node, Stmt::Node(Break{}));
    if (auto* node = as<Global>(stmt)) change("scope", "no global", node->names, List<std::string_view>{});
    if (auto* node = as<Nonlocal>(stmt)) change("scope", "no nonlocal", node->names, List<std::string_view>{});
    for_each_expr(stmt, [&](Expr*& expr) { visit(expr); });
  }

  void visit_block(Block& block) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      place_ = block[i];
      statement(block[i]);
      for_each_block(block[i], [&](Block& inner) { visit_block(inner); });
      place_ = block[i];
      if (is<Pass>(block[i]) || is<Comment>(block[i])) continue;
      Stmt*& slot = block[i];
      change("statement", "left out", slot, context_.stmt(Pass{}));
      // `global` and `nonlocal` statements are not reordered, because they compile to no code, so that the gate cannot
      // see their position.
      const auto orders = [](const Stmt* stmt) {
        return !is<Comment>(stmt) && !is<Global>(stmt) && !is<Nonlocal>(stmt);
      };
      if (i + 1 < block.size() && orders(block[i]) && orders(block[i + 1])) order("order", block.subspan(i, 2));
    }
  }

  Context& context_;
  std::vector<Mutation> mutations_;
  const Stmt* place_ = nullptr;
};

struct Tally {
  long tried = 0, refused = 0;
};

std::size_t proved_count(const std::vector<CodeProof>& proofs) {
  return static_cast<std::size_t>(std::ranges::count_if(proofs, [](const CodeProof& proof) { return proof.proved; }));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Prints the first line in which a mutation changed the text of a statement, before and after the mutation.
void print_changed_lines(const std::string& before, const std::string& after) {
  const auto [one, two] = std::ranges::mismatch(before, after);
  const std::size_t equal_part = static_cast<std::size_t>(one - before.begin());
  const std::size_t line = equal_part == 0 ? 0 : before.rfind('\n', equal_part - 1) + 1;
  if (before == after) return;
  std::printf("  - %s\n  + %s\n", first_line(before.substr(line)).c_str(), first_line(after.substr(line)).c_str());
}

void try_file(const char* path, const CodeObject& code, const Options& options, long wanted, std::mt19937& random,
              std::map<std::string, Tally>& tallies) {
  with_finished_tree(code, options, [&](Context& context, Block body, bool is_module) {
    context.arena.set_limit(Arena::no_limit);
    const std::size_t proved = proved_count(prove_tree(body, code, is_module, options));
    std::vector<Mutation> mutations = Sites(context).of(body);
    std::ranges::shuffle(mutations, random);
    for (std::size_t i = 0; i < mutations.size() && wanted > 0; ++i, --wanted) {
      Mutation& mutation = mutations[i];
      Stmt* place[] = {const_cast<Stmt*>(mutation.place)};
      const std::string before = print_block(place, code.version).source;
      mutation.apply();
      const std::string after = print_block(place, code.version).source;
      const bool refused = proved_count(prove_tree(body, code, is_module, options)) < proved;
      mutation.undo();
      Tally& tally = tallies[mutation.kind];
      ++tally.tried;
      tally.refused += refused;
      if (refused) continue;
      std::printf("accepted: %s: %s: %s in: %s\n", path, mutation.kind.c_str(), mutation.what.c_str(),
                  first_line(before).c_str());
      print_changed_lines(before, after);
    }
  });
}

int run(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "depyf-tree-mutants COUNT SEED FILE.pyc...\n");
    return 2;
  }
  const long count = std::stol(argv[1]);
  std::mt19937 random(static_cast<unsigned>(std::stoul(argv[2])));
  const int files = argc - 3;
  std::map<std::string, Tally> tallies;
  for (int i = 3; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const LoadedPyc loaded = load_pyc(bytes);
    if (!loaded.code) continue;
    Options options;
    options.limits = Limits::of_file(bytes.size());
    try_file(argv[i], *loaded.code, options, (count + files - 1) / files, random, tallies);
  }
  Tally all;
  for (const auto& [kind, tally] : tallies) {
    std::printf("%-12s %6ld of %6ld refused\n", kind.c_str(), tally.refused, tally.tried);
    all.tried += tally.tried;
    all.refused += tally.refused;
  }
  std::printf("%ld of %ld mutants refused\n", all.refused, all.tried);
  return 0;
}

}  // namespace
}  // namespace depyf

int main(int argc, char** argv) { return depyf::run(argc, argv); }
