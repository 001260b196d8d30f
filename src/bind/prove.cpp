#include "prove.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "code_from_python.h"
#include "depyf/code_object.h"
#include "depyf/load.h"
#include "depyf/prove.h"
#include "gil.h"

namespace nb = nanobind;

namespace depyf {
namespace {

// Returns a text of the prover as valid UTF-8. The names and constants that the text quotes may contain lone
// surrogates, which are replaced by escapes.
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

// Proves the code objects of two .pyc files equivalent. The proof of a code object includes all code nested in it; if
// the proof fails, each nested code object is proved separately, against the code object at the same position.
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
  nb::class_<ProofPlace>(module, "ProofPlace")
      .def_ro("function", &ProofPlace::function)
      .def_ro("offset_one", &ProofPlace::offset_one)
      .def_ro("offset_two", &ProofPlace::offset_two)
      .def_ro("line_one", &ProofPlace::line_one)
      .def_ro("line_two", &ProofPlace::line_two)
      .def_ro("one", &ProofPlace::one)
      .def_ro("two", &ProofPlace::two);
  nb::class_<KeptValue>(module, "KeptValue")
      .def_ro("function", &KeptValue::function)
      .def_ro("offset", &KeptValue::offset)
      .def_ro("line", &KeptValue::line)
      .def_ro("local", &KeptValue::local)
      .def_ro("value", &KeptValue::value)
      .def_ro("effect", &KeptValue::effect)
      .def_ro("outermost", &KeptValue::outermost);
  nb::class_<Proof>(module, "Proof")
      .def("__bool__", [](const Proof& it) { return it.proved; })
      .def("__repr__", &representation)
      .def_ro("reason", &Proof::reason)
      .def_ro("same_effects", &Proof::same_effects)
      .def_prop_ro("kept", [](const Proof& it) { return nb::cast(it.kept); })
      .def_prop_ro("where", [](const Proof& it) { return it.proved ? nb::none() : nb::cast(it.where); })
      .def_ro("nested", &Proof::nested);
  module.def("prove_pyc", &prove_pyc, nb::arg("one"), nb::arg("two"), nb::arg("lifetimes") = false,
             nb::arg("lockstep") = false);
  module.def("prove", &prove_live, nb::arg("one"), nb::arg("two"), nb::kw_only(), nb::arg("lifetimes") = true,
             nb::arg("calls_keep_operands") = false, nb::arg("installed") = Names(), nb::arg("outputs") = Counts());
}

}  // namespace depyf
