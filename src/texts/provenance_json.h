// Writes the links of a compilation as an object of provenance.json.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "depyf/seen.h"
#include "links/seen.h"
#include "texts/not_fused.h"

namespace depyf::texts {

// A file of the dump, with the number of the line at which each of its nodes or operations is defined.
struct AnnotatedFile {
  std::string name, kind, direction;
  std::vector<std::pair<std::string, std::size_t>> lines;
};

std::string provenance_json(const LinkedCompilation& compilation, const Seen& seen, const links::SeenLinks& links,
                            const std::vector<AnnotatedFile>& files, const std::vector<Neighbours>& neighbours);

}  // namespace depyf::texts
