#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "depyf/reasons.h"
#include "support/utf8.h"
#include "support/words.h"

namespace depyf {
namespace {

using Names = std::vector<std::string>;

bool is_among(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// True if a difference in `aspect`, such as the class of a value, means that the whole value is a different object, so
// that the parts of the value differ as well.
bool is_whole(std::string_view aspect) { return is_among(aspect, {"class", "identity", "presence"}); }

// True if equal differences of several values in `aspect`, such as the dtype, count as one reason.
bool is_the_same_anywhere(std::string_view aspect) {
  return is_among(aspect, {"dtype", "device", "requires_grad", "dispatch", "shape", "stride", "marks"});
}

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool starts_with_any(const std::string& text, const Names& begins) {
  return std::any_of(begins.begin(), begins.end(), [&](const std::string& begin) { return text.starts_with(begin); });
}

// Returns the whole numbers in a text, with their signs.
Names number_texts(std::string_view text) {
  Names numbers;
  auto is_digit = [&](std::size_t position) {
    return position < text.size() && text[position] >= '0' && text[position] <= '9';
  };
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = start + (text[start] == '-' ? 1 : 0);
    if (!is_digit(end)) {
      ++start;
      continue;
    }
    while (is_digit(end)) ++end;
    numbers.emplace_back(text.substr(start, end - start));
    start = end;
  }
  return numbers;
}

using Numbers = std::vector<long long>;

Numbers numbers_in(std::string_view text) {
  Numbers numbers;
  for (const std::string& number : number_texts(text)) numbers.push_back(std::strtoll(number.c_str(), nullptr, 10));
  return numbers;
}

// Returns the dimensions with more than one element, the outermost first; std::nullopt if the tensor has gaps or
// overlaps in memory.
std::optional<Numbers> layout_of(const Numbers& sizes, const Numbers& strides) {
  if (sizes.size() != strides.size()) return std::nullopt;
  Numbers dimensions;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > 1) dimensions.push_back(static_cast<long long>(i));
  auto stride = [&](long long dimension) { return strides[static_cast<std::size_t>(dimension)]; };
  std::stable_sort(dimensions.begin(), dimensions.end(),
                   [&](long long left, long long right) { return stride(left) > stride(right); });
  long long step = 1;
  for (auto dimension = dimensions.rbegin(); dimension != dimensions.rend(); ++dimension) {
    if (stride(*dimension) != step) return std::nullopt;
    step *= sizes[static_cast<std::size_t>(*dimension)];
  }
  return dimensions;
}

// Returns the text between `before` and the next `behind`; std::nullopt if `before` or `behind` is missing.
std::optional<std::string_view> between(std::string_view text, std::string_view before, char behind) {
  const std::size_t start = text.find(before);
  if (start == std::string_view::npos) return std::nullopt;
  text.remove_prefix(start + before.size());
  const std::size_t end = text.find(behind);
  return end == std::string_view::npos ? std::nullopt : std::optional(text.substr(0, end));
}

// True if strides differ only because sizes differ: the dimensions of both tensors lie in memory in the same order,
// without gaps. The stride of a dimension with one element has no meaning: strides `(160, 32, 1)` with sizes `(1, 5,
// 32)` and strides `(32, 32, 1)` with sizes `(1, 1, 32)` are the same layout.
bool keeps_layout(const GuardDifference& shape, const GuardDifference& stride) {
  const auto size_text = between(shape.guard_text, "size=[", ']');
  const auto stride_text = between(shape.guard_text, "], stride=[", ']');
  if (!size_text || !stride_text || size_text->find("None") != std::string_view::npos ||
      stride_text->find("None") != std::string_view::npos)
    return true;
  const Numbers sizes = numbers_in(*size_text), actual_sizes = numbers_in(shape.actual);
  const std::optional<Numbers> expected = layout_of(sizes, numbers_in(*stride_text));
  const std::optional<Numbers> actual = layout_of(actual_sizes, numbers_in(stride.actual));
  if (!expected || !actual) return false;
  if (sizes.size() != actual_sizes.size())
    return !actual->empty() && std::is_sorted(expected->begin(), expected->end()) &&
           std::is_sorted(actual->begin(), actual->end());
  auto common_in = [](const Numbers& layout, const Numbers& other_layout) {
    Numbers common;
    for (const long long dimension : layout)
      if (std::find(other_layout.begin(), other_layout.end(), dimension) != other_layout.end())
        common.push_back(dimension);
    return common;
  };
  return common_in(*expected, *actual) == common_in(*actual, *expected);
}

std::string behind_last_dot(const std::string& text) { return text.substr(text.rfind('.') + 1); }

// Returns the distinct changes of sizes, such as "8>16", so that a new batch size is the same change for all tensors
// with the batch size. Returns an empty text if the sizes are unknown.
std::string changed_sizes(const GuardDifference& difference) {
  const Names expected = number_texts(difference.expected), actual = number_texts(difference.actual);
  if (expected.size() != actual.size() || difference.subject.ends_with(".dim()")) return {};
  std::set<std::string> pairs;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (expected[i] != actual[i]) pairs.insert(expected[i] + ">" + actual[i]);
  return joined(pairs, ",");
}

// Returns a text that is equal for all differences that count as one reason, and unique for any other difference.
std::string kind_of(const GuardDifference& difference, std::size_t number) {
  const std::string change = difference.expected + "\n" + difference.actual;
  if (is_the_same_anywhere(difference.aspect)) {
    const std::string sizes = difference.aspect == "shape" ? changed_sizes(difference) : std::string();
    const std::string name = difference.aspect == "dispatch" ? behind_last_dot(difference.subject) : std::string();
    return difference.aspect + "\n" + (sizes.empty() ? change : "sizes " + sizes) + "\n" + name;
  }
  // Many objects may have the same attribute, such as `training` of modules, so equal changes of the attribute count as
  // one reason.
  if (difference.aspect == "value" && difference.subject.find('.') != std::string::npos)
    return difference.aspect + "\n" + behind_last_dot(difference.subject) + "\n" + change;
  return "difference " + std::to_string(number);
}

// Decides between two differences that could explain each other: true if the difference `cause` is taken for the cause.
// A difference of an existing value comes before a difference of a missing value, and a shorter condition before a
// longer condition.
bool comes_first(const GuardDifference& cause, const GuardDifference& effect) {
  auto order = [](const GuardDifference& difference) {
    return std::tuple(difference.is_missing, characters_in(difference.condition), difference.condition);
  };
  return order(cause) < order(effect);
}

// True if `effect` follows from `cause`, a difference that makes the whole value a different object. The caller passes
// two differences, `cause` and `effect`, of the same value.
bool follows_from_class(const GuardDifference& cause, const GuardDifference& effect) {
  auto order = [](std::string_view aspect) { return aspect == "presence" ? 0 : aspect == "class" ? 1 : 2; };
  if (is_whole(effect.aspect))
    return cause.aspect == effect.aspect ? comes_first(cause, effect) : order(cause.aspect) < order(effect.aspect);
  if (cause.guard_kind != "TENSOR_MATCH") return true;
  const bool is_parameter = cause.expected == "Parameter" || cause.actual == "Parameter";
  return effect.aspect == "dispatch" || (is_parameter && effect.aspect == "requires_grad");
}

class Deciding {
 public:
  Deciding(const std::vector<GuardDifference>& differences, const GuardedValues& values)
      : differences_(differences), values_(values), order_(differences.size()) {
    for (const GuardDifference& difference : differences)
      begins_.insert(begins_.end(), difference.begins.begin(), difference.begins.end());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    auto rank = [&](std::size_t number) {
      const std::string& aspect = differences_[number].aspect;
      return aspect == "state" ? 0 : is_whole(aspect) ? 1 : 2;
    };
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t left, std::size_t right) { return rank(left) < rank(right); });
  }

  std::vector<DecidingReason> reasons() {
    std::vector<Numbers> groups;
    std::map<std::string, std::size_t> group_of;
    for (const std::size_t number : order_) {
      const auto cause = std::find_if(order_.begin(), order_.end(), [&](std::size_t candidate) {
        return explains(differences_[candidate], differences_[number]);
      });
      if (cause != order_.end()) {
        follow_[*cause].push_back(number);
        continue;
      }
      const auto [group, is_new] = group_of.try_emplace(kind_of(differences_[number], number), groups.size());
      if (is_new) groups.emplace_back();
      groups[group->second].push_back(static_cast<long long>(number));
    }
    std::vector<DecidingReason> result;
    for (const Numbers& group : groups) result.push_back(reason_of({group.begin(), group.end()}));
    return result;
  }

 private:
  using Indices = std::vector<std::size_t>;

  const Names* way_to(const std::string& source) const {
    const auto entry = values_.above.find(source);
    return entry == values_.above.end() ? nullptr : &entry->second;
  }

  DecidingReason reason_of(const Indices& group) const {
    auto depth = [&](std::size_t number) {
      const Names* way = way_to(differences_[number].guard_source);
      return way ? way->size() : 0;
    };
    const std::size_t first = *std::min_element(
        group.begin(), group.end(), [&](std::size_t left, std::size_t right) { return depth(left) < depth(right); });
    DecidingReason reason;
    reason.difference = first;
    for (const std::size_t number : group)
      if (const std::string& subject = differences_[number].subject; number != first && !has(reason.alike, subject))
        reason.alike.push_back(subject);
    for (const std::size_t number : group)
      for (const std::size_t consequence : all_that_follows(number)) {
        const std::string& subject = differences_[consequence].subject;
        if (subject != differences_[first].subject && !has(reason.alike, subject) && !has(reason.follows, subject))
          reason.follows.push_back(subject);
      }
    const GuardDifference& told = differences_[first];
    if (told.aspect != "keys" || told.guard_kind == "DICT_CONTAINS" || told.sources.empty()) return reason;
    if (const auto keys = values_.dict_keys.find(told.sources[0]); keys != values_.dict_keys.end())
      reason.expected = "[" + joined(keys->second, ", ") + "]";
    return reason;
  }

  Indices all_that_follows(std::size_t cause) const {
    Indices consequences;
    auto add = [&](std::size_t number) {
      if (const auto entry = follow_.find(number); entry != follow_.end())
        consequences.insert(consequences.end(), entry->second.begin(), entry->second.end());
    };
    add(cause);
    for (std::size_t i = 0; i < consequences.size(); ++i) add(consequences[i]);
    return consequences;
  }

  // True if `cause`, a changed setting of the process, explains `effect`.
  bool state_explains(const GuardDifference& cause, const GuardDifference& effect) const {
    if (effect.subject == values_.mode_stack)
      return cause.subject == values_.default_device &&
             std::all_of(effect.keys.begin(), effect.keys.end(),
                         [](const std::string& mode) { return mode.starts_with("device("); });
    if (effect.aspect != "dispatch") return false;
    // Several settings can change dispatch keys at once, such as autocast and inference mode, so each dispatch key that
    // differs must belong to one of the settings.
    return std::any_of(effect.keys.begin(), effect.keys.end(),
                       [&](const std::string& key) { return starts_with_any(key, cause.begins); }) &&
           std::all_of(effect.keys.begin(), effect.keys.end(),
                       [&](const std::string& key) { return starts_with_any(key, begins_); });
  }

  std::string in_terms(const std::string& source) const {
    const auto entry = values_.terms.find(source);
    return entry == values_.terms.end() ? source : entry->second;
  }

  // True if `effect` would not exist without `cause`.
  bool explains(const GuardDifference& cause, const GuardDifference& effect) const {
    if (&cause == &effect) return false;
    if (cause.aspect == "state") return state_explains(cause, effect);
    if (effect.aspect == "state" || effect.sources.empty()) return false;
    const std::string whole_at = cause.sources.empty() ? std::string() : cause.sources[0];
    const bool is_same = has(effect.sources, whole_at);
    const bool is_below =
        !is_same && std::any_of(effect.sources.begin(), effect.sources.end(), [&](const std::string& source) {
          const Names* way = way_to(source);
          return way && !way->empty() && std::find(way->begin(), way->end() - 1, whole_at) != way->end() - 1;
        });
    if (is_whole(cause.aspect)) {
      if (is_below || (is_same && is_among(effect.aspect, {"relation", "sizes"}))) return true;
      const bool is_first = cause.aspect != effect.aspect || cause.guard != effect.guard;
      return is_same && is_first && follows_from_class(cause, effect);
    }
    if (is_among(cause.aspect, {"keys", "length"})) {
      if (is_below && (effect.is_missing || cause.is_of_key || effect.is_by_position)) return true;
      return is_same && is_among(effect.aspect, {"keys", "length"}) && comes_first(cause, effect);
    }
    if (is_same && is_among(cause.aspect, {"device", "stride"}))
      return effect.aspect == (cause.aspect == "device" ? "stride" : "sizes");
    if (is_same && cause.aspect == "value") return is_among(effect.aspect, {"keys", "length"});
    if (cause.aspect == "shape") {
      if (effect.aspect == "stride") return is_same && keeps_layout(cause, effect);
      const bool is_of_tensor =
          is_same || std::any_of(effect.sources.begin(), effect.sources.end(),
                                 [&](const std::string& source) { return in_terms(whole_at) == in_terms(source); });
      return is_of_tensor && is_among(effect.aspect, {"sizes", "relation"});
    }
    if (cause.aspect == "sizes" && effect.aspect == "sizes")
      return comes_first(cause, effect) &&
             std::any_of(effect.sources.begin(), effect.sources.end(),
                         [&](const std::string& source) { return has(cause.sources, source); });
    return is_below && effect.is_missing;
  }

  const std::vector<GuardDifference>& differences_;
  const GuardedValues& values_;
  Indices order_;  // the indices of the differences: first process state, then whole objects, then all others
  Names begins_;  // the prefixes of the dispatch keys that changed settings of the process add or remove
  std::map<std::size_t, Indices> follow_;  // maps a difference to the differences that it explains
};

}  // namespace

std::vector<DecidingReason> deciding_reasons(const std::vector<GuardDifference>& differences,
                                             const GuardedValues& values) {
  return Deciding(differences, values).reasons();
}

}  // namespace depyf
