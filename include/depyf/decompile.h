// The public interface of the core: a code object in, Python source out.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "depyf/compare.h"

namespace depyf {

// Bounds that hold for one call.
struct Limits {
  // Beyond these a code object degrades, it never fails.
  std::uint32_t depth = 200;             // nesting of code objects, and of statements and expressions
  std::uint32_t instructions = 4000000;  // of one code object
  // Bytes of the tree. A code object that needs more than half of what is left becomes a stub.
  std::size_t tree = std::size_t{1} << 32;
  // Bytes of source; beyond it std::length_error. A long name that is used often makes a text that is longer than the
  // code by any factor.
  std::size_t text = std::size_t{1} << 30;

  // Of a file of so many bytes: a megabyte, and the file, each with text as long as many deeply nested lines make it.
  static constexpr std::size_t text_of_code = 16;
  static constexpr std::size_t text_of_file(std::size_t size) { return text_of_code * (size + (std::size_t{1} << 20)); }
  static constexpr std::size_t tree_of_file(std::size_t size) { return 24 * size + (std::size_t{24} << 20); }
  // The bounds of a file of so many bytes.
  static Limits of_file(std::size_t size) {
    Limits limits;
    limits.tree = tree_of_file(size), limits.text = text_of_file(size);
    return limits;
  }
};

enum class Style : std::uint8_t {
  plain,  // as the bytecode has it
  readable,  // folded: to be proved by who asks for it
  exact,  // each effect is a statement of its own, in the order of the bytecode
};

// Columns of a line whose breaks the positions in the bytecode do not decide.
inline constexpr std::size_t default_width = 100;

struct Options {
  std::string name;  // of the function, in place of co_name; empty: co_name
  Limits limits;
  Style style = Style::plain;
  bool lines = true;  // give the lines of each code object, too
  std::size_t width = default_width;
  bool align = false;  // each statement on the line that it had in the source, with blank lines between
  // Of functions that the code calls by a global name: what their parameters are called. Folding names values so.
  std::map<std::string, std::vector<std::string>, std::less<>> parameters;
  // See ProofOptions in prove.h. Of each output of a function: what it may be called, or an empty name.
  std::set<std::string, std::less<>> installed;
  std::map<std::string, std::vector<std::string>, std::less<>> outputs;
  // Names of passes; empty: none. The source as it is after `stop_after` (structure or a later pass), which may hold markers
  // of unfinished parts; what `dump_after` (lift or a later pass) made of each code object.
  std::string stop_after, dump_after;
  // Prove that what is printed means what the bytecode does, code object by code object, without an interpreter.
  bool prove = false;
  std::vector<Difference> marks;  // said at the head of each of these: `# depyf: not equal: <what>`
};

// How a code object was brought back.
enum class Level : std::uint8_t { structured, state_machine, stub };

struct LineMapping {
  std::uint32_t line;  // of the source, from 1
  std::uint32_t offset;  // of the bytecode, in bytes
  std::int32_t original = -1;  // line of the source that was compiled; -1: unknown
};

// The lines of a code object within another.
struct NestedLines {
  std::string name;  // the qualified one where the code has it (3.11 and later)
  std::vector<std::uint32_t> path;  // indices into co_consts, one a level of nested code
  std::vector<LineMapping> lines;  // in order of the source
};

// Whether the source of one code object means what its bytecode does; see `Options::prove`.
struct CodeProof {
  const CodeObject* code = nullptr;
  bool proved = false;
  std::string reason;        // why it is not proved
  std::int32_t offset = -1;  // in the bytecode, in bytes; -1: no place in it
};

// A constant that has no literal, and the name it is shown under.
struct NamedConstant {
  std::string name;
  std::vector<std::uint32_t> path;  // indices into co_consts, one a level of nested code
};

struct Decompiled {
  std::string source;  // valid Python, ends with a newline
  std::vector<LineMapping> lines;  // of the outermost code object, in order of the source
  std::vector<NestedLines> nested;  // of functions and classes; lambdas and comprehensions have no lines of their own
  Level level = Level::structured;  // the worst of all code objects in it
  std::vector<std::string> notes;  // what could not be made exact, with its place
  std::vector<NamedConstant> constants;
  std::vector<CodeProof> proofs;  // of each code object, the outermost first, if Options::prove asks for them
  std::string dump;  // of `Options::dump_after`: innermost code objects first
};

// Source of a function, lambda, class body or module. Total: never fails, whatever the bytecode.
Decompiled decompile(const CodeObject& code, const Options& options = {});

// Names of the passes in their order, with the reason for each place.
std::vector<std::pair<std::string_view, std::string_view>> passes();

}  // namespace depyf
