// Stores the data that depyf collected about a compilation in its own process: nodes with PyTorch's notes about them,
// Inductor's operations, and output code. The links in provenance.json, and the comments in the files of a dump, are
// computed from the collected data.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace depyf {

// A function that maps the name of each node that a pass created to the nodes that it replaces. An empty direction
// selects AOTAutograd's pass, and any other direction Inductor's passes in that direction.
using ReplacedBy = std::function<std::map<std::string, std::vector<std::string>>(const std::string& direction)>;

// A stage whose links are unknown, with the reason.
struct MissingStage {
  std::string kind, direction, why;
};

// The compilation to which the links belong, as the session records it.
struct LinkedCompilation {
  std::string id, function;
  std::optional<std::int64_t> compiled_fn;
  std::vector<MissingStage> missing;
};

// The links of one compilation.
class Provenance {
 public:
  // `seen` is the JSON that depyf/provenance/dumped.py writes. `replaced` is called only if PyTorch has no notes about
  // some node.
  Provenance(std::string_view seen, const ReplacedBy& replaced);
  Provenance(Provenance&&) noexcept;
  ~Provenance();

  // Returns the text of a file with the links as comments at the ends of its lines, without adding lines. Comments that
  // an earlier call of `annotated` added are replaced. `kind` and `direction` are those of the artifact in the file.
  // The lines of the nodes are stored for `to_json`.
  std::string annotated(const std::string& file, const std::string& kind, const std::string& direction,
                        std::string_view text);

  // Returns the links as JSON: one compilation in the format of provenance.json.
  std::string to_json(const LinkedCompilation& compilation) const;

  // Returns the costs of the lines of source as a section of tables.md, computed from the files that were passed to
  // `annotated`. The result is empty if no costs are known.
  std::string tables() const;

  // Returns lines of Markdown about the kernels that were generated from each captured node, and the operations that
  // were not fused.
  std::vector<std::string> story() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace depyf
