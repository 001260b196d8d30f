#include <algorithm>
#include <array>
#include <utility>

#include "conditions/expression.h"
#include "support/words.h"

namespace depyf::conditions {
namespace {

using Kind = Expression::Kind;

constexpr int nesting_max = 40;  // of brackets and prefix operators; each level takes about a dozen frames
// The operators, attributes, subscripts and calls in one chain, each of which is a level of the tree.
constexpr int chain_max = 200;
constexpr std::size_t text_max = std::size_t{1} << 20;  // bytes

// The binary operators by their precedence, those that bind least tightly first. All of them are left-associative.
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

bool is_name_start(char c) { return is_word(c) ? c < '0' || c > '9' : (c & 0x80) != 0; }
bool is_name_part(char c) { return is_word(c) || (c & 0x80) != 0; }

// Reads one expression from left to right. After an error `failed_` is set, and the results have no meaning.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Expression> run() {
    Expression result = tuple_or_expression();
    skip_blanks();
    if (failed_ || at_ != text_.size()) return std::nullopt;
    return result;
  }

 private:
  // Tokens

  void skip_blanks() {
    while (at_ < text_.size() && blanks.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  char next() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  // Takes an operator or a bracket. `not_before` lists the characters that would make another operator of it.
  bool take(std::string_view sign, std::string_view not_before = {}) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    const std::size_t end = at_ + sign.size();
    if (end < text_.size() && not_before.find(text_[end]) != std::string_view::npos) return false;
    at_ = end;
    return true;
  }

  std::string_view word() {
    skip_blanks();
    if (at_ >= text_.size() || !is_name_start(text_[at_])) return {};
    std::size_t end = at_;
    while (end < text_.size() && is_name_part(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  bool take_word(std::string_view wanted) {
    if (word() != wanted) return false;
    at_ += wanted.size();
    return true;
  }

  Expression fail() {
    failed_ = true;
    return {};
  }

  void expect(std::string_view sign) {
    if (!take(sign)) failed_ = true;
  }

  // Expressions, those that bind least tightly first

  // Reads an expression, or several with commas between them, which are a tuple.
  Expression tuple_or_expression() {
    Expression first = starred_or_named();
    if (failed_ || next() != ',') return first;
    Expression tuple = make(Kind::tuple, {});
    tuple.parts.push_back(std::move(first));
    while (!failed_ && take(",") && !is_at_end()) tuple.parts.push_back(starred_or_named());
    return tuple;
  }

  bool is_at_end() {
    const char c = next();
    return c == '\0' || c == ')' || c == ']' || c == '}';
  }

  Expression starred_or_named() {
    if (take("*", "*")) return make(Kind::starred, {}, {binary(0)});
    return named();
  }

  Expression named() {
    const std::size_t start = at_;
    const std::string_view name = word();
    if (!name.empty() && std::ranges::find(keywords, name) == std::end(keywords)) {
      at_ += name.size();
      if (take(":=")) return make(Kind::assignment, std::string(name), {expression()});
      at_ = start;
    }
    return expression();
  }

  Expression expression() {
    if (failed_ || ++nesting_ > nesting_max) return fail();
    Expression result = word() == "lambda" ? lambda() : conditional();
    --nesting_;
    return result;
  }

  Expression lambda() {
    take_word("lambda");
    skip_blanks();
    const std::size_t start = at_;
    // Default values are expressions, so that a colon within brackets belongs to one of them.
    for (int depth = 0; at_ < text_.size() && (depth > 0 || text_[at_] != ':'); ++at_) {
      const char c = text_[at_];
      if (c == '\'' || c == '"') return fail();
      depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    }
    std::string parameters(stripped(text_.substr(start, at_ - start)));
    expect(":");
    return make(Kind::lambda, std::move(parameters), {expression()});
  }

  Expression conditional() {
    Expression value = boolean("or");
    if (failed_ || !take_word("if")) return value;
    Expression condition = boolean("or");
    if (!take_word("else")) return fail();
    return make(Kind::conditional, {}, {std::move(value), std::move(condition), expression()});
  }

  Expression boolean(std::string_view word_of_operator) {
    const auto operand = [&] { return word_of_operator == "or" ? boolean("and") : inversion(); };
    Expression first = operand();
    if (failed_ || word() != word_of_operator) return first;
    Expression result = make(Kind::boolean, std::string(word_of_operator));
    result.parts.push_back(std::move(first));
    while (!failed_ && take_word(word_of_operator)) result.parts.push_back(operand());
    return result;
  }

  Expression inversion() {
    if (!take_word("not")) return comparison();
    if (failed_ || ++nesting_ > nesting_max) return fail();
    Expression result = make(Kind::unary, "not", {inversion()});
    --nesting_;
    return result;
  }

  Expression comparison() {
    Expression first = binary(0);
    Expression result = make(Kind::comparison, {});
    while (!failed_) {
      std::string sign = comparison_operator();
      if (sign.empty()) break;
      if (result.parts.empty()) result.parts.push_back(std::move(first));
      result.operators.push_back(std::move(sign));
      result.parts.push_back(binary(0));
    }
    return result.parts.empty() ? first : result;
  }

  std::string comparison_operator() {
    for (const std::string_view sign : {"==", "!=", "<=", ">="})
      if (take(sign)) return std::string(sign);
    if (take("<", "<") || take(">", ">")) return std::string(1, text_[at_ - 1]);
    if (take_word("in")) return "in";
    if (take_word("is")) return take_word("not") ? "is not" : "is";
    const std::size_t start = at_;
    if (take_word("not")) {
      if (take_word("in")) return "not in";
      at_ = start;
    }
    return {};
  }

  Expression binary(std::size_t level) {
    if (level == binary_operators.size()) return factor();
    Expression left = binary(level + 1);
    int length = 0;
    while (!failed_) {
      const auto sign = std::ranges::find_if(binary_operators[level], [&](std::string_view it) {
        return !it.empty() && take(it, it == "*" ? "*=" : it == "/" ? "/=" : "=");
      });
      if (sign == binary_operators[level].end()) break;
      if (++length > chain_max) return fail();
      left = make(Kind::binary, std::string(*sign), {std::move(left), binary(level + 1)});
    }
    return left;
  }

  Expression factor() {
    for (const std::string_view sign : {"-", "+", "~"}) {
      if (!take(sign)) continue;
      if (failed_ || ++nesting_ > nesting_max) return fail();
      Expression result = make(Kind::unary, std::string(sign), {factor()});
      --nesting_;
      return result;
    }
    Expression base = postfix();
    if (failed_ || !take("**")) return base;
    return make(Kind::binary, "**", {std::move(base), factor()});
  }

  Expression postfix() {
    Expression value = atom();
    for (int length = 0; !failed_; ++length) {
      if (length > chain_max) return fail();
      if (take(".")) {
        const std::string name(word());
        if (name.empty()) return fail();
        at_ += name.size();
        value = make(Kind::attribute, name, {std::move(value)});
      } else if (take("(")) {
        value = call(std::move(value));
      } else if (take("[")) {
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
    while (!failed_ && !take(")")) {
      result.parts.push_back(argument());
      if (word() == "for" || word() == "async") {
        Expression generator = make(Kind::generator, {});
        generator.parts.push_back(std::move(result.parts.back()));
        add_clauses(generator);
        result.parts.back() = std::move(generator);
      }
      if (!take(",") && next() != ')') return fail();
    }
    return result;
  }

  Expression argument() {
    if (take("**")) return make(Kind::double_starred, {}, {expression()});
    const std::size_t start = at_;
    const std::string name(word());
    if (!name.empty()) {
      at_ += name.size();
      if (take("=", "=")) return make(Kind::keyword, name, {expression()});
      at_ = start;
    }
    return starred_or_named();
  }

  Expression subscript_index() {
    Expression first = slice();
    if (failed_ || next() != ',') return first;
    Expression tuple = make(Kind::tuple, {});
    tuple.parts.push_back(std::move(first));
    while (!failed_ && take(",") && !is_at_end()) tuple.parts.push_back(slice());
    return tuple;
  }

  Expression slice() {
    const auto bound = [&] {
      const char c = next();
      return c == ':' || c == ']' || c == ',' ? Expression() : starred_or_named();
    };
    Expression start = bound();
    if (failed_ || !take(":")) return start.is(Kind::absent) ? fail() : start;
    Expression stop = bound();
    Expression step;
    if (take(":")) step = bound();
    return make(Kind::slice, {}, {std::move(start), std::move(stop), std::move(step)});
  }

  // Atoms

  Expression atom() {
    const char c = next();
    if (c == '(') return parenthesised();
    if (c == '[') return list();
    if (c == '{') return set_or_dict();
    if (c == '\'' || c == '"') return string();
    if (c >= '0' && c <= '9') return number();
    if (c == '.') {
      if (take("...")) return make(Kind::constant, "...");
      return number();
    }
    const std::string name(word());
    if (name.empty()) return fail();
    if (const std::size_t end = at_ + name.size();
        end < text_.size() && (text_[end] == '\'' || text_[end] == '"') && name.size() <= 2)
      return string();
    if (name == "None" || name == "True" || name == "False") {
      at_ += name.size();
      return make(Kind::constant, name);
    }
    if (std::ranges::find(keywords, name) != std::end(keywords)) return fail();
    at_ += name.size();
    return make(Kind::name, name);
  }

  Expression parenthesised() {
    take("(");
    if (take(")")) return make(Kind::tuple, {});
    Expression inside = tuple_or_expression();
    if (word() == "for" || word() == "async") {
      Expression generator = make(Kind::generator, {});
      generator.parts.push_back(std::move(inside));
      add_clauses(generator);
      inside = std::move(generator);
    }
    expect(")");
    return inside;
  }

  Expression list() {
    take("[");
    Expression result = make(Kind::list, {});
    if (!take("]")) {
      result.parts.push_back(starred_or_named());
      add_items(result, Kind::list_comprehension);
      expect("]");
    }
    return result;
  }

  // Reads what follows the first item of a list or a set: more items, or the clauses of a comprehension.
  void add_items(Expression& display, Kind comprehension) {
    if (word() == "for" || word() == "async") {
      display.kind = comprehension;
      return add_clauses(display);
    }
    while (!failed_ && take(",") && !is_at_end()) display.parts.push_back(starred_or_named());
  }

  Expression set_or_dict() {
    take("{");
    Expression result = make(Kind::dict, {});
    if (take("}")) return result;
    if (!take("**")) {
      result.parts.push_back(starred_or_named());
      if (!take(":")) {
        result.kind = Kind::set;
        add_items(result, Kind::set_comprehension);
        expect("}");
        return result;
      }
      result.parts.push_back(expression());
      if (word() == "for" || word() == "async") {
        result.kind = Kind::dict_comprehension;
        add_clauses(result);
        expect("}");
        return result;
      }
    } else {
      result.parts.push_back(make(Kind::double_starred, {}, {binary(0)}));
    }
    while (!failed_ && take(",") && next() != '}') {
      if (take("**")) {
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
      const bool is_async = take_word("async");
      if (!take_word("for")) break;
      Expression target = target_list();
      if (!take_word("in")) {
        failed_ = true;
        return;
      }
      Expression clause = make(Kind::clause, is_async ? "async for" : "for");
      clause.parts.push_back(std::move(target));
      clause.parts.push_back(boolean("or"));
      while (!failed_ && take_word("if")) clause.parts.push_back(boolean("or"));
      comprehension.parts.push_back(std::move(clause));
    }
  }

  Expression target_list() {
    const auto target = [&] { return take("*") ? make(Kind::starred, {}, {binary(0)}) : binary(0); };
    Expression first = target();
    if (failed_ || next() != ',') return first;
    Expression tuple = make(Kind::tuple, {});
    tuple.parts.push_back(std::move(first));
    while (!failed_ && take(",") && word() != "in") tuple.parts.push_back(target());
    return tuple;
  }

  Expression number() {
    const std::size_t start = at_;
    const bool is_plain = !(text_[at_] == '0' && at_ + 1 < text_.size() && is_word(text_[at_ + 1]) &&
                            (text_[at_ + 1] < '0' || text_[at_ + 1] > '9'));
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_exponent_sign =
          is_plain && (c == '+' || c == '-') && at_ > start && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (!is_word(c) && c != '.' && !is_exponent_sign) break;
      ++at_;
    }
    if (text_.substr(start, at_ - start) == ".") return fail();
    return make(Kind::number, std::string(text_.substr(start, at_ - start)));
  }

  // Reads a literal, and those that follow it, which Python joins. Their texts are kept; only the quotes of a simple
  // literal are changed to those that Python's repr uses.
  Expression string() {
    std::string whole;
    bool is_bytes = false;
    for (int count = 0;; ++count) {
      const std::size_t start = at_;
      const std::string prefix(word());
      if (prefix.size() > 2 || prefix.find_first_of("fFtT") != std::string::npos) {
        if (count == 0) return fail();
        break;
      }
      const std::size_t quote = at_ + prefix.size();
      if (quote >= text_.size() || (text_[quote] != '\'' && text_[quote] != '"')) {
        at_ = start;
        break;
      }
      is_bytes = prefix.find_first_of("bB") != std::string::npos;
      const std::size_t end = end_of_string(quote);
      if (end == std::string_view::npos) return fail();
      const std::string_view body = text_.substr(quote + 1, end - quote - 2);
      if (count) whole += ' ';
      if (text_[quote] == '"' && body.find_first_of("'\\") == std::string_view::npos)
        whole += prefix + "'" + std::string(body) + "'";
      else whole += text_.substr(at_, end - at_);
      at_ = end;
      skip_blanks();
    }
    return make(is_bytes ? Kind::bytes : Kind::string, std::move(whole));
  }

  // Returns the position behind the literal whose first quote is at `quote`; npos if it does not end, or has three
  // quotes.
  std::size_t end_of_string(std::size_t quote) const {
    const char sign = text_[quote];
    if (text_.substr(quote).starts_with(std::string(3, sign))) return std::string_view::npos;
    for (std::size_t i = quote + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == sign) {
        return i + 1;
      } else if (text_[i] == '\n') {
        break;
      }
    }
    return std::string_view::npos;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  bool failed_ = false;
};

}  // namespace

Expression make(Kind kind, std::string text, std::vector<Expression> parts) {
  Expression result;
  result.kind = kind;
  result.text = std::move(text);
  result.parts = std::move(parts);
  return result;
}

std::optional<Expression> parse(std::string_view text) {
  if (text.size() > text_max) return std::nullopt;
  return Parser(text).run();
}

std::optional<std::string_view> string_value(const Expression& expression) {
  const std::string_view text = expression.text;
  if (!expression.is(Kind::string) || text.size() < 2 || text[0] != '\'' || text.back() != '\'') return std::nullopt;
  const std::string_view body = text.substr(1, text.size() - 2);
  if (body.find_first_of("\\'") != std::string_view::npos) return std::nullopt;
  return body;
}

std::optional<std::int64_t> integer_value(const Expression& expression) {
  constexpr std::size_t digits_max = 18;  // of what fits into 64 bits, whatever the digits are
  if (!expression.is(Kind::number) || expression.text.empty() || expression.text.size() > digits_max)
    return std::nullopt;
  std::int64_t value = 0;
  for (const char c : expression.text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace depyf::conditions
