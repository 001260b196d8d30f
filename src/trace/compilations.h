// Which compilation a record of a log belongs to.
#pragma once

#include <string>
#include <unordered_map>

#include "depyf/record.h"
#include "trace/log.h"
#include "trace/phases.h"

namespace depyf::trace {

// "frame/compilation", "!autograd" or "!autograd/frame/compilation"; empty: the record does not say.
std::string id_in(json::Value header);

class Compilations {
 public:
  // Adds the compilations to those of `process`; `phases` tells which events are open.
  Compilations(record::Process& process, const Phases& phases) : process_(process), phases_(phases) {}

  // The compilation's index. A record without an id (ahead-of-time compilation has nearly none) belongs to the compilation that
  // the outermost open event was about, or, if none is open, to the one of the event that ended last.
  int index_of(const Record& record);
  // Null if the record belongs to none.
  record::Compilation* find(const Record& record);
  // A record that belongs to none begins a compilation of its own.
  record::Compilation& find_or_begin(const Record& record);
  void begin_own();

  // The compilation that the open events are about, or were.
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
