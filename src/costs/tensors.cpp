#include "costs/tensors.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "support/words.h"

namespace depyf::costs {
namespace {

constexpr std::int64_t size_max = std::int64_t{1} << 31;  // limits a size or stride, so products fit in 64 bits

// Returns the tensor, the sizes, the strides and the offset of `reinterpret_tensor(buf0, (2, 4), (4, 1), 0)`; an empty
// list for any other text.
std::vector<std::string_view> parts_of_view(std::string_view text) {
  if (!take(text, "reinterpret_tensor")) return {};
  std::vector<std::string_view> parts = items_in_brackets(text);
  if (parts.size() < 3) parts.clear();
  return parts;
}

}  // namespace

// Returns the sizes and strides that two tuples of the code state. The layout is empty if a size or a stride is
// unknown.
Layout Tensors::layout(std::string_view sizes, std::string_view strides) const {
  Layout layout;
  for (const auto& [text, numbers] : {std::pair(sizes, &layout.sizes), {strides, &layout.strides}})
    for (std::string_view item : items_in_brackets(text)) {
      const std::optional<std::int64_t> size = size_of(item, symbols_);
      if (!size || *size < 0 || *size > size_max) return {};
      numbers->push_back(*size);
    }
  return layout;
}

void Tensors::state_layout(const std::string& name, std::string_view sizes, std::string_view strides) {
  layout_of_[name] = layout(sizes, strides);
  if (sizes == "()") scalars_.insert(name);
}

void Tensors::name(const std::string& target, std::string_view value) {
  const std::optional<TensorFacts> facts = facts_of(value);
  if (facts && facts->layout.sizes.empty()) scalars_.insert(target);
  if (facts || !has_layout(target)) layout_of_[target] = layout_of(value);
  const std::string_view dtype = facts ? facts->dtype : dtype_of(std::string(value));
  if (!dtype.empty()) dtype_of_[target] = dtype;
}

Layout Tensors::layout_of(std::string_view argument) const {
  const auto known = layout_of_.find(std::string(argument));
  if (known != layout_of_.end()) return known->second;
  const std::vector<std::string_view> view = parts_of_view(argument);
  return view.empty() ? Layout() : layout(view[1], view[2]);
}

std::string_view Tensors::dtype_of(const std::string& name) const {
  const auto stated = dtype_of_.find(name);
  return stated == dtype_of_.end() ? dtype_elsewhere_(name) : stated->second;
}

std::optional<TensorFacts> Tensors::facts_of(std::string_view argument) const {
  const std::vector<std::string_view> view = parts_of_view(argument);
  const std::string name(view.empty() ? argument : view[0]);
  const std::string_view dtype = dtype_of(name);
  if (dtype.empty() || (view.empty() && !has_layout(name))) return std::nullopt;
  Layout layout = layout_of(argument);
  if (layout.sizes.size() != layout.strides.size()) return std::nullopt;
  const bool is_scalar = view.empty() ? scalars_.contains(name) : view[1] == "()";
  if (layout.sizes.empty() && !is_scalar) return std::nullopt;  // the sizes of the tensor are unknown
  return TensorFacts{std::move(layout), std::string(dtype)};
}

}  // namespace depyf::costs
