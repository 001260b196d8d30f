#include "links/index.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace depyf::links {

std::string_view base_name(std::string_view op) {
  // The name of an operator is aten.NAME.OVERLOAD, or has another namespace of torch.ops in place of `aten`. Names of
  // functions and methods, such as torch.relu, have no overload and end with the base name.
  const std::size_t first = op.find('.'), last = op.rfind('.');
  if (first == std::string_view::npos) return op;
  const std::string_view space = op.substr(0, first);
  const bool has_overload = first != last && space != "torch" && space != "operator" && space != "Tensor" &&
                            space != "self" && space != "extern_kernels";
  if (!has_overload) return op.substr(last + 1);
  const std::string_view path = op.substr(0, last);
  return path.substr(path.rfind('.') + 1);
}

bool is_view(std::string_view op) {
  static constexpr std::string_view views[] = {
      "_reshape_alias", "_unsafe_view", "alias",  "as_strided", "chunk", "detach",           "diagonal", "expand",
      "permute",        "reshape",      "select", "slice",      "split", "split_with_sizes", "squeeze",  "t",
      "transpose",      "unbind",       "unfold", "unsqueeze",  "view",  "view_as"};
  return std::binary_search(std::begin(views), std::end(views), base_name(op));
}

std::string elements_of(std::string_view shape) {
  const std::size_t open = shape.find('['), close = shape.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  std::int64_t count = 1;
  std::vector<std::string_view> symbols;
  std::string_view sizes = shape.substr(open + 1, close - open - 1);
  while (!sizes.empty()) {
    const std::size_t end = sizes.find_first_of(",*");
    std::string_view size = sizes.substr(0, end);
    sizes.remove_prefix(end == std::string_view::npos ? sizes.size() : end + 1);
    while (!size.empty() && size.front() == ' ') size.remove_prefix(1);
    while (!size.empty() && size.back() == ' ') size.remove_suffix(1);
    if (size.empty()) continue;
    std::int64_t number = 0;
    auto [behind, error] = std::from_chars(size.data(), size.data() + size.size(), number);
    constexpr std::int64_t count_max = std::int64_t{1} << 31;  // larger sizes are appended as symbols
    if (error == std::errc() && behind == size.data() + size.size() && number >= 0 && number < count_max &&
        count < count_max)
      count *= number;
    else symbols.push_back(size);
  }
  std::sort(symbols.begin(), symbols.end());
  std::string text(shape.substr(0, open));
  text += ' ' + std::to_string(count);
  for (std::string_view symbol : symbols) (text += '*') += symbol;
  return text;
}

}  // namespace depyf::links
