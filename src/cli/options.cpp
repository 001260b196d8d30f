#include "cli/options.h"

#include <algorithm>
#include <charconv>

#include "depyf/decompile.h"

namespace depyf::cli {
namespace {

using Value = Option::Value;

constexpr unsigned widest = 100000;  // the largest value of --width

constexpr Option table[] = {
    {"output", 'o', Value::text, "DIR", "Write the sources to DIR instead of standard output"},
    {"force", 0, Value::none, "", "With -o: overwrite existing files"},
    {"jobs", 'j', Value::number, "N", "Process N files at a time, 1 to 256 (default: 1)"},
    {"check", 0, Value::text, "PYTHON",
     "Compile each source with the interpreter PYTHON, which must have the version of the files, and add "
     "the comment # depyf: not equal: REASON to each function whose bytecode differs. The value auto finds an "
     "interpreter for each file (from DEPYF_PYTHON_3_14 and similar variables, pyenv and PATH)",
     true},
    {"prove", 0, Value::none, "",
     "Prove, without an interpreter, that the source is equivalent to the bytecode, and add the comment "
     "# depyf: not proved: REASON to each function that is not proved. --json lists these functions"},
    {"json", 0, Value::none, "", "Print a report of all files as JSON. Without -o, the report contains the sources"},
    {"quiet", 'q', Value::none, "", "Do not print the line of counts at the end"},
    {"python", 0, Value::text, "VERSION",
     "Read raw marshal data of this version, such as 3.12 (default: try all versions)"},
    {"max-size", 0, Value::number, "MB",
     "Refuse files, and members of archives, of more than MB megabytes (default: 64)"},
    {"width", 0, Value::number, "N",
     "Break lines that are longer than N columns (default: 100). If positions in the bytecode show the line breaks of "
     "the original source, these line breaks are printed instead"},
    {"align", 0, Value::text, "lines",
     "Put each statement on the line that the statement had in the original source, with blank lines in between, so "
     "that tracebacks, breakpoints and coverage are right if the original source is lost. --json lists the "
     "statements that are on another line"},
    {"lines", 0, Value::none, "",
     "Print a map from the lines of the source to the bytecode and to the lines of the original source, as JSON, "
     "instead of the source",
     true},
    {"cfg", 0, Value::none, "", "Print the control flow graph of each code object, in DOT, instead of the source",
     true},
    {"dis", 0, Value::none, "", "Print version-neutral instructions instead of the source", true},
    {"dump-load", 0, Value::none, "", "Print the fields of the code objects as they were loaded, instead of the source",
     true},
    {"stop-after", 0, Value::statement_pass, "PASS",
     "Print the source as it is after PASS, which is one of the following passes, except lift", true},
    {"dump-after", 0, Value::pass, "PASS",
     "Print the result of PASS for each code object (for the passes decode and flow, use --dis and --cfg)", true},
    {"help", 'h', Value::none, "", "Print this help"},
    {"version", 0, Value::none, "", "Print the version"},
};

struct Example {
  std::string_view command, what;
};
constexpr Example examples[] = {
    {"depyf-decompile app.pyc", "print the source of one file"},
    {"depyf-decompile build/lib -o sources -j 4", "decompile all .pyc files below a folder into another folder"},
    {"depyf-decompile package.whl -o sources", "decompile the .pyc files in a wheel, an egg or a zip archive"},
    {"depyf-decompile --check auto app.pyc", "mark functions that compile to other bytecode"},
    {"depyf-decompile --json build/lib", "print a report for other programs, with the sources"},
    {"depyf-decompile --align lines app.pyc", "put each statement on its original line, for tracebacks and debuggers"},
    {"depyf-decompile diff old.pyc new.pyc", "list the functions that differ between two builds of a module"},
    {"depyf-decompile - < app.pyc", "decompile a .pyc file that is read from standard input"},
};

constexpr std::string_view files_help =
    ".pyc files of CPython 3.8 to 3.15, folders or archives (.whl, .zip, .egg, .pyz) with .pyc files, raw marshal "
    "data, or - for standard input";
constexpr std::string_view status_help =
    "The exit status is 0 if all files were processed, 1 if a file could not be read, checked or written, and 2 if the "
    "command line is wrong. The exit status of diff is also 1 if the two files differ.";

const Option* find(std::string_view name) {
  const auto* found = std::ranges::find(table, name, &Option::name);
  return found == std::end(table) ? nullptr : found;
}
const Option* find(char letter) {
  const auto* found = std::ranges::find(table, letter, &Option::letter);
  return found == std::end(table) ? nullptr : found;
}

std::vector<std::string> pass_names(bool statements) {
  std::vector<std::string> names;
  for (auto [name, why] : passes())
    if (name != "decode" && name != "flow" && name != "print" && !(statements && name == "lift"))
      names.emplace_back(name);
  return names;
}

std::string joined(const std::vector<std::string>& names, std::string_view between) {
  std::string text;
  for (const std::string& name : names) (text.empty() ? text : text += between) += name;
  return text;
}

std::string spelled(const Option& option) {
  std::string text = option.letter ? "-" + std::string(1, option.letter) + ", " : "";
  text += "--" + std::string(option.name);
  if (option.value != Value::none) text += " " + std::string(option.value_name);
  return text;
}

// Returns `text` in lines of at most `width` characters. Each line except the first starts with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (line > 0 && line + 1 + (end - at) > width) out += "\n" + std::string(indent, ' '), line = 0;
    if (line > 0) out += ' ', ++line;
    out += text.substr(at, end - at);
    line += end - at;
    at = end + 1;
  }
  return out;
}

