#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "conditions/expression.h"
#include "depyf/conditions.h"
#include "support/words.h"

namespace depyf::conditions {
namespace {

using Kind = Expression::Kind;
// The premises that imply a fact; nothing if no premises imply it.
using Reasons = std::optional<std::vector<std::string>>;

constexpr std::string_view plain_tensors[] = {"torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter"};
constexpr std::string_view builtin_classes[] = {"int",   "float", "str",       "bool",  "dict",   "list",
                                                "tuple", "set",   "frozenset", "bytes", "complex"};

// A condition, split into its parts if it compares one expression with a literal.
struct Fact {
  std::string text;
  std::string subject, sign;  // empty if the condition is no comparison
  std::optional<Expression> literal;  // the right side, if it is a literal
};

// True if an expression is a literal, as Python's ast.literal_eval accepts it.
bool is_literal(const Expression& it) {
  if (it.is(Kind::number) || it.is(Kind::string) || it.is(Kind::bytes) || it.is(Kind::constant)) return true;
  if (it.is(Kind::unary)) return (it.text == "-" || it.text == "+") && it.parts[0].is(Kind::number);
  const bool is_display = it.is(Kind::tuple) || it.is(Kind::list) || it.is(Kind::set) || it.is(Kind::dict);
  return is_display && std::ranges::all_of(it.parts, is_literal);
}

// Returns the value of an integer with or without a sign; nothing for any other expression.
std::optional<std::int64_t> signed_integer(const Expression& it) {
  if (!it.is(Kind::unary)) return integer_value(it);
  const auto value = integer_value(it.parts[0]);
  if (!value) return std::nullopt;
  return it.text == "-" ? -*value : *value;
}

bool is_bool(const Expression& it) { return it.is(Kind::constant) && (it.text == "True" || it.text == "False"); }

// True if `one` and `two` are literals of the class `name` whose values can be compared by their texts or numbers.
bool are_comparable(std::string_view name, const Expression& one, const Expression& two) {
  if (name == "int") return signed_integer(one) && signed_integer(two);
  if (name == "bool") return is_bool(one) && is_bool(two);
  if (name == "str") return string_value(one) && string_value(two);
  return name == "bytes" && one.is(Kind::bytes) && two.is(Kind::bytes) && one.text.find('\\') == std::string::npos &&
         two.text.find('\\') == std::string::npos && one.text.starts_with("b'") && two.text.starts_with("b'");
}

bool compares(std::int64_t value, std::string_view sign, std::int64_t constant) {
  if (sign == "==") return value == constant;
  if (sign == "!=") return value != constant;
  if (sign == "<") return value < constant;
  if (sign == "<=") return value <= constant;
  if (sign == ">") return value > constant;
  return sign == ">=" && value >= constant;
}

// True if the comparison `value sign constant` of two comparable literals is true.
bool holds(const Expression& value, std::string_view sign, const Expression& constant) {
  const auto left = signed_integer(value), right = signed_integer(constant);
  if (left && right) return compares(*left, sign, *right);
  if (is_bool(value) && is_bool(constant)) return compares(value.text == "True", sign, constant.text == "True");
  return (sign == "==" && value.text == constant.text) || (sign == "!=" && value.text != constant.text);
}

// True if a bound of an integer implies another comparison of the same integer.
bool bound_implies(std::string_view known_sign, std::int64_t known, std::string_view sign, std::int64_t constant) {
  if (known_sign == ">" || known_sign == ">=") {
    const std::int64_t least = known + (known_sign == ">");
    return (sign == ">" || sign == ">=" || sign == "!=") && least >= constant + (sign != ">=");
  }
  if (known_sign == "<" || known_sign == "<=") {
    const std::int64_t greatest = known - (known_sign == "<");
    return (sign == "<" || sign == "<=" || sign == "!=") && greatest <= constant - (sign != "<=");
  }
  return false;
}

// Rewrites `x.size()[0]` to `x.size(0)`, so that all conditions on a size have the same text.
void unify_sizes(Expression& it) {
  for (Expression& part : it.parts) unify_sizes(part);
  if (!it.is(Kind::subscript) || !integer_value(it.parts[1])) return;
  const Expression& owner = it.parts[0];
  if (!owner.is(Kind::call) || owner.parts.size() != 1 || !owner.parts[0].is(Kind::attribute)) return;
  if (owner.parts[0].text != "size" && owner.parts[0].text != "stride") return;
  it = make(Kind::call, {}, {owner.parts[0], it.parts[1]});
}

std::string turned(std::string_view sign) {
  std::string result(sign);
  if (sign[0] == '<') result[0] = '>';
  if (sign[0] == '>') result[0] = '<';
  return result;
}

void add_comparison(const Expression& left, const std::string& sign, const Expression& right,
                    std::vector<Fact>& facts) {
  const std::string text = unparse(left) + " " + sign + " " + unparse(right);
  if (sign == "in" || sign == "not in") {
    facts.push_back({text, {}, {}, {}});
  } else if (is_literal(right)) {
    facts.push_back({text, unparse(left), sign, right});
  } else if (is_literal(left)) {
    const std::string other = turned(sign);
    facts.push_back({unparse(right) + " " + other + " " + unparse(left), unparse(right), other, left});
  } else {
    facts.push_back({text, unparse(left), sign, {}});
  }
}

void add_facts(const Expression& it, std::vector<Fact>& facts) {
  if (it.is(Kind::boolean) && it.text == "and") {
    for (const Expression& part : it.parts) add_facts(part, facts);
  } else if (it.is(Kind::comparison)) {
    for (std::size_t i = 0; i < it.operators.size(); ++i)
      add_comparison(it.parts[i], it.operators[i], it.parts[i + 1], facts);
  } else {
    facts.push_back({unparse(it), {}, {}, {}});
  }
}

// Returns the facts that a guard asserts; empty if the rules for implied guards do not cover the guard. The rules do
// not cover guards that only PyTorch's own object can check, because such a guard has no conditions. The rules do not
// cover guards on the state of the process either, because `__torch_function__` is enabled while PyTorch checks such a
// guard.
std::vector<Fact> facts_of(const Guard& guard) {
  std::vector<Fact> facts;
  if (guard.is_live || !guard.is_quiet) return facts;
  for (const std::string& condition : guard.conditions) {
    if (std::optional<Expression> tree = parse(condition)) {
      unify_sizes(*tree);
      add_facts(*tree, facts);
    } else {
      facts.push_back({condition, {}, {}, {}});
    }
  }
  return facts;
}

// Returns the text between the prefix `before` and the suffix `behind` if this text is one complete expression;
// otherwise nothing.
std::optional<std::string> argument(std::string_view text, std::string_view before, std::string_view behind) {
  if (text.size() <= before.size() + behind.size() || !text.starts_with(before) || !text.ends_with(behind))
    return std::nullopt;
  const std::string_view inside = text.substr(before.size(), text.size() - before.size() - behind.size());
  if (!parse(inside)) return std::nullopt;
  return std::string(inside);
}

// A call of a method, such as `x.size(0)`, split into its parts.
struct MethodCall {
  std::string owner, method, argument;
};

std::optional<MethodCall> method_call(std::string_view text) {
  const std::optional<Expression> tree = parse(text);
  if (!tree || !tree->is(Kind::call) || !tree->parts[0].is(Kind::attribute) || tree->parts.size() > 2)
    return std::nullopt;
  const Expression& function = tree->parts[0];
  return MethodCall{unparse(function.parts[0]), function.text,
                    tree->parts.size() == 2 ? unparse(tree->parts[1]) : std::string()};
}

// The facts that are asserted by the guards which have not been found redundant.
class Premises {
 public:
  explicit Premises(std::int64_t identity_of_none) : identity_of_none_(identity_of_none) {}

