// Runs the prover on any two code objects, with and without lockstep: it must return either a proof, or a reason why
// there is none. The input is the length of the first module in two bytes and two modules, or a single module, which is
// compared with itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "depyf/load.h"
#include "depyf/prove.h"
#include "depyf/recode.h"

namespace {

constexpr std::int64_t steps_max = 20'000;

depyf::ProofOptions options(depyf::ProofOptions::Lockstep lockstep) {
  depyf::ProofOptions options;
  options.lockstep = lockstep;
  options.steps = steps_max;
  return options;
}

void prove_both_ways(const depyf::CodeObject& one, const depyf::CodeObject& two) {
  using Lockstep = depyf::ProofOptions::Lockstep;
  for (const Lockstep lockstep : {Lockstep::never, Lockstep::first, Lockstep::only}) {
    const depyf::Proof proof = depyf::prove(one, two, options(lockstep));
    if (proof.proved && !proof.reason.empty()) std::abort();
    if (!proof.proved && proof.reason.empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const depyf::LoadedPyc whole = depyf::load_pyc(bytes);
  if (whole.code) prove_both_ways(*whole.code, *whole.code);
  if (whole.code || size < 2) return 0;
  const std::size_t length = data[0] + 256u * data[1];
  const std::string_view rest = bytes.substr(2);
  if (length >= rest.size()) return 0;
  const depyf::LoadedPyc one = depyf::load_pyc(rest.substr(0, length));
  const depyf::LoadedPyc two = depyf::load_pyc(rest.substr(length));
  if (one.code && two.code) prove_both_ways(*one.code, *two.code);
  return 0;
}