class Parser {
 public:
  explicit Parser(std::span<const char* const> arguments) : arguments_(arguments) {}

  CommandLine run() {
    command();
    bool only_files = false;
    for (; at_ < arguments_.size() && line_.error.empty(); ++at_) {
      const std::string_view argument = arguments_[at_];
      if (only_files || argument == "-" || !argument.starts_with('-')) line_.files.emplace_back(argument);
      else if (argument == "--") only_files = true;
      else if (argument.starts_with("--")) long_option(argument.substr(2));
      else letters(argument.substr(1));
    }
    if (line_.action == CommandLine::Action::help || line_.action == CommandLine::Action::version) return line_;
    if (line_.error.empty()) check();
    if (!line_.error.empty()) line_.action = CommandLine::Action::error;
    return line_;
  }

 private:
  // Recognizes the name of a command in the first argument. A file with the name of a command, such as `diff`, can be
  // passed as `./diff`.
  void command() {
    if (arguments_.empty()) return;
    const std::string_view first = arguments_[0];
    using Action = CommandLine::Action;
    if (first == "diff") line_.action = Action::diff;
    else if (first == "completion") line_.action = Action::completion;
    else if (first == "man") line_.action = Action::manual;
    else return;
    ++at_;
  }

  void fail(std::string what) {
    if (line_.error.empty()) line_.error = std::move(what);
  }

