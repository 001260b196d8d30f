// See depyf/graph_text.h. Graphs are read line by line. A line whose shape these functions do not recognise stays as
// PyTorch wrote it.
#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_set>

#include "depyf/graph_text.h"
#include "support/keywords.h"
#include "support/words.h"

namespace depyf {
namespace {

constexpr std::size_t body_indent = 8;  // indentation of the statements of the outermost forward()
constexpr std::size_t comment_max = 200;  // the greatest length of a comment that shows the source of nodes
constexpr std::string_view original_mark = "  # PyTorch's ";
constexpr std::string_view plain_input = "PlainAOTInput(idx=";
constexpr std::string_view gradient_of = "  # GradAOTOutput(grad_of=";

// Names that the code of a graph uses without a definition.
constexpr std::string_view reserved[] = {"self",      "torch",  "device",  "inf",     "nan",
                                         "fx_pytree", "pytree", "primals", "tangents"};

bool is_name(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && word_at(text).size() == text.size();
}

// An input of a graph, as a line of the graph declares it: `primals_1: "f32[8]",  # PlainAOTInput(idx=0)`. In the joint
// graph, the line that declares an input has no comma.
struct Declared {
  std::string_view name;  // empty if the line declares no input
  std::string_view shape;  // with the colon
  std::string_view comma;
  std::string_view about;  // the descriptor that PyTorch writes behind the input
};

Declared declared_in(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos || indent < body_indent) return {};
  std::string_view rest = line.substr(indent);
  Declared result;
  result.name = word_at(rest);
  if (!is_name(result.name)) return {};
  rest.remove_prefix(result.name.size());
  if (!rest.starts_with(": \"")) return {};
  const std::size_t end = behind_string(rest, 2);
  result.shape = rest.substr(0, end);
  rest.remove_prefix(end);
  if (rest.starts_with(',')) {
    result.comma = rest.substr(0, 1);
    rest.remove_prefix(1);
  }
  if (!take(rest, "  # ")) return {};
  result.about = rest;
  return result;
}

// Returns the number behind `PlainAOTInput(idx=`; -1 if the text begins differently.
int index_in(std::string_view text) {
  int index = -1;
  if (take(text, plain_input)) std::from_chars(text.data(), text.data() + text.size(), index);
  return index;
}

// Returns a name that is derived from the target of a parameter or buffer, such as blocks_0_n1_weight for
// ParamAOTInput(target='L__self___blocks_0_n1.weight'). Returns an empty text if `about` describes no parameter and no
// buffer.
std::string name_of_target(std::string_view about) {
  if (!take(about, "ParamAOTInput(target='") && !take(about, "BufferAOTInput(target='")) return {};
  about = about.substr(0, about.find('\''));
  take(about, "L__self___") || take(about, "L__self__");
  std::string name(about);
  for (char& character : name)
    if (!is_word(character)) character = '_';
  return name;
}

// Calls `use` with the words of Python code that are names of variables or arguments. Words in strings or comments, or
// behind a dot, are skipped.
template <class Use>
void for_each_variable(std::string_view code, Use use) {
  char before = ' ';
  for (std::size_t at = 0; at < code.size();) {
    const char character = code[at];
    if (character == '#') {
      at = std::min(code.find('\n', at), code.size());
    } else if (character == '\'' || character == '"') {
      at = behind_string(code, at);
    } else if (is_word(character)) {
      const std::string_view word = word_at(code.substr(at));
      if (before != '.') use(word, at);
      at += word.size();
      before = '_';
      continue;
    } else {
      ++at;
    }
    before = character;
  }
}

// Appends `code` to `result`, with the variables in `names` replaced by their new names.
void append_with_names(std::string_view code, const NameOf& names, std::string& result) {
  std::size_t done = 0;
  for_each_variable(code, [&](std::string_view word, std::size_t at) {
    const auto name = names.find(word);
    if (name == names.end()) return;
    result.append(code.substr(done, at - done)).append(name->second);
    done = at + word.size();
  });
  result.append(code.substr(done));
}

std::string with_indent(std::string_view line, std::string_view comment) {
  return std::string(std::min(line.find_first_not_of(' '), line.size()), ' ').append(comment);
}

// Returns `line`, which is a comment such as `# File: PATH:LINE in FUNCTION, code: TEXT`. If the comment is longer than
// `comment_max`, the end of TEXT is replaced by an ellipsis.
std::string cut_comment(std::string_view line) {
  if (line.size() <= comment_max) return std::string(line);
  std::size_t end = comment_max - 4;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;  // moves to the start of a character
  const std::size_t code = line.find(", code: ");
  if (code == std::string_view::npos || code + 8 >= end) return std::string(line);
  return std::string(line.substr(0, end)) + " ...";
}

bool is_place(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(' ');
  return indent != std::string_view::npos && indent >= body_indent &&
         ((line[indent] == '#' && line.find(" File: ", indent) != std::string_view::npos) ||
          line.substr(indent).starts_with("# No stacktrace found"));
}

// Returns the name of the node that a line of the body defines; an empty text if the line defines no node.
std::string_view node_in(std::string_view line) {
  if (line.find_first_not_of(' ') != body_indent) return {};
  line.remove_prefix(body_indent);
  const std::string_view name = word_at(line);
  if (!is_name(name)) return {};
  line.remove_prefix(name.size());
  if (line.starts_with(": \"")) line.remove_prefix(behind_string(line, 2));
  return line.starts_with(" = ") ? name : std::string_view{};
}

}  // namespace

