// What is the same in two texts of graphs or code, whatever numbers their names ended on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace depyf::page {

// Rows of the first text, from 0, that are rows of the second.
struct SameRows {
  int first = 0, second = 0, count = 0;
};

// The row without comments, and with names as they are without the numbers that PyTorch gives them: `mul_3` and `buf7` are
// `mul` and `buf`, `__compiled_fn_5` is `__compiled_fn`.
std::string normalised(std::string_view row);

// The rows that both texts have in the same order, in runs. Where the texts differ too much to be compared in reasonable time
// rows that occur once in each decide.
std::vector<SameRows> same_rows(std::string_view first, std::string_view second);

}  // namespace depyf::page
