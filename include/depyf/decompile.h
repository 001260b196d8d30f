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

// Bounds on the work of one call.
struct Limits {
  // A code object that exceeds these bounds is printed in a simpler form; it never fails.
  std::uint32_t depth = 200;             // nesting of code objects, and of statements and expressions
  std::uint32_t instructions = 4000000;  // of one code object
  // The size of the tree in bytes. A code object that needs more than half of what is left becomes a stub.
  std::size_t tree = std::size_t{1} << 32;
  // The size of the source in bytes; a longer text throws std::length_error. A long name that is used often makes the
  // text longer than the code by any factor.
  std::size_t text = std::size_t{1} << 30;

  // The bounds for a file of `size` bytes: 16 bytes of text for each byte of the file and of one further megabyte.
  // Deeply nested lines need that much.
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
  plain,     // as the bytecode has it
  readable,  // with expressions folded together; the caller should ask for a proof
  exact,     // each effect is a statement of its own, in the order of the bytecode
};

// The default width of a line in columns, where positions in the bytecode do not decide about line breaks.
inline constexpr std::size_t default_width = 100;

// The options of `decompile`.
struct Options {
  std::string name;  // a name for the function instead of co_name; empty for co_name
  Limits limits;
  Style style = Style::plain;
  // Whether the source of a function binds the function's free variables, in a function around it, and imports the features
  // of __future__ that it was compiled with, so that compiling it gives the same variables and flags.
  bool standalone = false;
  bool lines = true;  // whether the lines of each code object are returned, too
  std::size_t width = default_width;
  bool align = false;  // whether each statement stands on its source line, with blank lines between
  // The names of the parameters of functions that the code calls by a global name. Folding uses them as names of
  // values.
  std::map<std::string, std::vector<std::string>, std::less<>> parameters;
  // Globals that keep their values, as in ProofOptions of prove.h. `outputs` gives a name for each output of such a
  // function; an empty name means that there is none.
  std::set<std::string, std::less<>> installed;
  std::map<std::string, std::vector<std::string>, std::less<>> outputs;
  // Names of passes; empty for none. `stop_after` (structure or a later pass) stops the decompiler behind a pass; the
  // source may then hold markers of unfinished parts. `dump_after` (lift or a later pass) returns what a pass made of
  // each code object.
  std::string stop_after, dump_after;
  // Whether to prove that the printed source means what the bytecode does. The proof goes code object by code object,
  // and needs no interpreter.
  bool prove = false;
  // Whether the source will be compiled and its bytecode compared. What that comparison finds gets no mark before it.
  bool compared = false;
  std::vector<Difference> marks;  // each gets a comment at the head of its code object: `# depyf: not equal: <what>`
};

// The form in which a code object could be printed, from the best to the worst.
enum class Level : std::uint8_t { structured, state_machine, stub };

// Connects a line of the printed source with an instruction.
struct LineMapping {
  std::uint32_t line;          // of the printed source, from 1
  std::uint32_t offset;        // of the bytecode, in bytes
  std::int32_t original = -1;  // the line of the compiled source; -1 if it is unknown
};

// The lines of a code object that is nested in another one.
struct NestedLines {
  std::string name;                 // the qualified name if the code has one (3.11 and later), else the plain name
  std::vector<std::uint32_t> path;  // indices into co_consts, one for each level of nesting
  std::vector<LineMapping> lines;   // in the order of the source
};

// Whether the source of one code object means what its bytecode does; the option `Options::prove` asks for it.
struct CodeProof {
  const CodeObject* code = nullptr;
  bool proved = false;
  std::string reason;        // why it is not proved
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
  std::vector<LineMapping> lines;        // of the outermost code object, in the order of the source
  std::vector<NestedLines> nested;  // of functions and classes; lambdas and comprehensions have no lines of their own
  Level level = Level::structured;  // the worst level of all code objects
  std::vector<std::string> notes;  // what could not be printed exactly, with its place
  std::vector<NamedConstant> constants;
  std::vector<CodeProof> proofs;  // of each code object, the outermost first, if Options::prove is set
  std::string dump;  // what `Options::dump_after` asks for, innermost code objects first
};

// Returns the source of a function, lambda, class body or module. The function never fails, whatever the bytecode is.
Decompiled decompile(const CodeObject& code, const Options& options = {});

// Returns the names of the passes in their order, each with the reason for its place.
std::vector<std::pair<std::string_view, std::string_view>> passes();

}  // namespace depyf
