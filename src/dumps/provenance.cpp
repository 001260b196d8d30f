// Reads provenance.json, in which depyf recorded the later nodes and kernels of each captured node. The recorded
// links replace the links that are inferred from texts, because the recorded links are more complete.
#include <algorithm>
#include <unordered_map>

#include "depyf/dump.h"
#include "dumps/members.h"

namespace depyf {
namespace {

using namespace record;
using dumps::place_of, dumps::text_of, dumps::texts_of;

constexpr int provenance_version = 1;  // the version of the file that is read

Chain chain_of(json::Value item) {
  Chain chain;
  chain.node = text_of(item["node"]);
  chain.op = text_of(item["operator"]);
  chain.place = place_of(item["line"]);
  chain.joint = texts_of(item["joint"]);
  chain.not_recorded = texts_of(item["not_recorded"]);
  item["directions"].for_each_member([&](json::Value name, json::Value direction) {
    Link& link = chain.directions[name.text()];
    link.graph = texts_of(direction["graph"]);
    link.post_grad = texts_of(direction["post_grad"]);
    link.kernels = texts_of(direction["kernels"]);
    link.operations = texts_of(direction["operations"]);
    link.not_recorded = texts_of(direction["not_recorded"]);
  });
  return chain;
}

void replace_chains(Compilation& compilation, json::Value provenance) {
  // Maps each captured node to the module in the node's inferred chain. The file provenance.json contains no modules,
  // so each chain that is read from the file gets the module of the inferred chain of the same captured node.
  std::unordered_map<std::string_view, const std::string*> modules;
  for (const Chain& inferred : compilation.chains) modules[inferred.node] = &inferred.module;
  std::vector<Chain> chains;
  provenance["chains"].for_each_item([&](json::Value item) {
    Chain& chain = chains.emplace_back(chain_of(item));
    if (const auto module = modules.find(chain.node); module != modules.end()) chain.module = *module->second;
  });
  if (!chains.empty()) compilation.chains = std::move(chains);
  provenance["not_fused"].for_each_member([&](json::Value direction, json::Value pairs) {
    pairs.for_each_item([&](json::Value pair) {
      compilation.not_fused.push_back({direction.text(), text_of(pair["first_is"]), text_of(pair["second_is"]),
                                       text_of(pair["why"]), texts_of(pair["buffers"])});
    });
  });
}

}  // namespace

void read_provenance(std::string_view provenance, std::vector<Process>& processes) {
  json::Document document;
  if (document.parse(provenance) || document.root()["schema_version"].integer() != provenance_version) return;
  std::size_t run = 0;
  document.root()["runs"].for_each_item([&](json::Value item) {
    if (run == processes.size()) return;
    std::vector<Compilation>& compilations = processes[run++].compilations;
    item["compilations"].for_each_item([&](json::Value recorded) {
      const std::string id = text_of(recorded["compile_id"]);
      const auto compilation =
          std::find_if(compilations.begin(), compilations.end(),
                       [&](const Compilation& candidate) { return candidate.id == id && candidate.not_fused.empty(); });
      if (compilation != compilations.end()) replace_chains(*compilation, recorded);
    });
  });
}

}  // namespace depyf
