#include "flow/ahead.h"

#include <algorithm>

#include "decode/decode.h"
#include "depyf/code_object.h"
#include "flow/block_stack.h"
#include "flow/guarded_wildcards.h"
#include "flow/pair_iterators.h"
#include "support/table.h"

namespace depyf {
namespace {
// The maximum number of bytes of bytecode that are prepared together. The limit is small, so that the instructions and
// graphs that are built from the bytecode fit into the processor's cache.
constexpr std::size_t bytes_together = 8192;
// The maximum number of code objects that are prepared together. The limit `bytes_together` does not bound the number
// of code objects, because code objects may be empty.
constexpr std::size_t codes_together = 128;
// The number of constants of the enclosing code object among which `with_next` searches for the code object that was
// passed to `take`.
constexpr std::size_t constants_ahead = 64;
}  // namespace

bool Ahead::Around::has_ready(const CodeObject& wanted) const {
  return std::ranges::any_of(ready, [&](const auto& entry) { return entry.first == &wanted; });
}

PreparedCode Ahead::Around::take(const CodeObject& wanted) {
  // `ready` is in reverse order, and its code objects are mostly taken in order, so the wanted code object is mostly
  // the last.
  for (auto entry = ready.end(); entry != ready.begin();) {
    if ((--entry)->first != &wanted) continue;
    PreparedCode prepared = std::move(entry->second);
    ready.erase(entry);
    return prepared;
  }
  return nullptr;
}

Result<PreparedCode> Ahead::take(const CodeObject& code, FunctionRef<bool(const CodeObject*)> is_done) {
  if (!around_.empty())
    if (PreparedCode prepared = around_.back().take(code)) return prepared;
  try {
    return together(with_next(code, is_done));
    // Any of the code objects may have caused the exception; if `code` itself caused it, preparing `code` alone
    // throws it again.
  } catch (...) {
    return together({&code});
  }
}

Result<PreparedCode> Ahead::together(const Table<const CodeObject*>& codes) {
  Table<Result<std::unique_ptr<Prepared>>> all;
  all.reserve(codes.size());
  for (const CodeObject* each : codes) all.push_back(decoded(*each));
  auto prepared = [](Result<std::unique_ptr<Prepared>>& each) -> PreparedCode {
    Prepared& decoded_code = **each;
    build_cfg(decoded_code.decoded, std::move(decoded_code.turns), GraphForm::statements, decoded_code.cfg);
    return std::move(*each);
  };
  for (std::size_t index = codes.size(); --index > 0;)
    if (all[index]) around_.back().ready.push_back({codes[index], prepared(all[index])});
  if (!all[0]) return all[0].error();
  return prepared(all[0]);
}

Table<const CodeObject*> Ahead::with_next(const CodeObject& code, FunctionRef<bool(const CodeObject*)> is_done) {
  Table<const CodeObject*> codes{&code};
  if (around_.empty()) return codes;
  Around& around = around_.back();
  const std::vector<Constant>& constants = around.code->constants;
  std::size_t at = around.next;
  const std::size_t last = std::min(constants.size(), at + constants_ahead);
  while (at < last && constants[at].code.get() != &code) ++at;
  if (at == last) return codes;
  std::size_t bytes = code.bytecode.size();
  for (++at; at < constants.size() && bytes < bytes_together && codes.size() < codes_together; ++at) {
    const CodeObject* next = constants[at].code.get();
    if (!next || is_done(next)) continue;
    // If only one shared pointer refers to a code object, the code object occurs only once among the constants, so it
    // needs no search in `ready` and `codes`.
    const bool may_repeat = constants[at].code.use_count() > 1;
    if (may_repeat && around.has_ready(*next)) continue;
    if ((bytes += next->bytecode.size()) > bytes_together) break;
    if (!may_repeat || std::find(codes.begin(), codes.end(), next) == codes.end()) codes.push_back(next);
  }
  around.next = at;
  return codes;
}

Result<std::unique_ptr<Prepared>> Ahead::decoded(const CodeObject& code) const {
  auto prepared = std::make_unique<Prepared>();
  DecodedCode& decoded = prepared->decoded;
  if (Result<bool> good = decode(code, decoded); !good) return good.error();
  if (decoded.instructions.size() > longest_) return Error{"too many instructions", 0};
  if (kept_) kept_->emplace(&code, std::make_shared<const DecodedCode>(decoded));
  if (Result<bool> unwound = replace_block_stack(decoded); !unwound) return unwound.error();
  if (Result<bool> united = unite_pair_iterators(decoded); !united) return united.error();
  prepared->turns = find_turns(decoded.instructions);
  if (restore_wildcards(decoded, prepared->turns.jumps)) prepared->turns = find_turns(decoded.instructions);
  return prepared;
}

}  // namespace depyf
