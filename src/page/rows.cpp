#include "page/rows.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "depyf/graph_text.h"
#include "support/words.h"
#include "texts/words.h"

namespace depyf::page {
namespace {

using namespace record;

using LinesOf = std::map<std::string, std::set<int>, std::less<>>;  // maps a name to indices into Lines::lines()

void merge(std::set<int>& numbers, int number) {
  if (number != no_line) numbers.insert(number);
}

bool is_of(const std::string& direction, const std::string& wanted) {
  return direction == wanted || (wanted == "forward" && direction == "inference");
}

// Calls visit(row, text) for each row, counted from 1.
template <class Visit>
void for_each_row(std::string_view text, Visit visit) {
  for (int row = 1; !text.empty(); ++row) {
    const std::size_t end = text.find('\n');
    visit(row, text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

class Rows {
 public:
  Rows(const PageText& text, const Compilation& compilation, Lines& lines)
      : text_(text), compilation_(compilation), lines_(lines) {}

  std::vector<Row> run() {
    const std::string& stage = text_.stage;
    if (stage == "code") code();
    else if (stage == "guards") guards();
    else if (stage == "kernel") kernels();
    else if (stage.starts_with("ir")) operations();
    else graph();
    return std::move(rows_);
  }

 private:
  // Adds a row for each node of a graph, with the lines of the captured nodes from which the node comes.
  void graph() {
    const LinesOf lines_of = lines_of_nodes();
    const Graph* graph = own_graph();
    std::map<std::string_view, const Node*> nodes;
    if (graph)
      for (const Node& node : graph->nodes) nodes[node.name] = &node;
    std::string_view renamed;
    std::set<std::string_view> seen;
    bool is_body = false;
    for_each_row(text_.text, [&](int number, std::string_view row) {
      const std::string_view statement = stripped(row);
      if (statement.starts_with("def forward(")) is_body = true;
      if (!is_body) return;
      std::string_view name = word_at(statement);
      const std::string_view rest = statement.substr(name.size());
      if (name.empty() || !(rest.starts_with(": \"") || rest.starts_with(" = "))) return;
      if (const std::string_view original = original_name(statement); !original.empty()) name = original;
      const auto node = nodes.find(name);
      if (graph && node == nodes.end()) return;
      if (!seen.insert(name).second) return;
      Row& made = add(number, name);
      if (const auto known = lines_of.find(name); known != lines_of.end()) {
        made.lines.assign(known->second.begin(), known->second.end());
      } else if (node != nodes.end() && node->second->op != "placeholder") {
        if (const int line = lines_.number_of(node->second->place); line != no_line) made.lines = {line};
      }
      if (made.lines.empty())
        made.why = node != nodes.end() && node->second->op == "placeholder"
                       ? "an input of the graph"
                       : "PyTorch recorded no line of source for this node";
    });
  }

  LinesOf lines_of_nodes() {
    const std::string& stage = text_.stage;
    LinesOf lines_of;
    for (const Chain& chain : compilation_.chains) {
      const int line = lines_.number_of(chain.place);
      auto add_all = [&](const std::vector<std::string>& names) {
        for (const std::string& name : names) merge(lines_of[name], line);
      };
      if (stage == "captured" || stage.starts_with("pre_grad")) add_all({chain.node});
      else if (stage == "joint") add_all(chain.joint);
      for (const auto& [direction, link] : chain.directions) {
        if (!is_of(direction, text_.direction)) continue;
        if (stage == "forward" || stage == "backward" || stage == "post_grad_before") add_all(link.graph);
        else if (stage == "post_grad") add_all(link.post_grad);
      }
    }
    return lines_of;
  }

  const Graph* own_graph() const {
    const Graph* own = nullptr;
    for (const Graph& graph : compilation_.graphs) {
      const bool is_same_stage = graph.stage == text_.stage || (text_.stage == "forward" && graph.stage == "inference");
      if (is_same_stage &&
          (text_.direction.empty() || graph.direction.empty() || is_of(graph.direction, text_.direction)))
        own = &graph;
    }
    return own;
  }

  const OutputCode* own_code() const {
    for (const OutputCode& code : compilation_.output_codes)
      if (is_of(code.direction, text_.direction)) return &code;
    return nullptr;
  }

  // Adds a row for each definition of a kernel, with the lines of source of all calls of the kernel, and a row for each
  // call.
  void kernels() {
    LinesOf lines_of;
    for (const Chain& chain : compilation_.chains)
      for (const auto& [direction, link] : chain.directions)
        if (is_of(direction, text_.direction))
          for (const std::string& kernel : link.kernels) merge(lines_of[kernel], lines_.number_of(chain.place));
    const OutputCode* code = own_code();
    std::map<int, const KernelCall*> calls;
    if (code)
      for (const KernelCall& call : code->calls) calls[call.line] = &call;
    Row* definition = nullptr;
    for_each_row(text_.text, [&](int number, std::string_view row) {
      if (definition) {
        definition->last = number;
        if (row.find("'''") != std::string_view::npos) definition = nullptr;
        return;
      }
      const std::string_view name = word_at(row);
      if (!name.empty() && row.substr(name.size()).starts_with(" = async_compile.")) {
        Row& made = add(number, name);
        set_lines(made, lines_of);
        const std::size_t open = row.find("'''");
        if (open != std::string_view::npos && row.find("'''", open + 3) == std::string_view::npos) definition = &made;
        return;
      }
      const auto call = calls.find(number);
      if (call == calls.end()) return;
      Row& made = add(number, call->second->kernel);
      std::set<int> numbers;
      for (const Place& place : call->second->places) merge(numbers, lines_.number_of(place));
      made.lines.assign(numbers.begin(), numbers.end());
      if (made.lines.empty()) made.why = call->second->why_no_place;
    });
    if (has_recorded_operations()) follow_chains(lines_of, calls);
  }

  bool has_recorded_operations() const {
    return std::any_of(compilation_.chains.begin(), compilation_.chains.end(), [&](const Chain& chain) {
      return std::any_of(chain.directions.begin(), chain.directions.end(), [&](const auto& item) {
        return is_of(item.first, text_.direction) && !item.second.operations.empty();
      });
    });
  }

  // Corrects the lines of source of each kernel's rows by the recorded chains, each of which leads from a captured node
  // to kernels. The function is used if a dump recorded the operations of Inductor's IR (in provenance.json). A line of
  // source is removed from a row if no chain leads from the line to the kernel, because the line was then derived only
  // from the data flow between calls. If a chain leads from a line to a kernel, and no row of the kernel has the line,
  // the line is added to those calls of the kernel that write a buffer of the line's operations. If no call of the
  // kernel writes a buffer of the line's operations, the line is added to all calls of the kernel.
  void follow_chains(const LinesOf& lines_of, const std::map<int, const KernelCall*>& calls) {
    std::map<std::string, std::set<int>, std::less<>> shown;
    for (Row& row : rows_) {
      const auto known = lines_of.find(row.name);
      std::erase_if(row.lines, [&](int line) { return known == lines_of.end() || !known->second.contains(line); });
      if (row.lines.empty() && row.why.empty()) row.why = "no captured node is known to have become this call";
      shown[row.name].insert(row.lines.begin(), row.lines.end());
    }
    for (const auto& [kernel, lines] : lines_of)
      for (const int line : lines)
        if (const auto rows = shown.find(kernel); rows != shown.end() && !rows->second.contains(line))
          add_line(kernel, line, calls);
  }

  void add_line(const std::string& kernel, int line, const std::map<int, const KernelCall*>& calls) {
    const std::set<std::string> buffers = buffers_of_line(line);
    std::vector<Row*> named, writing;
    for (Row& row : rows_) {
      const auto call = calls.find(row.row);
      if (row.name != kernel || call == calls.end()) continue;
      named.push_back(&row);
      const std::vector<std::string>& writes = call->second->writes;
      if (std::any_of(writes.begin(), writes.end(), [&](const std::string& name) { return buffers.contains(name); }))
        writing.push_back(&row);
    }
    for (Row* row : writing.empty() ? named : writing) {
      row->lines.insert(std::lower_bound(row->lines.begin(), row->lines.end(), line), line);
      row->why.clear();
    }
  }

  // Returns the buffers that the operations of a line write. An operation and its buffer have the same number: op7
  // writes buf7.
  std::set<std::string> buffers_of_line(int line) {
    std::set<std::string> buffers;
    for (const Chain& chain : compilation_.chains)
      if (lines_.number_of(chain.place) == line)
        for (const auto& [direction, link] : chain.directions)
          if (is_of(direction, text_.direction))
            for (const std::string& operation : link.operations)
              if (operation.starts_with("op")) buffers.insert("buf" + operation.substr(2));
    return buffers;
  }

  static void set_lines(Row& row, const LinesOf& lines_of) {
    const auto known = lines_of.find(row.name);
    if (known != lines_of.end()) row.lines.assign(known->second.begin(), known->second.end());
    if (row.lines.empty()) row.why = "no call of this kernel has a line of source";
  }

  // Adds a row for each operation of Inductor's IR. The text of an operation starts with a line such as "op0_op1:
  // FusedSchedulerNode(...)" and ends in front of the next operation.
  void operations() {
    LinesOf lines_of;
    for (const Chain& chain : compilation_.chains)
      for (const auto& [direction, link] : chain.directions)
        if (is_of(direction, text_.direction))
          for (const std::string& operation : link.operations)
            merge(lines_of[operation], lines_.number_of(chain.place));
    Row* operation = nullptr;
    for_each_row(text_.text, [&](int number, std::string_view row) {
      const std::string_view name = word_at(row);
      if (!name.empty() && row.substr(name.size()).starts_with(": ")) {
        operation = &add(number, name);
        std::set<int> numbers;
        for (std::string_view rest = name; !rest.empty();) {
          const std::string_view part = rest.substr(0, rest.find('_'));
          if (const auto known = lines_of.find(part); known != lines_of.end())
            numbers.insert(known->second.begin(), known->second.end());
          rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        }
        operation->lines.assign(numbers.begin(), numbers.end());
        if (numbers.empty()) operation->why = "no captured node is known to have become this operation";
      }
      if (operation) operation->last = number;
    });
  }

  // Adds a row for each call of a graph in Dynamo's code, with all lines of source of the graph.
  void code() {
    std::set<int> all;
    for (const Chain& chain : compilation_.chains) merge(all, lines_.number_of(chain.place));
    for_each_row(text_.text, [&](int number, std::string_view row) {
      const std::size_t at = row.find("__compiled_fn_");
      if (at == std::string_view::npos || row.find('#') < at) return;
      const std::string_view name = word_at(row.substr(at));
      if (row.substr(at + name.size()).starts_with("(")) add(number, name).lines.assign(all.begin(), all.end());
    });
  }

  // Adds a row for each guard, with the line of source that caused the guard. In a dump, a comment such as "#
  // train.py:11 h = self.norm(x)" precedes the guards that the line caused. In a log, a comment behind each guard names
  // the line of source that caused the guard.
  void guards() {
    int heading = no_line;
    for_each_row(text_.text, [&](int number, std::string_view row) {
      const std::size_t start = std::min(row.find_first_not_of(' '), row.size());
      const bool is_heading = row.substr(start).starts_with("# ");
      const std::size_t comment = is_heading ? start : row.rfind("# ");
      const int own = comment == std::string_view::npos ? no_line : line_named(row.substr(comment + 2));
      if (is_heading) heading = own;
      const bool is_condition = start < row.size() && row[start] != ')';
      if (const int made_by = own != no_line ? own : is_condition ? heading : no_line; made_by != no_line)
        add(number, "").lines = {made_by};
    });
  }

  // The text begins with the name of a line, such as "train.py:11 h = self.norm(x)". Returns the index of the line in
  // `lines_.lines()`; no_line if the record does not have the line.
  int line_named(std::string_view text) const {
    const std::size_t space = text.find(' '), colon = text.substr(0, space).rfind(':');
    if (colon == std::string_view::npos) return no_line;
    int line = 0;
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), line);
    return lines_.find(texts::file_name(std::string(text.substr(0, colon))), line);
  }

  Row& add(int number, std::string_view name) {
    rows_.push_back({number, std::string(name), {}, {}, number});
    return rows_.back();
  }

  const PageText& text_;
  const Compilation& compilation_;
  Lines& lines_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<Row> rows_of(const PageText& text, const Compilation& compilation, Lines& lines) {
  return Rows(text, compilation, lines).run();
}

}  // namespace depyf::page
