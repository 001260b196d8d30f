#include "cli/checker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "depyf/code_object.h"
#include "depyf/load.h"

extern char** environ;

namespace depyf::cli {
namespace {

constexpr int seconds_for_one = 60;
constexpr std::uint32_t longest_answer = 1u << 30;

// The program that the interpreter runs. The program reads the lengths and the texts of a source and a file name. The
// program writes a byte 1 and a .pyc file if the source compiles, otherwise a byte 0 and an error message.
constexpr const char* worker = R"python(
import importlib.util, marshal, struct, sys
sys.setrecursionlimit(5000)
read, write = sys.stdin.buffer, sys.stdout.buffer
write.write(bytes(sys.version_info[:2]))
write.flush()
while True:
    head = read.read(8)
    if len(head) < 8:
        break
    size, name_size = struct.unpack("<II", head)
    source, name = read.read(size), read.read(name_size).decode("utf-8", "replace")
    try:
        code = compile(source, name.replace("\0", "?"), "exec", dont_inherit=True, optimize=0)
        answer = b"\1" + importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)
    except Exception as error:
        line = getattr(error, "lineno", None)
        where = "line %s: " % line if line else ""
        answer = b"\0" + (where + str(getattr(error, "msg", None) or error or type(error).__name__)).encode()
    write.write(struct.pack("<I", len(answer)) + answer)
    write.flush()
)python";

std::string number(std::size_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

}  // namespace

Checker::Checker(const std::string& python) : python_(python) {
  // A socket is used, so that writing to an interpreter that has died is an error and raises no signal.
  std::array<int, 2> ends{};
  std::array<int, 2> answers{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::runtime_error("--check " + python + ": a socket cannot be created");
  if (::pipe2(answers.data(), O_CLOEXEC) != 0)
    throw std::runtime_error("--check " + python + ": a pipe cannot be created");
  in_ = ends[0], out_ = answers[0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  posix_spawn_file_actions_adddup2(&actions, answers[1], 1);
  std::array<const char*, 8> arguments{python.c_str(), "-I", "-S", "-W", "ignore", "-c", worker, nullptr};
  const int failed =
      ::posix_spawnp(&pid_, python.c_str(), &actions, nullptr, const_cast<char**>(arguments.data()), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  ::close(answers[1]);
  if (failed != 0) {
    ::close(in_);
    ::close(out_);
    throw std::runtime_error("--check " + python + ": " + std::strerror(failed));
  }
  const std::string version = read(2);
  version_ = {version[0], version[1]};
}

Checker::~Checker() {
  ::close(in_);
  ::close(out_);
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Checker::write(const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::send(in_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw std::runtime_error("--check " + python_ + ": the interpreter has ended unexpectedly");
    done += static_cast<std::size_t>(count);
  }
}

std::string Checker::read(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t done = 0; done < count;) {
    pollfd ready{.fd = out_, .events = POLLIN, .revents = 0};
    const int events = ::poll(&ready, 1, seconds_for_one * 1000);
    if (events < 0 && errno == EINTR) continue;
    if (events == 0)
      throw std::runtime_error("--check " + python_ + ": the interpreter has not answered within " +
                               std::to_string(seconds_for_one) + " seconds");
    const ssize_t got = ::read(out_, bytes.data() + done, count - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw std::runtime_error("--check " + python_ + ": the interpreter has ended unexpectedly");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::vector<Difference> Checker::differences(const CodeObject& code, const std::string& source) {
  if (code.version != version_) {
    throw std::runtime_error("the file was compiled by Python " + std::to_string(code.version.major) + "." +
                             std::to_string(code.version.minor) + ", but the interpreter " + python_ +
                             " of --check is Python " + std::to_string(version_.major) + "." +
                             std::to_string(version_.minor));
  }
  write(number(source.size()) + number(code.filename.size()) + source + code.filename);
  std::uint32_t size = 0;
  const std::string head = read(4);
  for (std::size_t at = 4; at--;) size = size << 8 | static_cast<unsigned char>(head[at]);
  if (size == 0 || size > longest_answer)
    throw std::runtime_error("--check " + python_ + ": the answer of the interpreter has a wrong format");
  const std::string answer = read(size);
  if (answer[0] == 0) throw std::runtime_error("the decompiled source does not compile: " + answer.substr(1));
  const LoadedPyc compiled = load_pyc(std::string_view(answer).substr(1));
  if (!compiled.code)
    throw std::runtime_error("the code that was compiled from the source cannot be loaded: " + compiled.error);
  return compare(code, *compiled.code);
}

}  // namespace depyf::cli
