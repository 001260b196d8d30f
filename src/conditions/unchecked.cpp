#include <algorithm>
#include <utility>

#include "depyf/conditions.h"
#include "support/words.h"

namespace depyf::conditions {
namespace {

constexpr std::size_t listed_max = 20;  // the maximum number of values that a sentence names

constexpr std::string_view global_state =
    "a call in another state of the process (grad mode, autocast, default dtype, determinism) will not be noticed";

constexpr std::string_view by_identity[] = {"ID_MATCH",      "FUNCTION_MATCH", "CLASS_MATCH", "MODULE_MATCH",
                                            "CLOSURE_MATCH", "BUILTIN_MATCH",  "NN_MODULE",   "WEAKREF_ALIVE"};

// Maps a kind of guard to the change that is not noticed without the guard. The text " will not be noticed" is appended
// to the change.
constexpr std::pair<std::string_view, std::string_view> changes[] = {
    {"TENSOR_MATCH", "a call with another dtype, device, size or requires_grad"},
    {"DTYPE_MATCH", "a call with another dtype"},
    {"TYPE_MATCH", "a value of another class"},
    {"CONSTANT_MATCH", "another value"},
    {"EQUALS_MATCH", "another value"},
    {"BOOL_MATCH", "another value"},
    {"NONE_MATCH", "another value"},
    {"SEQUENCE_LENGTH", "another length"},
    {"DICT_LENGTH", "another length"},
    {"DICT_KEYS_MATCH", "other keys"},
    {"DICT_CONTAINS", "other keys"},
    {"SET_CONTAINS", "other members"},
    {"DICT_VERSION", "that it is changed"},
    {"HASATTR", "that it gets or loses an attribute"},
    {"NOT_PRESENT_IN_GENERIC_DICT", "that it gets an attribute of its own"},
    {"EMPTY_NN_MODULE_HOOKS_DICT", "that it gets hooks"},
    {"DUPLICATE_INPUT", "that two values are no longer the same object"},
    {"SHAPE_ENV", "sizes beyond those that the code is right for"},
    {"GRAD_MODE", "a call in another grad mode"},
    {"DETERMINISTIC_ALGORITHMS", "a call with other settings for deterministic algorithms"},
    {"TORCH_FUNCTION_STATE", "a call with other torch function modes at work"},
    {"DEFAULT_DEVICE", "a call with another default device"},
    {"FSDP_TRAINING_STATE", "a call in another training state of FSDP"},
    {"AUTOGRAD_SAVED_TENSORS_HOOKS", "a call with other hooks for saved tensors"},
};

// Returns the text behind the word "guard": " on a" for one name, "s on a, b" for several names, and an empty text if
// `names` is empty.
std::string on(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const auto named =
      std::vector<std::string>(names.begin(), names.begin() + std::ptrdiff_t(std::min(names.size(), listed_max)));
  std::string text = (names.size() > 1 ? "s on " : " on ") + joined(named, ", ");
  if (names.size() > listed_max) text += " and " + std::to_string(names.size() - listed_max) + " more";
  return text;
}

bool mentions(const Guard& guard, const std::string& expression) {
  const auto has = [&](const std::string& text) { return text.find(expression) != std::string::npos; };
  return has(guard.source) || has(guard.text) || std::ranges::any_of(guard.members, has);
}

}  // namespace

std::string unnoticed(std::string_view kind) {
  if (kind == "GLOBAL_STATE") return std::string(global_state);
  if (std::ranges::find(by_identity, kind) != std::end(by_identity))
    return "that another object is in its place will not be noticed";
  for (const auto& [known, change] : changes)
    if (kind == known) return std::string(change) + " will not be noticed";
  return "that its " + std::string(kind) + " no longer holds will not be noticed";
}

std::vector<std::string> unchecked_after_dropping(const std::vector<DroppedGuard>& dropped) {
  // Each pair consists of a change that is not noticed without the guard, and the names of the values that the dropped
  // guards checked.
  std::vector<std::pair<std::string, std::vector<std::string>>> names_of;
  for (const DroppedGuard& guard : dropped) {
    const std::string meaning = unnoticed(guard.kind);
    auto known = std::ranges::find(names_of, meaning, &std::pair<std::string, std::vector<std::string>>::first);
    if (known == names_of.end()) known = names_of.insert(known, {meaning, {}});
    const std::string name = in_terms(guard.source);
    if (!name.empty() && std::ranges::find(known->second, name) == known->second.end()) known->second.push_back(name);
  }
  std::vector<std::string> sentences;
  for (const auto& [meaning, names] : names_of)
    sentences.push_back("A filter dropped the guard" + on(names) + ": " + meaning + ".");
  return sentences;
}

std::vector<std::string> unchecked_values(const std::vector<Guard>& guards, const std::vector<std::string>& locals,
                                          const std::vector<std::string>& globals) {
  const auto is_checked = [&](const char* scope, const std::string& name) {
    const std::string expression = scope + ("['" + name) + "']";
    return std::ranges::any_of(guards, [&](const Guard& guard) { return mentions(guard, expression); });
  };
  std::vector<std::string> sentences;
  for (const std::string& name : locals)
    if (!is_checked("L", name))
      sentences.push_back("No guard checks " + name +
                          ": a call with another value, dtype, device or size of it will not be noticed.");
  std::vector<std::string> missing;
  for (const std::string& name : globals)
    if (!is_checked("G", name)) missing.push_back(name);
  if (!missing.empty())
    sentences.push_back("No guard checks the globals " + joined(missing, ", ") +
                        ": that another object is in the place of one will not be noticed.");
  if (std::ranges::find(guards, "GLOBAL_STATE", &Guard::kind) == guards.end())
    sentences.push_back("No guard checks the state of the process: " + std::string(global_state) + ".");
  return sentences;
}

}  // namespace depyf::conditions
