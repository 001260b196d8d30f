#include "cli/inputs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "depyf/code_object.h"
#include "depyf/disassemble.h"
#include "load/marshal.h"

namespace depyf::cli {
namespace {

namespace fs = std::filesystem;

// Returns the path of the source of a .pyc file, such as a/x.py for a/__pycache__/x.cpython-311.pyc.
fs::path source_path(const fs::path& pyc) {
  fs::path folder = pyc.parent_path();
  fs::path stem = pyc.stem();
  if (folder.filename() == "__pycache__") {
    folder = folder.parent_path();
    if (!stem.stem().empty()) stem = stem.stem();
  }
  return folder / (stem.string() + ".py");
}

bool is_archive_name(const fs::path& path) {
  static constexpr std::string_view extensions[] = {".whl", ".zip", ".egg", ".pyz", ".pyzw", ".pex"};
  return std::ranges::find(extensions, path.extension().string()) != std::end(extensions);
}

// True if the path ends with `.pyc` and the file's name is longer than `.pyc`.
bool is_pyc_name(std::string_view path) {
  constexpr std::string_view extension = ".pyc";
  return path.ends_with(extension) && path.size() > extension.size() && path[path.size() - extension.size() - 1] != '/';
}

std::string reason(int error) { return std::string("cannot be read: ") + std::strerror(error); }

std::string too_large(std::size_t max_size) {
  return "cannot be read: larger than the limit of " + std::to_string(max_size >> 20) + " MB (set by --max-size)";
}

// Reads the file to its end into `buffer`, which is enlarged if necessary, but never shrunk.
std::optional<std::string_view> read_descriptor(int file, std::size_t max_size, std::string& buffer,
                                                std::string& error) {
  constexpr std::size_t least = 1 << 16;
  std::size_t size = 0;
  for (;;) {
    if (size == buffer.size()) buffer.resize(std::max(2 * size, least));
    const ssize_t count = ::read(file, buffer.data() + size, buffer.size() - size);
    if (count == 0) return std::string_view(buffer).substr(0, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      error = reason(errno);
      return std::nullopt;
    }
    if (static_cast<std::size_t>(count) > max_size - size) {
      error = too_large(max_size);
      return std::nullopt;
    }
    size += static_cast<std::size_t>(count);
  }
}

std::optional<std::string_view> read_file(const std::string& path, std::size_t max_size, std::string& buffer,
                                          std::string& error) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    error = reason(errno);
    return std::nullopt;
  }
  struct stat status{};
  const bool is_regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const std::size_t size = is_regular ? static_cast<std::size_t>(status.st_size) : 0;
  std::optional<std::string_view> bytes;
  if (size > max_size) {
    error = too_large(max_size);
  } else {
    // The buffer has one byte more than the file, because the last read, which detects the end of the file, needs
    // room.
    if (buffer.size() <= size) buffer.resize(size + 1);
    bytes = read_descriptor(file, max_size, buffer, error);
  }
  ::close(file);
  return bytes;
}

void add_archive(std::vector<Input>& inputs, const std::string& path, std::size_t max_size) {
  auto archive = std::make_shared<Archive>();
  archive->path = path;
  Input failed{path, "archive.pyc"};
  const std::optional<std::string_view> bytes = read_file(path, max_size, archive->bytes, failed.error);
  if (!bytes) return inputs.push_back(std::move(failed));
  archive->bytes.resize(bytes->size());
  Result<std::vector<ZipMember>> members = zip_members(archive->bytes);
  if (!members) {
    failed.error = std::to_string(members.error().offset) + ": " + members.error().message;
    return inputs.push_back(std::move(failed));
  }
  std::ranges::sort(*members, {}, &ZipMember::name);
  const std::size_t before = inputs.size();
  for (ZipMember& member : *members)
    if (member.name.ends_with(".pyc"))
      inputs.push_back({path + "/" + member.name, below(member.name), std::nullopt, archive, member});
  if (inputs.size() > before) return;
  failed.error = "the archive contains no .pyc files";
  inputs.push_back(std::move(failed));
}

// Returns the number of code objects whose bytecode cannot be decoded, among `code` and all code objects nested in
// it.
std::size_t count_wrong(const CodeObject& code) {
  std::size_t wrong = disassemble(code).error.empty() ? 0 : 1;
  for (const Constant& constant : code.constants)
    if (constant.code) wrong += count_wrong(*constant.code);
  return wrong;
}

constexpr int first_minor = 8, last_minor = 15;

