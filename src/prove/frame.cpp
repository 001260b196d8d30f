#include "prove/frame.h"

#include <utility>

namespace depyf {

Symbol Frame::fact(Symbol boolean) const {
  // A known truth value of a term also decides the truth value of its negation.
  const SymbolInfo& info = symbols_[boolean];
  const bool negated = info.kind == SymbolInfo::Kind::term && info.text == "not";
  for (auto [term, truth] : state_->facts) {
    if (term == (negated ? info.args[0] : boolean)) return symbols_.boolean(truth != negated);
  }
  return boolean;
}

Symbol Frame::make(Object::Kind kind, Parts items, Parts keys) {
  Symbol symbol = symbols_.object();
  side().objects.emplace(symbol, Object{kind, std::move(keys), std::move(items)});
  return symbol;
}

Object* Frame::object(Symbol symbol) {
  if (!symbols_.is_object(symbol)) return nullptr;
  auto found = side().objects.find(symbol);
  return found == side().objects.end() ? nullptr : &found->second;
}

bool Frame::sequence(Symbol symbol, Parts& items) {
  if (const Object* known = object(symbol)) {
    if (!is_sequence(known->kind)) return false;
    items = known->items;
    return true;
  }
  // The items of a constant tuple are known, although other code may have seen the tuple.
  const Constant* constant = symbols_.value(symbol);
  if (!constant || constant->kind != Constant::Kind::tuple) return false;
  items.clear();
  for (const Constant& item : constant->items) items.push_back(symbols_.constant(item));
  return true;
}

Exact Frame::exact_type_of(Symbol symbol) const {
  if (!symbols_.is_object(symbol)) return symbols_[symbol].exact;
  auto found = side().objects.find(symbol);
  return found == side().objects.end() ? Exact::unknown : exact_type(found->second.kind);
}

}  // namespace depyf
