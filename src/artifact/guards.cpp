#include "artifact/guards.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "artifact/harmless.h"
#include "artifact/words.h"
#include "json/json.h"
#include "pickle/outline.h"
#include "support/words.h"

namespace depyf::artifact {
namespace {

using pickle::Kind;
using pickle::Value;

constexpr std::size_t guards_max = 100'000;  // the maximum number of guards of an artifact
// The maximum size of the texts and conditions of all guards in bytes.
constexpr std::size_t text_all_max = std::size_t{16} << 20;
constexpr std::size_t words_max = 1000;  // the maximum number of texts of one guard
constexpr std::size_t dimensions_max = 64;  // the maximum number of dimensions of a tensor, as in PyTorch
constexpr std::size_t frames_max = 200;  // the maximum number of frames of a stack
constexpr std::size_t unchecked_max = 200;  // the maximum number of locals, and of globals, that are checked for guards
constexpr std::size_t file_max = 1000;  // the maximum size of the name of a file in bytes
constexpr std::size_t files_max = 1000;  // the maximum number of file names that are stored
constexpr std::size_t condition_max = 20'000;  // the maximum size of one condition in bytes

// The kinds of guards that are omitted, because the guard on the state of the process (GLOBAL_STATE) contains the
// conditions of the omitted guards.
constexpr std::string_view part_of_state[] = {"GRAD_MODE", "DETERMINISTIC_ALGORITHMS"};
// The kinds of guards that PyTorch does not install unless a setting of torch._dynamo.config enables them.
constexpr std::string_view never_checked[] = {"EMPTY_NN_MODULE_HOOKS_DICT"};

// True if a text of the file is short enough for one line of Python, and has no control characters.
bool is_one_line(std::string_view text) {
  return text.size() <= condition_max &&
         std::all_of(text.begin(), text.end(), [](char it) { return it >= ' ' && it != '\x7f'; });
}

std::string is_equal(const std::string& expression, const Value& value) {
  return expression + " == " + pickle::outline(value, condition_max);
}

// Adds conditions on the sizes or the strides of a tensor, for each dimension that is not symbolic.
void add_dimensions(std::vector<std::string>& conditions, const std::string& call, const Value& numbers) {
  bool is_static = true;
  const std::size_t count = std::min(numbers.size(), dimensions_max);
  for (std::size_t position = 0; position < count; ++position)
    is_static = is_static && numbers.at(position).is(Kind::integer);
  if (is_static) return conditions.push_back("tuple(" + call + "()) == " + pickle::outline(numbers, condition_max));
  for (std::size_t position = 0; position < count; ++position)
    if (numbers.at(position).is(Kind::integer))
      conditions.push_back(is_equal(call + "(" + std::to_string(position) + ")", numbers.at(position)));
}

class GuardReader {
 public:
  GuardReader(const Value& state, Part& part)
      : graph_(state.attribute("output_graph")), shapes_(state.attribute("shape_code_parts")), part_(part) {}

  void read(const std::vector<std::string>& reads) {
    read_state();
    const Value guards = graph_.attribute("_guards").attribute("inner");
    std::vector<Value> list = guards.appended(guards_max);
    const Value made_of = guards.is_object() ? guards.argument(0) : guards;
    for (std::size_t position = 0; position < std::min(made_of.size(), guards_max); ++position)
      list.push_back(made_of.at(position));
    part_.has_guards = true;
    const Value table = graph_.attribute("input_source_to_sizes_strides");
    for (std::size_t position = 0; position < table.size(); ++position)
      sizes_.try_emplace(table.key(position).id(), table.value(position));
    std::size_t position = 0;
    for (; position < std::min(list.size(), guards_max) && text_left_ > 0; ++position) read_guard(list[position]);
    if (std::max(list.size(), made_of.size()) > position)
      part_.notes.push_back("only the first " + std::to_string(position) + " guards are shown");
    add_aliasing();
    find_unchecked(reads);
  }

