// Prints the control flow graph in the DOT language, which Graphviz draws.
#include <string>

#include "decode/decode.h"
#include "decode/op.h"
#include "depyf/code_object.h"
#include "depyf/disassemble.h"
#include "flow/block_stack.h"
#include "flow/cfg.h"

namespace depyf {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    out += static_cast<unsigned char>(character) < ' ' ? ' ' : character;
  }
  return out;
}

std::string_view words(Region::Kind kind) {
  switch (kind) {
    case Region::Kind::try_except: return "try, except";
    case Region::Kind::try_finally: return "try, finally";
    case Region::Kind::with: return "with";
    case Region::Kind::handler: return "handler";
  }
  return "";
}

class Drawing {
 public:
  std::string text = "digraph bytecode {\n  node [shape=box, fontname=monospace];\n";

  void draw(const CodeObject& code, int depth) {
    const std::string prefix = "c" + std::to_string(count_++) + "_";
    const std::string name = code.qualname.empty() ? code.name : code.qualname;
    text += "  subgraph cluster_" + prefix + " {\n    label=\"" + escaped(name) + "\";\n";
    Result<DecodedCode> decoded = decode(code);
    if (decoded) {
      if (Result<bool> unwound = replace_block_stack(*decoded); unwound) {
        const Cfg cfg = build_cfg(*decoded, GraphForm::statements);
        for (BlockIndex block : cfg.order) draw_block(cfg, block, prefix);
      } else {
        text += "    " + prefix + "error [label=\"" + escaped(unwound.error().message) + "\"];\n";
      }
    } else {
      text += "    " + prefix + "error [label=\"" + escaped(decoded.error().message) + "\"];\n";
    }
    text += "  }\n";
    if (depth < 200)
      for (const Constant& constant : code.constants)
        if (constant.code) draw(*constant.code, depth + 1);
  }

 private:
  void draw_block(const Cfg& cfg, int index, const std::string& prefix) {
    const BasicBlock& block = cfg.blocks[index];
    std::string label;
    if (block.kind == BasicBlock::Kind::setup) label = std::string(words(cfg.regions[block.setup_of].kind)) + "\\l";
    else
      for (int at = block.begin; at < block.end; ++at) {
        const Instruction& it = cfg.code[at];
        if (it.op == Op::nop_) continue;
        label += std::to_string(it.offset) + "  " + std::string(op_name(it.op)) + " " + std::to_string(it.arg) + "\\l";
      }
    const std::string node = prefix + std::to_string(index);
    text += "    " + node + " [label=\"" + label + "\"];\n";
    auto edge = [&](int to, const char* style) {
      if (to >= 0) text += "    " + node + " -> " + prefix + std::to_string(to) + style + ";\n";
    };
    edge(block.next, "");
    const bool setup = block.kind == BasicBlock::Kind::setup;
    edge(block.jump, setup ? " [style=dashed, label=\"raises\"]" : " [label=\"jump\"]");
  }

  int count_ = 0;
};

}  // namespace

std::string control_flow_dot(const CodeObject& code) {
  Drawing drawing;
  drawing.draw(code, 0);
  return drawing.text + "}\n";
}

}  // namespace depyf
