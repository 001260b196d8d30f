// Finds the rows that two texts of graphs or code share. Rows that differ only in the numbers at the ends of names
// count as equal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace depyf::page {

// A run of adjacent rows that two texts share: the indices of its first row in the first and in the second text, from
// 0, and the number of its rows.
struct SameRows {
  int first = 0, second = 0, count = 0;
};

// Returns the row without comments and without the numbers that PyTorch gives to names: `mul_3` becomes `mul`, `buf7`
// becomes `buf`, and `__compiled_fn_5` becomes `__compiled_fn`.
std::string normalised(std::string_view row);

// Returns the rows that both texts have in the same order, as runs of adjacent rows. If the texts are too different to
// be compared in reasonable time, only rows that occur once in each text are matched.
std::vector<SameRows> same_rows(std::string_view first, std::string_view second);

}  // namespace depyf::page
