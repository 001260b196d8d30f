#include <algorithm>
#include <array>
#include <utility>

#include "conditions/expression.h"
#include "conditions/scanner.h"
#include "support/words.h"

namespace depyf::conditions {
namespace {

using Kind = Expression::Kind;

// The maximum nesting of brackets and prefix operators; each level takes about a dozen stack frames.
constexpr int nesting_max = 40;
// The maximum number of operators in one chain, or of attributes, subscripts and calls in one chain. Each operator,
// attribute, subscript or call of a chain adds a level to the tree.
constexpr int chain_max = 200;
constexpr std::size_t text_max = std::size_t{1} << 20;  // the maximum length of an expression in bytes

// The left-associative binary operators, grouped by precedence, from the loosest to the tightest.
constexpr std::array<std::array<std::string_view, 5>, 6> binary_operators = {{
    {"|"},
    {"^"},
    {"&"},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "//", "/", "%", "@"},
}};

constexpr std::string_view keywords[] = {"and",   "or",    "not",    "in",   "is",     "if",   "else", "for",  "async",
                                         "await", "yield", "lambda", "from", "import", "None", "True", "False"};

// Parses one expression from left to right. After an error, `failed_` is set, and the results have no meaning.
class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  std::optional<Expression> run() {
    Expression result = tuple_or_expression();
    if (failed_ || !in_.is_at_end()) return std::nullopt;
    return result;
  }

 private:
  Expression fail() {
    failed_ = true;
    return {};
  }

  void expect(std::string_view sign) {
    if (!in_.take(sign)) failed_ = true;
  }

  // The following functions parse expressions, from the loosest to the tightest binding operators.

  // Parses an expression, or several expressions with commas between them, which form a tuple.
  Expression tuple_or_expression() {
    Expression first = starred_or_named();
    if (failed_ || in_.next() != ',') return first;
    Expression tuple = make(Kind::tuple, {});
    tuple.parts.push_back(std::move(first));
    while (!failed_ && in_.take(",") && !in_.is_at_close()) tuple.parts.push_back(starred_or_named());
    return tuple;
  }

  Expression starred_or_named() {
    if (in_.take("*", "*")) return make(Kind::starred, {}, {binary(0)});
    return named();
  }

  Expression named() {
    const std::size_t start = in_.position();
    const std::string_view name = in_.word();
    if (!name.empty() && std::ranges::find(keywords, name) == std::end(keywords)) {
      in_.skip(name.size());
      if (in_.take(":=")) return make(Kind::assignment, std::string(name), {expression()});
      in_.go_back(start);
    }
    return expression();
  }

  Expression expression() {
    if (failed_ || ++nesting_ > nesting_max) return fail();
    Expression result = in_.word() == "lambda" ? lambda() : conditional();
    --nesting_;
    return result;
  }

  Expression lambda() {
    in_.take_word("lambda");
    std::optional<std::string> parameters = in_.take_parameters();
    if (!parameters) return fail();
    expect(":");
    return make(Kind::lambda, std::move(*parameters), {expression()});
  }

  Expression conditional() {
    Expression value = boolean("or");
    if (failed_ || !in_.take_word("if")) return value;
    Expression condition = boolean("or");
    if (!in_.take_word("else")) return fail();
    return make(Kind::conditional, {}, {std::move(value), std::move(condition), expression()});
  }

  Expression boolean(std::string_view word_of_operator) {
    const auto operand = [&] { return word_of_operator == "or" ? boolean("and") : inversion(); };
    Expression first = operand();
    if (failed_ || in_.word() != word_of_operator) return first;
    Expression result = make(Kind::boolean, std::string(word_of_operator));
    result.parts.push_back(std::move(first));
    while (!failed_ && in_.take_word(word_of_operator)) result.parts.push_back(operand());
    return result;
  }

  Expression inversion() {
    if (!in_.take_word("not")) return comparison();
    if (failed_ || ++nesting_ > nesting_max) return fail();
    Expression result = make(Kind::unary, "not", {inversion()});
    --nesting_;
    return result;
  }

  Expression comparison() {
    Expression first = binary(0);
    std::string sign = failed_ ? "" : comparison_operator();
    if (sign.empty()) return first;
    Expression result = make(Kind::comparison, {});
    result.parts.push_back(std::move(first));
    while (!sign.empty()) {
      result.operators.push_back(std::move(sign));
      result.parts.push_back(binary(0));
      sign = failed_ ? "" : comparison_operator();
    }
    return result;
  }