LoadedPyc load_marshal(std::string_view bytes, Version python) {
  LoadedPyc best;
  best.error = "the raw marshal data cannot be read as data of any version from 3.8 to 3.15";
  std::size_t least_wrong = 0;
  for (int minor = last_minor; minor >= first_minor; --minor) {
    const Version version{3, minor};
    if (python.major != 0 && python != version) continue;
    auto code = read_marshal(version, bytes);
    if (!code) {
      if (python.major != 0) best.error = code.error().message, best.error_offset = code.error().offset;
      continue;
    }
    const std::size_t wrong = count_wrong(**code);
    if (best.code && wrong >= least_wrong) continue;
    best = {std::move(*code), false, {}, 0};
    least_wrong = wrong;
    if (wrong == 0) break;
  }
  return best;
}

}  // namespace

fs::path below(const fs::path& path) {
  fs::path result;
  for (const fs::path& part : path.relative_path())
    if (part != ".." && part != "." && !part.empty()) result /= part;
  return result.empty() ? fs::path("unnamed.pyc") : result;
}

std::vector<Input> find_inputs(const std::vector<std::string>& arguments, std::size_t max_size) {
  std::vector<Input> inputs;
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    if (argument == "-") {
      inputs.push_back({argument, "stdin.pyc"});
    } else if (fs::is_directory(argument, ignored)) {
      std::vector<fs::path> found;
      auto options = fs::directory_options::skip_permission_denied;
      for (fs::recursive_directory_iterator at(argument, options, ignored), end; at != end; at.increment(ignored)) {
        if (is_pyc_name(at->path().native()) && at->is_regular_file(ignored)) found.push_back(at->path());
      }
      std::sort(found.begin(), found.end());
      const std::size_t root = (fs::path(argument) / "").native().size();  // the size of the common prefix of all paths
      for (const fs::path& path : found) inputs.push_back({path.native(), path.native().substr(root)});
    } else if (is_archive_name(argument)) {
      add_archive(inputs, argument, max_size);
    } else {
      inputs.push_back({argument, below(fs::path(argument).filename())});
    }
  }
  return inputs;
}

void choose_outputs(std::vector<Input>& inputs) {
  std::map<fs::path, int> wanted;
  for (const Input& input : inputs) ++wanted[source_path(input.output)];
  std::set<fs::path> files, folders;
  auto is_free = [&](const fs::path& path) {
    if (files.contains(path) || folders.contains(path)) return false;
    for (fs::path folder = path.parent_path(); !folder.empty(); folder = folder.parent_path())
      if (files.contains(folder)) return false;
    return true;
  };
  auto take = [&](Input& input, fs::path path) {
    files.insert(path);
    for (fs::path folder = path.parent_path(); !folder.empty(); folder = folder.parent_path()) folders.insert(folder);
    input.output = std::move(path);
  };
  // Inputs that do not share their preferred output with another input get their outputs first, so that no numbered
  // output of another input can have the same name.
  std::vector<Input*> others;
  for (Input& input : inputs) {
    const fs::path path = source_path(input.output);
    if (wanted[path] == 1 && is_free(path)) take(input, path);
    else others.push_back(&input);
  }
  std::map<fs::path, int> numbers;
  for (Input* input : others) {
    const fs::path stem = input->output.parent_path() / input->output.stem();
    fs::path path = stem.string() + ".py";
    for (int& number = numbers[stem]; !is_free(path);) path = stem.string() + "-" + std::to_string(++number) + ".py";
    take(*input, path);
  }
}

std::optional<std::string_view> read_input(const Input& input, std::size_t max_size, std::string& buffer,
                                           std::string& error) {
  if (!input.error.empty()) {
    error = input.error;
    return std::nullopt;
  }
  if (input.bytes) {
    if (input.bytes->size() <= max_size) return *input.bytes;
    error = too_large(max_size);
    return std::nullopt;
  }
  if (input.archive) {
    Result<std::string> bytes = read_member(input.archive->bytes, input.member, max_size);
    if (bytes) return buffer = std::move(*bytes);
    error = std::to_string(bytes.error().offset) + ": " + bytes.error().message;
    return std::nullopt;
  }
  return input.path == "-" ? read_descriptor(0, max_size, buffer, error)
                           : read_file(input.path, max_size, buffer, error);
}

LoadedPyc load_input(std::string_view bytes, Version python) {
  const bool is_code = !bytes.empty() && (bytes[0] & 0x7f) == 'c';
  const bool has_head = bytes.size() >= 4 && bytes[2] == '\r' && bytes[3] == '\n';
  return is_code && !has_head ? load_marshal(bytes, python) : load_pyc(bytes);
}

}  // namespace depyf::cli
