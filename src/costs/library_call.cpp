#include "costs/library_call.h"

#include <algorithm>
#include <array>
#include <vector>

#include "support/words.h"

namespace depyf::costs {
namespace {

constexpr std::array<std::string_view, 4> libraries_of_torch{"extern_kernels.", "torch.ops.aten.", "torch.ops.mkldnn.",
                                                             "aten."};
constexpr std::array<std::string_view, 8> constants{"None", "True", "False", "inf", "nan", "cpu", "type", "index"};
// The common prefix of run_and_save_rng_state(function, arguments...) and run_with_rng_state(state, function,
// arguments...).
constexpr std::string_view runs_another = "torch.ops.higher_order.run_";
constexpr int depth_max = 16;  // the maximum nesting depth of brackets

class Writer {
 public:
  Writer(const Symbols& symbols, const TensorOf& tensor_of) : symbols_(symbols), tensor_of_(tensor_of) {}

  bool value(std::string_view text, int depth) {
    if (text.empty() || depth > depth_max) return false;
    if (const std::optional<TensorFacts> tensor = tensor_of_(text)) {
      out_ += "tensor(";
      sizes(tensor->layout.sizes);
      out_ += ", ";
      sizes(tensor->layout.strides);
      out_ += ", " + tensor->dtype + ")";
      return true;
    }
    if (text.front() == '[' || text.front() == '(') return sequence(text, depth);
    if (text.front() == '\'' || text.front() == '"') {
      out_ += text;
      return behind_string(text, 0) == text.size();
    }
    if (const std::optional<std::int64_t> size = size_of(text, symbols_)) {
      out_ += std::to_string(*size);
      return true;
    }
    out_ += text;
    return is_constant(text);
  }

  // Appends an argument of the form `name=value` or `value` to the expression. Returns false if the value is neither a
  // tensor nor a constant.
  bool argument(std::string_view text) {
    const std::string_view name = word_at(text);
    const std::string_view rest = text.substr(name.size());
    if (name.empty() || !rest.starts_with('=') || rest.starts_with("==")) return value(text, 0);
    out_ += name;
    out_ += '=';
    return value(stripped(rest.substr(1)), 0);
  }

  std::string& out() { return out_; }

 private:
  bool sequence(std::string_view text, int depth) {
    const char close = text.front() == '[' ? ']' : ')';
    if (text.back() != close) return false;
    out_ += text.front();
    for (const std::string_view item : items_in_brackets(text)) {
      if (!value(item, depth + 1)) return false;
      out_ += ", ";
    }
    if (out_.ends_with(", ") && close == ']') out_.resize(out_.size() - 2);
    out_ += close;
    return true;
  }

  void sizes(const std::vector<std::int64_t>& numbers) {
    out_ += '(';
    for (const std::int64_t number : numbers) out_ += std::to_string(number) + ", ";
    out_ += ')';
  }

  static bool is_known(std::string_view word) { return std::ranges::find(constants, word) != constants.end(); }

  // True if the text is a constant such as 0.5, -1e-05, None, torch.float32 or device(type='cpu').
  static bool is_constant(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] == '\'' || text[at] == '"') {
        at = behind_string(text, at);
        continue;
      }
      const std::string_view word = word_at(text.substr(at));
      if (word.empty()) {
        if (std::string_view(" .-+()=").find(text[at]) == std::string_view::npos) return false;
        ++at;
        continue;
      }
      at += word.size();
      const bool is_of_torch = word == "torch" && text.substr(at).starts_with('.');
      const std::string_view name = is_of_torch ? word_at(text.substr(at + 1)) : word;
      if (is_of_torch) at += 1 + name.size();
      if (text.substr(at).starts_with('(') ? name != "device" : !is_of_torch && !is_digit(word[0]) && !is_known(word))
        return false;
    }
    return true;
  }

  const Symbols& symbols_;
  const TensorOf& tensor_of_;
  std::string out_;
};

bool is_known_function(std::string_view function) {
  return std::ranges::all_of(function, [](char character) { return is_word(character) || character == '.'; }) &&
         std::ranges::any_of(libraries_of_torch, [&](std::string_view name) { return function.starts_with(name); });
}

}  // namespace

bool is_library_call(std::string_view code) {
  return code.starts_with("extern_kernels.") || code.starts_with("torch.ops.") || code.starts_with("aten.") ||
         code.starts_with("inductor_ops.");
}

std::optional<std::string> expression_of(std::string_view call, const Symbols& symbols, const TensorOf& tensor_of) {
  const std::size_t bracket = call.find('(');
  if (bracket == std::string_view::npos) return std::nullopt;
  std::string_view function = call.substr(0, bracket);
  std::vector<std::string_view> arguments = items_in_brackets(call.substr(bracket));
  if (function.starts_with(runs_another)) {
    const auto inner = std::ranges::find_if(arguments, is_known_function);
    if (inner == arguments.end()) return std::nullopt;
    function = *inner;
    arguments.erase(arguments.begin(), inner + 1);
  }
  if (!is_known_function(function)) return std::nullopt;
  Writer writer(symbols, tensor_of);
  writer.out() = function;
  writer.out() += '(';
  for (const std::string_view argument : arguments) {
    if (!writer.argument(argument)) return std::nullopt;
    writer.out() += ", ";
  }
  if (writer.out().ends_with(", ")) writer.out().resize(writer.out().size() - 2);
  writer.out() += ')';
  return std::move(writer.out());
}

}  // namespace depyf::costs
