// Finds the compilation that a record of a log belongs to.
#pragma once

#include <string>
#include <unordered_map>

#include "depyf/record.h"
#include "trace/log.h"
#include "trace/phases.h"

namespace depyf::trace {

// Returns "frame/compilation", "!autograd" or "!autograd/frame/compilation"; an empty text if the record names none.
std::string id_in(json::Value header);

class Compilations {
 public:
  // Adds the compilations to those of `process`. `phases` knows which events are open.
  Compilations(record::Process& process, const Phases& phases) : process_(process), phases_(phases) {}

  // Returns the index of the compilation. Nearly all records of ahead-of-time compilation lack an id. Such a record
  // belongs to the compilation of the outermost open event or, if no event is open, of the event that ended last.
  int index_of(const Record& record);
  // Returns null if the record belongs to no compilation.
  record::Compilation* find(const Record& record);
  // Begins a new compilation if the record belongs to none.
  record::Compilation& find_or_begin(const Record& record);
  void begin_own();

  // Returns the compilation that the open events belong to, or the last one that they belonged to.
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
