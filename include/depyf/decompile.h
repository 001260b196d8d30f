// Defines the public interface of the decompiler, which turns a code object into Python source.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "depyf/compare.h"

namespace depyf {

// Bounds on the work of one call of `decompile`.
struct Limits {
  // A code object that exceeds `depth` or `instructions` is printed in a simpler form, and is never an error.
  std::uint32_t depth = 200;             // nesting of code objects, and of statements and expressions
  std::uint32_t instructions = 4000000;  // the number of instructions of one code object
  // The size of the syntax tree in bytes. A code object whose tree needs more than half of the remaining bytes
  // becomes a stub.
  std::size_t tree = std::size_t{1} << 32;
  // The size of the source in bytes; a longer text throws std::length_error. A long name that is used often makes
  // the text longer than the code by any factor.
  std::size_t text = std::size_t{1} << 30;

  // The bounds for a file of `size` bytes: 16 bytes of text for each byte of the file, and for one further megabyte.
  // Files with deeply nested code need that much text, because of its indentation.
  static constexpr std::size_t text_of_code = 16;
  static constexpr std::size_t text_of_file(std::size_t size) { return text_of_code * (size + (std::size_t{1} << 20)); }
  static constexpr std::size_t tree_of_file(std::size_t size) { return 24 * size + (std::size_t{24} << 20); }
  // Returns the bounds for a file of `size` bytes.
  static Limits of_file(std::size_t size) {
    Limits limits;
    limits.tree = tree_of_file(size), limits.text = text_of_file(size);
    return limits;
  }
};

enum class Style : std::uint8_t {
  plain,     // the source has the expressions and statements of the bytecode
  readable,  // expressions are folded together; the caller should ask for a proof
  exact,     // each effect is a statement of its own, in the order of the bytecode
};

// The default width of a line in columns, where positions in the bytecode do not decide about line breaks.
inline constexpr std::size_t default_width = 100;

// The options of `decompile`.
struct Options {
  std::string name;  // a name for the function instead of co_name; empty for co_name
  Limits limits;
  Style style = Style::plain;
  // Whether the source of a function binds the function's free variables, in a function around it, and imports the
  // features of __future__ that it was compiled with, so that compiling the source yields the same variables and
  // flags.
  bool standalone = false;
  bool lines = true;  // whether line mappings of each code object are returned, too
  std::size_t width = default_width;
  bool align = false;  // whether each statement is printed on its original line, with blank lines between
  // The names of the parameters of functions that the code calls by a global name. A temporary value that is passed
  // to a parameter is named after the parameter.
  std::map<std::string, std::vector<std::string>, std::less<>> parameters;
  // Globals that keep their values, as in ProofOptions of prove.h. `outputs` maps a global function in `installed`
  // to the names of its outputs; an empty name means that an output has no name.
  std::set<std::string, std::less<>> installed;
  std::map<std::string, std::vector<std::string>, std::less<>> outputs;
  // The names of passes, or empty. `stop_after` (structure or a later pass) stops the decompiler behind a pass, so
  // that the source may contain markers of unfinished parts. `dump_after` (lift or a later pass) selects the pass
  // whose result for each code object is returned in `Decompiled::dump`.
  std::string stop_after, dump_after;
  // Whether to prove that the printed source is equivalent to the bytecode. Each code object is proved on its own,
  // and without an interpreter.
  bool prove = false;
  // Whether the caller will compile the source and compare its bytecode. If true, doubts that a comparison of the
  // bytecode resolves get no mark in the source.
  bool compared = false;
  std::vector<Difference> marks;  // each gets a comment at the head of its code object: `# depyf: not equal: <what>`
};

// The form in which a code object could be printed, from the best to the worst.
enum class Level : std::uint8_t { structured, state_machine, stub };

// Connects a line of the printed source with an instruction.
struct LineMapping {
  std::uint32_t line;          // the line of the printed source, from 1
  std::uint32_t offset;        // the offset in the bytecode, in bytes
  std::int32_t original = -1;  // the line of the compiled source; -1 if it is unknown
};

// The lines of a code object that is nested in another one.
struct NestedLines {
  std::string name;                 // the qualified name if the code has one (3.11 and later), else the plain name
  std::vector<std::uint32_t> path;  // indices into co_consts, one for each level of nesting
  std::vector<LineMapping> lines;   // in the order of the source
};

// The result of proving the source of one code object equivalent to its bytecode; the option `Options::prove`
// requests it.
struct CodeProof {
  const CodeObject* code = nullptr;
  bool proved = false;
  std::string reason;        // the reason why the code object is not proved
  std::int32_t offset = -1;  // the place in the bytecode, in bytes; -1 if there is none
};

// A constant that has no literal, and the name under which the source shows it.
struct NamedConstant {
  std::string name;
  std::vector<std::uint32_t> path;  // indices into co_consts, one for each level of nesting
};

// The result of `decompile`.
struct Decompiled {
  std::string source;                    // valid Python that ends with a newline
  std::vector<LineMapping> lines;        // the lines of the outermost code object, in the order of the source
  std::vector<NestedLines> nested;  // lines of functions and classes; lambdas and comprehensions have no own lines
  Level level = Level::structured;  // the worst level of all code objects
  std::vector<std::string> notes;  // messages about parts that could not be printed exactly, with their places
  std::vector<NamedConstant> constants;
  std::vector<CodeProof> proofs;  // the proofs of all code objects, the outermost first, if Options::prove is set
  std::string dump;  // the results of the pass `Options::dump_after`, innermost code objects first
};

// Returns the source of a function, lambda, class body or module. `decompile` never fails, even if the bytecode is
// invalid.
Decompiled decompile(const CodeObject& code, const Options& options = {});

// Returns the names of the passes in their order, each with the reason for its place.
std::vector<std::pair<std::string_view, std::string_view>> passes();

}  // namespace depyf
