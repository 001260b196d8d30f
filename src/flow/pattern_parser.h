// One case's pattern by symbolic execution of the code that tests it.
#pragma once
#include "flow/match_patterns.h"
namespace depyf {

struct ParsedCase {
  CasePattern pattern;
  int begin = 0;     // its first instruction
  int success = 0;   // where the guard or the body starts
  int failure = -1;  // where the next case starts; -1: it always matches
};

// `keeps`: the code starts with a copy of the subject, which stays for the next case.
bool parse_case(const DecodedCode& decoded, const std::vector<Instruction>& code, int at, bool keeps,
                ParsedCase& parsed);

}  // namespace depyf