 private:
  void read_guard(const Value& guard) {
    const Value create = field(guard, "create_fn", 1);
    const Value function = create.is_a("partial") ? create.argument(0) : create;
    std::string kind = function.dotted_name();
    kind = kind.substr(kind.rfind('.') + 1);
    Guard read;
    read.printed.kind = kind;
    read.printed.value = source_expression(field(guard, "originating_source", 0));
    read.printed.line = line_of(guard.attribute("user_stack"));
    const Value words = guard.attribute("code_list");
    for (std::size_t position = 0; position < std::min(words.size(), words_max); ++position) {
      const std::string text(words.at(position).text().substr(0, condition_max));
      // Skip repeated texts: PyTorch builds the guards twice, so each text occurs twice.
      if (!is_among(text, read.words)) read.words.push_back(text);
    }
    add_conditions(read, guard, create);
    keep_harmless(read);
    read.printed.text = read.words.empty() ? kind : joined(read.words, "; ");
    std::size_t size = read.printed.text.size() + read.printed.value.size() + read.printed.line.size() + sizeof(Guard);
    for (const std::string& condition : read.printed.conditions) size += condition.size() + sizeof(std::string);
    for (const std::string& each : read.words) size += each.size() + sizeof(std::string);
    text_left_ -= std::min(text_left_, size);
    if (kind == "GLOBAL_STATE") has_state_ = true;
    if (!is_among(kind, part_of_state)) part_.guards.push_back(std::move(read));
  }

  // Returns a field of a guard, which the pickle contains in the guard's state or as an argument of its constructor.
  static Value field(const Value& guard, std::string_view name, std::size_t position) {
    const Value own = guard.attribute(name);
    return own ? own : guard.argument(position);
  }

  // Clears the conditions of a guard if a condition might do more than read values, because a reader may execute the
  // printed conditions.
  static void keep_harmless(Guard& guard) {
    std::vector<std::string>& conditions = guard.printed.conditions;
    if (std::all_of(conditions.begin(), conditions.end(), [](const std::string& each) { return is_harmless(each); }))
      return;
    conditions.clear();
    guard.without_form = "the file contains a different object in its place, which does more than check a condition";
  }

  void add_conditions(Guard& guard, const Value& pickled, const Value& create) {
    const std::string& kind = guard.printed.kind;
    std::vector<std::string>& conditions = guard.printed.conditions;
    if (kind == "TENSOR_MATCH") return add_tensor(guard, pickled, create.state().at(2)["value"]);
    if (kind == "GLOBAL_STATE") {
      if (is_one_line(state_)) conditions.push_back("is_state(" + pickle::quoted(state_) + ")");
      guard.printed.is_quiet = false;
      return;
    }
    if (kind == "TORCH_FUNCTION_STATE") {
      conditions.push_back("torch._C._len_torch_function_stack() == " +
                           std::to_string(graph_.attribute("torch_function_mode_stack").size()));
      guard.printed.is_quiet = false;
      return;
    }
    if (kind == "DEFAULT_DEVICE" && graph_.attribute("current_device").is(Kind::none)) {
      conditions.push_back("torch.utils._device.CURRENT_DEVICE is None");
      return;
    }
    if (kind == "SHAPE_ENV") return add_shapes(guard);
    if (kind == "NOT_PRESENT_IN_GENERIC_DICT") {
      const Value name = create.state().at(2)["attr"];
      if (!guard.printed.value.empty() && name.is(Kind::string))
        conditions.push_back(pickle::quoted(name.text().substr(0, condition_max)) + " not in " + guard.printed.value +
                             ".__dict__");
      else guard.without_form = "the attribute is unknown";
      return;
    }
    if (is_among(kind, never_checked)) {
      guard.without_form = "PyTorch checks the guard only if torch._dynamo.config requires it";
      return;
    }
    for (const std::string& words : guard.words) add_words(guard, words);
    if (conditions.empty() && guard.without_form.empty()) guard.without_form = "the file contains no text of the guard";
  }