  void add(const std::vector<Fact>& facts) { change(facts, 1); }
  void remove(const std::vector<Fact>& facts) { change(facts, -1); }

  // Returns the premises that together imply all `facts`; nothing if one of the facts is not implied.
  Reasons imply_all(const std::vector<Fact>& facts) const {
    std::vector<std::string> reasons;
    for (const Fact& fact : facts) {
      const Reasons own = imply(fact);
      if (!own) return std::nullopt;
      for (const std::string& reason : *own)
        if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(reason);
    }
    return reasons;
  }

 private:
  void change(const std::vector<Fact>& facts, int by) {
    for (const Fact& fact : facts) {
      count_[fact.text] += by;
      if (!fact.literal) continue;
      std::vector<Fact>& known = of_subject_[fact.subject];
      if (std::ranges::find(known, fact.text, &Fact::text) == known.end()) known.push_back(fact);
    }
  }

  bool has(const std::string& text) const {
    const auto known = count_.find(text);
    return known != count_.end() && known->second > 0;
  }

  std::vector<const Fact*> facts_on(const std::string& subject) const {
    std::vector<const Fact*> facts;
    if (const auto known = of_subject_.find(subject); known != of_subject_.end())
      for (const Fact& fact : known->second)
        if (has(fact.text)) facts.push_back(&fact);
    return facts;
  }

