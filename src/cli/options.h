// The command line. One table of options is the source of the parser, of --help, the manual page and shell completion.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace depyf::cli {

struct Option {
  enum class Value : std::uint8_t { none, text, number, pass, statement_pass };
  std::string_view name;  // the name behind two dashes
  char letter = 0;  // the letter behind one dash; 0 if the option has no letter
  Value value = Value::none;
  std::string_view value_name = {};
  std::string_view what = {};  // the description of the option in --help
  // True if the option excludes all other options with `instead`. Options with `instead` select a text that is
  // printed instead of the source, or a way to check the source.
  bool instead = false;
};

std::span<const Option> options();

// The result of parsing a command line.
struct CommandLine {
  enum class Action : std::uint8_t { decompile, diff, completion, manual, help, version, error };
  Action action = Action::decompile;
  Settings settings;
  std::vector<std::string> files;  // the input files; for `completion`, the name of the shell
  std::string error;  // for Action::error: a message of one line
};

// Parses the arguments, given without the name of the program.
CommandLine parse(std::span<const char* const> arguments);

std::string help_text();
std::string manual_text();
// Returns the completion for bash or zsh; an empty text for any other shell.
std::string completion_text(std::string_view shell);

}  // namespace depyf::cli
