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
  std::uint32_t depth = 200;             // the deepest nesting of code objects, and of statements and expressions
  std::uint32_t instructions = 4000000;  // the largest number of instructions of one code object
  // The largest size in bytes of the syntax trees of all code objects together. The tree of one code object may take at
  // most half of the bytes that the trees of earlier code objects have not used. A code object whose tree needs more
  // bytes is printed as a stub, which only raises an exception.
  std::size_t tree = std::size_t{1} << 32;
  // The largest size of the source in bytes; a longer text throws std::length_error. A long name that is used often can
  // make the text longer than the code by any factor.
  std::size_t text = std::size_t{1} << 30;

  // The bounds for a file of `size` bytes allow 16 bytes of text for each byte of the file, and 16 further megabytes of
  // text. Files with deeply nested code need 16 bytes of text for each byte of the file, because each line of nested
  // code is indented.
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
  plain,  // the source has the expressions and statements of the bytecode
  readable,  // temporaries are replaced by their expressions; the caller should ask for a proof
  exact,  // each effect is a statement of its own, in the order of the bytecode
};

// The default width of a line in columns. The printer uses the width only for line breaks that cannot be derived from
// the positions in the bytecode.
inline constexpr std::size_t default_width = 100;

// The options of `decompile`.
struct Options {
  std::string name;  // the name that replaces co_name in the source; empty to keep co_name
  Limits limits;
  Style style = Style::plain;
  // True if compiling the source of a function shall yield the function's variables and flags. With `standalone`, an
  // enclosing function in the source binds the free variables, and the source imports the features of __future__ with
  // which the function was compiled.
  bool standalone = false;
  bool lines = true;  // true if the line mappings of each code object are returned, too
  std::size_t width = default_width;
  bool align = false;  // true if blank lines are added, so that each statement is printed on its original line
  // The names of the parameters of functions that the code calls by a global name. A temporary value that is passed
  // to a parameter is named after the parameter.
  std::map<std::string, std::vector<std::string>, std::less<>> parameters;
  // The names of globals that are known to exist and to keep their values (see `ProofOptions::installed` in prove.h).
  // `outputs` maps a global function in `installed` to the names of its outputs; an empty name means that an output has
  // no name.
  std::set<std::string, std::less<>> installed;
  std::map<std::string, std::vector<std::string>, std::less<>> outputs;
  // The members `stop_after` and `dump_after` are names of passes, or empty. `stop_after` (structure or a later pass)
  // stops the decompiler behind a pass, so that the source may contain markers of unfinished parts. `dump_after` (lift
  // or a later pass) selects the pass whose result for each code object is returned in `Decompiled::dump`.
  std::string stop_after, dump_after;
  // True if the printed source shall be proved equivalent to the bytecode. Each code object is proved on its own, and
  // without an interpreter.
  bool prove = false;
  // True if the caller will compile the source and compare its bytecode with the original bytecode. With `compared`,
  // the source has no mark (a comment `# depyf: not equal`) at a doubtful place whose correctness this comparison will
  // show.
  bool compared = false;
  // Each mark becomes a comment at the head of its code object: `# depyf: not equal: <what>`.
  std::vector<Difference> marks;
};

// The forms in which a code object can be printed, from the best to the worst.
enum class Level : std::uint8_t { structured, state_machine, stub };

// Connects a line of the printed source with an instruction.
struct LineMapping {
  std::uint32_t line;  // the line of the printed source, from 1
  std::uint32_t offset;  // the offset in the bytecode, in bytes
  std::int32_t original = -1;  // the line in the source that was compiled; -1 if it is unknown
};

// The lines of a code object that is nested in another code object.
struct NestedLines {
  std::string name;  // the qualified name if the code has it (3.11 and later), else the plain name
  std::vector<std::uint32_t> path;  // indices into co_consts, one for each level of nesting
  std::vector<LineMapping> lines;  // the mappings, in the order of the printed lines
};

// The result of proving the source of one code object equivalent to its bytecode; the option `Options::prove`
// requests it.
struct CodeProof {
  const CodeObject* code = nullptr;
  bool proved = false;
  std::string reason;  // the reason why the code object is not proved
  std::int32_t offset = -1;  // the place of the reason in the bytecode, in bytes; -1 if it has no place
};

// A constant that has no literal, and the name that the source contains in place of the constant.
struct NamedConstant {
  std::string name;
  std::vector<std::uint32_t> path;  // indices into co_consts, one for each level of nesting
};

// The result of `decompile`.
struct Decompiled {
  std::string source;  // valid Python that ends with a newline
  std::vector<LineMapping> lines;  // the lines of the outermost code object, in the order of the source
  std::vector<NestedLines> nested;  // the lines of nested functions and classes, but not of lambdas and comprehensions
  Level level = Level::structured;  // the worst level of all code objects
  std::vector<std::string> notes;  // messages about parts that could not be printed exactly, with their places
  std::vector<NamedConstant> constants;
  std::vector<CodeProof> proofs;  // the proofs of all code objects, the outermost first; empty without Options::prove
  std::string dump;  // the results of the pass `Options::dump_after`, innermost code objects first
};

// Returns the source of a function, lambda, class body or module. `decompile` never fails, even if the bytecode is
// invalid.
Decompiled decompile(const CodeObject& code, const Options& options = {});

// Returns the names of the passes in the order in which they run, each with the reason for its position in this order.
std::vector<std::pair<std::string_view, std::string_view>> passes();

}  // namespace depyf
