// Parses any bytes as a condition of a guard: a printed expression must be parsed as the same expression again, and the
// rules about limits and implications must not crash on any condition.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "conditions/expression.h"
#include "depyf/conditions.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace depyf::conditions;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto tree = parse(text)) {
    const std::string printed = unparse(*tree);
    const auto again = parse(printed);
    // Parentheses that printing adds can exceed the bound on nesting.
    if (again && unparse(*again) != printed) std::abort();
  }
  (void)owner_in_terms(text);
  // Each line is the condition of another guard.
  std::vector<Guard> guards;
  for (std::size_t start = 0; start < text.size() && guards.size() < 50;) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    Guard guard;
    guard.kind = "EQUALS_MATCH";
    guard.conditions.emplace_back(text.substr(start, end - start));
    guards.push_back(std::move(guard));
    start = end + 1;
  }
  (void)frontier(guards, std::nullopt);
  (void)redundant(guards, 0);
  return 0;
}
