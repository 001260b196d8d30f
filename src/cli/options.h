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
  std::string_view name;  // behind two dashes
  char letter = 0;  // behind one dash; 0: none
  Value value = Value::none;
  std::string_view value_name = {};
  std::string_view what = {};  // for --help
  bool instead = false;  // excludes the others of these: what is printed in place of the source, or how it is checked
};

std::span<const Option> options();

// The result of parsing a command line.
struct CommandLine {
  enum class Action : std::uint8_t { decompile, diff, completion, manual, help, version, error };
  Action action = Action::decompile;
  Settings settings;
  std::vector<std::string> files;  // of completion: the name of the shell
  std::string error;  // of Action::error: one line
};

// Parses the arguments, given without the name of the program.
CommandLine parse(std::span<const char* const> arguments);

std::string help_text();
std::string manual_text();
// Returns the completion for bash or zsh; an empty text for any other shell.
std::string completion_text(std::string_view shell);

}  // namespace depyf::cli
