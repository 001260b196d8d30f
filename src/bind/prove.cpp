#include "prove.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "code_from_python.h"
#include "depyf/load.h"
#include "depyf/prove.h"
#include "gil.h"

namespace nb = nanobind;

namespace depyf {
namespace {

// Returns a text for Python. Texts of the prover quote names and constants, which may contain lone surrogates.
std::string whole(const std::string& utf8) {
  PyObject* string = PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "backslashreplace");
  if (!string) throw nb::python_error();
  return nb::cast<std::string>(nb::steal(string));
}

Proof prove_codes(const CodeObject& one, const CodeObject& two, const ProofOptions& options) {
  Proof proof;
  {
    const ReleasedGil released;
    proof = prove(one, two, options);
  }
  for (KeptValue& kept : proof.kept) {
    for (std::string* text : {&kept.function, &kept.local, &kept.value, &kept.effect}) *text = whole(*text);
  }
  for (std::string* text : {&proof.reason, &proof.where.function, &proof.where.one, &proof.where.two}) {
    *text = whole(*text);
  }
  return proof;
}

using Names = std::set<std::string, std::less<>>;
using Counts = std::map<std::string, int, std::less<>>;

Proof prove_live(nb::handle one, nb::handle two, bool lifetimes, bool calls_keep_operands, Names installed,
                 Counts outputs) {
  return prove_codes(code_from_python(one), code_from_python(two),
                     {.lifetimes = lifetimes,
                      .calls_keep_operands = calls_keep_operands,
                      .installed = std::move(installed),
                      .outputs = std::move(outputs)});
}

LoadedPyc load(const nb::bytes& file) {
  LoadedPyc loaded = load_pyc({file.c_str(), file.size()});
  if (!loaded.code) {
    throw nb::value_error((loaded.error + " at offset " + std::to_string(loaded.error_offset)).c_str());
  }
  return loaded;
}

std::vector<const CodeObject*> nested(const CodeObject& code) {
  std::vector<const CodeObject*> result;
  for (const Constant& constant : code.constants) {
    if (constant.code) result.push_back(constant.code.get());
  }
  return result;
}

std::size_t count(const CodeObject& code) {
  std::size_t result = 1;
  for (const CodeObject* inner : nested(code)) result += count(*inner);
  return result;
}

// A code object that is proved includes all code nested in it. In one that is not proved, each nested code object is
// proved alone, by its place.
nb::list prove_pyc(nb::bytes one, nb::bytes two, bool lifetimes, bool lockstep) {
  LoadedPyc left = load(one), right = load(two);
  nb::list result;
  std::vector<std::pair<const CodeObject*, const CodeObject*>> todo{{left.code.get(), right.code.get()}};
  while (!todo.empty()) {
    auto [a, b] = todo.back();
    todo.pop_back();
    ProofOptions options{.lifetimes = lifetimes, .installed = {}, .outputs = {}};
    if (lockstep) options.lockstep = ProofOptions::Lockstep::only;
    Proof proof = prove_codes(*a, *b, options);
    for (std::size_t left = proof.proved ? count(*a) : 1; left > 0; --left) result.append(nb::cast(proof));
    if (proof.proved) continue;
    std::vector<const CodeObject*> in_a = nested(*a), in_b = nested(*b);
    for (std::size_t i = 0; i < in_a.size() && i < in_b.size(); ++i) todo.emplace_back(in_a[i], in_b[i]);
  }
  return result;
}

std::string place(std::int32_t offset, std::int32_t line) {
  if (offset < 0) return {};
  std::string text = " (offset " + std::to_string(offset);
  if (line >= 0) text += ", line " + std::to_string(line);
  return text + ")";
}

std::string representation(const Proof& proof) {
  if (proof.proved) return "<proved>";
  const ProofPlace& where = proof.where;
  std::string text = "<not proved: " + where.function + ": " + proof.reason;
  if (!where.one.empty() || !where.two.empty()) {
    text += "; one: " + where.one + place(where.offset_one, where.line_one);
    text += "; two: " + where.two + place(where.offset_two, where.line_two);
  }
  return text + ">";
}

}  // namespace

void bind_prove(nb::module_& module) {
  nb::class_<ProofPlace>(module, "ProofPlace", "Where two code objects part: the first effect that differs.")
      .def_ro("function", &ProofPlace::function)
      .def_ro("offset_one", &ProofPlace::offset_one)
      .def_ro("offset_two", &ProofPlace::offset_two)
      .def_ro("line_one", &ProofPlace::line_one)
      .def_ro("line_two", &ProofPlace::line_two)
      .def_ro("one", &ProofPlace::one)
      .def_ro("two", &ProofPlace::two);
  nb::class_<KeptValue>(module, "KeptValue", "A value that the second side still holds where the first no longer does.")
      .def_ro("function", &KeptValue::function, "The qualified name of the code object that holds it.")
      .def_ro("offset", &KeptValue::offset, "Where something runs meanwhile, in bytes of the second side.")
      .def_ro("line", &KeptValue::line, "The same, as a line of its source; -1 if it has none.")
      .def_ro("local", &KeptValue::local, "The local that holds the value; empty: the value stack does.")
      .def_ro("value", &KeptValue::value, "What the value is, in words.")
      .def_ro("effect", &KeptValue::effect, "What runs meanwhile, in words.")
      .def_ro("outermost", &KeptValue::outermost, "False in nested code.");
  nb::class_<Proof>(module, "Proof", "Whether two code objects do the same; where not, why and where.")
      .def("__bool__", [](const Proof& it) { return it.proved; })
      .def("__repr__", &representation)
      .def_ro("reason", &Proof::reason, "Why it is not proved; empty where it is.")
      .def_ro("same_effects", &Proof::same_effects, "True if both do the same, whatever values they keep alive.")
      .def_prop_ro(
          "kept", [](const Proof& it) { return nb::cast(it.kept); },
          "The values that the second side keeps alive longer than the first; complete where the effects are the same.")
      .def_prop_ro(
          "where", [](const Proof& it) { return it.proved ? nb::none() : nb::cast(it.where); },
          "The first effect that differs, or None.")
      .def_ro(
          "nested", &Proof::nested,
          "Where it is proved: (index in the first side's co_consts, index in the second side's) of each pair of code "
          "objects that take each other's part.");
  module.def("prove_pyc", &prove_pyc, nb::arg("one"), nb::arg("two"), nb::arg("lifetimes") = false,
             nb::arg("lockstep") = false,
             "For tests: the proofs of all code objects in two .pyc of any versions, which need not be the same. With "
             "`lockstep` the quick proof alone is tried.");
  module.def("prove", &prove_live, nb::arg("one"), nb::arg("two"), nb::kw_only(), nb::arg("lifetimes") = true,
             nb::arg("calls_keep_operands") = false, nb::arg("installed") = Names(), nb::arg("outputs") = Counts(),
             "Proves that two code objects do the same, and that the second keeps no value alive longer, or says where "
             "they part; never raises on a code object. See include/depyf/prove.h for what the options assume.");
}

}  // namespace depyf
