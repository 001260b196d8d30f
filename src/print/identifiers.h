// Names as they are printed.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "print/emitter.h"
#include "print/known_names.h"
#include "print/odd_names.h"

namespace depyf::print {

class Identifiers {
 public:
  Identifiers(Emitter& out, const CodeObject* root) : out_(out), renamed_(root) {}

  void name(std::string_view name);
  void dotted_name(std::string_view name);
  bool has_renamed() const { return !renamed_.empty(); }

  // In a class, names that begin as its private ones do are printed as the source had them. Returns what `leave_class` needs.
  std::string enter_class(std::string_view name);
  void leave_class(std::string around) { private_ = std::move(around); }

 private:
  Emitter& out_;
  KnownNames known_names_;
  Renamed renamed_;
  std::string private_;  // what private names of the class around begin with; empty: none
};

}  // namespace depyf::print
