// Parses the pattern of one case by symbolic execution of the instructions that test it.
#pragma once
#include "flow/match_patterns.h"
#include "support/table.h"
namespace depyf {

struct ParsedCase {
  CasePattern pattern;
  int begin = 0;  // the first instruction of the case
  int success = 0;  // the instruction where the guard or the body starts
  int failure = -1;  // the instruction where the next case starts, or -1 if the pattern always matches
};

// Parses the case that starts at instruction `at` into `parsed`; returns false if the code at `at` is not that of a
// case. `keeps` is true if the code starts with a copy of the subject, so that the subject stays on the stack for the
// next case.
bool parse_case(const DecodedCode& decoded, Row<const Instruction, InstructionIndex> code, int at, bool keeps,
                ParsedCase& parsed);

}  // namespace depyf