std::string input_name(std::string_view name, std::string_view source) {
  const bool is_path = !source.empty() && source.find('(') == std::string_view::npos;
  std::string_view rest = is_path ? source : name;
  // A path begins like L['self'] or G['x'], and a name that Dynamo derives from a path begins with L_ or l_, as in
  // L_self_modules_fc.
  if (is_path) {
    take(rest, "L[") || take(rest, "G[");
  } else if (!take(rest, "L_") && !take(rest, "l_")) {
    return std::string(name);
  }
  std::string result;
  for (std::size_t at = 0; at < rest.size();) {
    std::string_view word = word_at(rest.substr(at));
    at += std::max<std::size_t>(word.size(), 1);
    const bool is_table = word == "_modules" || word == "_parameters" || word == "_buffers";
    if (word.empty() || (is_path && (is_table || (result.empty() && word == "self")))) continue;
    if (!result.empty()) result += '_';
    result += word;
  }
  if (is_path) return result.empty() ? std::string(name) : result;
  take(rest, "self_");
  result = rest;
  for (const std::string_view table : {"modules_", "parameters_", "buffers_"})
    for (std::size_t at = result.find(table); at != std::string::npos; at = result.find(table, at))
      if (at == 0 || result[at - 1] == '_') result.erase(at, table.size());
      else at += table.size();
  while (result.ends_with('_')) result.pop_back();
  return result;
}

Renames input_names(std::string_view text, const std::vector<std::string>& captured) {
  Renames renames, of_index;
  std::set<int> indices;
  for (const std::string_view line : rows_of(text)) {
    const Declared input = declared_in(line);
    if (input.name.empty()) continue;
    // The descriptor of an input that was derived from another input contains the descriptor of the other input:
    // `SubclassGetAttrAOTInput(base=PlainAOTInput(idx=0), attr='a')`.
    for (std::size_t at = input.about.find(plain_input); at != std::string_view::npos;
         at = input.about.find(plain_input, at + 1))
      if (const int index = index_in(input.about.substr(at)); !input.about.starts_with("Tangent"))
        indices.insert(index);
    const int index = index_in(input.about);
    std::string name =
        index >= 0 && std::size_t(index) < captured.size() ? captured[std::size_t(index)] : name_of_target(input.about);
    if (name.empty()) continue;
    if (name[0] >= '0' && name[0] <= '9') name.insert(0, "self_");
    of_index.emplace_back(input.about, name);
    renames.emplace_back(input.name, std::move(name));
  }
  // The numbers behind `idx=` are indices into `captured` only if exactly the indices of `captured` occur. If some of
  // them are missing, the numbers may count the inputs of only a part of the captured graph.
  if (indices.size() != captured.size() || (!indices.empty() && std::size_t(*indices.rbegin()) + 1 != captured.size()))
    return {};
  std::unordered_set<std::string_view> used(std::begin(reserved), std::end(reserved));
  for_each_variable(text, [&](std::string_view word, std::size_t) { used.insert(word); });
  std::set<std::string> given;
  for (std::size_t i = 0; i < renames.size(); ++i) {
    std::string& name = renames[i].second;
    while (is_keyword(name) || used.contains(name) || given.contains(name)) name += '_';
    given.insert(name);
    of_index[i].second = name;
  }
  std::erase_if(renames, [](const auto& rename) { return !is_name(rename.second) || rename.first == rename.second; });
  // The result also maps the descriptor of each input (such as `PlainAOTInput(idx=0)`) to the new name of the input,
  // because the descriptors of gradients contain the descriptors of inputs.
  renames.insert(renames.end(), of_index.begin(), of_index.end());
  return renames;
}

std::string with_names(std::string_view code, const NameOf& names) {
  std::string result;
  append_with_names(code, names, result);
  return result;
}

