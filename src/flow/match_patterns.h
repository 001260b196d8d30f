// The patterns of `match`, read off the instructions that test them.
#pragma once

#include <utility>
#include <vector>

#include "decode/instruction.h"

namespace depyf {

// Indices are of instructions, as decoded, where nothing else is said.
struct PatternNode {
  enum class Kind { wildcard, value, singleton, sequence, mapping, class_pattern, alternatives };
  Kind kind = Kind::wildcard;
  std::vector<int> stores;               // of the names that the value is bound to
  std::pair<int, int> expression{0, 0};  // [begin, end): a value; the class
  int constant = -1;  // singleton: what loads it, -1: None; class: what loads the names of attributes
  std::vector<int> children;  // nodes: of a sequence, a mapping (by key), a class (positional first), alternatives
  int star = -1;  // sequence: which child takes the rest
  std::vector<std::pair<int, int>> keys;  // mapping
  int keys_constant = -1;  // mapping: what loads all the keys
  int rest = -1;  // mapping: what stores the remaining items
  int positional = 0;  // class
  bool dropped = false;  // popped: bound as well, it is `_ as name`
  // While it is parsed: a sequence's length (at least), its items by index from the start and from the end, and the same
  // value in the other alternatives.
  int length = -1;
  bool at_least = false, unpacked = false;
  bool found = false;  // class, mapping: the values were tested against None
  int removed = 0;  // mapping: keys taken out of the rest
  std::vector<std::pair<int, int>> from_start, from_end;
  std::vector<int> same, same_rest;
};

// The test of one case: what `match_case` stands for.
struct CasePattern {
  std::vector<PatternNode> nodes;  // the first is the pattern
  bool guard = false;  // what follows is the guard of the case; false on the last: not known
};

// True if both test and bind the same: the patterns of a case and of a copy of it elsewhere in the code.
bool same_pattern(const DecodedCode& decoded, const CasePattern& one, const CasePattern& two);

// Rewrites each match statement's tests: `match_case; [guard]; [POP_TOP]; <body>`, one a case, linked by their targets.
// A statement whose shape is another stays as it is.
void find_matches(const DecodedCode& decoded, std::vector<Instruction>& code, std::vector<CasePattern>& patterns);

}  // namespace depyf
