#include "artifact/outlines.h"

#include <set>

#include "pickle/outline.h"
#include "support/words.h"

namespace depyf::artifact {

using pickle::Kind;
using pickle::Value;

std::string short_text(const Value& value) {
  return value.is(Kind::string) ? std::string(value.text().substr(0, text_max)) : pickle::outline(value, text_max);
}

std::string signature_text(const Value& signature) {
  enum ParameterKind { positional_only, positional_or_keyword, starred, keyword_only, double_starred };
  std::vector<std::string> texts;
  std::int64_t last = positional_or_keyword;
  const Value parameters = signature.argument(0);
  for (std::size_t position = 0; position < parameters.size() && position < text_max; ++position) {
    const Value parameter = parameters.at(position);
    const std::int64_t kind = parameter.argument(1).argument(0).integer(positional_or_keyword);
    std::string text = short_text(parameter.argument(0));
    if (kind != positional_only && last == positional_only && !texts.empty()) texts.push_back("/");
    if (kind == keyword_only && last < starred) texts.push_back("*");
    if (kind == starred) text = "*" + text;
    if (kind == double_starred) text = "**" + text;
    const Value otherwise = parameter.attribute("_default");
    if (otherwise && otherwise.dotted_name() != "inspect._empty") text += "=" + pickle::outline(otherwise, 100);
    texts.push_back(std::move(text));
    last = kind;
  }
  return "(" + joined(texts, ", ") + ")";
}

std::vector<std::string> kept_values(const Value& environment) {
  std::vector<std::string> notes;
  const Value globals = environment.attribute("used_globals");
  for (std::size_t position = 0; position < globals.size() && position < text_max; ++position)
    notes.push_back("the transformed code has the global " + short_text(globals.key(position)) + " = " +
                    pickle::outline(globals.value(position), 200) + " from the file");
  const Value closure = environment.attribute("closure");
  if (closure.size() > 0)
    notes.push_back("the function's free variables come from the file: " + pickle::outline(closure, 300));
  return notes;
}

bool is_builtin(const std::string& name) {
  static const std::set<std::string, std::less<>> names = {
      "abs",  "all",        "any",   "bool", "dict",  "enumerate", "float",  "getattr",  "hasattr",
      "int",  "isinstance", "len",   "list", "map",   "max",       "min",    "print",    "range",
      "set",  "sorted",     "str",   "sum",  "super", "tuple",     "type",   "zip",      "iter",
      "next", "slice",      "round", "id",   "repr",  "object",    "filter", "reversed", "setattr"};
  return names.contains(name);
}

std::string bytes_of(const Value& value) {
  if (value.class_name() != "_codecs.encode" || value.argument(1).text() != "latin1") return std::string(value.text());
  // Each character of the text represents one byte, and a character beyond ASCII takes two bytes of UTF-8.
  std::string bytes;
  const std::string_view text = value.argument(0).text();
  for (std::size_t index = 0; index < text.size(); ++index) {
    const auto first = static_cast<unsigned char>(text[index]);
    const bool is_pair = (first == 0xc2 || first == 0xc3) && index + 1 < text.size();
    bytes += is_pair ? static_cast<char>((first & 3) << 6 | (static_cast<unsigned char>(text[++index]) & 0x3f))
                     : text[index];
  }
  return bytes;
}

}  // namespace depyf::artifact
