// Holds the output that all printers write to, and the facts that they share.
#pragma once

#include "print/breaks.h"
#include "print/constants.h"
#include "print/emitter.h"
#include "print/identifiers.h"
#include "print/positions.h"
#include "print/print.h"

namespace depyf::print {

// The members are constructed in the order of their declaration, because later members refer to earlier ones.
struct Sheet {
  Sheet(Version of, const CodeObject* module, const PrintOptions& given)
      : out(given.limit), version(of), options(given), positions{module}, names(out, given.root) {}

  Emitter out;
  const Version version;
  const PrintOptions options;
  Positions positions;
  Identifiers names;
  Breaks breaks{out, positions, options};
  Constants constants{out, version, positions, breaks};
};

}  // namespace depyf::print
