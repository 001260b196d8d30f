// Prints names, and replaces names that are no identifiers.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "print/emitter.h"
#include "print/known_names.h"
#include "print/odd_names.h"

namespace depyf::print {

// Prints names, and remembers the class whose body is being printed, because names in a class body may be mangled.
class Identifiers {
 public:
  Identifiers(Emitter& out, const CodeObject* root) : out_(out), renamed_(root) {}

  // Prints a variable, attribute or parameter name. A name that is no identifier is printed as the identifier that
  // replaces it.
  void name(std::string_view name) {
    if (name.size() > unmangled_ && name.front() == '_') [[unlikely]]
      name = spelled(name);
    if (!known_names_.append_known(out_.text(), name)) unknown_name(name);
  }
  bool is_identifier(std::string_view name) { return known_names_.knows(name) || known_names_.learn(name); }
  // Prints a name such as `os.path`, part by part. The compiler mangles no name that has a dot.
  void dotted_name(std::string_view name);
  // Prints a name that is not mangled in a class.
  void plain_name(std::string_view name);
  // Returns `name` as the source has it: `__x` for the private name `_C__x` in the class C.
  std::string_view spelled(std::string_view name) const;
  bool has_renamed() const { return !renamed_.empty(); }

  // Starts a class body, in which mangled private names are printed as the source had them. Returns the prefix of
  // mangled names in the enclosing class, which `leave_class` restores.
  std::string enter_class(std::string_view name);
  void leave_class(std::string around) { set_private(std::move(around)); }

 private:
  void unknown_name(std::string_view name);
  // Sets `private_`, the prefix of mangled names, and returns the former prefix.
  std::string set_private(std::string prefix) {
    unmangled_ = prefix.empty() ? std::string::npos : prefix.size();
    return std::exchange(private_, std::move(prefix));
  }

  Emitter& out_;
  KnownNames& known_names_ = KnownNames::of_thread();
  Renamed renamed_;
  std::string private_;  // the prefix of mangled names in the enclosing class, such as `_C__`; empty outside of classes
  // The length of `private_` in bytes, or npos if `private_` is empty. A name of at most `unmangled_` bytes is
  // certainly not mangled, because a mangled name is longer than the prefix.
  std::size_t unmangled_ = std::string::npos;
};

}  // namespace depyf::print