  std::string comparison_operator() {
    for (const std::string_view sign : {"==", "!=", "<=", ">="})
      if (in_.take(sign)) return std::string(sign);
    if (in_.take("<", "<")) return "<";
    if (in_.take(">", ">")) return ">";
    if (in_.take_word("in")) return "in";
    if (in_.take_word("is")) return in_.take_word("not") ? "is not" : "is";
    const std::size_t start = in_.position();
    if (in_.take_word("not")) {
      if (in_.take_word("in")) return "not in";
      in_.go_back(start);
    }
    return {};
  }

  Expression binary(std::size_t level) {
    if (level == binary_operators.size()) return factor();
    Expression left = binary(level + 1);
    int length = 0;
    while (!failed_) {
      const auto sign = std::ranges::find_if(binary_operators[level], [&](std::string_view it) {
        return !it.empty() && in_.take(it, it == "*" ? "*=" : it == "/" ? "/=" : "=");
      });
      if (sign == binary_operators[level].end()) break;
      if (++length > chain_max) return fail();
      left = make(Kind::binary, std::string(*sign), {std::move(left), binary(level + 1)});
    }
    return left;
  }

  Expression factor() {
    for (const std::string_view sign : {"-", "+", "~"}) {
      if (!in_.take(sign)) continue;
      if (failed_ || ++nesting_ > nesting_max) return fail();
      Expression result = make(Kind::unary, std::string(sign), {factor()});
      --nesting_;
      return result;
    }
    Expression base = postfix();
    if (failed_ || !in_.take("**")) return base;
    return make(Kind::binary, "**", {std::move(base), factor()});
  }

  Expression postfix() {
    Expression value = atom();
    for (int length = 0; !failed_; ++length) {
      if (length > chain_max) return fail();
      if (in_.take(".")) {
        const std::string name(in_.word());
        if (name.empty()) return fail();
        in_.skip(name.size());
        value = make(Kind::attribute, name, {std::move(value)});
      } else if (in_.take("(")) {
        value = call(std::move(value));
      } else if (in_.take("[")) {
        Expression index = subscript_index();
        expect("]");
        value = make(Kind::subscript, {}, {std::move(value), std::move(index)});
      } else {
        break;
      }
    }
    return value;
  }

  Expression call(Expression function) {
    Expression result = make(Kind::call, {});
    result.parts.push_back(std::move(function));
    while (!failed_ && !in_.take(")")) {
      result.parts.push_back(argument());
      if (in_.word() == "for" || in_.word() == "async") {
        Expression generator = make(Kind::generator, {});
        generator.parts.push_back(std::move(result.parts.back()));
        add_clauses(generator);
        result.parts.back() = std::move(generator);
      }
      if (!in_.take(",") && in_.next() != ')') return fail();
    }
    return result;
  }

  Expression argument() {
    if (in_.take("**")) return make(Kind::double_starred, {}, {expression()});
    const std::size_t start = in_.position();
    const std::string name(in_.word());
    if (!name.empty()) {
      in_.skip(name.size());
      if (in_.take("=", "=")) return make(Kind::keyword, name, {expression()});
      in_.go_back(start);
    }
    return starred_or_named();
  }

  Expression subscript_index() {
    Expression first = slice();
    if (failed_ || in_.next() != ',') return first;
    Expression tuple = make(Kind::tuple, {});
    tuple.parts.push_back(std::move(first));
    while (!failed_ && in_.take(",") && !in_.is_at_close()) tuple.parts.push_back(slice());
    return tuple;
  }

  Expression slice() {
    const auto bound = [&] {
      const char c = in_.next();
      return c == ':' || c == ']' || c == ',' ? Expression() : starred_or_named();
    };
    Expression start = bound();
    if (failed_ || !in_.take(":")) return start.is(Kind::absent) ? fail() : start;
    Expression stop = bound();
    Expression step;
    if (in_.take(":")) step = bound();
    return make(Kind::slice, {}, {std::move(start), std::move(stop), std::move(step)});
  }

  // The following functions parse atoms.

