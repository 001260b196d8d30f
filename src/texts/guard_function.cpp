// Prints the guards of a compilation as one Python function. The printer is one file, because paths, names and line
// breaks depend on each other.
//
// Paths through modules are long, and most conditions have parts of paths in common. A value that several conditions
// read gets a name in the first condition that reads the value. For example, the condition `type(blocks_0 :=
// list(dict.values(L['self'].__dict__['_modules']['blocks'].__dict__['_modules']))[0]) is Block` defines the name
// `blocks_0`, and the condition `blocks_0.__dict__['heads'] == 4` uses it.
#include "depyf/guard_function.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "depyf/graph_text.h"
#include "support/keywords.h"
#include "support/words.h"
#include "texts/shown.h"

namespace depyf {
namespace {

constexpr std::size_t line_max = 200;  // the most characters of a line that is not broken
constexpr std::size_t broken_width = 120;  // the most characters of each piece of a broken line
constexpr std::size_t literal_max = 90;  // the most characters of a piece of a broken string literal
constexpr std::size_t name_max = 60;
constexpr std::size_t named_min = 30;  // a path with fewer characters gets no name
constexpr std::size_t path_max = 400;  // the most steps of a path

constexpr std::string_view no_line = "no line of the program is known for these";

// The calls through which a condition reads a dict. In a condition, `list` makes the keys or values accessible by
// position, and `dict` copies an instance of a subclass of dict, so that the condition calls no methods of the
// subclass.
constexpr std::string_view keys_of = "list(dict.keys(";
constexpr std::pair<std::string_view, std::string_view> wrappers[] = {
    {"list(dict.values(", "))"}, {keys_of, "))"}, {"dict(dict.items(", "))"}};

// The tables in which a module stores its submodules, parameters and buffers. A program does not name the tables of a
// module, but reads their content as attributes of the module.
constexpr std::string_view module_tables[] = {".__dict__", "['_modules']", "['_parameters']", "['_buffers']"};

constexpr int no_node = -1;

using WordSet = std::unordered_set<std::string, TextHash, std::equal_to<>>;

// A step of a path, such as `.blocks` or `[0]`. The text of the path that ends with a step is `before`, then the text
// of the path that ends with the step `above`, then `behind`. The members `before` and `behind` refer to constants or
// to the texts of conditions, which outlive the steps.
struct Step {
  int above = no_node;
  std::string_view before, behind;
  bool operator==(const Step&) const = default;
};

struct StepHash {
  std::size_t operator()(const Step& step) const {
    constexpr std::size_t factor = 31;
    return (TextHash()(step.behind) * factor + step.before.size()) * factor + static_cast<std::size_t>(step.above);
  }
};

struct PathNode : Step {
  std::size_t depth = 0;
  int reads = 0;  // the number of conditions that read the value at the step
  int branches = 0;  // the number of reads at the step, plus the number of distinct next steps
  bool is_value = false;  // true if a guard checks the value at the step
  bool is_table = false;  // true for a step that users do not write, such as `.__dict__`
  bool is_defined = false;
  std::string name;  // the name of the value; empty if it has no name
};

struct PathInText {
  std::size_t begin, end;
  int node;
};

// A tree of all paths that the conditions read. A path is the expression of a value, such as `L['self'].blocks[0]`.
class Paths {
 public:
  // Returns the paths in a condition, from left to right.
  std::vector<PathInText> in(std::string_view condition) {
    std::vector<PathInText> result;
    for (std::size_t at = 0; at < condition.size();) {
      const char character = condition[at];
      if (character == '"' || character == '\'') {
        at = behind_string(condition, at);
        continue;
      }
      if (!is_word(character)) {
        ++at;
        continue;
      }
      const std::size_t word = word_at(condition.substr(at)).size();
      std::size_t end = at;
      const int node = at > 0 && condition[at - 1] == '.' ? no_node : read(condition, end, 0);
      if (node != no_node) result.push_back({at, end, node});
      at = node == no_node ? at + word : end;
    }
    return result;
  }

  // Returns the node of a text that consists of one path; -1 for any other text.
  int whole(std::string_view text) {
    std::size_t end = 0;
    const int node = read(text, end, 0);
    return end == text.size() ? node : no_node;
  }

  PathNode& operator[](int node) { return nodes_[static_cast<std::size_t>(node)]; }

