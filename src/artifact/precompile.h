// Reads the two files of torch.compiler.precompile (2.15): Python source that contains pickles of Dynamo's frames as
// text, and a file of torch.save that contains a bundle of cache entries. The source is read as text, line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "depyf/artifact.h"
#include "support/result.h"

namespace depyf::artifact {

struct PrecompileSection {
  std::string title, text;
};

struct PrecompileSource {
  std::vector<Fact> facts;  // the constants of the source, under names for readers
  std::vector<std::string> unchecked;  // sentences about the guards that could not be saved
  std::vector<PrecompileSection>
      sections;  // The sections of what was compiled. The constants and PyTorch's own driver are no sections.
  std::string_view frames, backends;  // pickles in base64; empty if the source has none
};

// True if the bytes begin like such source.
bool is_precompile_source(std::string_view bytes);

PrecompileSource read_precompile_source(std::string_view text);

// Returns the pickle in a file of torch.save; an error if it has more than `limit` bytes.
Result<std::string> pickle_of_archive(std::string_view bytes, std::size_t limit);

}  // namespace depyf::artifact