namespace {

// Determines whether a word is the name of a variable of a graph.
class Variables {
 public:
  // Finds out in advance which of the names in `renames` are variables of the graph, because callers mostly ask for
  // these names. `contains` searches the graph for any other word.
  Variables(std::string_view graph, const Renames& renames) : graph_(graph) {
    for (const auto& [old_name, name] : renames)
      for (const std::string_view word : {std::string_view(old_name), std::string_view(name)})
        if (is_name(word)) is_variable_[word] = false;
    for_each_variable(graph, [&](std::string_view word, std::size_t) {
      if (const auto known = is_variable_.find(word); known != is_variable_.end()) known->second = true;
    });
  }

  bool contains(std::string_view word) const {
    if (const auto known = is_variable_.find(word); known != is_variable_.end()) return known->second;
    bool is_variable = false;
    for_each_variable(graph_, [&](std::string_view other, std::size_t) { is_variable |= other == word; });
    return is_variable;
  }

 private:
  std::string_view graph_;
  std::unordered_map<std::string_view, bool> is_variable_;
};

// Returns a mapping from the names of those inputs in `renames` that the graph has to their new names. If the graph
// already uses a new name, underscores are appended to the new name.
NameOf names_of_inputs(std::string_view graph, const Renames& renames) {
  const Variables variables(graph, renames);
  std::set<std::string> wanted;
  NameOf names;
  for (const auto& [old_name, name] : renames)
    if (is_name(old_name) && variables.contains(old_name)) {
      std::string free_name = name;
      while (variables.contains(free_name) || wanted.contains(free_name)) free_name += '_';
      wanted.insert(free_name);
      names.emplace(old_name, std::move(free_name));
    }
  return names;
}

}  // namespace

std::string with_input_names(std::string_view text, const Renames& renames) {
  const NameOf names = names_of_inputs(text, renames);
  if (names.empty()) return std::string(text);
  std::string result;
  result.reserve(text.size());
  for (const std::string_view line : rows_of(text)) {
    if (!result.empty()) result += '\n';
    const Declared input = declared_in(line);
    const auto name = names.find(input.name);
    if (name != names.end()) {
      result.append(with_indent(line, name->second)).append(input.shape).append(input.comma);
      result.append(original_mark).append(input.name);
    } else if (const std::size_t mark = line.find(gradient_of);
               mark != std::string_view::npos && line.ends_with("))")) {
      const std::string_view about =
          line.substr(mark + gradient_of.size(), line.size() - mark - gradient_of.size() - 1);
      const auto of =
          std::find_if(renames.begin(), renames.end(), [&](const auto& rename) { return rename.first == about; });
      append_with_names(line.substr(0, mark), names, result);
      if (of != renames.end()) result.append("  # gradient of ").append(of->second);
      else result += line.substr(mark);
    } else {
      append_with_names(line, names, result);
    }
  }
  return result;
}

std::string_view original_name(std::string_view line) {
  const std::size_t mark = line.find(original_mark);
  return mark == std::string_view::npos ? std::string_view{} : word_at(line.substr(mark + original_mark.size()));
}

Renames input_names_in(std::string_view text) {
  Renames renames;
  for (const std::string_view line : rows_of(text))
    if (const std::string_view old_name = original_name(line); !old_name.empty())
      if (const Declared input = declared_in(line); !input.name.empty()) renames.emplace_back(old_name, input.name);
  return renames;
}

std::string with_headings(std::string_view text, const NameOf& headings) {
  const std::vector<std::string_view> lines = rows_of(text);
  std::string result, current;
  // The number of lines directly above the current line that show the source of the next node, including the blank
  // line above these lines.
  std::size_t places = 0;
  auto put = [&](std::string_view line) {
    if (!result.empty()) result += '\n';
    result += line;
  };
  auto flush = [&](std::size_t end, bool with_blank) {
    for (std::size_t at = end - places; at < end; ++at)
      if (is_place(lines[at])) put(cut_comment(lines[at]));
      else if (with_blank || headings.empty()) put(lines[at]);
    places = 0;
  };
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string_view line = lines[at];
    if (is_place(line) ||
        (line.find_first_not_of(' ') == std::string_view::npos && at + 1 < lines.size() && is_place(lines[at + 1]))) {
      ++places;
      continue;
    }
    const std::string_view node = headings.empty() ? std::string_view{} : node_in(line);
    const auto heading = headings.find(node);
    if (!node.empty() && heading != headings.end() && heading->second != current) {
      current = heading->second;
      const bool has_blank = places > 0 && !is_place(lines[at - places]);
      if (has_blank) put("");
      put(std::string(body_indent, ' ') + "# " + current);
      flush(at, false);
    } else {
      flush(at, node.empty() || current.empty());
    }
    put(line);
  }
  flush(lines.size(), true);
  return result;
}

}  // namespace depyf
