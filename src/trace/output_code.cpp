#include "trace/output_code.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "support/words.h"

namespace depyf::trace {
namespace {

// Returns the names of the source nodes in a comment such as "# Topologically Sorted Source Nodes: [mul, add],
// Original ATen: [...]".
std::vector<std::string> source_nodes_of(std::string_view comment) {
  std::vector<std::string> nodes;
  const std::size_t open = comment.find('['), close = comment.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return nodes;
  std::string_view list = comment.substr(open + 1, close - open - 1);
  while (!list.empty()) {
    const std::size_t comma = list.find(", ");
    if (const std::string_view name = list.substr(0, comma); !name.empty() && name != shortened_nodes)
      nodes.emplace_back(name);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 2);
  }
  return nodes;
}

class Scan {
 public:
  std::vector<record::Kernel> run(std::string_view code) {
    bool is_in_source = false;  // true within a kernel's own source, which is in triple quotes
    while (!code.empty()) {
      const std::size_t end = code.find('\n');
      const std::string_view line = code.substr(0, end);
      code.remove_prefix(end == std::string_view::npos ? code.size() : end + 1);
      const bool was_in_source = is_in_source;
      for (std::size_t at = line.find("'''"); at != std::string_view::npos; at = line.find("'''", at + 3))
        is_in_source = !is_in_source;
      if (!was_in_source) look_at(line);
    }
    return std::move(kernels_);
  }

 private:
  void look_at(std::string_view line) {
    if (line.starts_with("# AOT ID: ['")) {
      const std::size_t underscore = line.rfind('_'), quote = line.rfind('\'');
      if (underscore != std::string_view::npos && quote != std::string_view::npos && quote > underscore)
        direction_ = line.substr(underscore + 1, quote - underscore - 1);
      return;
    }
    const std::size_t start = line.find_first_not_of(' ');
    if (start == std::string_view::npos) return;
    std::string_view text = line.substr(start);
    if (text.starts_with("# Topologically Sorted Source Nodes:") || text.starts_with("# Source Nodes:")) {
      nodes_ = source_nodes_of(text);
      return;
    }
    if (text.starts_with("#")) return;
    if (start == 0) return define(text);
    call(text);
  }

  // Reads the definition of a kernel, such as "cpp_fused_add_0 = async_compile.cpp_pybinding([...".
  void define(std::string_view text) {
    static constexpr std::string_view compile = " = async_compile.";
    const std::string_view name = word_at(text);
    if (name.empty() || text.substr(name.size(), compile.size()) != compile) return;
    const std::string_view method = word_at(text.substr(name.size() + compile.size()));
    kernel(name, method.starts_with("cpp") ? "cpp" : method);
  }

  // Reads a call, such as "cpp_fused_add_0(buf0, ...)", "triton_poi_0.run(...)", "extern_kernels.mm(...)" or "buf1 =
  // torch.ops.aten.sort.stable(...)".
  void call(std::string_view text) {
    if (const std::string_view name = word_at(text); known_.contains(std::string(name))) {
      const std::string_view rest = text.substr(name.size());
      if (rest.starts_with("(") || rest.starts_with(".run(")) called(kernels_[known_[std::string(name)]]);
      return;
    }
    for (std::string_view prefix : {"extern_kernels.", "torch.ops."}) {
      const std::size_t at = text.find(prefix);
      if (at == std::string_view::npos || (at && (is_word(text[at - 1]) || text[at - 1] == '.'))) continue;
      std::size_t end = at + prefix.size();
      while (end < text.size() && (is_word(text[end]) || text[end] == '.')) ++end;
      if (end >= text.size() || text[end] != '(') continue;  // the name is not called here
      called(kernel(text.substr(at, end - at), "library"));
      return;
    }
  }

  record::Kernel& kernel(std::string_view name, std::string_view kind) {
    auto [found, is_new] = known_.try_emplace(std::string(name), kernels_.size());
    if (is_new) {
      kernels_.emplace_back();
      kernels_.back().name = name, kernels_.back().kind = kind, kernels_.back().direction = direction_;
    }
    return kernels_[found->second];
  }

  void called(record::Kernel& kernel) {
    ++kernel.calls;
    for (std::string& node : nodes_)
      if (std::find(kernel.source_nodes.begin(), kernel.source_nodes.end(), node) == kernel.source_nodes.end())
        kernel.source_nodes.push_back(std::move(node));
    nodes_.clear();
  }

  std::vector<record::Kernel> kernels_;
  std::unordered_map<std::string, std::size_t> known_;  // maps a name to its index in kernels_
  std::vector<std::string> nodes_;  // the nodes in the last comment, which belong to the next call
  std::string direction_;
};

}  // namespace

std::vector<record::Kernel> kernels_of(std::string_view output_code) { return Scan().run(output_code); }

}  // namespace depyf::trace
