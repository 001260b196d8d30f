#include "cli/interpreters.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

namespace depyf::cli {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) { return ::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path); }

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

std::string in_path(const std::string& name) {
  const std::string path = variable("PATH");
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const fs::path program = fs::path(path.substr(at, end - at)) / name;
    if (end > at && is_program(program)) return program.string();
    at = end + 1;
  }
  return "";
}

// Returns the last number of a version such as 3.12.10 as an integer, because 3.12.10 is later than 3.12.9.
int patch_number(const fs::path& path) {
  const std::string digits = path.extension().string();  // the digits of the last number, behind a point
  int number = 0;
  if (!digits.empty()) std::from_chars(digits.data() + 1, digits.data() + digits.size(), number);
  return number;
}

std::string of_pyenv(const std::string& version) {
  std::string root = variable("PYENV_ROOT");
  if (root.empty()) root = variable("HOME") + "/.pyenv";
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator at(fs::path(root) / "versions", ignored), end; !ignored && at != end;
       at.increment(ignored))
    if (at->path().filename().string().starts_with(version + ".") && is_program(at->path() / "bin" / "python"))
      found.push_back(at->path());
  if (found.empty()) return "";
  return (*std::ranges::max_element(found, {}, patch_number) / "bin" / "python").string();
}

}  // namespace

std::string find_interpreter(Version version) {
  const std::string number = std::to_string(version.major) + "." + std::to_string(version.minor);
  std::string name = "DEPYF_PYTHON_" + number;
  std::ranges::replace(name, '.', '_');
  if (std::string named = variable(name); !named.empty()) return named;
  // The programs that pyenv adds to PATH refuse versions that are not selected, so the versions in pyenv's folder are
  // tried first.
  if (std::string found = of_pyenv(number); !found.empty()) return found;
  return in_path("python" + number);
}

}  // namespace depyf::cli
