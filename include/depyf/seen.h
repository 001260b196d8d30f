// Holds what depyf saw of a compilation in its own process: nodes with PyTorch's notes about them, Inductor's
// operations, and output code. From these come the links in provenance.json, and the comments in the files of a dump.
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

// Returns, by name, the nodes that the nodes of passes replace. An empty direction asks for AOTAutograd's pass, and any
// other direction for Inductor's passes in that direction.
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

  // Returns the text of a file with the links as comments at its lines; no line moves. Comments of an earlier call are
  // replaced. `kind` and `direction` are those of the artifact. The lines of the nodes become part of the record.
  std::string annotated(const std::string& file, const std::string& kind, const std::string& direction,
                        std::string_view text);

  // Returns the links as JSON: one compilation in the form that provenance.json has.
  std::string to_json(const LinkedCompilation& compilation) const;

  // Returns what the lines of source cost, as a section of tables.md. Only files that `annotated` has seen count. The
  // result is empty if there is nothing to tell.
  std::string tables() const;

  // Returns, in lines of Markdown, what each captured node became, and what was not fused.
  std::vector<std::string> story() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace depyf
