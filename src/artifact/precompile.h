// Reads the two files of torch.compiler.precompile (2.15): Python source that contains pickles of Dynamo's frames as
// text, and a file of torch.save that contains a bundle of cache entries. The Python source is read as text, line by
// line, and not executed.
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
  std::vector<Fact> facts;  // the constants of the source, under the names that are shown
  std::vector<std::string> unchecked;  // sentences about guards that could not be saved
  std::vector<PrecompileSection>
      // The sections of the source that contain compiled graphs.
      sections;
  std::string_view frames, backends;  // pickles in base64; empty if the source contains none
};

// True if the bytes begin with the header of source that torch.compiler.precompile writes.
bool is_precompile_source(std::string_view bytes);

PrecompileSource read_precompile_source(std::string_view text);

// Returns the pickle in a file of torch.save; an error if the file is malformed, or the pickle has more than `limit`
// bytes.
Result<std::string> pickle_of_archive(std::string_view bytes, std::size_t limit);

}  // namespace depyf::artifact
