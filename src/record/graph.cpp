#include "record/graph.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "depyf/graph_text.h"
#include "support/words.h"

namespace depyf::record {
namespace {

constexpr std::size_t body_indent = 8;  // the indentation of the lines of the outermost forward()

bool starts_name(char character) { return is_word(character) && !(character >= '0' && character <= '9'); }

// Returns the text before the first `#` or `;` that is not in a string literal.
std::string_view statement_of(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\'' || text[at] == '"') {
      at = behind_string(text, at);
    } else if (text[at] == ';' || text[at] == '#') {
      return text.substr(0, at);
    } else {
      ++at;
    }
  }
  return text;
}

// Returns the index of "  #~ ", which begins the comment with links that depyf adds to a line; npos if the line has no
// links. Searching for the rare `#` takes less time than searching for blanks.
std::size_t start_of_links(std::string_view line) {
  constexpr std::string_view mark = "#~ ";
  for (std::size_t at = line.find(mark); at != std::string_view::npos; at = line.find(mark, at + 1))
    if (line.substr(0, at).ends_with("  ")) return at - 2;
  return std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\r')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Reads the place in a comment "# File: PATH:LINE in FUNCTION, code: TEXT". PyTorch can write other notes about the
// node before "File:", as in "# ac_graph_id: 3 - PREFER_RECOMPUTE File: ..." in a checkpointed region.
bool read_place(std::string_view comment, Place& place) {
  constexpr std::string_view mark = " File: ";
  const std::size_t start = comment.starts_with('#') ? comment.find(mark) : std::string_view::npos;
  if (start == std::string_view::npos) return false;
  comment.remove_prefix(start + mark.size());
  place = {};
  if (const std::size_t code = comment.find(", code: "); code != std::string_view::npos) {
    place.text = trimmed(comment.substr(code + 8));
    comment = comment.substr(0, code);
  }
  if (const std::size_t in = comment.rfind(" in "); in != std::string_view::npos) {
    place.function = trimmed(comment.substr(in + 4));
    comment = comment.substr(0, in);
  }
  const std::size_t colon = comment.rfind(':');
  place.file = comment.substr(0, colon);
  if (colon != std::string_view::npos)
    std::from_chars(comment.data() + colon + 1, comment.data() + comment.size(), place.line);
  return true;
}

// The infix operators in the text of graphs, with their functions in Python's module operator.
constexpr std::pair<std::string_view, std::string_view> operators[] = {
    {" + ", "operator.add"},     {" - ", "operator.sub"},       {" * ", "operator.mul"},
    {" / ", "operator.truediv"}, {" // ", "operator.floordiv"}, {" % ", "operator.mod"},
    {" ** ", "operator.pow"},    {" @ ", "operator.matmul"},    {" < ", "operator.lt"},
    {" <= ", "operator.le"},     {" > ", "operator.gt"},        {" >= ", "operator.ge"},
    {" == ", "operator.eq"},     {" != ", "operator.ne"},       {" & ", "operator.and_"},
    {" | ", "operator.or_"},     {" ^ ", "operator.xor"},       {" << ", "operator.lshift"},
    {" >> ", "operator.rshift"}, {" is ", "operator.is_"}};

class GraphReader {
 public:
  Graph run(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return std::move(graph_);
  }

 private:
  enum class Part { before, parameters, body, returned, behind };

  void line(std::string_view line) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos) return;
    std::string_view text = line.substr(indent);
    text = text.substr(0, start_of_links(text));
    if (part_ == Part::before || (part_ == Part::body && indent < body_indent)) {
      if (indent != body_indent - 4 || !take(text, "def forward(")) return;
      part_ = Part::parameters;
      graph_.nodes.clear();
      known_.clear();
      parameters(text);
    } else if (part_ == Part::parameters) {
      parameters(text);
    } else if (part_ == Part::body && (indent == body_indent || (indent == body_indent + 1 && text[0] == '#'))) {
      statement(text);  // PyTorch before 2.9 indents comments by one more column.
    } else if (part_ == Part::returned) {
      returned(text);
    }
  }

  // Reads a line of the parameter list, such as "self, L_x_: "f32[8]", ...):", which can have comments.
  void parameters(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] == '#') {
        restore_name(text.substr(at - std::min<std::size_t>(at, 2)));
        return;
      }
      if (text[at] == ')') {
        part_ = Part::body;
        return;
      }
      if (!starts_name(text[at])) {
        at = text[at] == '"' || text[at] == '\'' ? behind_string(text, at) : at + 1;
        continue;
      }
      const std::string_view name = word_at(text.substr(at));
      at += name.size();
      std::string shape;
      if (text.substr(at).starts_with(": \"")) {
        const std::size_t end = behind_string(text, at + 2);
        shape = text.substr(at + 3, end - at - 4);
        at = end;
      }
      if (name != "self") input(name, shape);
    }
  }

  void input(std::string_view name, std::string shape) {
    Node node;
    node.name = name;
    node.op = "placeholder";
    node.shape = std::move(shape);
    node.module = module_of_parameter(name);
    add(std::move(node));
  }

  // Renames the last input to the name that PyTorch uses for the input in other graphs and in output code, if the
  // comment behind the input states that name.
  void restore_name(std::string_view comment) {
    const std::string_view name = original_name(comment);
    if (name.empty() || graph_.nodes.empty()) return;
    graph_.nodes.back().name = name;
    known_.insert_or_assign(graph_.nodes.back().name, graph_.nodes.size() - 1);
  }

  // Returns the module that owns a parameter or buffer, from Dynamo's name for the input; empty if the name is not the
  // name of a parameter or buffer. Dynamo names an input by the expression that evaluates to it. For example,
  // L_self_modules_b1_modules_fc1_parameters_weight_ is self.b1.fc1.weight.
  static std::string module_of_parameter(std::string_view name) {
    static constexpr std::string_view start = "L_self_modules_", between = "_modules_";
    if (!take(name, start) && !take(name, "l_self_modules_")) return {};
    std::size_t end = name.rfind("_parameters_");
    if (end == std::string_view::npos) end = name.rfind("_buffers_");
    if (end == std::string_view::npos) return {};
    std::string path(name.substr(0, end));
    for (std::size_t at = path.find(between); at != std::string::npos; at = path.find(between, at))
      path.replace(at, between.size(), ".");
    return path;
  }

  void add(Node node) {
    known_.insert_or_assign(node.name, graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
  }

  const Node* find(std::string_view name) const {
    const auto known = known_.find(name);
    return known == known_.end() ? nullptr : &graph_.nodes[known->second];
  }

  void statement(std::string_view text) {
    if (text.starts_with('#')) {
      Place place;
      if (read_place(text, place)) place_ = std::move(place);
      else if (text.starts_with("# No stacktrace found")) place_ = {};
      return;
    }
    if (take(text, "return")) {
      part_ = Part::returned;
      returned(text);
      return;
    }
    const std::string_view name = word_at(text);
    if (name.empty() || !starts_name(name[0])) return;
    text.remove_prefix(name.size());
    Node node;
    node.name = name;
    if (text.starts_with(": \"")) {
      const std::size_t end = behind_string(text, 2);
      node.shape = text.substr(3, end - 4);
      text.remove_prefix(end);
    }
    if (!take(text, " = ")) {
      // The joint graph has two parameters, and its body declares the inputs that are unpacked from the parameters.
      if (node.shape.empty() || !trimmed(statement_of(text)).empty()) return;
      if (!declares_inputs_) {
        declares_inputs_ = true;
        graph_.nodes.clear();
        known_.clear();
      }
      input(name, node.shape);
      restore_name(text);
      return;
    }
    const std::string_view expression = trimmed(statement_of(text));
    // Dynamo's graph assigns each parameter to the name of the parameter's node, as in `l_x_ = L_x_`.
    if (const auto known = known_.find(expression); known != known_.end()) {
      const std::size_t index = known->second;
      graph_.nodes[index].name = node.name;
      known_.insert_or_assign(node.name, index);
      return;
    }
    node.op = op_of(expression);
    node.inputs = inputs_of(expression);
    for (const std::string& input : node.inputs)
      if (const Node* parameter = find(input); parameter && parameter->op == "placeholder" && node.module.empty())
        node.module = parameter->module;
    const Node* copied = copied_into_input(node);
    node.place = copied ? copied->place : place_;
    add(std::move(node));
  }

  // Returns the node whose value `node` copies into an input of the graph; null if `node` copies no value into an
  // input. AOTAutograd copies the new values of buffers back into the inputs at the end of a graph, and attributes
  // these copies to the graph's last line. The reader replaces the place of each copy into an input by the place of the
  // node that computed the copied value.
  const Node* copied_into_input(const Node& node) const {
    if (node.op != "aten.copy_.default" || node.inputs.size() < 2) return nullptr;
    const Node* into = find(node.inputs[0]);
    const Node* value = find(node.inputs[1]);
    return into && into->op == "placeholder" && value && value->op != "placeholder" ? value : nullptr;
  }

  std::string op_of(std::string_view expression) const {
    std::size_t end = 0;
    while (end < expression.size() && (is_word(expression[end]) || expression[end] == '.')) ++end;
    std::string_view path = expression.substr(0, end);
    const std::string_view rest = expression.substr(end);
    const std::string_view first = word_at(path);
    const bool is_of_node = find(first) != nullptr;
    if (rest.starts_with("(") && !path.empty()) {
      if (is_of_node && first.size() < path.size()) return "Tensor" + std::string(path.substr(first.size()));
      take(path, "torch.ops.");
      return std::string(path);
    }
    if (path.starts_with("self.")) return "get_attr";
    if (rest.starts_with("[") && is_of_node) return "operator.getitem";
    if (is_of_node && first.size() < path.size()) return "getattr";
    if (expression.starts_with("-")) return "operator.neg";
    if (expression.starts_with("~")) return "operator.invert";
    if (expression.starts_with("not ")) return "operator.not_";
    for (const auto& [sign, name] : operators)
      if (expression.find(sign) != std::string_view::npos) return std::string(name);
    return std::string(path);
  }

  // Returns the names of known nodes in the expression, except for names of keyword arguments and attributes.
  std::vector<std::string> inputs_of(std::string_view expression) const {
    std::vector<std::string> inputs;
    std::unordered_set<std::string_view> seen;
    char before = ' ';
    for (std::size_t at = 0; at < expression.size();) {
      const char character = expression[at];
      if (character == '\'' || character == '"') {
        at = behind_string(expression, at);
      } else if (starts_name(character) && !is_word(before)) {
        const std::string_view name = word_at(expression.substr(at));
        at += name.size();
        const std::string_view rest = expression.substr(at);
        const bool names_argument = rest.starts_with(" = ") || (rest.starts_with("=") && !rest.starts_with("=="));
        if (before != '.' && !names_argument)
          if (const Node* node = find(name); node && seen.insert(name).second) inputs.push_back(node->name);
        before = '_';
        continue;
      } else {
        ++at;
      }
      before = character;
    }
    return inputs;
  }

  // Reads the values that the graph returns, such as "(a, None, b)", or "pytree.tree_unflatten([" followed by a line
  // for each item.
  void returned(std::string_view text) {
    char before = ' ';
    for (std::size_t at = 0; at < text.size();) {
      const char character = text[at];
      if (character == '#') break;
      if (character == '\'' || character == '"') {
        at = behind_string(text, at);
      } else if (starts_name(character) && !is_word(before)) {
        const std::string_view name = word_at(text.substr(at));
        at += name.size();
        if (before != '.' && name == "None") graph_.outputs.emplace_back();
        else if (const Node* node = find(name); before != '.' && node) graph_.outputs.push_back(node->name);
        before = '_';
        continue;
      } else {
        depth_ += character == '(' || character == '[' || character == '{';
        depth_ -= character == ')' || character == ']' || character == '}';
        ++at;
      }
      before = character;
    }
    if (depth_ <= 0) part_ = Part::behind;
  }

  Graph graph_;
  Place place_;
  Part part_ = Part::before;
  int depth_ = 0;  // the number of open brackets in the return statement
  bool declares_inputs_ = false;
  std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>>
      known_;  // maps a name in the text to the index of the node
};

}  // namespace

void mark_backward(Graph& graph) {
  std::unordered_map<std::string_view, std::size_t> positions;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    node.is_backward = node.op == "placeholder" && node.name.starts_with("tangents_");
    for (const std::string& input : node.inputs)
      if (const auto known = positions.find(input); known != positions.end())
        node.is_backward = node.is_backward || graph.nodes[known->second].is_backward;
    positions.insert_or_assign(node.name, i);
  }
  std::size_t end_of_forward = 0;
  for (const std::string& output : graph.outputs)
    if (const auto known = positions.find(output); known != positions.end() && !graph.nodes[known->second].is_backward)
      end_of_forward = std::max(end_of_forward, known->second);
  for (std::size_t i = end_of_forward + 1; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].op != "placeholder") graph.nodes[i].is_backward = true;
}

Graph graph_of(std::string_view text) { return GraphReader().run(text); }

}  // namespace depyf::record