  void add_words(Guard& guard, const std::string& words) {
    std::vector<std::string>& conditions = guard.printed.conditions;
    constexpr std::string_view hooks = "torch._functorch.aot_autograd.utils.top_saved_tensors_hooks ids == None";
    constexpr std::string_view utils = "torch._functorch._aot_autograd.utils.";
    if (words == hooks) {
      const std::string module(utils);
      return conditions.push_back("not " + module + "saved_tensors_hooks_are_inlineable(" + module +
                                  "top_saved_tensors_hooks())");
    }
    if (const std::optional<TypeCheck> check = type_check(words); check && is_one_line(words))
      return conditions.push_back(has_type(check->value, check->type));
    if (words.find("___") != std::string::npos || !is_one_line(words)) {
      guard.without_form = "the guard calls a helper function that only PyTorch has";
      return;
    }
    // A guard on a constant also checks the class of the value, which the text of the guard omits.
    const std::string equals = guard.printed.value + " == ";
    if (!guard.printed.value.empty() && words.starts_with(equals) && guard.printed.kind.ends_with("_MATCH"))
      conditions.push_back("type(" + guard.printed.value + ") is type(" + words.substr(equals.size()) + ")");
    conditions.push_back(words);
  }

  void add_shapes(Guard& guard) {
    const Value helper = shapes_.attribute("python_code_parts");
    const Value parts =
        helper.is_object() ? (helper.attribute("exprs") ? helper.attribute("exprs") : helper.state().at(0)) : helper;
    guard.words.clear();
    for (std::size_t position = 0; position < std::min(parts.size(), words_max); ++position) {
      const std::string words(parts.at(position).text().substr(0, condition_max));
      guard.words.push_back(words);
      if (is_one_line(words) && words.find("___") == std::string::npos) guard.printed.conditions.push_back(words);
      else guard.without_form = "the guard calls a helper function that only PyTorch has";
    }
    if (parts.size() == 0) guard.without_form = "no size is a symbol";
  }

  void add_tensor(Guard& guard, const Value& pickled, const Value& tensor) {
    const std::string& x = guard.printed.value;
    // The pickle of a meta tensor contains no device.
    const bool is_meta = tensor.class_name() == "torch._utils._rebuild_meta_tensor_no_storage";
    const Value meta = is_meta ? tensor : tensor.argument(0), device = is_meta ? Value() : tensor.argument(1);
    const Value keys = is_meta ? Value() : tensor.argument(3);
    const std::string device_text = is_meta ? "torch.device('meta')" : pickle::outline(device, condition_max);
    const std::string type = is_meta ? "torch.Tensor" : tensor.argument(2).dotted_name();
    if (x.empty() || (!is_meta && !tensor.class_name().ends_with("._unpickle_tensor")) || !meta.argument(3)) {
      guard.without_form = "the file contains no plain tensor for the guard";
      return;
    }
    const Value known = sizes_of(pickled.attribute("originating_source"));
    const Value sizes = known["size"] ? known["size"] : meta.argument(1);
    const Value strides = known["stride"] ? known["stride"] : meta.argument(2);
    std::vector<std::string>& conditions = guard.printed.conditions;
    conditions.push_back(has_type(x, type == "torch.nn.parameter.Parameter" ? "torch.nn.Parameter" : type));
    conditions.push_back(x + ".dtype == " + meta.argument(0).dotted_name());
    conditions.push_back(x + ".device == " + device_text);
    if (keys.is(Kind::integer)) conditions.push_back("has_keys(" + x + ", " + pickle::outline(keys) + ")");
    conditions.push_back(is_equal(x + ".requires_grad", meta.argument(3)));
    conditions.push_back(x + ".dim() == " + std::to_string(sizes.size()));
    add_dimensions(conditions, x + ".size", sizes);
    add_dimensions(conditions, x + ".stride", strides);
    conditions.push_back("is_unmarked(" + x + ")");
    guard.words.insert(guard.words.begin(), type + ", " + meta.argument(0).dotted_name() + ", " + device_text +
                                                ", size " + pickle::outline(sizes, 200) + ", stride " +
                                                pickle::outline(strides, 200) + ", requires_grad " +
                                                pickle::outline(meta.argument(3), 10));
    if (type != "torch.nn.parameter.Parameter") tensors_.push_back(x);
  }

