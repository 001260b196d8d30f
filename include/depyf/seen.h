// Stores the data that depyf collected about a compilation in the process that compiled: nodes with the metadata that
// PyTorch stored for them, Inductor's operations, and output code. The links in provenance.json, and the comments in
// the files of a dump, are computed from the collected data.
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

// A line of source as depyf recorded it. Two lines are equal only if all their members are equal.
struct SeenLine {
  std::string file;
  std::int64_t line = 0;
  std::string text, function;
  bool operator==(const SeenLine&) const = default;
};

// A node from which other nodes were made, with the number of its graph. The member `graph` is 0 if the graph of the
// node is unknown.
struct NodeSource {
  std::string name;
  std::int64_t graph = 0;
};

struct SeenNode {
  std::string name, target;
  std::shared_ptr<const SeenLine> line;  // the user's line, which many nodes share; null if it is unknown
  std::vector<NodeSource> sources;
  std::optional<std::int64_t> number;  // autograd's sequence number, the same for an operation and its gradient
  bool is_backward = false;
  std::string module;  // the path of the innermost module; empty if PyTorch noted no module
};

// A node of Inductor's IR.
struct SeenOperation {
  std::string name;
  std::string kind;  // "loops", "library call", or "nothing" if the operation computes nothing
  std::vector<std::string> writes, reads;  // the names of buffers
  std::vector<std::string> origins;  // the nodes after the post-grad passes that the operation was made from
  std::string call;  // the name of the called function if the operation is a library call
};
using OperationGroup = std::vector<SeenOperation>;  // operations that were fused into one kernel

struct NotFused {
  std::string first, second;  // two groups of fused operations, each named like `op0_op1`
  std::string reason;  // the reason in Inductor's log
};

struct SeenDirection {
  std::string name;  // "forward" or "backward"
  std::vector<SeenNode> graph, post_grad;
  std::vector<OperationGroup> operations;
  std::vector<NotFused> not_fused;
  std::string code;  // Inductor's output code
};

// The graphs, operations and output code that depyf saw in the process of a compilation.
struct Seen {
  std::vector<SeenNode> captured, joint;
  std::int64_t graph = 0;  // a number that identifies the captured graph; 0 if it is unknown
  std::vector<SeenDirection> directions;
};

// A function that maps the name of each node that a pass created to the nodes that the created node replaces. An empty
// direction selects AOTAutograd's pass, and any other direction Inductor's passes in that direction.
using ReplacedBy = std::function<std::map<std::string, std::vector<std::string>>(const std::string& direction)>;

// A stage whose links are unknown, with the reason.
struct MissingStage {
  std::string kind, direction, why;
};

// The compilation to which the links belong, as session.json describes it.
struct LinkedCompilation {
  std::string id, function;
  std::optional<std::int64_t> compiled_fn;
  std::vector<MissingStage> missing;
};

// The links of one compilation.
class Provenance {
 public:
  // `replaced` is called only if PyTorch did not record from which captured nodes some node was created.
  Provenance(Seen seen, const ReplacedBy& replaced);
  Provenance(Provenance&&) noexcept;
  ~Provenance();

  // Returns the text of a file with the links as comments at the ends of its lines, without adding lines. Comments that
  // an earlier call of `annotated` added are replaced. `kind` and `direction` are the kind and the direction of the
  // artifact in the file. The numbers of the lines that define nodes are stored for `to_json`.
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
