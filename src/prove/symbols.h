// Values as the prover sees them: numbers that are equal only where the values are the same on both sides.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "depyf/constant.h"

namespace depyf {

using Symbol = std::int32_t;

// The type of a value where it is known for certain: that very type, no subclass.
enum class Exact : std::uint8_t { unknown, list, set, dict };

struct SymbolInfo {
  enum class Kind : std::uint8_t {
    null,      // no value: an unbound local, a NULL on the stack
    constant,  // by type and value
    code,      // a code object, by identity; compared by proving
    known,     // by name: a free variable, an argument, what every frame has
    opaque,    // whatever an effect gave
    term,      // a pure function of other symbols
    object,    // a tuple, list, cell ... that nobody but its frame has seen; its content is in the frame's state
  };
  Kind kind = Kind::opaque;
  bool maybe_null = false;
  bool boolean = false;   // True or False, nothing else
  Exact exact = Exact::unknown;
  std::uint8_t depth = 0; // of nested terms
  std::string text = {};  // of a term or known: its name; of an opaque one: what made it, in words
  std::vector<Symbol> args = {};
  const Constant* constant = nullptr;
  const CodeObject* code = nullptr;
};

// How the words of some symbols begin.
inline constexpr std::string_view argument_prefix = "argument ", self_of = "self of",
                                  handled_by_caller = "the exception handled by the caller";

class Symbols {
 public:
  static constexpr Symbol null = 0;
  static constexpr std::uint8_t depth_max = 32;

  Symbols();
  const SymbolInfo& operator[](Symbol symbol) const { return infos_[static_cast<std::size_t>(symbol)]; }

  Symbol constant(const Constant& value);
  Symbol constant(Constant::Kind kind, std::string text = {});
  Symbol unordered(Symbol symbol);  // of a frozenset: the one that stands for all orders of its items
  Symbol string(std::string_view text);
  Symbol integer(std::int64_t value);
  Symbol boolean(bool value) { return value ? true_ : false_; }
  Symbol none() const { return none_; }
  Symbol known(std::string_view name);
  Symbol opaque(std::string_view words, bool boolean = false, bool maybe_null = false, Exact exact = Exact::unknown);
  Symbol object();

  // Terms. -1: an argument that no term may hold, or too deep.
  Symbol term(std::string_view name, std::vector<Symbol> args, bool boolean = false);
  Symbol is(Symbol a, Symbol b);
  Symbol negation(Symbol boolean);
  // The value of an exception's class or traceback (versions that keep all three on the stack).
  Symbol part(std::string_view name, Symbol exception) { return term(name, {exception}); }

  bool is_object(Symbol symbol) const { return (*this)[symbol].kind == SymbolInfo::Kind::object; }
  bool is_term(Symbol symbol) const { return (*this)[symbol].kind == SymbolInfo::Kind::term; }
  bool may_be_null(Symbol symbol) const { return symbol == null || (*this)[symbol].maybe_null; }
  // The constant that `symbol` is, or null.
  const Constant* value(Symbol symbol) const { return (*this)[symbol].constant; }
  bool is_singleton(Symbol symbol) const;

  // In words, for people.
  std::string words(Symbol symbol) const;
  std::size_t size() const { return infos_.size(); }

 private:
  Symbol add(SymbolInfo info);
  Symbol intern(const std::string& key, SymbolInfo info);

  std::deque<SymbolInfo> infos_;
  std::deque<Constant> constants_;
  std::unordered_map<std::string, Symbol> interned_;
  Symbol none_ = 0, true_ = 0, false_ = 0;
};

// Do functions of that name look at the locals of who calls them?
bool looks_at_locals(std::string_view name);

// Truth of a constant: 1, 0, or -1 where only the interpreter knows.
int truth_of(const Constant& value);

}  // namespace depyf