  Value sizes_of(const Value& source) const {
    const auto entry = source ? sizes_.find(source.id()) : sizes_.end();
    return entry == sizes_.end() ? Value() : entry->second;
  }

  // Adds the guard by which PyTorch checks that no two input tensors are the same object.
  void add_aliasing() {
    if (tensors_.size() < 2) return;
    Guard guard;
    guard.printed.kind = "NO_TENSOR_ALIASING";
    guard.printed.text = "no two of these are the same tensor: " + joined(tensors_, ", ");
    guard.words = {guard.printed.text};
    guard.printed.conditions = {"are_different(" + joined(tensors_, ", ") + ")"};
    keep_harmless(guard);
    part_.guards.push_back(std::move(guard));
  }

  void read_state() {
    const Value guard = graph_.attribute("global_state_guard");
    state_ = std::string(guard.state().text());
    json::Document document;
    if (state_.empty() || document.parse(state_)) return;
    document.root().for_each_member([&](json::Value key, json::Value value) {
      if (value.is(json::Kind::object)) {
        value.for_each_member([&](json::Value inner, json::Value entry) {
          part_.state.push_back({key.text() + "." + inner.text(), raw(entry)});
        });
      } else {
        part_.state.push_back({key.text(), key.text() == "default_dtype" ? dtype_name(raw(value)) : raw(value)});
      }
    });
  }

  // Returns the name of the floating-point dtype that `number` denotes in c10::ScalarType; `number` itself for any
  // other dtype.
  static std::string dtype_name(const std::string& number) {
    if (number == "5") return "torch.float16";
    if (number == "6") return "torch.float32";
    if (number == "7") return "torch.float64";
    if (number == "15") return "torch.bfloat16";
    return number;
  }

  static std::string raw(json::Value value) {
    if (!value.is(json::Kind::array)) return std::string(value.raw());
    std::string text = "[";
    value.for_each_item([&](json::Value item) { text += (text.size() > 1 ? ", " : "") + std::string(item.raw()); });
    return text + "]";
  }

  // Returns the innermost line of a stack outside of PyTorch; the innermost line if all lines belong to PyTorch.
  std::string line_of(const Value& stack) {
    std::string found;
    const std::vector<Value> frames = stack.appended(frames_max);
    for (const Value& frame : frames) {
      const std::string file(frame.attribute("filename").text().substr(0, file_max));
      if (part_.files.size() < files_max && seen_files_.insert(file).second) part_.files.push_back(file);
    }
    for (auto frame = frames.rbegin(); frame != frames.rend() && found.empty(); ++frame)
      if (frame->attribute("filename").text().find("/torch/") == std::string_view::npos) found = place(*frame);
    return found.empty() && !frames.empty() ? place(frames.back()) : found;
  }

  static std::string place(const Value& frame) {
    const std::string_view path = frame.attribute("filename").text();
    const std::string_view file = path.substr(path.rfind('/') + 1);
    const std::string_view line = stripped(frame.attribute("_line").text());
    std::string text = std::string(file) + ":" + std::to_string(frame.attribute("lineno").integer());
    if (!line.empty()) text += " " + std::string(line);
    return is_one_line(text) ? text : std::string();
  }

