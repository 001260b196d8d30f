// Defines symbols, which are numbers for values. If the frames of the two compared code objects have the same symbol,
// its value is the same in both.
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

// The exact type of a value, if it is known to be that type and no subclass.
enum class Exact : std::uint8_t { unknown, list, set, dict };

// The facts that are known about the value of a symbol.
struct SymbolInfo {
  enum class Kind : std::uint8_t {
    null,      // no value: an unbound local, or a NULL on the stack
    constant,  // identified by type and value
    code,      // a code object, identified by its address; equality needs a proof
    known,     // identified by a name: a free variable, an argument, or a value that every frame has
    opaque,    // the unknown result of an effect
    term,      // a pure function of other symbols
    object,    // an object that nobody but its frame has seen; its content is in `Side::objects`
  };
  Kind kind = Kind::opaque;
  bool maybe_null = false;
  bool boolean = false;  // the value is True or False
  Exact exact = Exact::unknown;
  std::uint8_t depth = 0;  // nesting depth of the term
  // The name of a term or of a known value. If the value is opaque, `text` describes the origin of the value in
  // messages.
  std::string text = {};
  std::vector<Symbol> args = {};
  const Constant* constant = nullptr;
  const CodeObject* code = nullptr;
};

// The names of some known values and terms, or prefixes of such names.
inline constexpr std::string_view argument_prefix = "argument ", self_of = "self of",
                                  handled_by_caller = "the exception handled by the caller";

// Creates symbols. Equal constants, known values and terms always get the same symbol.
class Symbols {
 public:
  static constexpr Symbol null = 0;
  static constexpr std::uint8_t depth_max = 32;

  Symbols();
  const SymbolInfo& operator[](Symbol symbol) const { return infos_[static_cast<std::size_t>(symbol)]; }

  Symbol constant(const Constant& value);
  Symbol constant(Constant::Kind kind, std::string text = {});
  // Returns the symbol that stands for all orders of the items if `symbol` is a frozenset; otherwise `symbol` itself.
  Symbol unordered(Symbol symbol);
  Symbol string(std::string_view text);
  Symbol integer(std::int64_t value);
  Symbol boolean(bool value) { return value ? true_ : false_; }
  Symbol none() const { return none_; }
  // Returns the symbol of the value that `name` identifies, which is the same for both code objects.
  Symbol known(std::string_view name);
  // Returns a fresh symbol for an unknown value, which `words` describes in messages.
  Symbol opaque(std::string_view words, bool boolean = false, bool maybe_null = false, Exact exact = Exact::unknown);
  // Returns a fresh symbol for an object that only one frame has.
  Symbol object();

  // Returns a term; -1 if an argument is an object or may be NULL, or if terms nest too deep.
  Symbol term(std::string_view name, std::vector<Symbol> args, bool boolean = false);
  // Returns the result of `a is b`: True or False if it is known, otherwise a term. Returns -1 if the result depends on
  // the compiler, or if a value may be NULL.
  Symbol is(Symbol a, Symbol b);
  Symbol negation(Symbol boolean);
  // Returns the part of an exception that `name` states, such as "type of" or "traceback of", as a term; -1 if `term`
  // returns -1.
  Symbol part(std::string_view name, Symbol exception) { return term(name, {exception}); }

  bool is_object(Symbol symbol) const { return (*this)[symbol].kind == SymbolInfo::Kind::object; }
  bool is_term(Symbol symbol) const { return (*this)[symbol].kind == SymbolInfo::Kind::term; }
  bool may_be_null(Symbol symbol) const { return symbol == null || (*this)[symbol].maybe_null; }
  // Returns the constant that `symbol` stands for; null if `symbol` is no constant.
  const Constant* value(Symbol symbol) const { return (*this)[symbol].constant; }
  bool is_singleton(Symbol symbol) const;

  // Returns a description of the value for messages.
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

// Returns true if a function with this name may read the locals of its caller.
bool looks_at_locals(std::string_view name);

// Returns the truth of a constant as 1 or 0; -1 if only the interpreter knows it.
int truth_of(const Constant& value);

}  // namespace depyf
