// The functions of a compilation that the compiler writes from its members.
#include "depyf/record.h"

namespace depyf::record {

Compilation::Compilation() = default;
Compilation::Compilation(const Compilation&) = default;
Compilation::Compilation(Compilation&&) noexcept = default;
Compilation& Compilation::operator=(const Compilation&) = default;
Compilation& Compilation::operator=(Compilation&&) noexcept = default;
Compilation::~Compilation() = default;

}  // namespace depyf::record