  void find_unchecked(const std::vector<std::string>& reads) {
    const Value scope = graph_.attribute("local_scope");
    const auto is_about = [&](std::string_view expression) {
      return std::any_of(part_.guards.begin(), part_.guards.end(), [&](const Guard& guard) {
        return guard.printed.value.starts_with(expression) ||
               std::any_of(guard.words.begin(), guard.words.end(),
                           [&](const std::string& words) { return words.find(expression) != std::string::npos; });
      });
    };
    for (std::size_t position = 0; position < std::min(scope.size(), unchecked_max); ++position) {
      const std::string expression = "L[" + pickle::outline(scope.key(position), 200) + "]";
      if (is_about(expression)) continue;
      const bool is_tensor = scope.value(position).class_name().ends_with("._unpickle_tensor");
      part_.unchecked.push_back("No guard checks " + expression + ": a call with another " +
                                (is_tensor ? "dtype, device or size" : "value") + " of it will not be noticed.");
    }
    std::vector<std::string> globals;
    for (const std::string& name : std::span(reads).first(std::min(reads.size(), unchecked_max)))
      if (!is_about("G[" + pickle::quoted(name) + "]")) globals.push_back(name);
    if (!globals.empty())
      part_.unchecked.push_back("No guard checks the globals " + joined(globals, ", ") +
                                ", which the function reads: that a global is replaced will not be noticed.");
    if (!has_state_)
      part_.unchecked.push_back(
          "No guard checks the state of the process (grad mode, autocast, default dtype, determinism): a call in another "
          "state will not be noticed.");
  }

  Value graph_, shapes_;
  Part& part_;
  std::string state_;  // the state of the process, as JSON
  bool has_state_ = false;  // true if a guard checks the state of the process
  std::vector<std::string> tensors_;
  std::unordered_set<std::string> seen_files_;
  std::unordered_map<pickle::NodeId, Value> sizes_;  // maps the source of a tensor to its sizes and strides
  std::size_t text_left_ = text_all_max;
};

constexpr std::string_view helpers = R"(def has_keys(tensor, raw):
    """Returns true if the tensor is now dispatched like a tensor with these keys outside of all modes."""
    keys = (torch._C._dispatch_keys(tensor) | torch._C._dispatch_tls_local_include_set())
    keys -= torch._C._dispatch_tls_local_exclude_set()
    return keys.raw_repr() == ((torch._C.DispatchKeySet.from_raw_repr(raw) | USUAL[0]) - USUAL[1]).raw_repr()


def is_state(state):
    """Returns true if grad mode, autocast, default dtype and similar settings are as in this JSON."""
    guard = torch._C._dynamo.guards.GlobalStateGuard()
    guard.__setstate__(state)
    return guard.check()


def is_unmarked(tensor):
    """Returns true if no dimension is marked as dynamic or static."""
    kinds = "dynamic", "weak_dynamic", "unbacked", "strict_unbacked", "static"
    return not any(hasattr(tensor, f"_dynamo_{kind}_indices") for kind in kinds)


def are_different(*tensors):
    """Returns true if no two of the objects are the same object."""
    return len({id(tensor) for tensor in tensors}) == len(tensors)


)";

}  // namespace

void read_guards(const Value& guards_state, const std::vector<std::string>& reads, Part& part) {
  GuardReader(guards_state, part).read(reads);
}

std::string guard_source(const Part& part) {
  std::vector<GuardToPrint> printed;
  for (const Guard& guard : part.guards)
    if (!guard.printed.conditions.empty()) printed.push_back(guard.printed);
  const std::string function = guard_function("guards", "torch._C.DisableTorchFunction()", std::move(printed), {});
  std::string source;
  std::string_view rest = helpers;
  // Omit the helper functions that no condition calls.
  std::size_t start = rest.find("def ");
  source = rest.substr(0, start);
  while (start != std::string_view::npos) {
    rest.remove_prefix(start);
    const std::size_t next = rest.find("def ", 1);
    const std::string_view helper = rest.substr(0, next);
    const std::string name(helper.substr(4, helper.find('(') - 4));
    if (function.find(name + "(") != std::string::npos) source += helper;
    start = next;
  }
  if (source.find("USUAL") != std::string::npos)
    source =
        "import torch\n\n# The keys that every tensor gets, and the keys that no tensor gets, when this file is loaded.\n"
        "USUAL = torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()\n\n\n" +
        source;
  return source + function;
}

}  // namespace depyf::artifact
