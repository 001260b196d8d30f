#include "diff/causes.h"

#include <algorithm>
#include <array>

#include "support/words.h"
#include "texts/counts.h"
#include "texts/words.h"
#include "trace/reasons.h"

namespace depyf::diff {

using namespace record;

namespace {

// A number in a guard with at least this many digits counts as the id of an object, because the sizes of tensors in
// guards have fewer digits.
constexpr std::size_t digits_of_an_object = 7;

// PyTorch's phrases for failed guards on tensors, with the kind of cause that each phrase stands for. For example, a
// message begins with "tensor 'x' size mismatch at index 0" and ends with "expected 8, actual 16".
struct TensorWords {
  std::string_view words, kind;
};
constexpr std::array tensor_words{TensorWords{"size mismatch", "size"},
                                  TensorWords{"rank mismatch", "size"},
                                  TensorWords{"dtype mismatch", "dtype"},
                                  TensorWords{"device index mismatch", "device"},
                                  TensorWords{"stride mismatch", "stride"},
                                  TensorWords{"requires_grad mismatch", "requires_grad"},
                                  TensorWords{"dispatch key set mismatch", "state"}};

// Returns the expression at the start of a condition, such as `self.scale` for "self.scale == 1.0".
std::string_view subject_of(std::string_view guard) {
  for (const std::string_view call : {"not ", "len(", "type(", "str(", "bool("}) take(guard, call);
  std::size_t end = 0;
  int brackets = 0;
  for (; end < guard.size(); ++end) {
    if (guard[end] == '[') ++brackets;
    else if (guard[end] == ']' && brackets > 0) --brackets;
    else if (brackets == 0 && !is_word(guard[end]) && guard[end] != '.') break;
  }
  return guard.substr(0, end);
}

// Returns an expression in the user's form, such as self.scale for L['self'].scale.
std::string without_scopes(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const bool is_scope = (rest.starts_with("L['") || rest.starts_with("G['")) && (i == 0 || !is_word(text[i - 1]));
    const std::size_t end = is_scope ? rest.find("']") : std::string_view::npos;
    if (end == std::string_view::npos) {
      result += text[i++];
    } else {
      result += rest.substr(3, end - 3);
      i += end + 2;
    }
  }
  return result;
}

// Reads the kind and the subject of a failed guard from PyTorch's message about the failure.
void read_words(std::string_view words, Cause& cause) {
  if (take(words, "tensor '")) {
    const std::size_t end = words.find('\'');
    if (end == std::string_view::npos) return;
    cause.subject = without_scopes(words.substr(0, end));
    words.remove_prefix(end + 1);
    const auto known = std::find_if(tensor_words.begin(), tensor_words.end(), [&](const TensorWords& row) {
      return words.find(row.words) != std::string_view::npos;
    });
    cause.kind = known == tensor_words.end() ? "tensor" : known->kind;
    return;
  }
  const std::string guard = without_scopes(words);
  if (guard.starts_with("GLOBAL_STATE") || guard.find("grad_mode") != std::string::npos ||
      guard.find("global_state") != std::string::npos) {
    cause.kind = "state";
    return;
  }
  std::string_view condition = guard;
  const bool is_identity = condition.starts_with("___check_obj_id(") || condition.starts_with("___check_type_id(");
  if (is_identity) condition.remove_prefix(condition.find('(') + 1);
  cause.subject = subject_of(condition);
  const bool is_size =
      condition.find(".size()[") != std::string_view::npos || condition.find(".shape") != std::string_view::npos;
  if (is_size) {
    cause.subject = cause.subject.substr(0, std::min(cause.subject.find(".size"), cause.subject.find(".shape")));
    cause.kind = "size";
  } else {
    cause.kind = is_identity ? "identity" : "value";
  }
}

// Reads the kind and the subject of a failed guard from the fields that a dump records.
void read_fields(const FailedGuard& failure, Cause& cause) {
  read_words(failure.subject.empty() ? failure.guard : failure.subject, cause);
  if (failure.is_state) cause.kind = "state", cause.subject.clear();
}

// True if the failed guard `failure` and the cause `told` concern the same property of the same value. A dump recorded
// `failure`, whose subject is an expression such as x.shape[0], and `told` was read from PyTorch's message.
bool is_about(const FailedGuard& failure, const Cause& told) {
  const std::string subject = without_scopes(failure.subject);
  if (told.kind == "state") return failure.is_state;
  if (told.subject.empty() || !subject_of(subject).starts_with(told.subject)) return false;
  if (told.kind == "size")
    return subject.find(".shape") != std::string::npos || subject.find(".dim") != std::string::npos;
  const bool is_property = std::any_of(tensor_words.begin(), tensor_words.end(),
                                       [&](const TensorWords& row) { return row.kind == told.kind; });
  return !is_property || subject.find(told.kind) != std::string::npos;
}

// Returns the failed guard in a dump that PyTorch's message is about; null if the dump has no failed guard for the
// message.
const FailedGuard* failure_of(const Compilation& compilation, std::string_view id, const Cause& told) {
  for (const FailedGuard& failure : compilation.reasons)
    if ((id.empty() || failure.compilation.empty() || failure.compilation == id) && is_about(failure, told))
      return &failure;
  return nullptr;
}

// Returns PyTorch's messages about the failed guards of the earlier compilations, in PyTorch's order. PyTorch's
// messages are the same in a log and in a dump of one run.
std::vector<FailedGuard> messages_of(const Compilation& compilation) {
  if (compilation.reasons_in_words.empty()) return compilation.reasons;
  std::vector<FailedGuard> messages;
  for (const std::string& words : compilation.reasons_in_words) messages.push_back(trace::failed_guard_of(words));
  return messages;
}

}  // namespace