  // Assigns a name to each value whose path is long and frequent enough.
  void choose_names(WordSet taken) {
    for (std::size_t index = nodes_.size(); index-- > 0;) {
      PathNode& node = nodes_[index];
      node.branches += node.reads;
      if (node.above != no_node) (*this)[node.above].branches += node.is_table ? node.branches : 1;
    }
    for (PathNode& node : nodes_) {
      if (node.above == no_node || node.is_table || !node.is_value || node.branches < 2) continue;
      if (printed_size(node) < named_min || (*this)[node.above].before == keys_of) continue;
      std::string name = free_name(node, taken);
      const std::size_t size = printed_size(node);
      if (name.size() >= size || static_cast<std::size_t>(node.branches) * (size - name.size()) < size) continue;
      taken.insert(name);
      node.name = std::move(name);
    }
  }

  // Appends the text of the path that ends at node `index`, with names in place of the values that have names. If
  // `may_define` is true, a name that was not printed before is defined by `:=`. `is_argument` is true if the path is
  // the only argument of a call, where a definition needs no parentheses.
  void print(int index, bool may_define, bool is_argument, std::string& text) {
    PathNode& node = (*this)[index];
    if (!node.name.empty() && node.is_defined) {
      text += node.name;
      return;
    }
    const bool defines = !node.name.empty() && may_define;
    if (defines) text.append(is_argument ? "" : "(").append(node.name).append(" := ");
    text += node.before;
    if (node.above != no_node) print(node.above, may_define, !node.before.empty(), text);
    text += node.behind;
    if (defines && !is_argument) text += ')';
    node.is_defined = node.is_defined || defines;
  }

 private:
  // Returns the node of the path that begins at `at`, and moves `at` behind the path. Returns -1 if no path begins at
  // `at`.
  int read(std::string_view text, std::size_t& at, std::size_t depth) {
    if (depth == path_max) return no_node;
    int node = no_node;
    for (const auto& [before, behind] : wrappers) {
      if (!text.substr(at).starts_with(before)) continue;
      std::size_t end = at + before.size();
      const int inner = read(text, end, depth + 1);
      if (inner == no_node || !text.substr(end).starts_with(behind)) return no_node;
      node = child(inner, before, behind);
      at = end + behind.size();
    }
    if (node == no_node) {
      const std::string_view rest = text.substr(at);
      const std::size_t end = rest.starts_with("L[") || rest.starts_with("G[") ? behind_index(rest, 1) : 0;
      if (!end) return no_node;
      node = child(no_node, "", rest.substr(0, end));
      at += end;
    }
    while ((*this)[node].depth < path_max) {
      const std::size_t size = step_size(text.substr(at));
      if (!size) break;
      node = child(node, "", text.substr(at, size));
      at += size;
    }
    return (*this)[node].depth < path_max ? node : no_node;
  }

  // Returns the position behind the index in brackets that begins at `open`; 0 if the index is not a plain number or
  // string.
  static std::size_t behind_index(std::string_view text, std::size_t open) {
    std::size_t at = open + 1;
    if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
      at = behind_string(text, at);
    } else {
      if (at < text.size() && text[at] == '-') ++at;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
      if (at == open + 1) return 0;
    }
    return at < text.size() && text[at] == ']' ? at + 1 : 0;
  }

  static std::size_t step_size(std::string_view text) {
    if (text.starts_with('[')) return behind_index(text, 0);
    if (!text.starts_with('.')) return 0;
    const std::size_t end = 1 + word_at(text.substr(1)).size();
    return end > 1 && (end == text.size() || text[end] != '(') ? end : 0;  // a call of a method is not a step of a path
  }

  int child(int above, std::string_view before, std::string_view behind) {
    const Step step{above, before, behind};
    const auto [place, is_new] = index_.try_emplace(step, static_cast<int>(nodes_.size()));
    if (is_new) {
      PathNode node;
      static_cast<Step&>(node) = step;
      node.depth = above == no_node ? 0 : (*this)[above].depth + 1;
      node.is_table = !before.empty() ||
                      std::find(std::begin(module_tables), std::end(module_tables), behind) != std::end(module_tables);
      nodes_.push_back(std::move(node));
    }
    return place->second;
  }

  std::size_t printed_size(const PathNode& node) {
    const std::size_t step = node.before.size() + node.behind.size();
    if (node.above == no_node) return step;
    const PathNode& above = (*this)[node.above];
    return step + (above.name.empty() ? printed_size(above) : above.name.size());
  }

