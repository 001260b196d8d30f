// Reads the calls in Inductor's output code, and tracks the values that the calls pass to each other. This file is
// not split, because each kind of statement changes the same tables of names.
#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "support/words.h"
#include "trace/output_code.h"

namespace depyf::trace {
namespace {

std::string_view path_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (is_word(text[end]) || text[end] == '.')) ++end;
  return text.substr(0, end);
}

// Returns the names in an expression, except attributes and the names of keyword arguments.
std::vector<std::string_view> names_in(std::string_view text) {
  std::vector<std::string_view> names;
  char before = ' ';
  for (std::size_t at = 0; at < text.size();) {
    const char character = text[at];
    if (character == '\'' || character == '"') {
      at = behind_string(text, at);
      before = '"';
      continue;
    }
    const std::string_view name = is_word(character) ? word_at(text.substr(at)) : std::string_view();
    if (name.empty()) {
      before = character;
      ++at;
      continue;
    }
    at += name.size();
    const bool names_argument = at < text.size() && text[at] == '=' && text.substr(at, 2) != "==";
    if (before != '.' && !names_argument && !(name[0] >= '0' && name[0] <= '9')) names.push_back(name);
    before = '_';
  }
  return names;
}

// Returns the abbreviation that printed graphs use for a dtype; the dtype itself if there is no abbreviation.
std::string abbreviation_of(std::string_view dtype) {
  take(dtype, "torch.");
  static const std::unordered_map<std::string_view, std::string_view> abbreviations{{"float32", "f32"},
                                                                                    {"float64", "f64"},
                                                                                    {"float16", "f16"},
                                                                                    {"bfloat16", "bf16"},
                                                                                    {"int64", "i64"},
                                                                                    {"int32", "i32"},
                                                                                    {"int16", "i16"},
                                                                                    {"int8", "i8"},
                                                                                    {"uint8", "u8"},
                                                                                    {"bool", "b8"},
                                                                                    {"complex64", "c64"},
                                                                                    {"complex128", "c128"},
                                                                                    {"float8_e4m3fn", "f8e4m3fn"},
                                                                                    {"float8_e5m2", "f8e5m2"}};
  const auto known = abbreviations.find(dtype);
  return std::string(known == abbreviations.end() ? dtype : known->second);
}

