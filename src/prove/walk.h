// Walks through two code objects in step, and compares their effects.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode/instruction.h"
#include "depyf/prove.h"
#include "prove/equal.h"
#include "support/function_ref.h"
#include "support/result.h"

namespace depyf {

// The instructions of a code object, or the reason why it cannot be decoded.
using Decoding = Result<std::shared_ptr<const DecodedCode>>;
using Decoder = FunctionRef<Decoding(const CodeObject&)>;

// Decodes a code object, which must outlive the result.
Decoding decoded_anew(const CodeObject& code);

// Proves that the two code objects have the same effects. If the proof fails, the result states the reason and the
// place. Values that `two` keeps alive longer than `one` does are listed in the result, but do not fail the proof.
// Nested code objects that must be proved as well are appended to `codes`. The two decoders return the instructions
// of `one` and `two`.
Proof walk(const CodeObject& one, const CodeObject& two, const ProofOptions& options, std::vector<CodePair>& codes,
           Decoder decoder_of_one, Decoder decoder_of_two);

}  // namespace depyf
