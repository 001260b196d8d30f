#include "artifact/harmless.h"

#include <algorithm>

#include "artifact/words.h"
#include "support/words.h"

namespace depyf::artifact {
namespace {

// The names that a condition of a guard may call: functions of Python and PyTorch without side effects, methods of
// tensors and dicts, and the helper functions that are printed above the guards.
constexpr std::string_view callable[] = {
    "abs", "all", "any", "bool", "ceil", "device", "dict", "dim", "float", "floor", "frozenset", "get", "getattr",
    "hasattr", "id", "int", "isinstance", "issubset", "keys", "len", "list", "max", "min", "raw_repr", "set", "size",
    "sqrt", "storage_offset", "str", "stride", "sum", "trunc", "tuple", "type", "values",
    // The following names are helper functions, and functions that PyTorch's own guards call.
    "_dispatch_keys", "_dispatch_tls_local_exclude_set", "_dispatch_tls_local_include_set", "_len_torch_function_stack",
    "are_different", "has_keys", "is_state", "is_unmarked", "saved_tensors_hooks_are_inlineable",
    "top_saved_tensors_hooks"};
constexpr std::string_view operators[] = {"and", "or", "not", "in",
                                          // A parenthesis behind one of the following keywords does not begin a call.
                                          "is", "if", "else", "for"};
constexpr std::string_view refused[] = {"lambda", "yield", "await"};
constexpr std::string_view hidden[] = {"__class__",      "__closure__", "__code__", "__defaults__", "__dict__",
                                       "__kwdefaults__", "__module__",  "__mro__",  "__qualname__"};
constexpr std::string_view loaded_module = "__import__('sys').modules";

}  // namespace

bool is_dotted_name(std::string_view text) {
  while (true) {
    const std::string_view name = word_at(text);
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
    text.remove_prefix(name.size());
    if (text.empty()) return true;
    if (!take(text, ".")) return false;
  }
}

bool is_harmless(std::string_view expression) {
  char before = '\0';  // the last character before `at` that is not a blank; '\0' if there is none
  for (std::size_t at = 0; at < expression.size();) {
    const char character = expression[at];
    if (expression.substr(at).starts_with(loaded_module) && !is_word(before)) {
      at += loaded_module.size();
      before = 's';
      continue;
    }
    if (character == '\'' || character == '"') {
      const std::size_t end = behind_string(expression, at);
      if (expression[end - 1] != character || end - at < 2) return false;  // the string literal does not end
      at = end;
      before = character;
      continue;
    }
    if (is_word(character)) {
      const std::string_view name = word_at(expression.substr(at));
      at += name.size();
      const char next = at < expression.size() ? expression[at] : '\0';
      if (next == '\'' || next == '"' || is_among(name, refused))
        // `name` is a keyword such as `lambda`, or the prefix of a string literal such as an f-string, which may
        // evaluate expressions.
        return false;
      const std::string_view rest = stripped_start(expression.substr(at));
      if (rest.starts_with('(') && !is_among(name, callable) && !is_among(name, operators)) return false;
      if (name.starts_with("__") && !is_among(name, hidden)) return false;
      before = name.back();
      continue;
    }
    // Refuse characters that begin a call of the value of an expression (`f()()`), a comment, an assignment, a second
    // statement, or an escape.
    if (character == '(' && (before == ')' || before == ']' || before == '}' || before == '\'' || before == '"'))
      return false;
    if (character == '#' || character == ';' || character == '\\' || character == '`' || character == '@') return false;
    if (character == ':' && expression.substr(at + 1).starts_with('=')) return false;
    if (static_cast<unsigned char>(character) >= 0x80 || (character < ' ')) return false;
    if (character != ' ') before = character;
    ++at;
  }
  return true;
}

}  // namespace depyf::artifact