std::string without_addresses(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const bool starts_word = i == 0 || !is_word(text[i - 1]);
    std::size_t end = i;
    if (starts_word && text.substr(i).starts_with("0x")) {
      end = i + 2 + word_at(text.substr(i + 2)).size();
    } else if (starts_word) {
      while (end < text.size() && is_digit(text[end])) ++end;
      if (end - i < digits_of_an_object || (end < text.size() && (is_word(text[end]) || text[end] == '.'))) end = i;
    }
    if (end > i) result += '#', i = end;
    else result += text[i++];
  }
  return result;
}

Cause cause_of(const Compilation& compilation, const std::vector<Cause>& earlier) {
  const std::vector<FailedGuard> messages = messages_of(compilation);
  Cause cause;
  const FailedGuard* chosen = nullptr;
  for (const FailedGuard& message : messages) {
    Cause read;
    read_words(message.guard, read);
    const bool is_known =
        std::any_of(earlier.begin(), earlier.end(), [&](const Cause& it) { return it.is_same_as(read); });
    if (chosen && is_known) continue;
    cause = read;
    chosen = &message;
    if (!is_known) break;
  }
  cause.compilation = &compilation;
  cause.text = texts::why_again(compilation);
  if (!compilation.reasons.empty()) cause.place = compilation.reasons.front().place;
  // The first failed guard in a dump belongs to the nearest earlier compilation, and can be a different guard than the
  // one that was chosen as the cause. The text and the place of the cause must describe the chosen guard, because the
  // kind and the subject of the cause describe it.
  if (chosen && !compilation.reasons.empty() && !cause.kind.empty()) {
    const bool is_reason = compilation.reasons_in_words.empty();
    if (const FailedGuard* same = is_reason ? chosen : failure_of(compilation, chosen->compilation, cause)) {
      cause.text = texts::deciding_reason({*same});
      cause.place = same->place;
    } else {
      cause.text = chosen->guard;
    }
  }
  if (cause.kind.empty() && !compilation.reasons.empty()) read_fields(compilation.reasons.front(), cause);
  if (cause.kind.empty()) cause.kind = "value";
  cause.text = without_addresses(cause.text);
  return cause;
}

std::string eager_kind(const Compilation& compilation) {
  if (compilation.limit_reached || compilation.failure.find("recompile_limit") != std::string::npos ||
      compilation.failure.find("cache_size_limit") != std::string::npos)
    return "limit";
  const std::string kind = compilation.failure.substr(0, compilation.failure.find(':'));
  for (const std::string_view name : {"Unsupported", "UserError", "SkipFrame"})
    if (kind.ends_with(name)) return "break";
  return compilation.failure.empty() && compilation.stopped_by ? "break" : "error";
}

Place eager_place(const Compilation& compilation) {
  if (compilation.stopped_by && compilation.stopped_by->place.line) return compilation.stopped_by->place;
  if (compilation.failed_at.line) return compilation.failed_at;
  if (!compilation.breaks.empty()) return compilation.breaks.back().place;
  return compilation.place;
}

}  // namespace depyf::diff