  // Returns a name for a path, made from the words that a user knows: `blocks_0_attn` for `self.blocks[0].attn`.
  std::string words_of(const PathNode& node) {
    std::string words = node.above == no_node ? "" : words_of((*this)[node.above]);
    if (node.is_table || node.behind == "L['self']") return words;
    std::string word;
    for (const char character : node.behind.substr(node.above == no_node ? 1 : 0))
      if (is_word(character)) word += character;
    // If the word is Dynamo's name for an imported module, such as __import_torch_dot_nn, only its last part is used.
    constexpr std::string_view between = "_dot_";
    if (const std::size_t last = word.rfind(between); last != std::string::npos && word.starts_with("__import_"))
      word.erase(0, last + between.size());
    if (word.empty()) return words;
    return words.empty() ? word : words + "_" + word;
  }

  std::string free_name(const PathNode& node, const WordSet& taken) {
    std::string words = words_of(node);
    if (words.size() > name_max) {
      const std::size_t cut = words.find('_', words.size() - name_max);
      words.erase(0, cut == std::string::npos ? words.size() - name_max : cut + 1);
    }
    if (words.empty() || (words[0] >= '0' && words[0] <= '9')) words = "self_" + words;
    std::string name = words;
    for (int number = 2; taken.contains(name) || is_keyword(name); ++number)
      name = words + "_" + std::to_string(number);
    return name;
  }

