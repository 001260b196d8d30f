// Finds the compilation that a record of a log belongs to.
#pragma once

#include <string>
#include <unordered_map>

#include "depyf/record.h"
#include "trace/log.h"
#include "trace/phases.h"

namespace depyf::trace {

// Returns the id of the compilation that a record names, in the form "frame/compilation", "!autograd" or
// "!autograd/frame/compilation"; an empty text if the record names no compilation.
std::string id_in(json::Value header);

class Compilations {
 public:
  // Adds to `process` the compilations that the records of the log name. `phases` contains the open events.
  Compilations(record::Process& process, const Phases& phases) : process_(process), phases_(phases) {}

  // Returns the index of the compilation that the record belongs to; no_compilation if it belongs to none. Nearly all
  // records of ahead-of-time compilation lack an id. A record without an id belongs to the compilation of the
  // innermost open event that has a compilation. If no open event has a compilation, but an event is open or the
  // record has a stack, the record belongs to the compilation that was named last.
  int index_of(const Record& record);
  // Returns the compilation that the record belongs to; null if the record belongs to no compilation.
  record::Compilation* find(const Record& record);
  // Returns the compilation that the record belongs to, and begins a new compilation if the record belongs to none.
  record::Compilation& find_or_begin(const Record& record);
  void begin_own();

  // Returns the compilation that was named or begun last; no_compilation after `forget_span`.
  int span() const { return span_; }
  void forget_span() { span_ = Phases::no_compilation; }

 private:
  int named(const std::string& id);
  record::Compilation& at(int index) { return process_.compilations[static_cast<std::size_t>(index)]; }

  record::Process& process_;
  const Phases& phases_;
  std::unordered_map<std::string, int> by_id_;
  int span_ = Phases::no_compilation;
  int own_ids_ = 0;
};

}  // namespace depyf::trace