  Expression atom() {
    const char c = in_.next();
    if (c == '(') return parenthesised();
    if (c == '[') return list();
    if (c == '{') return set_or_dict();
    if (c == '\'' || c == '"') return string();
    if (c >= '0' && c <= '9') return number();
    if (c == '.') {
      if (in_.take("...")) return make(Kind::constant, "...");
      return number();
    }
    const std::string name(in_.word());
    if (name.empty()) return fail();
    const char behind = in_.behind(name.size());
    if ((behind == '\'' || behind == '"') && name.size() <= 2) return string();
    if (name == "None" || name == "True" || name == "False") {
      in_.skip(name.size());
      return make(Kind::constant, name);
    }
    if (std::ranges::find(keywords, name) != std::end(keywords)) return fail();
    in_.skip(name.size());
    return make(Kind::name, name);
  }

  Expression parenthesised() {
    in_.take("(");
    if (in_.take(")")) return make(Kind::tuple, {});
    Expression inside = tuple_or_expression();
    if (in_.word() == "for" || in_.word() == "async") {
      Expression generator = make(Kind::generator, {});
      generator.parts.push_back(std::move(inside));
      add_clauses(generator);
      inside = std::move(generator);
    }
    expect(")");
    return inside;
  }

  Expression list() {
    in_.take("[");
    Expression result = make(Kind::list, {});
    if (!in_.take("]")) {
      result.parts.push_back(starred_or_named());
      add_items(result, Kind::list_comprehension);
      expect("]");
    }
    return result;
  }

  // Parses the text behind the first item of a list or a set: more items, or the clauses of a comprehension.
  void add_items(Expression& display, Kind comprehension) {
    if (in_.word() == "for" || in_.word() == "async") {
      display.kind = comprehension;
      return add_clauses(display);
    }
    while (!failed_ && in_.take(",") && !in_.is_at_close()) display.parts.push_back(starred_or_named());
  }

  Expression set_or_dict() {
    in_.take("{");
    Expression result = make(Kind::dict, {});
    if (in_.take("}")) return result;
    if (!in_.take("**")) {
      result.parts.push_back(starred_or_named());
      if (!in_.take(":")) {
        result.kind = Kind::set;
        add_items(result, Kind::set_comprehension);
        expect("}");
        return result;
      }
      result.parts.push_back(expression());
      if (in_.word() == "for" || in_.word() == "async") {
        result.kind = Kind::dict_comprehension;
        add_clauses(result);
        expect("}");
        return result;
      }
    } else {
      result.parts.push_back(make(Kind::double_starred, {}, {binary(0)}));
    }
    while (!failed_ && in_.take(",") && in_.next() != '}') {
      if (in_.take("**")) {
        result.parts.push_back(make(Kind::double_starred, {}, {binary(0)}));
        continue;
      }
      result.parts.push_back(expression());
      expect(":");
      result.parts.push_back(expression());
    }
    expect("}");
    return result;
  }

  void add_clauses(Expression& comprehension) {
    while (!failed_) {
      const bool is_async = in_.take_word("async");
      if (!in_.take_word("for")) break;
      Expression target = target_list();
      if (!in_.take_word("in")) {
        failed_ = true;
        return;
      }
      Expression clause = make(Kind::clause, is_async ? "async for" : "for");
      clause.parts.push_back(std::move(target));
      clause.parts.push_back(boolean("or"));
      while (!failed_ && in_.take_word("if")) clause.parts.push_back(boolean("or"));
      comprehension.parts.push_back(std::move(clause));
    }
  }

  Expression target_list() {
    const auto target = [&] { return in_.take("*") ? make(Kind::starred, {}, {binary(0)}) : binary(0); };
    Expression first = target();
    if (failed_ || in_.next() != ',') return first;
    Expression tuple = make(Kind::tuple, {});
    tuple.parts.push_back(std::move(first));
    while (!failed_ && in_.take(",") && in_.word() != "in") tuple.parts.push_back(target());
    return tuple;
  }

  Expression number() {
    std::string text = in_.take_number();
    return text == "." ? fail() : make(Kind::number, std::move(text));
  }

  Expression string() {
    std::optional<Scanner::Strings> strings = in_.take_strings();
    return strings ? make(strings->is_bytes ? Kind::bytes : Kind::string, std::move(strings->text)) : fail();
  }

  Scanner in_;
  int nesting_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<Expression> parse(std::string_view text) {
  if (text.size() > text_max) return std::nullopt;
  return Parser(text).run();
}

}  // namespace depyf::conditions