  std::vector<PathNode> nodes_;  // all nodes; a node has a greater index than the node above it
  std::unordered_map<Step, int, StepHash> index_;
};

// Returns the length of the beginning of a condition that Python evaluates in every case, so that `:=` may define names
// in it; 0 if Python evaluates no beginning of the condition in every case.
std::size_t evaluated_size(std::string_view condition) {
  for (const std::string_view word : {" if ", " for ", "lambda"})
    if (condition.find(word) != std::string_view::npos) return 0;
  return std::min({condition.find(" and "), condition.find(" or "), condition.size()});
}

// Returns a condition in which names replace the paths of the values that have names.
std::string with_names(std::string_view condition, const std::vector<PathInText>& in_condition, Paths& paths) {
  std::string result;
  std::size_t copied = 0;
  const std::size_t evaluated = evaluated_size(condition);
  bool is_first = true;  // only the first path defines names: later operands of `a < b < c` may not be evaluated
  for (const PathInText& path : in_condition) {
    result += condition.substr(copied, path.begin - copied);
    const bool is_argument = path.begin > 1 && condition[path.begin - 1] == '(' && is_word(condition[path.begin - 2]) &&
                             path.end < condition.size() && condition[path.end] == ')';
    paths.print(path.node, is_first && path.end <= evaluated, is_argument, result);
    copied = path.end;
    is_first = false;
  }
  return result.append(condition.substr(copied));
}

// Adds a string literal in pieces that Python joins. `prefix` is the text in front of the literal's quote, such as `b`.
void append_literal(std::string_view prefix, std::string_view literal, std::vector<std::string>& pieces) {
  const char quote = literal[0];
  const auto piece = [&](std::string_view body) {
    pieces.push_back(std::string(prefix) + quote + std::string(body) + quote);
  };
  std::string_view body = literal.substr(1, literal.size() - 2);
  std::size_t size = 0;
  while (size < body.size()) {
    std::size_t character = 1;
    if (body[size] == '\\' && size + 1 < body.size()) {
      const char kind = body[size + 1];
      character = kind == 'x' ? 4 : kind == 'u' ? 6 : kind == 'U' ? 10 : 2;
    } else {
      while (size + character < body.size() && (body[size + character] & 0xc0) == 0x80) ++character;  // UTF-8
    }
    size = std::min(size + character, body.size());
    if (size >= literal_max) {
      piece(body.substr(0, size));
      body.remove_prefix(size);
      size = 0;
    }
  }
  if (!body.empty()) piece(body);
}

// A part of a condition that is never broken into several lines.
struct Part {
  std::string text;
  bool follows_space;
};

std::vector<Part> parts_of(std::string_view condition) {
  std::vector<Part> parts{{"", false}};
  for (std::size_t at = 0; at < condition.size();) {
    const char character = condition[at];
    if (character == ' ') {
      parts.push_back({"", true});
      ++at;
    } else if (character == '"' || character == '\'') {
      const std::size_t end = behind_string(condition, at);
      const std::string_view literal = condition.substr(at, end - at);
      at = end;
      if (literal.size() <= literal_max + 2) {
        parts.back().text += literal;
        continue;
      }
      std::string& before = parts.back().text;
      std::string prefix;
      while (!before.empty() && is_word(before.back())) prefix.insert(0, 1, before.back()), before.pop_back();
      std::vector<std::string> pieces;
      append_literal(prefix, literal, pieces);
      for (std::string& piece : pieces) parts.push_back({std::move(piece), false});
      parts.push_back({"", false});
    } else {
      parts.back().text += character;
      ++at;
    }
  }
  return parts;
}

// Appends `code`, which stands within brackets, as one line to `text`. If the line would be too long, breaks `code`
// into several lines between its parts.
void append_code(const std::string& indent, const std::string& code, std::string& text) {
  if (indent.size() + code.size() <= line_max) {
    text.append(indent).append(code).append("\n");
    return;
  }
  std::string line = indent;
  bool is_empty = true;
  for (const Part& part : parts_of(code)) {
    if (part.text.empty()) continue;
    if (!is_empty && line.size() + 1 + part.text.size() > broken_width) {
      text += line + "\n";
      line = indent + "    ";
      is_empty = true;
    }
    line += (part.follows_space && !is_empty ? " " : "") + part.text;
    is_empty = false;
  }
  text += line + "\n";
}

void append_comment(const std::string& indent, std::string_view comment, std::string& text) {
  const std::size_t width = line_max - indent.size() - 2;
  while (comment.size() > width) {
    std::size_t end = comment.rfind(' ', width);
    const bool is_at_space = end != std::string_view::npos && end > 0;
    if (!is_at_space) {
      end = width;
      while (end > 1 && (comment[end] & 0xc0) == 0x80) --end;
    }
    text += indent + "# " + std::string(comment.substr(0, end)) + "\n";
    comment.remove_prefix(is_at_space ? end + 1 : end);
  }
  text += indent + "# " + std::string(comment) + "\n";
}

// Returns the words of a text with single spaces between them.
std::string squeezed(std::string_view text) {
  std::string result;
  while (!(text = stripped(text)).empty()) {
    const std::size_t end = std::min(text.find_first_of(blanks), text.size());
    result += (result.empty() ? "" : " ") + std::string(text.substr(0, end));
    text.remove_prefix(end);
  }
  return result;
}

// Returns the comment of a guard: PyTorch's text of the guard if PyTorch's own object checks the guard, then the user's
// line that caused the guard. If this line is unknown, a guard on many values has PyTorch's text instead. The comment
// of any other guard without a line is empty.
std::string comment_of(const GuardToPrint& guard) {
  std::string comment;
  if (guard.is_live) comment = "PyTorch's own object decides: " + squeezed(guard.text);
  const bool is_about_many =
      guard.kind == "NO_TENSOR_ALIASING" || guard.kind == "OBJECT_ALIASING" || guard.kind == "STORAGE_OVERLAPPING";
  const std::string rest = !guard.line.empty() ? guard.line : is_about_many ? squeezed(guard.text) : "";
  if (!rest.empty()) comment += (comment.empty() ? "" : "; ") + rest;
  return texts::one_line(comment);
}

// Adds parentheses to a condition if an operator in it binds less tightly than `and`.
std::string bracketed(std::string condition) {
  for (const char* word : {" or ", " if ", "lambda "})
    if (condition.find(word) != std::string::npos) return "(" + condition + ")";
  return condition;
}

void replace_shorthand(const GuardShorthand& shorthand, std::string& condition, bool& is_used) {
  for (std::size_t at = 0; (at = condition.find(shorthand.before, at)) != std::string::npos;) {
    const std::size_t inside = at + shorthand.before.size();
    const std::size_t end = condition.find(shorthand.behind, inside);
    if (end == std::string::npos) return;
    const std::string replacement =
        shorthand.short_before + condition.substr(inside, end - inside) + shorthand.short_behind;
    condition.replace(at, end + shorthand.behind.size() - at, replacement);
    at += replacement.size();
    is_used = true;
  }
}

// Inserts all words of `code` into `words`, except words in strings and names of attributes. Names that are chosen
// later differ from the inserted words.
void insert_words(std::string_view code, WordSet& words) {
  for (std::size_t at = 0; at < code.size();) {
    if (code[at] == '"' || code[at] == '\'') {
      at = behind_string(code, at);
      continue;
    }
    const std::string_view word = word_at(code.substr(at));
    if (!word.empty() && (at == 0 || code[at - 1] != '.') && !words.contains(word)) words.emplace(word);
    at += std::max<std::size_t>(word.size(), 1);
  }
}

class GuardFunction {
 public:
  GuardFunction(const std::string& name, const std::string& quiet, std::vector<GuardToPrint> guards)
      : name_(name), quiet_(quiet), guards_(std::move(guards)) {}