  void long_option(std::string_view text) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = text.substr(0, equals);
    const Option* option = find(name);
    if (!option) return fail("unknown option --" + std::string(name));
    if (option->value == Value::none) {
      if (equals < text.size()) return fail("--" + std::string(name) + " takes no value");
      return set(*option, "");
    }
    if (equals < text.size()) return set(*option, text.substr(equals + 1));
    with_next(*option);
  }

  void letters(std::string_view text) {
    for (std::size_t at = 0; at < text.size() && line_.error.empty(); ++at) {
      const Option* option = find(text[at]);
      if (!option) return fail("unknown option -" + std::string(1, text[at]));
      if (option->value == Value::none) {
        set(*option, "");
      } else if (at + 1 < text.size()) {
        return set(*option, text.substr(at + 1));
      } else {
        return with_next(*option);
      }
    }
  }

  void with_next(const Option& option) {
    if (at_ + 1 >= arguments_.size()) return fail("--" + std::string(option.name) + " needs a value");
    set(option, arguments_[++at_]);
  }

  bool number(std::string_view text, unsigned most, unsigned& value) {
    unsigned read = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error != std::errc() || end != text.data() + text.size() || read < 1 || read > most) return false;
    value = read;
    return true;
  }

  void set(const Option& option, std::string_view value) {
    const std::string name(option.name), text(value);
    if (option.instead) {
      if (instead_ && instead_ != &option)
        return fail("--" + std::string(instead_->name) + " and --" + name + " cannot be used together");
      instead_ = &option;
    }
    Settings& settings = line_.settings;
    if (option.value != Value::none && value.empty()) return fail("--" + name + " needs a value");
    if (option.value == Value::pass || option.value == Value::statement_pass) {
      const std::vector<std::string> names = pass_names(option.value == Value::statement_pass);
      if (std::ranges::find(names, text) == names.end())
        return fail("--" + name + ": unknown pass " + text + "; the passes are " + joined(names, ", "));
    }
    if (name == "output") settings.output = text;
    else if (name == "force") settings.force = true;
    else if (name == "check") settings.check = text;
    else if (name == "prove") settings.prove = true;
    else if (name == "align" && text == "lines") settings.align = true;
    else if (name == "align") fail("--align: the only value is lines");
    else if (name == "json") settings.json = true;
    else if (name == "quiet") settings.quiet = true;
    else if (name == "lines") settings.lines = true;
    else if (name == "cfg") settings.graph = true;
    else if (name == "dis") settings.disassemble = true;
    else if (name == "dump-load") settings.fields = true;
    else if (name == "stop-after") settings.stop_after = text;
    else if (name == "dump-after") settings.dump_after = text;
    else if (name == "help") line_.action = CommandLine::Action::help;
    else if (name == "version") line_.action = CommandLine::Action::version;
    else if (name == "jobs" && !number(text, 256, settings.jobs))
      fail("--jobs: the value must be a number from 1 to 256");
    else if (name == "python" && !version(text, settings.python))
      fail("--python: the value must be a version from 3.8 to 3.15");
    else if (name == "width") {
      unsigned columns = 0;
      if (!number(text, widest, columns))
        fail("--width: the value must be a number from 1 to " + std::to_string(widest));
      settings.width = columns;
    } else if (name == "max-size") {
      unsigned megabytes = 0;
      if (!number(text, 4096, megabytes)) fail("--max-size: the value must be a number from 1 to 4096");
      settings.max_size = std::size_t{megabytes} << 20;
    }
  }

  static bool version(std::string_view text, Version& value) {
    for (int minor = 8; minor <= 15; ++minor)
      if (text == "3." + std::to_string(minor)) {
        value = {3, minor};
        return true;
      }
    return false;
  }

  void check() {
    using Action = CommandLine::Action;
    const std::size_t files = line_.files.size();
    if (line_.action == Action::decompile && files == 0) fail("no file is given");
    if (line_.action == Action::diff && files != 2) fail("diff needs two files");
    if (line_.action == Action::completion && (files != 1 || completion_text(line_.files[0]).empty()))
      fail("completion needs the name of a shell: bash or zsh");
    if (line_.action == Action::manual && files != 0) fail("man takes no arguments");
    if (line_.settings.force && line_.settings.output.empty())
      fail("--force needs -o, because only files that -o writes can be overwritten");
  }

  std::span<const char* const> arguments_;
  std::size_t at_ = 0;
  const Option* instead_ = nullptr;
  CommandLine line_;
};

// Escapes dashes and backslashes for roff. A dot or quote at the start of the text is escaped too, because roff would
// read it as a request.
std::string roff(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '-' || c == '\\') out += '\\';
    out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string bash_completion() {
  std::string options;
  for (const Option& option : table) options += (options.empty() ? "--" : " --") + std::string(option.name);
  return "# bash completion of depyf-decompile\n"
         "_depyf_decompile() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  case $previous in\n"
         "    -o|--output) COMPREPLY=($(compgen -d -- \"$current\")); return ;;\n"
         "    --check) COMPREPLY=($(compgen -W auto -- \"$current\") $(compgen -c python -- \"$current\")); return ;;\n"
         "    --align) COMPREPLY=($(compgen -W lines -- \"$current\")); return ;;\n"
         "    --python) COMPREPLY=($(compgen -W \"3.8 3.9 3.10 3.11 3.12 3.13 3.14 3.15\" -- \"$current\")); return ;;\n"
         "    --stop-after) COMPREPLY=($(compgen -W \"" +
         joined(pass_names(true), " ") +
         "\" -- \"$current\")); return ;;\n"
         "    --dump-after) COMPREPLY=($(compgen -W \"" +
         joined(pass_names(false), " ") +
         "\" -- \"$current\")); return ;;\n"
         "    -j|--jobs|--max-size) return ;;\n"
         "    completion) COMPREPLY=($(compgen -W \"bash zsh\" -- \"$current\")); return ;;\n"
         "  esac\n"
         "  if [[ $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         options +
         "\" -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  [[ $COMP_CWORD -eq 1 ]] && COMPREPLY+=($(compgen -W \"diff completion man\" -- \"$current\"))\n"
         "}\n"
         "complete -o filenames -F _depyf_decompile depyf-decompile\n";
}

