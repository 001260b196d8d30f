// Defines the special member functions of Compilation, which the C++ compiler generates.
#include "depyf/record.h"

namespace depyf::record {

Compilation::Compilation() = default;
Compilation::Compilation(const Compilation&) = default;
Compilation::Compilation(Compilation&&) noexcept = default;
Compilation& Compilation::operator=(const Compilation&) = default;
Compilation& Compilation::operator=(Compilation&&) noexcept = default;
Compilation::~Compilation() = default;

}  // namespace depyf::record
