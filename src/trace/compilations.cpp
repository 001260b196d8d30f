#include "trace/compilations.h"

#include <algorithm>

namespace depyf::trace {

using record::Compilation;

std::string id_in(json::Value header) {
  std::string id;
  if (auto autograd = header["compiled_autograd_id"].integer()) id = "!" + std::to_string(*autograd);
  const auto frame = header["frame_id"].integer(), compilation = header["frame_compile_id"].integer();
  if (!frame || !compilation) return id;
  if (!id.empty()) id += "/";
  return id + std::to_string(*frame) + "/" + std::to_string(*compilation);
}

int Compilations::named(const std::string& id) {
  auto [found, is_new] = by_id_.try_emplace(id, static_cast<int>(process_.compilations.size()));
  if (is_new) {
    process_.compilations.emplace_back();
    process_.compilations.back().id = id;
  }
  return found->second;
}

int Compilations::index_of(const Record& record) {
  if (const std::string id = id_in(record.header); !id.empty()) {
    span_ = named(id);
    if (auto attempt = record.header["attempt"].integer()) {
      Compilation& compilation = at(span_);
      const int attempts = static_cast<int>(std::clamp<std::int64_t>(*attempt, 0, 1 << 20)) + 1;
      if (attempts > compilation.attempts) compilation.symbols.clear();  // A new attempt creates new symbols.
      compilation.attempts = std::max(compilation.attempts, attempts);
    }
    return span_;
  }
  if (const int open = phases_.current(); open != Phases::no_compilation) return open;
  return phases_.is_open() || record.header["stack"] ? span_ : Phases::no_compilation;
}

Compilation* Compilations::find(const Record& record) {
  const int index = index_of(record);
  return index == Phases::no_compilation ? nullptr : &at(index);
}

Compilation& Compilations::find_or_begin(const Record& record) {
  if (Compilation* compilation = find(record)) return *compilation;
  begin_own();
  return at(span_);
}

void Compilations::begin_own() {
  span_ = named("#" + std::to_string(++own_ids_));
  at(span_).is_own_id = true;
}

}  // namespace depyf::trace