class Calls {
 public:
  record::OutputCode run(std::string_view code) {
    bool is_in_source = false;
    int number = 0, indent_of_function = -1;
    std::string statement;
    int depth = 0;
    while (!code.empty()) {
      const std::size_t end = code.find('\n');
      std::string_view line = code.substr(0, end);
      code.remove_prefix(end == std::string_view::npos ? code.size() : end + 1);
      ++number;
      const bool was_in_source = is_in_source;
      for (std::size_t at = line.find("'''"); at != std::string_view::npos; at = line.find("'''", at + 3))
        is_in_source = !is_in_source;
      if (was_in_source) {
        source(line);
        continue;
      }
      const std::size_t indent = line.find_first_not_of(' ');
      if (indent == std::string_view::npos) continue;
      std::string_view text = line.substr(indent);
      if (text.starts_with('#')) {
        comment(text);
        continue;
      }
      if (indent_of_function >= 0 && static_cast<int>(indent) <= indent_of_function) indent_of_function = -1;
      if (text.starts_with("def call(") || text.starts_with("def partition_")) {
        indent_of_function = static_cast<int>(indent);
        source_nodes_.clear(), handle_.clear();
        continue;
      }
      if (indent_of_function < 0) {
        if (indent == 0) define(text);
        continue;
      }
      if (statement.empty()) line_ = number;
      // A statement continues until its brackets are closed.
      for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\'' || text[at] == '"') {
          at = behind_string(text, at);
          continue;
        }
        if (text[at] == '#') {
          text = text.substr(0, at);
          break;
        }
        depth += text[at] == '(' || text[at] == '[' || text[at] == '{';
        depth -= text[at] == ')' || text[at] == ']' || text[at] == '}';
        ++at;
      }
      constexpr std::size_t statement_max = 1 << 20;
      statement += text;
      if (depth > 0 && statement.size() < statement_max) continue;
      depth = 0;
      execute(statement);
      statement.clear();
    }
    if (code_.calls.empty() && !has_wrapper_) code_.why_no_calls = "the output code is no Python wrapper";
    return std::move(code_);
  }

 private:
  void comment(std::string_view text) {
    if (take(text, "# AOT ID: ['")) {
      std::from_chars(text.data(), text.data() + text.size(), code_.number);
      const std::size_t underscore = text.find('_'), quote = text.find('\'');
      if (underscore != std::string_view::npos && quote != std::string_view::npos && quote > underscore)
        code_.direction = text.substr(underscore + 1, quote - underscore - 1);
    } else if (text.find("Source Nodes: [") != std::string_view::npos) {
      source_nodes_.clear();
      for (std::string_view name : items_in_brackets(text.substr(text.find('['))))
        if (name != shortened_nodes) source_nodes_.emplace_back(name);
    } else if (take(text, "# [Provenance debug handles] ")) {
      handle_ = text;
    } else if (take(text, "#   ")) {
      // The line "#   x_1 => relu, add" lists the nodes of the kernel that is defined below the line.
      const std::size_t arrow = text.find(" => ");
      if (arrow == std::string_view::npos) return;
      std::string_view names = text.substr(arrow + 4);
      const std::string captured(text.substr(0, arrow));
      while (!names.empty()) {
        const std::size_t comma = names.find(", ");
        const std::string name(names.substr(0, comma));
        commented_nodes_.push_back(name);
        code_.captured_of[name].push_back(captured);
        names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 2);
      }
    }
  }

  // Reads the definition of a kernel, such as "cpp_fused_add_0 = async_compile.cpp_pybinding(['float*', 'const
  // float*'], r'''", or "triton_poi_0 = ...".
  void define(std::string_view text) {
    static constexpr std::string_view compile = " = async_compile.";
    const std::string_view name = word_at(text);
    if (name.empty() || text.substr(name.size(), compile.size()) != compile) return;
    defining_ = name;
    parameters_.clear();
    Definition& definition = definitions_[defining_];
    const std::string_view method = word_at(text.substr(name.size() + compile.size()));
    definition.kind = method.starts_with("cpp") ? "cpp" : method;
    if (!commented_nodes_.empty()) code_.nodes_of[defining_] = std::move(commented_nodes_);
    commented_nodes_.clear();
    source_nodes_.clear();
    if (const std::size_t list = text.find("(["); definition.kind == "cpp" && list != std::string_view::npos)
      for (std::string_view type : items_in_brackets(text.substr(list + 1)))
        definition.writes.push_back(type.find('*') != std::string_view::npos &&
                                    type.find("const") == std::string_view::npos);
  }

  // Reads the parameters in a line of a kernel's own source. A Triton kernel has all parameters in one line, such as
  // "def triton_poi_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):". A C++ kernel has the first parameter in a
  // line such as "extern "C" void kernel(float* in_out_ptr0,", and a line for each further parameter.
  void source(std::string_view line) {
    if (defining_.empty()) return;
    if (parameters_.empty()) {
      const std::string head = line.starts_with("def ") ? defining_ + "(" : "kernel(";
      if (!line.starts_with("def ") && !line.starts_with("extern \"C\"")) return;
      const std::size_t start = line.find(head);
      if (start == std::string_view::npos) return;
      line = line.substr(start + head.size() - 1);
    }
    constexpr std::size_t parameters_max = 1 << 20;
    parameters_ += line;
    if (line.find(')') == std::string_view::npos && parameters_.size() < parameters_max) return;
    Definition& definition = definitions_[defining_];
    definition.writes.clear();
    for (std::string_view parameter : items_in_brackets(parameters_)) {
      const std::size_t before_name = parameter.find_last_of(" *");
      const bool is_c = before_name != std::string_view::npos && definition.kind == "cpp";
      const std::string_view name = is_c ? parameter.substr(before_name + 1) : parameter;
      definition.writes.push_back(name.starts_with("out_ptr") || name.starts_with("in_out_ptr"));
      definition.reads.push_back(!name.starts_with("out_ptr"));
    }
    parameters_.clear();
    defining_.clear();
  }

  void execute(std::string_view text) {
    has_wrapper_ = true;
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    if (take(text, "return ")) {
      returned(text);
      return;
    }
    std::string_view target;
    if (const std::size_t equals = text.find(" = "); equals != std::string_view::npos) {
      const std::string_view left = text.substr(0, equals);
      if (left.find('(') == std::string_view::npos || left.front() == '(') {
        target = left;
        text.remove_prefix(equals + 3);
      }
    }
    if (!target.empty() && text == "args") {
      for (std::string_view name : names_in(target)) {
        value_[std::string(name)] = name;
        ++writes_of_[std::string(name)];
      }
      return;
    }
    // A statement with several targets calls a partition, which uses the same names for its results.
    if (target.find(',') != std::string_view::npos) return;
    const std::string_view function = path_at(text);
    const std::string_view rest = text.substr(function.size());
    if (!target.empty() && (rest.empty() || rest.starts_with(";") || rest.starts_with("["))) {
      other_name(target, function, rest.starts_with("["));
      return;
    }
    if (!rest.starts_with("(")) return;
    const std::size_t last_dot = function.rfind('.');
    const std::string_view last = function.substr(last_dot == std::string_view::npos ? 0 : last_dot + 1);
    if (last.starts_with("empty") || last.starts_with("alloc")) return allocate(target, last, rest);
    if (last.starts_with("reinterpret_tensor") || last.starts_with("as_strided")) {
      const std::vector<std::string_view> items = items_in_brackets(rest);
      if (target.empty() || items.empty()) return;
      other_name(target, path_at(items[0]), false);
      // The statement `buf1 = reinterpret_tensor(buf0, ...) # alias` makes buf1 a part of buf0. If `; del buf0` follows
      // in the same line, buf1 is not a part of buf0, but takes over the memory of buf0.
      if (text.find("; del ") == std::string_view::npos) whole_of_[std::string(target)] = path_at(items[0]);
      return;
    }
    if (last.starts_with("assert_")) return;
    call(target, function, rest);
  }

  void allocate(std::string_view target, std::string_view function, std::string_view arguments) {
    const std::vector<std::string_view> items = items_in_brackets(arguments);
    if (target.empty() || items.empty() || !function.starts_with("empty")) return;
    std::string sizes(items[0]);
    if (sizes.size() >= 2 && sizes.front() == '(') sizes = sizes.substr(1, sizes.size() - 2);
    while (!sizes.empty() && (sizes.back() == ' ' || sizes.back() == ',')) sizes.pop_back();
    std::string dtype;
    for (std::string_view item : items)
      if (const std::size_t at = item.find("torch."); at != std::string_view::npos)
        dtype = abbreviation_of(item.substr(at));
    code_.shapes[std::string(target)] = dtype + "[" + sizes + "]";
  }

  // Handles statements that add another name for a value, such as `buf1 = buf0`, `buf1 = reinterpret_tensor(buf0,
  // ...)` and `buf1 = buf0[0]`.
  void other_name(std::string_view target, std::string_view name, bool is_item) {
    const std::string key(target), old(name);
    if (is_item && value_.contains(old)) {
      // An item of the result of a library call is a separate value, which the library call writes.
      if (const auto writer = writer_of_.find(value_[old]); writer != writer_of_.end())
        if (std::vector<std::string>& writes = code_.calls[writer->second].writes; writes.size() < values_max)
          writes.push_back(key);
      value_[key] = key;
      return;
    }
    if (const auto known = value_.find(old); known != value_.end()) value_[key] = known->second;
    if (const auto known = code_.shapes.find(old); known != code_.shapes.end()) code_.shapes[key] = known->second;
    code_.buffer_of[key] = old;
  }

  void call(std::string_view target, std::string_view function, std::string_view arguments) {
    record::KernelCall call;
    if (const std::size_t dot = function.find(".run"); dot != std::string_view::npos && dot + 4 == function.size())
      function = function.substr(0, dot);
    const auto definition = definitions_.find(std::string(function));
    const bool is_library = function.starts_with("extern_kernels.") || function.starts_with("torch.ops.") ||
                            function.starts_with("aten.") || function.starts_with("inductor_ops.");
    if (definition == definitions_.end() && !is_library) return;
    call.kernel = function;
    call.kind = is_library ? "library" : definition->second.kind;
    call.line = line_;
    call.source_nodes = std::move(source_nodes_);
    call.handle = std::move(handle_);
    source_nodes_.clear(), handle_.clear();
    std::vector<std::string> written_names;
    const std::vector<std::string_view> items = items_in_brackets(arguments);
    for (std::size_t position = 0; position < std::min(items.size(), values_max); ++position) {
      std::string_view item = items[position];
      const bool is_out = take(item, "out=");
      const bool is_in_place = is_library && position == 0 && writes_its_first_argument(function);
      const bool writes = is_library
                              ? is_out || is_in_place
                              : position < definition->second.writes.size() && definition->second.writes[position];
      for (std::string_view name : names_in(item)) {
        if (written_names.size() + call.reads.size() + call.overwrites.size() > values_max) break;
        const std::string key(name);
        const bool is_buffer = name.starts_with("buf") || value_.contains(key);
        if (!is_buffer) continue;
        const auto value = value_.find(key);
        const bool is_unwritten = value == value_.end();
        const bool reads =
            is_library || position >= definition->second.reads.size() || definition->second.reads[position];
        if (!is_unwritten && !is_out && reads)
          add_once(writes && !is_library ? call.overwrites : call.reads, value->second);
        if (writes || is_unwritten) written_names.push_back(key);
      }
    }
    if (!target.empty()) written_names.emplace_back(target);
    for (const std::string& name : written_names) {
      // A value has the name of its buffer, with a suffix such as `'1` if the same buffer has been written before.
      const int writes = writes_of_[name]++;
      const std::string value = writes ? name + "'" + std::to_string(writes) : name;
      if (const auto shape = code_.shapes.find(name); shape != code_.shapes.end() && value != name)
        code_.shapes[value] = std::string(shape->second);
      value_[name] = value;
      writer_of_[value] = code_.calls.size();
      add_once(call.writes, value);
      // A call that writes a part of a buffer counts as writing the whole buffer, because all parts together are the
      // buffer.
      if (const auto whole = whole_of_.find(name); whole != whole_of_.end()) {
        if (in_parts_.insert(whole->second).second) value_[whole->second] = whole->second;
        add_once(call.writes, value_[whole->second]);
      }
    }
    code_.calls.push_back(std::move(call));
  }

  // True if a component of the function's dotted name ends with `_`, as in `torch.ops.aten.index_put_(...)` and
  // `torch.ops._c10d_functional.all_reduce_.default(...)`.
  static bool writes_its_first_argument(std::string_view function) {
    for (std::string_view rest = function; !rest.empty();) {
      const std::size_t dot = rest.find('.');
      const std::string_view part = rest.substr(0, dot);
      if (part.size() > 1 && part.back() == '_' && part[part.size() - 2] != '_') return true;
      rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
    }
    return false;
  }

  static void add_once(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }

  // Reads a tuple of returned values, such as "(buf8, primals_3, reinterpret_tensor(buf1, (8, 1), (1, 1), 0), None,
  // )".
  void returned(std::string_view text) {
    if (!text.starts_with("(")) return;
    std::vector<std::string> outputs;
    for (std::string_view item : items_in_brackets(text)) {
      std::string output;
      if (item != "None")
        for (std::string_view name : names_in(item))
          if (const auto value = value_.find(std::string(name)); value != value_.end()) {
            output = value->second;
            break;
          }
      outputs.push_back(std::move(output));
    }
    code_.outputs = std::move(outputs);
  }

  static constexpr std::size_t values_max = 4096;  // the maximum number of values of a call; no compiler accepts more

  struct Definition {
    std::string kind;
    std::vector<bool> writes, reads;  // an element for each argument of the kernel; empty if unknown
  };

  record::OutputCode code_;
  std::unordered_map<std::string, Definition> definitions_;
  std::string defining_;  // the kernel whose source is read; empty once its parameters are known
  std::string parameters_;  // the text of the kernel's parameters that was read so far
  std::vector<std::string> source_nodes_;  // nodes that the last comment lists for the next call
  std::vector<std::string> commented_nodes_;  // nodes in the comments above a kernel's definition
  std::string handle_;
  std::unordered_map<std::string, std::string> value_;  // maps the name of a buffer to the value in it
  std::unordered_map<std::string, std::string> whole_of_;  // maps the name of a part of a buffer to the buffer
  std::unordered_set<std::string> in_parts_;  // buffers that are written in parts
  std::unordered_map<std::string, std::size_t> writer_of_;  // maps a value to the index of the call that writes it
  std::unordered_map<std::string, int> writes_of_;  // maps the name of a buffer to the number of writes
  int line_ = 0;
  bool has_wrapper_ = false;
};

}  // namespace

record::OutputCode read_output_code(std::string_view output_code) { return Calls().run(output_code); }

}  // namespace depyf::trace