  Reasons first(const std::vector<std::string>& texts) const {
    for (const std::string& text : texts)
      if (has(text)) return std::vector<std::string>{text};
    return std::nullopt;
  }

  Reasons plain_tensor(const std::string& subject) const {
    std::vector<std::string> texts;
    for (const std::string_view name : plain_tensors) texts.push_back("type(" + subject + ") is " + std::string(name));
    return first(texts);
  }

  Reasons imply(const Fact& fact) const {
    if (has(fact.text)) return std::vector<std::string>{fact.text};
    for (const auto rule : {&Premises::alternative, &Premises::presence, &Premises::singleton, &Premises::instance,
                            &Premises::key_count, &Premises::of_sizes, &Premises::by_values})
      if (Reasons reasons = (this->*rule)(fact)) return reasons;
    return std::nullopt;
  }

  // A disjunction `a or b` is implied if `a` is implied; `b` is not considered, because its evaluation may raise an
  // exception unless `a` is false.
  Reasons alternative(const Fact& fact) const {
    if (fact.text.find(" or ") == std::string::npos) return std::nullopt;
    const std::optional<Expression> tree = parse(fact.text);
    if (!tree || !tree->is(Kind::boolean) || tree->text != "or") return std::nullopt;
    std::vector<Fact> facts;
    add_facts(tree->parts[0], facts);
    return imply_all(facts);
  }

  // A value of a class other than NoneType is not None.
  Reasons presence(const Fact& fact) const {
    if (fact.sign != "is not" || !fact.literal || fact.literal->text != "None") return std::nullopt;
    std::vector<std::string> texts;
    for (const std::string_view name : builtin_classes) {
      texts.push_back("type(" + fact.subject + ") is " + std::string(name));
      texts.push_back("isinstance(" + fact.subject + ", " + std::string(name) + ")");
    }
    for (const char* value : {" is True", " is False"}) texts.push_back(fact.subject + value);
    if (Reasons known = first(texts)) return known;
    if (Reasons known = plain_tensor(fact.subject)) return known;
    for (const Fact* known : facts_on("id(" + fact.subject + ")"))
      if (known->sign == "==" && signed_integer(*known->literal) &&
          *signed_integer(*known->literal) != identity_of_none_)
        return std::vector<std::string>{known->text};
    return std::nullopt;
  }

  // `x is None` implies the class of x, as do `x is True` and `x is False`, because these objects have fixed classes.
  Reasons singleton(const Fact& fact) const {
    if (const auto subject = argument(fact.text, "type(", ") is bool"))
      return first({*subject + " is True", *subject + " is False"});
    if (const auto subject = argument(fact.text, "type(", ") is type(None)")) return first({*subject + " is None"});
    return std::nullopt;
  }

  Reasons instance(const Fact& fact) const {
    for (const std::string kind : {"dict", "list", "tuple"})
      if (const auto subject = argument(fact.text, "isinstance(", ", " + kind + ")"))
        return first({"type(" + *subject + ") is " + kind});
    return std::nullopt;
  }

  // The list of the keys of a dict determines the number of its keys. The list of the keys does not imply that a
  // lookup finds a key, because an object that equals the key can have another hash.
  Reasons key_count(const Fact& fact) const {
    const auto subject = argument(fact.subject, "dict.__len__(", ")");
    if (!subject || fact.sign != "==" || !fact.literal) return std::nullopt;
    const auto count = signed_integer(*fact.literal);
    for (const Fact* known : facts_on("list(dict.keys(" + *subject + "))"))
      if (known->sign == "==" && known->literal->is(Kind::list) && count &&
          static_cast<std::int64_t>(known->literal->parts.size()) == *count)
        return std::vector<std::string>{known->text};
    return std::nullopt;
  }

  // The tuple of all sizes of a tensor determines each size, the number of dimensions, and the number of elements.
  Reasons of_sizes(const Fact& fact) const {
    const auto constant = fact.literal ? signed_integer(*fact.literal) : std::nullopt;
    const auto call = constant ? method_call(fact.subject) : std::nullopt;
    Reasons reasons = call ? plain_tensor(call->owner) : std::nullopt;
    if (!reasons) return std::nullopt;
    for (const Fact* known : facts_on(call->owner + (call->method == "stride" ? ".stride()" : ".size()"))) {
      if (known->sign != "==" || !known->literal->is(Kind::tuple)) continue;
      const auto value = from_sizes(*call, known->literal->parts);
      if (!value || !compares(*value, fact.sign, *constant)) continue;
      reasons->push_back(known->text);
      return reasons;
    }
    return std::nullopt;
  }

