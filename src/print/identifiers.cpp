#include "print/identifiers.h"

#include <algorithm>
#include <utility>

#include "support/private_names.h"

namespace depyf::print {

using namespace ast;

// The compiler mangles private names: within a class C, `__x` becomes `_C__x`. The printer removes the prefix `_C` of a
// mangled name again.
std::string_view Identifiers::spelled(std::string_view name) const {
  const bool is_private = !private_.empty() && name.starts_with(private_) && !name.ends_with("__");
  // In a class C, the prefix `private_` is `_C__`, whose last two characters belong to the name `__x`, so these two
  // characters are kept.
  return is_private ? name.substr(private_.size() - 2) : name;
}

void Identifiers::unknown_name(std::string_view name) { out_.write(known_names_.learn(name) ? name : renamed_(name)); }

void Identifiers::dotted_name(std::string_view name) {
  const std::string around = name.find('.') == name.npos ? private_ : set_private({});
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    if (at > 0) out_.write(".");
    this->name(name.substr(at, end - at));
    at = end + 1;
  }
  set_private(around);
}

void Identifiers::plain_name(std::string_view name) {
  const std::string around = set_private({});
  this->name(name);
  set_private(around);
}

std::string Identifiers::enter_class(std::string_view name) {
  const std::string_view of_class = class_in_private_names(name);
  return set_private(of_class.empty() ? std::string() : "_" + std::string(of_class) + "__");
}

}  // namespace depyf::print
