// The two files of torch.compiler.precompile (2.15): Python source, with pickles of Dynamo's frames in it as text, and a file of
// torch.save that holds a bundle of cache entries. The source is read as text, line by line.
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
  std::vector<Fact> facts;  // its constants, under names for readers
  std::vector<std::string> unchecked;  // of guards that could not be saved, in sentences
  std::vector<PrecompileSection>
      sections;  // the parts that are no constants and not the driver, which is PyTorch's own
  std::string_view frames, backends;  // pickles in base64; empty if there are none
};

// True if the bytes begin as such source does.
bool is_precompile_source(std::string_view bytes);

PrecompileSource read_precompile_source(std::string_view text);

// The pickle in a file of torch.save. Beyond `limit` bytes: an error.
Result<std::string> pickle_of_archive(std::string_view bytes, std::size_t limit);

}  // namespace depyf::artifact