  // Returns the result of a method call on a tensor with the given sizes or strides; nothing if `sizes` does not
  // determine the result.
  static std::optional<std::int64_t> from_sizes(const MethodCall& call, const std::vector<Expression>& sizes) {
    std::int64_t product = 1;
    for (const Expression& size : sizes) {
      const auto value = signed_integer(size);
      if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
    }
    if (call.argument.empty()) {
      if (call.method == "dim") return static_cast<std::int64_t>(sizes.size());
      return call.method == "numel" ? std::optional(product) : std::nullopt;
    }
    if (call.method != "size" && call.method != "stride") return std::nullopt;
    const std::optional<Expression> tree = parse(call.argument);
    const std::int64_t dimension = tree ? integer_value(*tree).value_or(-1) : -1;
    const bool is_item = dimension >= 0 && dimension < static_cast<std::int64_t>(sizes.size());
    return is_item ? signed_integer(sizes[static_cast<std::size_t>(dimension)]) : std::nullopt;
  }

  // Returns the premises if the known value of an expression, or a known bound of an integer, implies a fact about
  // the same expression; otherwise nothing.
  Reasons by_values(const Fact& fact) const {
    if (!fact.literal || fact.sign == "is" || fact.sign == "is not") return std::nullopt;
    Reasons integer = integer_evidence(fact.subject);
    std::string kind;
    for (const std::string name : {"int", "str", "bool", "bytes"})
      if (kind.empty() && has("type(" + fact.subject + ") is " + name)) kind = name;
    const std::vector<const Fact*> known = facts_on(fact.subject);
    for (const Fact* premise : known) {
      if (premise->sign != "==") continue;
      const bool is_of_kind = !kind.empty() && are_comparable(kind, *fact.literal, *premise->literal);
      const bool is_integer = integer && are_comparable("int", *fact.literal, *premise->literal);
      if ((!is_of_kind && !is_integer) || !holds(*premise->literal, fact.sign, *fact.literal)) continue;
      std::vector<std::string> reasons =
          is_of_kind ? std::vector<std::string>{"type(" + fact.subject + ") is " + kind} : *integer;
      reasons.push_back(premise->text);
      return reasons;
    }
    const auto constant = signed_integer(*fact.literal);
    if (!integer || !constant) return std::nullopt;
    for (const Fact* premise : known) {
      const auto bound = signed_integer(*premise->literal);
      if (!bound || !bound_implies(premise->sign, *bound, fact.sign, *constant)) continue;
      integer->push_back(premise->text);
      return integer;
    }
    return std::nullopt;
  }

  // Returns the premises which imply that `subject` is an int if its evaluation succeeds; nothing if it is unknown
  // whether `subject` is an int.
  Reasons integer_evidence(const std::string& subject) const {
    if (Reasons known = first({"type(" + subject + ") is int"})) return known;
    if (argument(subject, "len(", ")") || argument(subject, "dict.__len__(", ")")) return std::vector<std::string>();
    const auto call = method_call(subject);
    if (!call) return std::nullopt;
    const bool is_size = (call->method == "size" || call->method == "stride") && !call->argument.empty() &&
                         std::ranges::all_of(call->argument, [](char c) { return c >= '0' && c <= '9'; });
    const bool is_count = (call->method == "dim" || call->method == "numel") && call->argument.empty();
    return is_size || is_count ? plain_tensor(call->owner) : std::nullopt;
  }

  std::int64_t identity_of_none_;
  std::unordered_map<std::string, int> count_;  // maps the text of a fact to the number of guards that assert it
  // Maps an expression to the facts that compare it with a literal.
  std::unordered_map<std::string, std::vector<Fact>> of_subject_;
};

}  // namespace

std::vector<Redundant> redundant(const std::vector<Guard>& guards, std::int64_t identity_of_none) {
  std::vector<std::vector<Fact>> facts;
  Premises premises(identity_of_none);
  for (const Guard& guard : guards) {
    facts.push_back(facts_of(guard));
    premises.add(facts.back());
  }
  std::vector<Redundant> result;
  for (std::size_t i = guards.size(); i-- > 0;) {
    if (facts[i].empty()) continue;
    premises.remove(facts[i]);
    if (Reasons reasons = premises.imply_all(facts[i])) result.push_back({static_cast<int>(i), std::move(*reasons)});
    else premises.add(facts[i]);
  }
  std::ranges::reverse(result);
  return result;
}

}  // namespace depyf::conditions
