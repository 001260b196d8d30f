#include "print/trace.h"

#include "depyf/code_object.h"
#include "print/print.h"

namespace depyf {
namespace {

std::string heading(std::string_view pass, const CodeObject& code) {
  return "# " + (code.qualname.empty() ? code.name : code.qualname) + " after " + std::string(pass) + "\n";
}

// Returns where control goes behind the node, for example `if x: go to 3, else to 4`.
std::string end_of(const Node& node, Version version) {
  const std::string value = node.value ? print_expr(node.value, version) : "";
  const std::string a = std::to_string(node.a), b = std::to_string(node.b);
  switch (node.end) {
    case Node::End::none: return "";
    case Node::End::go: return "go to " + a;
    case Node::End::branch: return "if " + value + ": go to " + a + ", else to " + b;
    case Node::End::loop:
      return "for " + (node.target ? print_expr(node.target, version) : "?") + " in " + value + ": go to " + a +
             ", exhausted: to " + b;
    case Node::End::leave: return "return " + value;
    case Node::End::stop: return "stop";
    case Node::End::setup: return "protect: go to " + a + ", raised: to " + b;
  }
  return "";
}

}  // namespace

std::string trace_of_statements(std::string_view pass, const CodeObject& code, ast::Block block) {
  return heading(pass, code) + print_block(block, code.version).source;
}

std::string trace_of_nodes(std::string_view pass, const CodeObject& code, const Lifted& lifted) {
  std::string text = heading(pass, code);
  for (std::size_t index = 0; index < lifted.nodes.size(); ++index) {
    const Node& node = lifted.nodes[index];
    if (node.end == Node::End::none) continue;
    text += std::to_string(index) + ":" + (int(index) == lifted.entry ? " # entry" : "") + "\n";
    if (!node.statements.empty()) text += print_block(node.statements.block(), code.version).source;
    text += end_of(node, code.version) + "\n";
  }
  return text;
}

}  // namespace depyf
