#include "texts/not_fused.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "support/words.h"

namespace depyf::texts {

using namespace links;

namespace {

// Pairs of texts: the beginning of a reason in Inductor's log, and a description of the reason that needs no knowledge
// of Inductor.
constexpr std::pair<std::string_view, std::string_view> reasons[] = {
    {"intermediate nodes between",
     "another operation has to run between the two: it needs the result of the first, and the second needs its result"},
    {"no shared data", "they have no data in common, so one kernel would save nothing"},
    {"memory deps did not match",
     "the second reads the result of the first in a different order than the first writes it"},
    {"node1 must go before node2",
     "the second does not use the result of the first, and has to wait for another operation"},
    {"node1 is nop", "the first computes nothing"},
    {"node2 is extern or nop",
     "the second is a library call, and Inductor does not fuse an operation with a later library call"},
    {"node1 is extern",
     "the first is a library call, and Inductor fuses it only with simple loops that its template accepts"},
    {"node1's triton kernel", "the first is a user's own kernel, which Inductor does not fuse with a later operation"},
    {"device mismatch", "they run on different devices"},
    {"fusion for buffer explicit disabled", "fusion is disabled for a buffer between them"},
    {"nodes numel", "they loop over different numbers of elements"},
    {"numel/rnumel mismatch", "they loop over different numbers of elements"},
    {"exceeds max fusion", "the kernel would be larger than torch._inductor.config.max_fusion_size allows"},
    {"will create cycle", "each would have to run before the other"},
    {"grouped node", "one of them belongs to a group of operations that Inductor does not fuse further"},
    {"register spilling", "the kernel would need more registers than the device has"},
};

// The pairs of groups that Inductor tried to fuse without success; the pairs can be searched by the operations in the
// groups.
class Tried {
 public:
  explicit Tried(const std::vector<NotFused>& not_fused) {
    for (const NotFused& pair : not_fused) {
      const std::size_t number = pairs_.size();
      pairs_.push_back({set_of(names_in_group(pair.first)), set_of(names_in_group(pair.second)), &pair.reason});
      for (const std::set<std::string>* side : {&pairs_.back().left, &pairs_.back().right})
        for (const std::string& operation : *side) of_[operation].insert(number);
    }
  }

  // Returns Inductor's reason for not fusing two groups. Inductor may have tried to fuse several pairs of parts of the
  // two groups. The function returns the reason for the largest pair, and among equally large pairs the last reason in
  // the log. The result is empty if Inductor tried to fuse no parts of the groups.
  std::string reason(const Operations& first, const Operations& second) const {
    const std::set<std::string> firsts = names_of(first), seconds = names_of(second);
    std::set<std::size_t> numbers;
    for (const std::string& operation : firsts)
      if (const auto entry = of_.find(operation); entry != of_.end())
        numbers.insert(entry->second.begin(), entry->second.end());
    std::string best;
    std::size_t size = 0;
    for (const std::size_t number : numbers) {
      const Pair& pair = pairs_[number];
      const bool fits = (is_within(pair.left, firsts) && is_within(pair.right, seconds)) ||
                        (is_within(pair.left, seconds) && is_within(pair.right, firsts));
      if (!fits || pair.left.size() + pair.right.size() < size) continue;
      best = *pair.reason;
      size = pair.left.size() + pair.right.size();
    }
    return best;
  }

 private:
  struct Pair {
    std::set<std::string> left, right;
    const std::string* reason;
  };
  static std::set<std::string> set_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }
  static std::set<std::string> names_of(const Operations& group) {
    std::set<std::string> names;
    for (const SeenOperation* operation : group) names.insert(operation->name);
    return names;
  }
  static bool is_within(const std::set<std::string>& part, const std::set<std::string>& whole) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
  }

  std::vector<Pair> pairs_;
  std::unordered_map<std::string, std::set<std::size_t>> of_;  // maps an operation to the pairs that contain it
};

// Returns a description for users of the reason why two neighbouring groups are in different kernels. `reason` is
// Inductor's text.
std::string in_words(const Operations& first, const Operations& second, const std::string& reason) {
  const std::pair<const char*, const Operations*> sides[] = {{"the first", &first}, {"the second", &second}};
  for (const auto& [which, group] : sides)
    for (const SeenOperation* operation : *group)
      if (operation->kind == "library call")
        return std::string(which) + " is a library call (" +
               (operation->call.empty() ? "not a kernel of its own" : operation->call) +
               "), and Inductor writes kernels only around it";
  for (const auto& [start, words] : reasons)
    if (reason.starts_with(start)) return std::string(words);
  return reason.empty() ? "Inductor did not try to fuse them, or gave no reason" : reason;
}

const std::string* kernel_of(const Operations& group, const DirectionLinks& links) {
  for (const SeenOperation* operation : group)
    if (const auto kernel = links.kernel_of.find(operation->name); kernel != links.kernel_of.end())
      return &kernel->second;
  return nullptr;
}

// Returns the groups of fused operations of one direction (forward or backward). Operations that compute nothing are
// left out of the groups.
std::vector<Operations> computing_groups(const SeenDirection& direction) {
  std::vector<Operations> groups;
  for (const OperationGroup& group : direction.operations) {
    Operations computing;
    for (const SeenOperation& operation : group)
      if (operation.kind != "nothing") computing.push_back(&operation);
    if (!computing.empty()) groups.push_back(std::move(computing));
  }
  return groups;
}

// The buffers that one group of operations reads from other groups. Each key is the index of another group in the
// result of `computing_groups`, and the value has the buffers that this other group writes.
using BuffersOfWriters = std::map<std::size_t, Names>;

}  // namespace

std::vector<Neighbours> neighbours_not_fused(const DirectionLinks& links) {
  const std::vector<Operations> groups = computing_groups(*links.seen);
  std::unordered_map<std::string, std::size_t> writer_of;
  for (std::size_t number = 0; number < groups.size(); ++number)
    for (const SeenOperation* operation : groups[number])
      for (const std::string& buffer : operation->writes) writer_of[buffer] = number;
  const Tried tried(links.seen->not_fused);
  std::vector<Neighbours> result;
  for (std::size_t reader = 0; reader < groups.size(); ++reader) {
    Names reads;
    for (const SeenOperation* operation : groups[reader]) append_new(operation->reads, reads);
    BuffersOfWriters shared;
    for (std::string& buffer : reads)
      if (const auto writer = writer_of.find(buffer); writer != writer_of.end() && writer->second != reader)
        shared[writer->second].push_back(std::move(buffer));
    for (auto& [writer, buffers] : shared) {
      const Operations &first = groups[writer], &second = groups[reader];
      const std::string *first_kernel = kernel_of(first, links), *second_kernel = kernel_of(second, links);
      if (first_kernel && second_kernel && *first_kernel == *second_kernel) continue;  // both groups are in one kernel
      std::string reason = tried.reason(first, second);
      std::string why = in_words(first, second, reason);
      result.push_back({links.seen->name, first, second, std::move(buffers), std::move(why), std::move(reason),
                        subject_text(first, links), subject_text(second, links)});
    }
  }
  return result;
}

}  // namespace depyf::texts
