#include "prove/symbols.h"
#include "depyf/code_object.h"

#include <algorithm>
#include <bit>

namespace depyf {
namespace {

using Kind = Constant::Kind;

// Appends the bits of a number, which distinguish 0.0 from -0.0.
void append_number(std::string& key, double value) {
  key += std::to_string(std::bit_cast<std::uint64_t>(value));
  key += ',';
}

// Returns true if the items of the set have the same order in every process, so that a program may rely on it. Numbers
// have the same hash in all processes. The hashes of strings differ by process, and the hash of None depends on its
// address.
bool ordered(const Constant& set) {
  return std::all_of(set.items.begin(), set.items.end(), [](const Constant& item) {
    return item.kind == Kind::integer || item.kind == Kind::real || item.kind == Kind::complex ||
           item.kind == Kind::true_ || item.kind == Kind::false_;
  });
}

// Appends a text that is equal for two constants only if they have the same type and value. The recursion is bounded,
// because the readers of constants bound their nesting.
void append_key(std::string& key, const Constant& value, int& unique) {
  key += static_cast<char>('A' + static_cast<int>(value.kind));
  switch (value.kind) {
    case Kind::integer:
    case Kind::string:
    case Kind::bytes:
      key += std::to_string(value.text.size());
      key += ':';
      key += value.text;
      break;
    case Kind::real: append_number(key, value.real); break;
    case Kind::complex:
      append_number(key, value.real);
      append_number(key, value.imag);
      break;
    case Kind::tuple:
    case Kind::slice:
      for (const Constant& item : value.items) append_key(key, item, unique);
      key += ')';
      break;
    case Kind::frozenset: {
      std::vector<std::string> items;
      for (const Constant& item : value.items) append_key(items.emplace_back(), item, unique);
      if (!ordered(value)) std::sort(items.begin(), items.end());
      for (const std::string& item : items) key += item;
      key += ')';
      break;
    }
    case Kind::code: key += std::to_string(reinterpret_cast<std::uintptr_t>(value.code.get())); break;
    case Kind::opaque:  // an opaque constant without an identity equals nothing, not even itself
      key += value.identity ? std::to_string(value.identity) : "?" + std::to_string(++unique);
      break;
    case Kind::none:
    case Kind::true_:
    case Kind::false_:
    case Kind::ellipsis: break;
  }
}

// Returns a short description of the constant for messages.
std::string short_words(const Constant& value) {
  switch (value.kind) {
    case Kind::none: return "None";
    case Kind::true_: return "True";
    case Kind::false_: return "False";
    case Kind::ellipsis: return "...";
    case Kind::integer: return value.text.substr(0, 24);
    case Kind::real: return std::to_string(value.real);
    case Kind::complex: return "a complex number";
    case Kind::string: return "'" + value.text.substr(0, 24) + "'";
    case Kind::bytes: return "bytes";
    case Kind::tuple: {
      std::string text = "(";
      for (std::size_t i = 0; i < value.items.size() && i < 4; ++i) {
        if (i) text += ", ";
        text += value.items[i].kind == Kind::tuple ? "(...)" : short_words(value.items[i]);
      }
      return text + (value.items.size() > 4 ? ", ...)" : ")");
    }
    case Kind::frozenset: return "a frozenset";
    case Kind::slice: return "a slice";
    case Kind::code: return "code of " + (value.code ? value.code->name : std::string("?"));
    case Kind::opaque: return "a constant object";
  }
  return "?";
}

}  // namespace

bool looks_at_locals(std::string_view name) {
  return name == "locals" || name == "vars" || name == "dir" || name == "eval" || name == "exec" ||
         name == "_getframe" || name == "currentframe";
}

int truth_of(const Constant& value) {
  switch (value.kind) {
    case Kind::none:
    case Kind::false_: return 0;
    case Kind::true_:
    case Kind::ellipsis:
    case Kind::code:
    case Kind::slice: return 1;
    case Kind::integer: return value.text != "0" && value.text != "0x0";
    case Kind::real: return value.real != 0;
    case Kind::complex: return value.real != 0 || value.imag != 0;
    case Kind::string:
    case Kind::bytes: return !value.text.empty();
    case Kind::tuple:
    case Kind::frozenset: return !value.items.empty();
    case Kind::opaque: return -1;
  }
  return -1;
}

Symbols::Symbols() {
  // The symbol 0 stands for the absence of a value.
  add({.kind = SymbolInfo::Kind::null, .text = "nothing"});
  none_ = constant(Kind::none);
  true_ = constant(Kind::true_);
  false_ = constant(Kind::false_);
}

Symbol Symbols::add(SymbolInfo info) {
  infos_.push_back(std::move(info));
  return static_cast<Symbol>(infos_.size() - 1);
}

// Returns the symbol for `key`, and creates it if `key` has no symbol.
Symbol Symbols::intern(const std::string& key, SymbolInfo info) {
  auto [found, fresh] = interned_.try_emplace(key, 0);
  if (fresh) found->second = add(std::move(info));
  return found->second;
}

Symbol Symbols::constant(const Constant& value) {
  std::string key = "c";
  int unique = static_cast<int>(infos_.size());
  append_key(key, value, unique);
  auto found = interned_.find(key);
  if (found != interned_.end()) return found->second;
  SymbolInfo info{.kind = value.kind == Kind::code ? SymbolInfo::Kind::code : SymbolInfo::Kind::constant};
  info.constant = &constants_.emplace_back(value);
  info.code = value.code.get();
  info.boolean = value.kind == Kind::true_ || value.kind == Kind::false_;
  return intern(key, std::move(info));
}

// Sorts the items of the frozenset by the texts of `append_key`, so that frozensets with the same items get the same
// symbol.
Symbol Symbols::unordered(Symbol symbol) {
  const Constant* set = value(symbol);
  if (!set || set->kind != Kind::frozenset || !ordered(*set)) return symbol;
  std::vector<std::pair<std::string, const Constant*>> items;
  int unique = 0;
  for (const Constant& item : set->items) append_key(items.emplace_back("", &item).first, item, unique);
  std::sort(items.begin(), items.end());
  Constant sorted = *set;
  sorted.items.clear();
  for (auto& [key, item] : items) sorted.items.push_back(*item);
  return constant(sorted);
}

Symbol Symbols::constant(Kind kind, std::string text) {
  Constant value;
  value.kind = kind;
  value.text = std::move(text);
  return constant(value);
}

Symbol Symbols::string(std::string_view text) { return constant(Kind::string, std::string(text)); }

Symbol Symbols::integer(std::int64_t value) { return constant(Kind::integer, std::to_string(value)); }

Symbol Symbols::known(std::string_view name) {
  return intern("k" + std::string(name), {.kind = SymbolInfo::Kind::known, .text = std::string(name)});
}

Symbol Symbols::opaque(std::string_view words, bool boolean, bool maybe_null, Exact exact) {
  return add({.maybe_null = maybe_null, .boolean = boolean, .exact = exact, .text = std::string(words)});
}

Symbol Symbols::object() { return add({.kind = SymbolInfo::Kind::object}); }

Symbol Symbols::term(std::string_view name, std::vector<Symbol> args, bool boolean) {
  std::string key = "t" + std::string(name);
  std::uint8_t depth = 0;
  for (Symbol arg : args) {
    const SymbolInfo& info = (*this)[arg];
    if (info.kind == SymbolInfo::Kind::object || may_be_null(arg)) return -1;
    depth = std::max(depth, info.depth);
    key += ',' + std::to_string(arg);
  }
  if (depth >= depth_max) return -1;
  return intern(key, {.kind = SymbolInfo::Kind::term,
                      .boolean = boolean,
                      .depth = static_cast<std::uint8_t>(depth + 1),
                      .text = std::string(name),
                      .args = std::move(args)});
}

bool Symbols::is_singleton(Symbol symbol) const {
  const Constant* constant = value(symbol);
  return constant && (constant->kind == Kind::none || constant->kind == Kind::true_ || constant->kind == Kind::false_ ||
                      constant->kind == Kind::ellipsis);
}

Symbol Symbols::is(Symbol a, Symbol b) {
  if (may_be_null(a) || may_be_null(b)) return -1;
  // Equal tuples of constants may be one object or several, as the compiler chooses, so the result is unknown.
  if (const Constant* same = value(a); a == b && same && same->kind == Kind::tuple && !same->items.empty()) return -1;
  if (a == b) return true_;
  if (is_singleton(a) && value(b)) return false_;  // a constant of another type is not None, True, False or `...`
  if (value(a) && is_singleton(b)) return false_;
  if (is_object(a) || is_object(b)) return false_;  // no other symbol stands for an object of this frame
  if ((a == none_ && (*this)[b].boolean) || (b == none_ && (*this)[a].boolean)) return false_;
  // Identity is symmetric, so the operands are sorted.
  return term("is", {std::min(a, b), std::max(a, b)}, true);
}

Symbol Symbols::negation(Symbol boolean) {
  if (boolean == true_) return false_;
  if (boolean == false_) return true_;
  const SymbolInfo& info = (*this)[boolean];
  if (info.kind == SymbolInfo::Kind::term && info.text == "not") return info.args[0];
  return term("not", {boolean}, true);
}

std::string Symbols::words(Symbol symbol) const {
  const SymbolInfo& info = (*this)[symbol];
  switch (info.kind) {
    case SymbolInfo::Kind::constant:
    case SymbolInfo::Kind::code: return short_words(*info.constant);
    case SymbolInfo::Kind::term: {
      std::string text = info.text + "(";
      for (std::size_t i = 0; i < info.args.size() && i < 3; ++i) {
        if (i) text += ", ";
        text += is_term(info.args[i]) ? (*this)[info.args[i]].text : words(info.args[i]);
      }
      return text + ")";
    }
    case SymbolInfo::Kind::object: return "a new object";
    case SymbolInfo::Kind::null:
    case SymbolInfo::Kind::known:
    case SymbolInfo::Kind::opaque: return info.text;
  }
  return info.text;
}

}  // namespace depyf
