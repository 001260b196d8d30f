#include "cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace depyf::cli {
namespace {

namespace fs = std::filesystem;

constexpr int tries = 100;  // the maximum number of names that are tried for the temporary file

// Creates `folder` and the folders of `path` below `folder`. None of the folders of `path` may be a link. Returns the
// reason for a failure, otherwise an empty string.
std::string make_folders(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return error.message();
  fs::path at = folder;
  for (const fs::path& part : path.parent_path()) {
    at /= part;
    if (::mkdir(at.c_str(), 0777) == 0) continue;
    const int failure = errno;
    struct stat status{};
    if (failure != EEXIST || ::lstat(at.c_str(), &status) != 0) return std::strerror(failure);
    if (S_ISLNK(status.st_mode)) return at.string() + " is a symbolic link, which is not followed";
    if (!S_ISDIR(status.st_mode)) return at.string() + " is not a folder";
  }
  return "";
}

std::string write_and_close(int file, const std::string& text) {
  std::string reason;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      reason = std::strerror(errno);
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  if (::close(file) != 0 && reason.empty()) reason = std::strerror(errno);
  return reason;
}

// Renames the temporary file to `target`, and replaces an existing file only if `force` is set. Returns the reason for
// a failure, otherwise an empty string.
std::string publish(const fs::path& temporary, const fs::path& target, bool force) {
  if (force) {
    struct stat status{};
    if (::lstat(target.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return "a folder has this name";
    return ::rename(temporary.c_str(), target.c_str()) == 0 ? "" : std::strerror(errno);
  }
  if (::link(temporary.c_str(), target.c_str()) == 0) {
    ::unlink(temporary.c_str());
    return "";
  }
  if (errno == EEXIST) return "the file exists already (--force overwrites the file)";
  // Without hard links in the file system, another program may write the file between the check and the renaming.
  struct stat status{};
  if (::lstat(target.c_str(), &status) == 0) return "the file exists already (--force overwrites the file)";
  return ::rename(temporary.c_str(), target.c_str()) == 0 ? "" : std::strerror(errno);
}

}  // namespace

std::string write_file(const fs::path& folder, const fs::path& path, const std::string& text, bool force) {
  if (std::string reason = make_folders(folder, path); !reason.empty()) return reason;
  const fs::path target = folder / path;
  struct stat status{};
  if (!force && ::lstat(target.c_str(), &status) == 0) return "the file exists already (--force overwrites the file)";
  int file = -1;
  fs::path temporary;
  for (int number = 0; file < 0 && number < tries; ++number) {
    temporary = target.parent_path() / (".depyf-" + std::to_string(::getpid()) + "-" + std::to_string(number) + "-" +
                                        target.filename().string().substr(0, 100));
    file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0 && errno != EEXIST) return std::strerror(errno);
  }
  if (file < 0) return "no free name for a temporary file was found";
  std::string reason = write_and_close(file, text);
  if (reason.empty()) reason = publish(temporary, target, force);
  if (!reason.empty()) ::unlink(temporary.c_str());
  return reason;
}

}  // namespace depyf::cli
