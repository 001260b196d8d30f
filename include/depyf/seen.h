// What depyf saw of a compilation in its process: nodes with what PyTorch notes of them, Inductor's operations, output code.
// From it come the links that provenance.json has, and the comments in the files of a dump.
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

// What the nodes of passes stand for, by name: of what AOTAutograd made if the direction is empty, else of Inductor's passes in
// that direction.
using ReplacedBy = std::function<std::map<std::string, std::vector<std::string>>(const std::string& direction)>;

struct MissingStage {
  std::string kind, direction, why;
};

// The compilation that the links are of, as the record of the session has it.
struct LinkedCompilation {
  std::string id, function;
  std::optional<std::int64_t> compiled_fn;
  std::vector<MissingStage> missing;
};

// The links of one compilation.
class Provenance {
 public:
  // `seen`: as depyf/provenance/dumped.py writes it in JSON. `replaced` is asked only if there are nodes of which PyTorch
  // notes nothing.
  Provenance(std::string_view seen, const ReplacedBy& replaced);
  Provenance(Provenance&&) noexcept;
  ~Provenance();

  // The text of a file with the links as comments at its lines; no line moves. Comments that it has already are replaced.
  // `kind` and `direction` are those of the artifact; the lines of its nodes become part of the record.
  std::string annotated(const std::string& file, const std::string& kind, const std::string& direction,
                        std::string_view text);

  // Returns the links as JSON: one compilation in the form that provenance.json has.
  std::string to_json(const LinkedCompilation& compilation) const;

  // What the lines of source cost, by the files that `annotated` has seen: a section of tables.md; empty if there is nothing.
  std::string tables() const;

  // What became of each captured node, and what was not fused: a line each, in Markdown.
  std::vector<std::string> story() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace depyf
