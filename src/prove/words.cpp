#include "prove/words.h"

#include "decode/op.h"

namespace depyf {
namespace {

// Returns the name that the effect loads or stores; an empty string if the effect has no name.
std::string name_of(const Effect& effect, const Symbols& symbols) {
  const Constant* constant = effect.name == Symbols::null ? nullptr : symbols.value(effect.name);
  return constant && constant->kind == Constant::Kind::string ? constant->text : std::string();
}

// Returns the name of an operation with blanks between its words, as in `load attr`.
std::string spoken(Op op) {
  std::string name(op_name(op));
  for (char& c : name) {
    if (c == '_') c = ' ';
  }
  return name;
}

}  // namespace

// The description names at most four operands, because it becomes part of a message.
std::string effect_words(const Effect& effect, const Symbols& symbols) {
  if (effect.op == Op::nop_) return "nothing yet";
  std::string text = effect.op == Op::reraise_ && effect.then == Effect::Then::end ? "leave by exception"
                     : effect.op == Op::jump_                                      ? "loop for ever"
                                                                                   : spoken(effect.op);
  if (std::string name = name_of(effect, symbols); !name.empty()) text += " " + name;
  if (effect.op == Op::binary_op_ || effect.op == Op::compare_op_ || effect.op == Op::unary_op_) {
    text += " number " + std::to_string(effect.detail);
  }
  for (std::size_t i = 0; i < effect.operands.size() && i < 4; ++i) {
    text += i == 0 ? ": " : ", ";
    text += symbols.words(effect.operands[i]);
  }
  if (effect.operands.size() > 4) text += ", ...";
  if (effect.op == Op::call_ && effect.name != Symbols::null) text += "; names " + symbols.words(effect.name);
  return text;
}

std::string result_words(const Effect& effect, const Symbols& symbols) {
  if (std::string name = name_of(effect, symbols); !name.empty()) return name;
  if (effect.op == Op::call_) {
    std::string callable = symbols.words(effect.operands[0]);
    return callable.size() < 48 ? "result of " + callable : "result of a call";
  }
  if (effect.op == Op::for_iter_) return "item of a loop";
  return "result of " + spoken(effect.op);
}

}  // namespace depyf
