#include "conditions/expression.h"
#include "support/words.h"

namespace depyf::conditions {
namespace {

using Kind = Expression::Kind;

// The levels of precedence of an expression's outermost operator, from the loosest to the tightest. The levels and the
// rules for parentheses are those of Python's ast.unparse.
enum Level : int {
  named,
  tuple,
  test,
  disjunction,
  conjunction,
  inversion,
  comparison,
  bit_or,
  bit_xor,
  bit_and,
  shift,
  sum,
  term,
  factor,
  power,
  await_,
  atom
};

int level_of_binary(std::string_view sign) {
  if (sign == "|") return bit_or;
  if (sign == "^") return bit_xor;
  if (sign == "&") return bit_and;
  if (sign == "<<" || sign == ">>") return shift;
  if (sign == "+" || sign == "-") return sum;
  return sign == "**" ? power : term;
}

class Unparser {
 public:
  // Appends an expression, in parentheses if it binds less tightly than `least`.
  void add(const Expression& it, int least = test) {
    switch (it.kind) {
      case Kind::absent: return;
      case Kind::name:
      case Kind::number:
      case Kind::string:
      case Kind::bytes:
      case Kind::constant: out_ += it.text; return;
      case Kind::attribute: return attribute(it);
      case Kind::subscript: return subscript(it);
      case Kind::slice: return slice(it);
      case Kind::call: return call(it);
      case Kind::keyword: out_ += it.text + "="; return add(it.parts[0]);
      case Kind::starred: out_ += '*'; return add(it.parts[0], bit_or);
      case Kind::double_starred: out_ += "**"; return add(it.parts[0], bit_or);
      case Kind::unary: return unary(it, least);
      case Kind::binary: return binary(it, least);
      case Kind::comparison: return compared(it, least);
      case Kind::boolean: return boolean(it, least);
      case Kind::conditional: return conditional(it, least);
      case Kind::lambda:
        return within(least > test, [&] {
          out_ += it.text.empty() ? "lambda: " : "lambda " + it.text + ": ";
          add(it.parts[0]);
        });
      case Kind::assignment:
        return within(least > named, [&] {
          out_ += it.text + " := ";
          add(it.parts[0], atom);
        });
      case Kind::tuple:
        // A tuple that is the target of a comprehension has no parentheses.
        return within(least > tuple || it.parts.empty(), [&] {
          items(it.parts, 0);
          if (it.parts.size() == 1) out_ += ',';
        });
      case Kind::list: return enclosed('[', it, ']');
      case Kind::set: return enclosed('{', it, '}');
      case Kind::dict: return dict(it);
      case Kind::generator: return comprehension('(', it, ')');
      case Kind::list_comprehension: return comprehension('[', it, ']');
      case Kind::set_comprehension:
      case Kind::dict_comprehension: return comprehension('{', it, '}');
      case Kind::clause: return clause(it);
    }
  }

  std::string take() { return std::move(out_); }

 private:
  template <class Write>
  void within(bool parentheses, const Write& write) {
    if (parentheses) out_ += '(';
    write();
    if (parentheses) out_ += ')';
  }

  void items(const std::vector<Expression>& parts, std::size_t from) {
    for (std::size_t i = from; i < parts.size(); ++i) {
      if (i > from) out_ += ", ";
      add(parts[i]);
    }
  }

  void enclosed(char open, const Expression& it, char close) {
    out_ += open;
    items(it.parts, 0);
    out_ += close;
  }

  void attribute(const Expression& it) {
    add(it.parts[0], atom);
    // A blank follows an integer, because `1.real` would be a malformed number.
    if (it.parts[0].is(Kind::number) && integer_value(it.parts[0])) out_ += ' ';
    out_ += "." + it.text;
  }

  void subscript(const Expression& it) {
    add(it.parts[0], atom);
    out_ += '[';
    const Expression& index = it.parts[1];
    if (index.is(Kind::tuple) && !index.parts.empty()) {
      items(index.parts, 0);
      if (index.parts.size() == 1) out_ += ',';
    } else {
      add(index);
    }
    out_ += ']';
  }

  void slice(const Expression& it) {
    add(it.parts[0]);
    out_ += ':';
    add(it.parts[1]);
    if (!it.parts[2].is(Kind::absent)) {
      out_ += ':';
      add(it.parts[2]);
    }
  }

  void call(const Expression& it) {
    add(it.parts[0], atom);
    out_ += '(';
    items(it.parts, 1);
    out_ += ')';
  }

  void unary(const Expression& it, int least) {
    const int own = it.text == "not" ? inversion : factor;
    within(least > own, [&] {
      out_ += it.text;
      if (own == inversion) out_ += ' ';
      add(it.parts[0], own);
    });
  }

  void binary(const Expression& it, int least) {
    const int own = level_of_binary(it.text);
    const bool is_power = own == power;
    within(least > own, [&] {
      add(it.parts[0], is_power ? own + 1 : own);
      out_ += " " + it.text + " ";
      add(it.parts[1], is_power ? own : own + 1);
    });
  }

  void compared(const Expression& it, int least) {
    within(least > comparison, [&] {
      add(it.parts[0], comparison + 1);
      for (std::size_t i = 0; i < it.operators.size(); ++i) {
        out_ += " " + it.operators[i] + " ";
        add(it.parts[i + 1], comparison + 1);
      }
    });
  }

  void boolean(const Expression& it, int least) {
    const int own = it.text == "and" ? conjunction : disjunction;
    within(least > own, [&] {
      int level = own;
      for (std::size_t i = 0; i < it.parts.size(); ++i) {
        if (i) out_ += " " + it.text + " ";
        // As in ast.unparse, each operand of `and` and `or` must bind more tightly than the previous operand.
        level = std::min<int>(level + 1, atom);
        add(it.parts[i], level);
      }
    });
  }

  void conditional(const Expression& it, int least) {
    within(least > test, [&] {
      add(it.parts[0], test + 1);
      out_ += " if ";
      add(it.parts[1], test + 1);
      out_ += " else ";
      add(it.parts[2], test);
    });
  }

  void dict(const Expression& it) {
    out_ += '{';
    for (std::size_t i = 0; i < it.parts.size();) {
      if (i) out_ += ", ";
      add(it.parts[i]);
      if (it.parts[i++].is(Kind::double_starred)) continue;
      out_ += ": ";
      add(it.parts[i++]);
    }
    out_ += '}';
  }

  void comprehension(char open, const Expression& it, char close) {
    out_ += open;
    std::size_t at = 0;
    add(it.parts[at++]);
    if (it.is(Kind::dict_comprehension)) {
      out_ += ": ";
      add(it.parts[at++]);
    }
    for (; at < it.parts.size(); ++at) add(it.parts[at]);
    out_ += close;
  }

  void clause(const Expression& it) {
    out_ += " " + it.text + " ";
    add(it.parts[0], tuple);
    out_ += " in ";
    add(it.parts[1], test + 1);
    for (std::size_t i = 2; i < it.parts.size(); ++i) {
      out_ += " if ";
      add(it.parts[i], test + 1);
    }
  }

  std::string out_;
};

}  // namespace

std::string unparse(const Expression& expression) {
  Unparser unparser;
  unparser.add(expression);
  return unparser.take();
}

}  // namespace depyf::conditions
