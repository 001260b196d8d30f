// Reads the facts that depyf observed in the process of a compilation (`Seen`) from JSON.
#include "json/json.h"
#include "links/seen.h"

namespace depyf::links {
namespace {

Names names_in(json::Value list) {
  Names names;
  list.for_each_item([&](json::Value name) { names.push_back(name.text()); });
  return names;
}

// Reads a node from a row, which is an array in the order of the fields of depyf.compat.fx_nodes.NodeRow.
SeenNode node_in(json::Value row) {
  SeenNode node;
  node.name = row.at(0).text();
  node.target = row.at(1).text();
  if (const json::Value line = row.at(2); line.is(json::Kind::object))
    node.line =
        SeenLine{line["file"].text(), line["line"].integer().value_or(0), line["text"].text(), line["function"].text()};
  row.at(3).for_each_item(
      [&](json::Value source) { node.sources.push_back({source.at(0).text(), source.at(1).integer().value_or(0)}); });
  node.number = row.at(4).integer();
  node.is_backward = row.at(6).is_true();
  const json::Value modules = row.at(8);
  if (modules.size()) node.module = modules.at(modules.size() - 1).at(0).text();
  return node;
}

std::vector<SeenNode> nodes_in(json::Value rows) {
  std::vector<SeenNode> nodes;
  nodes.reserve(rows.size());
  rows.for_each_item([&](json::Value row) { nodes.push_back(node_in(row)); });
  return nodes;
}

SeenDirection direction_in(json::Value value) {
  SeenDirection direction;
  direction.name = value["name"].text();
  direction.graph = nodes_in(value["graph"]);
  direction.post_grad = nodes_in(value["post_grad"]);
  value["operations"].for_each_item([&](json::Value items) {
    OperationGroup& group = direction.operations.emplace_back();
    items.for_each_item([&](json::Value operation) {
      group.push_back({operation.at(0).text(), operation.at(1).text(), names_in(operation.at(2)),
                       names_in(operation.at(3)), names_in(operation.at(4)), operation.at(5).text()});
    });
  });
  value["not_fused"].for_each_item([&](json::Value pair) {
    direction.not_fused.push_back({pair.at(0).text(), pair.at(1).text(), pair.at(2).text()});
  });
  direction.code = value["code"].text();
  return direction;
}

}  // namespace

Seen read_seen(std::string_view text) {
  Seen seen;
  json::Document document;
  if (document.parse(text)) return seen;
  const json::Value root = document.root();
  seen.captured = nodes_in(root["captured"]);
  seen.joint = nodes_in(root["joint"]);
  seen.graph = root["graph"].integer().value_or(0);
  root["directions"].for_each_item([&](json::Value value) { seen.directions.push_back(direction_in(value)); });
  return seen;
}

}  // namespace depyf::links
