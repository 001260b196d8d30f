#include "costs/attention.h"

#include <algorithm>

namespace depyf::costs {
namespace {

constexpr std::string_view forward_name = "_scaled_dot_product_flash_attention_for_cpu.",
                           backward_name = "_scaled_dot_product_flash_attention_for_cpu_backward.";
constexpr std::int64_t elements_max = std::int64_t{1} << 50;  // limits elements, so that their bytes fit in 64 bits
constexpr std::int64_t sum_bytes = 4;  // the bytes of a sum; sums are floats if an element has at most 4 bytes

// Each thread multiplies a block of queries by a block of keys at a time. PyTorch chooses the sizes of the blocks by
// the number of queries (aten/src/ATen/native/cpu/FlashAttentionKernel.cpp).
struct Block {
  std::int64_t queries = 0, keys = 0;
};

Block block_of(std::int64_t queries, std::int64_t keys) {
  const std::int64_t block = queries >= 768 ? 256 : queries >= 192 ? 64 : 32;
  return {std::min(block, queries), std::min<std::int64_t>(512, keys)};
}

// True if the gradient is contiguous in the order batches, queries, heads, features, so that the backward reads the
// gradient without a copy. The dimensions of a tensor of attention have the order batches, heads, queries, features.
bool is_contiguous(const Layout& gradient) {
  std::int64_t expected = 1;
  for (const std::size_t dimension : {3U, 1U, 2U, 0U}) {
    const std::int64_t size = gradient.sizes[dimension];
    if (size != 1 && gradient.strides[dimension] != expected) return false;
    if (size > 1) expected = std::min(expected, elements_max / size) * size;
  }
  return true;
}

std::int64_t elements_of(const Layout& layout) {
  std::int64_t elements = 1;
  for (const std::int64_t size : layout.sizes) elements = size > 0 ? std::min(elements, elements_max / size) * size : 0;
  return elements;
}

}  // namespace

bool is_attention(std::string_view function) {
  return function.find(forward_name) != std::string_view::npos ||
         function.find(backward_name) != std::string_view::npos;
}

std::int64_t attention_bytes(std::string_view function, const std::vector<Layout>& arguments,
                             std::int64_t element_bytes, std::int64_t threads) {
  const bool is_backward = function.find(backward_name) != std::string_view::npos;
  const std::size_t query = is_backward ? 1 : 0, key = query + 1;  // the query follows the gradient
  if (arguments.size() <= key) return 0;
  for (const std::size_t argument : {std::size_t{0}, query, key})
    if (arguments[argument].sizes.size() != 4 || arguments[argument].strides.size() != 4) return 0;
  const std::int64_t features = arguments[query].sizes[3];
  const Block block = block_of(arguments[query].sizes[2], arguments[key].sizes[2]);
  const std::int64_t products = block.queries * block.keys;
  const std::int64_t width = std::max(element_bytes, sum_bytes);
  // True if each thread keeps a second copy of the products of queries and keys, in the type of the query.
  const bool is_reduced = element_bytes < sum_bytes;
  if (is_backward) {
    std::int64_t bytes = threads * 2 * products * width + block.queries * width;
    if (is_reduced) bytes += threads * 2 * products * element_bytes;
    return bytes + (is_contiguous(arguments[0]) ? 0 : elements_of(arguments[0]) * element_bytes);
  }
  // Each thread has buffers for the products, for the greatest value and the sum of each query, and for the results.
  const std::int64_t bytes = threads * (products + 2 * block.queries + block.queries * features) * width;
  return bytes + (is_reduced ? threads * products * element_bytes : 0);
}

}  // namespace depyf::costs