std::string zsh_quoted(std::string_view text) {  // for use within '...[...]'
  std::string out;
  for (char c : text) {
    if (c == '\'') out += "'\\'";
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_completion() {
  std::string out = "#compdef depyf-decompile\n_arguments -s \\\n";
  for (const Option& option : table) {
    std::string values;
    if (option.value != Value::none) values = ":" + std::string(option.value_name) + ":";
    if (option.name == "output") values += "_files -/";
    if (option.name == "check") values += "(auto python3)";
    if (option.name == "align") values += "(lines)";
    if (option.name == "python") values += "(3.8 3.9 3.10 3.11 3.12 3.13 3.14 3.15)";
    if (option.value == Value::pass || option.value == Value::statement_pass)
      values += "(" + joined(pass_names(option.value == Value::statement_pass), " ") + ")";
    const std::string what = "[" + zsh_quoted(option.what) + "]" + values + "' \\\n";
    const std::string name = "--" + std::string(option.name);
    if (option.letter) out += "  '-" + std::string(1, option.letter) + what;
    out += "  '" + name + what;
  }
  return out + "  '*:file:_files'\n";
}

}  // namespace

std::span<const Option> options() { return table; }

CommandLine parse(std::span<const char* const> arguments) { return Parser(arguments).run(); }

std::string help_text() {
  constexpr std::size_t column = 28, width = 92;
  std::string out =
      "Decompiles .pyc files of CPython 3.8 to 3.15 to Python source.\n\n"
      "usage: depyf-decompile [OPTION...] FILE...\n"
      "       depyf-decompile diff A.pyc B.pyc\n"
      "       depyf-decompile completion bash|zsh\n"
      "       depyf-decompile man\n\n";
  out += "FILE: " + wrapped(files_help, width - 6, 6) + "\n\noptions:\n";
  for (const Option& option : table) {
    std::string left = "  " + spelled(option);
    out += left + (left.size() + 2 > column ? "\n" + std::string(column, ' ') : std::string(column - left.size(), ' '));
    out += wrapped(option.what, width - column, column) + "\n";
    if (option.value == Value::statement_pass)
      out +=
          std::string(column, ' ') + wrapped("PASS: " + joined(pass_names(false), ", "), width - column, column) + "\n";
  }
  out += "\nexamples:\n";
  for (const Example& example : examples) {
    const std::string command = "  " + std::string(example.command);
    out += command + std::string(command.size() < 46 ? 46 - command.size() : 1, ' ') + std::string(example.what) + "\n";
  }
  return out + "\n" + wrapped(status_help, width, 0) + "\n";
}

std::string manual_text() {
  std::string out =
      ".TH DEPYF\\-DECOMPILE 1 \"\" \"depyf " DEPYF_VERSION
      "\"\n"
      ".SH NAME\ndepyf\\-decompile \\- decompile .pyc files to Python source\n"
      ".SH SYNOPSIS\n.B depyf\\-decompile\n[OPTION...] FILE...\n.br\n.B depyf\\-decompile diff\nA.pyc B.pyc\n.br\n"
      ".B depyf\\-decompile completion\nbash|zsh\n"
      ".SH DESCRIPTION\nFILE: ";
  out += roff(files_help) + "\n.SH OPTIONS\n";
  for (const Option& option : table) out += ".TP\n.B " + roff(spelled(option)) + "\n" + roff(option.what) + "\n";
  out += ".SH EXIT STATUS\n" + roff(status_help) + "\n.SH EXAMPLES\n";
  for (const Example& example : examples) out += ".TP\n.B " + roff(example.command) + "\n" + roff(example.what) + "\n";
  return out;
}

std::string completion_text(std::string_view shell) {
  if (shell == "bash") return bash_completion();
  return shell == "zsh" ? zsh_completion() : "";
}

}  // namespace depyf::cli
