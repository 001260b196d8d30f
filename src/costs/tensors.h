// Keeps the layouts and element types that output code states for its tensors.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "costs/library_call.h"
#include "costs/sizes.h"

namespace depyf::costs {

class Tensors {
 public:
  // `dtype_elsewhere` returns the type of a tensor if the code does not state the type; an empty text if the type is
  // unknown.
  Tensors(const Symbols& symbols, std::function<std::string_view(const std::string&)> dtype_elsewhere)
      : symbols_(symbols), dtype_elsewhere_(std::move(dtype_elsewhere)) {}

  // Record the sizes and strides, which are the texts of two tuples, and the element type that the code states for a
  // tensor.
  void state_layout(const std::string& name, std::string_view sizes, std::string_view strides);
  void state_dtype(const std::string& name, std::string_view dtype) { dtype_of_[name] = dtype; }

  // Records that `target` is another name of a tensor, or a view of a tensor, as in `buf1 = reinterpret_tensor(buf0,
  // (2, 4), (4, 1), 0)`.
  void name(const std::string& target, std::string_view value);

  bool has_layout(const std::string& name) const { return layout_of_.contains(name); }

  // Return the facts about an argument of a library call, which is a name or a view such as `reinterpret_tensor(...)`.
  // Each function returns an empty result if the code does not state the requested fact.
  Layout layout_of(std::string_view argument) const;
  std::optional<TensorFacts> facts_of(std::string_view argument) const;
  std::string_view dtype_of(const std::string& name) const;

 private:
  Layout layout(std::string_view sizes, std::string_view strides) const;

  const Symbols& symbols_;
  const std::function<std::string_view(const std::string&)> dtype_elsewhere_;
  std::unordered_map<std::string, Layout> layout_of_;
  std::unordered_map<std::string, std::string> dtype_of_;
  std::unordered_set<std::string> scalars_;  // tensors without dimensions, whose empty layout is known
};

}  // namespace depyf::costs