  std::string text(const std::vector<GuardShorthand>& shorthands) {
    std::string head = "import torch\n", definitions;
    WordSet taken{"L", "G", "live", name_};
    insert_words(quiet_, taken);
    for (const GuardShorthand& shorthand : shorthands) {
      bool is_used = false;
      for (GuardToPrint& guard : guards_)
        for (std::string& condition : guard.conditions) replace_shorthand(shorthand, condition, is_used);
      if (!is_used) continue;
      insert_words(shorthand.definition, taken);
      if (shorthand.definition.starts_with("import")) head += shorthand.definition + "\n";
      else definitions += shorthand.definition + "\n\n\n";
    }
    name_paths(std::move(taken));
    const bool asks =
        std::any_of(guards_.begin(), guards_.end(), [](const GuardToPrint& guard) { return guard.is_live; });
    return head + "\n\n" + definitions + "def " + name_ + "(L, G" + (asks ? ", live" : "") + "):\n" + body();
  }

 private:
  // True if a guard is checked outside of the `with` statement that disables `__torch_function__`. Guards on the state
  // of the process cannot call `__torch_function__`, and an object of PyTorch that checks a guard disables
  // `__torch_function__` itself.
  static bool is_first(const GuardToPrint& guard) { return guard.is_live || !guard.is_quiet; }

  void name_paths(WordSet taken) {
    for (const GuardToPrint& guard : guards_) {
      if (const int node = guard.value.empty() ? no_node : paths_.whole(guard.value); node != no_node)
        paths_[node].is_value = true;
      for (const std::string& condition : guard.conditions) {
        insert_words(condition, taken);
        if (is_first(guard)) continue;
        for (const PathInText& path : paths_in_.emplace_back(paths_.in(condition))) ++paths_[path.node].reads;
      }
    }
    paths_.choose_names(std::move(taken));
  }

  std::string body() {
    const std::string first = conditions(true, std::string(12, ' '));
    const std::string rest = conditions(false, std::string(16, ' '));
    std::string text = "    try:\n";
    if (!first.empty()) text += "        if not (\n" + first + "        ):\n            return False\n";
    if (rest.empty()) {
      text += "        return True\n";
    } else {
      text += "        with " + quiet_ + ":\n            return (\n" + rest + "            )\n";
    }
    return text + "    except Exception:  # a value that cannot be read has changed\n        return False\n";
  }

  // Returns the conditions of all guards for which `is_first` returns `of_first`, joined by `and`, as lines of Python.
  // A comment above each condition states the origin of the condition, unless the condition above it has the same
  // origin.
  std::string conditions(bool of_first, const std::string& indent) {
    std::string text, last_comment;
    bool is_first_line = true;
    auto paths = paths_in_.begin();
    for (const GuardToPrint& guard : guards_) {
      if (is_first(guard) != of_first || guard.conditions.empty()) continue;
      std::string comment = comment_of(guard);
      if (comment.empty() && !last_comment.empty()) comment = no_line;
      if (comment != last_comment) {
        append_comment(indent, comment, text);
        last_comment = comment;
      }
      for (const std::string& condition : guard.conditions) {
        const std::string code = bracketed(of_first ? condition : with_names(condition, *paths++, paths_));
        append_code(indent, (is_first_line ? "" : "and ") + code, text);
        is_first_line = false;
      }
    }
    return text;
  }

  const std::string& name_;
  const std::string& quiet_;
  std::vector<GuardToPrint> guards_;
  Paths paths_;
  std::vector<std::vector<PathInText>> paths_in_;  // the paths in each condition of the guards that are not `is_first`
};

}  // namespace

std::string guard_function(const std::string& name, const std::string& quiet, std::vector<GuardToPrint> guards,
                           const std::vector<GuardShorthand>& shorthands) {
  return GuardFunction(name, quiet, std::move(guards)).text(shorthands);
}

}  // namespace depyf
