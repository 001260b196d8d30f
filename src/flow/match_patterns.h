// Reconstructs the patterns of `match` statements from the instructions that test them.
#pragma once

#include <utility>

#include "decode/instruction.h"
#include "support/table.h"

namespace depyf {

// One node of the tree of a pattern. All `int` members that name an instruction are its index in the decoded code.
struct PatternNode {
  enum class Kind { wildcard, value, singleton, sequence, mapping, class_pattern, alternatives };
  Kind kind = Kind::wildcard;
  // The instructions that bind names to the value of this node.
  Table<int> stores;
  // The instructions [begin, end) that load the value of a value pattern, or the class of a class pattern.
  std::pair<int, int> expression{0, 0};
  // For a singleton: the instruction that loads it, or -1 for None. For a class pattern: the instruction that loads the
  // tuple of attribute names.
  int constant = -1;
  // Indices of nodes: the items of a sequence, the values of a mapping in the order of its keys, the arguments of a
  // class pattern (positional arguments first), or the alternatives.
  Table<int> children;
  int star = -1;  // for a sequence: the index of the child with a star, as in `[p, *q]`, or -1 without a star
  // For a mapping: the instructions [begin, end) that load each key.
  Table<std::pair<int, int>> keys;
  // For a mapping whose keys are one constant tuple: the instruction that loads the tuple, or -1.
  int keys_constant = -1;
  int rest = -1;  // for a mapping: the instruction that stores the remaining items, or -1 without `**rest`
  int positional = 0;  // for a class pattern: the number of positional arguments
  // True if the code pops the value of this node. A value that is popped and bound to a name comes from `_ as name`.
  bool dropped = false;
  // The member `length` and the members below it are used only while the pattern is parsed. For a sequence or mapping,
  // `length` is the number with which the code compares the length, or -1 if the code does not compare the length. For
  // a class pattern, `length` is the number of arguments.
  int length = -1;
  // `at_least` is true if the code compares the length by >=. `unpacked` is true once the children are known.
  bool at_least = false, unpacked = false;
  // True if the code of a class pattern or mapping compares the result of MATCH_CLASS or MATCH_KEYS with None.
  bool found = false;
  int removed = 0;  // for a mapping: the number of keys that the code deletes from the dict for `**rest`
  // Items of a sequence that the code takes by index: pairs of the index, counted from the start or the end, and the
  // child node.
  Table<std::pair<int, int>> from_start, from_end;
  // Nodes of other alternatives whose values are bound to the same name as the value (or the rest) of this node.
  Table<int> same, same_rest;
};

// The pattern of one case. A `match_case` operation, which replaces the instructions that test the pattern, refers to
// the pattern by its index.
struct CasePattern {
  Table<PatternNode> nodes;  // the first node is the whole pattern
  // True if a guard follows the tests. For the last case, `guard` is always false, because the code of the last case
  // does not reveal whether a guard follows the tests.
  bool guard = false;
};

// True if both patterns make the same tests and bind the same names, like the patterns of a case and of a copy of its
// code.
bool same_pattern(const DecodedCode& decoded, const CasePattern& one, const CasePattern& two);

// Rewrites each case of each match statement to `match_case; [guard]; [POP_TOP]; <body>`. The target of a match_case is
// the next case. A match statement with a case that cannot be parsed stays as it is.
void find_matches(const DecodedCode& decoded, Row<Instruction, InstructionIndex> code, Table<CasePattern>& patterns);

}  // namespace depyf
