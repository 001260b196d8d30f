// depyf-mutants: loads and decompiles mutants of .pyc files in worker processes.
//
//   depyf-mutants --seeds SEEDS --count N --seed S [--first I] [--sources] [--keep DIR] [--seconds N] [--megabytes N]
//
// Mutant I depends only on S, I and the files in the folder SEEDS, which are of one version of Python. The parent
// process starts a worker, and a new worker after each mutant that ends the worker or takes longer than --seconds. With
// --sources, each decompiled source is written to standard output for tools/mutants/compile_sources.py: the index of
// the mutant in 8 bytes, the size in 4 bytes and the text. The report is written to standard error; the exit status is
// 1 if a mutant crashed, hung, or took more memory than 40 times its size plus --megabytes.
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "depyf/code_object.h"
#include "depyf/compare.h"
#include "depyf/decompile.h"
#include "depyf/disassemble.h"
#include "depyf/load.h"
#include "depyf/prove.h"
#include "depyf/stack_map.h"
#include "mutate.h"
#include "support/deep_stack.h"

namespace {

// The allocated bytes of the worker and their maximum, which are no atomics because only one thread works at a time.
constinit std::size_t live_bytes = 0, peak_bytes = 0;
constexpr std::size_t bytes_max = std::size_t{2} << 30;  // allocations beyond this limit fail, to protect the machine

}  // namespace

// The operators with std::nothrow are replaced too, because std::stable_sort uses them, and a sanitizer reports memory
// that another allocator frees than the one that allocated it.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* block = live_bytes + size > bytes_max ? nullptr : std::malloc(size);
  if (!block) return nullptr;
  live_bytes += malloc_usable_size(block);
  peak_bytes = std::max(peak_bytes, live_bytes);
  return block;
}
void* operator new(std::size_t size) {
  void* block = operator new(size, std::nothrow);
  if (!block) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept {
  if (!block) return;
  live_bytes -= malloc_usable_size(block);
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { operator delete(block); }

namespace {

using namespace depyf;
using namespace depyf::fuzz;

constexpr std::size_t memory_per_byte = 40;
constexpr std::size_t others_every = 16;  // use_otherwise, which is slower, runs on one of so many mutants

struct Settings {
  std::filesystem::path seeds, keep;
  std::size_t count = 1000, first = 0, seconds = 10, megabytes = 64;
  std::uint64_t seed = 1;
  bool sources = false;
};

// The state of the worker, in memory that the worker shares with its parent process.
struct Progress {
  std::size_t index, loaded, failed, state_machines, stubs, marked, over;
  std::size_t worst_memory, worst_memory_index, slowest_index;
  double slowest, worst_share;  // `slowest` is in seconds, `worst_share` is a share of the allowed memory
  timespec started;
};

double seconds_since(const timespec& start) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec - start.tv_sec) + double(now.tv_nsec - start.tv_nsec) * 1e-9;
}

Random random_of(const Settings& settings, std::size_t index) {
  return Random(Random(settings.seed).next() ^ index * 0xd1342543de82ef95u);
}

std::string file_of(const std::vector<Pyc>& seeds, const Settings& settings, std::size_t index) {
  Random random = random_of(settings, index);
  return write_pyc(mutant(seeds, random));
}

void keep(const Settings& settings, std::size_t index, const std::string& file, const char* why) {
  if (settings.keep.empty()) return;
  std::filesystem::create_directories(settings.keep);
  std::ofstream out(settings.keep / (std::string(why) + "-" + std::to_string(index) + ".pyc"), std::ios::binary);
  out << file;
}

void write_all(const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(1, bytes, size);
    if (written <= 0) std::_Exit(3);  // the process that reads standard output has ended
    bytes += written, size -= static_cast<std::size_t>(written);
  }
}

void write_source(std::size_t index, const std::string& source) {
  std::string record;
  for (int shift = 0; shift < 64; shift += 8) record += static_cast<char>(index >> shift & 0xff);
  for (int shift = 0; shift < 32; shift += 8) record += static_cast<char>(source.size() >> shift & 0xff);
  record += source;
  write_all(record.data(), record.size());
}

constexpr std::uint32_t offsets_max = 64;  // the offset in a code object up to which stacks are computed

void use_stack(const CodeObject& code) {
  const StackMap stack(code);
  for (std::uint32_t offset = 0; offset < code.bytecode.size() && offset < offsets_max; offset += 2)
    (void)stack.depth(offset), (void)stack.pops(offset), (void)stack.slots(offset), (void)stack.handler(offset);
  for (const Constant& constant : code.constants)
    if (constant.code) use_stack(*constant.code);
}

// Runs the other functions that read code objects; their results are ignored, since only crashes matter.
void use_otherwise(const CodeObject& code) {
  (void)disassemble(code);
  (void)control_flow_dot(code);
  if (code.version >= Version{3, 9}) use_stack(code);
  (void)compare(code, code);
  (void)prove(code, code);
}

void try_one(const std::string& file, std::size_t index, const Settings& settings, Progress& progress) {
  const std::size_t before = live_bytes;
  peak_bytes = live_bytes;
  std::string source;
  std::string failure;
  bool is_source = false;
  try {
    const LoadedPyc loaded = load_pyc(file);
    if (loaded.code) {
      ++progress.loaded;
      Options options;
      options.limits = Limits::of_file(file.size());
      options.lines = index % 2 != 0;
      options.prove = index % 2 == 0;
      Decompiled result = decompile(*loaded.code, options);
      if (!result.source.empty() && !result.source.ends_with('\n')) std::abort();
      progress.state_machines += result.level == Level::state_machine;
      progress.stubs += result.level == Level::stub;
      progress.marked += result.source.find("depyf: not equal") != std::string::npos;
      source = std::move(result.source);
      is_source = true;
      if (index % others_every == 0) use_otherwise(*loaded.code);
    }
  } catch (const std::length_error&) {
    ++progress.failed;  // the source would exceed the limit for a file of this size
  }
  const std::size_t used = peak_bytes - before, allowed = memory_per_byte * file.size() + (settings.megabytes << 20);
  const double share = double(used) / double(allowed);
  if (share > progress.worst_share)
    progress.worst_share = share, progress.worst_memory = used, progress.worst_memory_index = index;
  if (used > allowed) {
    ++progress.over;
    std::fprintf(stderr, "mutant %zu: %zu bytes of memory for a file of %zu\n", index, used, file.size());
    keep(settings, index, file, "memory");
  }
  if (is_source && settings.sources) write_source(index, source);
}

[[noreturn]] void work(const std::vector<Pyc>& seeds, const Settings& settings, Progress& progress) {
  on_deep_stack([&] {
    for (; progress.index < settings.first + settings.count; ++progress.index) {
      const std::string file = file_of(seeds, settings, progress.index);
      clock_gettime(CLOCK_MONOTONIC, &progress.started);
      try_one(file, progress.index, settings, progress);
      if (const double taken = seconds_since(progress.started); taken > progress.slowest)
        progress.slowest = taken, progress.slowest_index = progress.index;
    }
  });
  std::_Exit(0);
}

// True if the worker finished all mutants; otherwise `why` is the reason why it ended at `progress.index`.
bool wait_for(pid_t worker, const Settings& settings, const Progress& progress, std::string& why) {
  for (;;) {
    int status = 0;
    if (::waitpid(worker, &status, WNOHANG) == worker) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
      why = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit status " + std::to_string(WEXITSTATUS(status));
      return false;
    }
    timespec pause{.tv_sec = 0, .tv_nsec = 20'000'000};
    nanosleep(&pause, nullptr);
    if (progress.started.tv_sec && seconds_since(progress.started) > double(settings.seconds)) {
      ::kill(worker, SIGKILL);
      ::waitpid(worker, &status, 0);
      why = "no end in " + std::to_string(settings.seconds) + " seconds";
      return false;
    }
  }
}

std::vector<Pyc> read_seeds(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Pyc> seeds;
  for (const std::filesystem::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (auto pyc = read_pyc(bytes)) seeds.push_back(std::move(*pyc));
  }
  return seeds;
}

bool parse(int argc, char** argv, Settings& settings) {
  for (int at = 1; at < argc; ++at) {
    const std::string_view name = argv[at];
    if (name == "--sources") {
      settings.sources = true;
      continue;
    }
    if (++at >= argc) return false;
    const char* value = argv[at];
    if (name == "--seeds") settings.seeds = value;
    else if (name == "--keep") settings.keep = value;
    else if (name == "--count") settings.count = std::strtoull(value, nullptr, 10);
    else if (name == "--first") settings.first = std::strtoull(value, nullptr, 10);
    else if (name == "--seed") settings.seed = std::strtoull(value, nullptr, 10);
    else if (name == "--seconds") settings.seconds = std::strtoull(value, nullptr, 10);
    else if (name == "--megabytes") settings.megabytes = std::strtoull(value, nullptr, 10);
    else return false;
  }
  return !settings.seeds.empty();
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (!parse(argc, argv, settings)) {
    std::fprintf(stderr,
                 "usage: depyf-mutants --seeds DIR [--count N] [--seed S] [--first I] [--sources] [--keep DIR]\n");
    return 2;
  }
  const std::vector<Pyc> seeds = read_seeds(settings.seeds);
  if (seeds.empty()) {
    std::fprintf(stderr, "depyf-mutants: no seeds in %s\n", settings.seeds.c_str());
    return 2;
  }
  void* shared = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  Progress& progress = *new (shared) Progress{};
  progress.index = settings.first;
  std::size_t ended = 0;
  while (progress.index < settings.first + settings.count) {
    progress.started = {};
    const pid_t worker = ::fork();
    if (worker == 0) work(seeds, settings, progress);
    std::string why;
    if (wait_for(worker, settings, progress, why)) break;
    ++ended;
    std::fprintf(stderr, "mutant %zu: %s\n", progress.index, why.c_str());
    keep(settings, progress.index, file_of(seeds, settings, progress.index), "ended");
    ++progress.index;
  }
  std::fprintf(
      stderr,
      "3.%d: %zu mutants of %zu seeds (seed %llu): %zu loaded, %zu too long, %zu with marks, %zu state machines, "
      "%zu stubs; %zu crashed or hung, %zu over memory (most: %.1f %% of what may be, %.1f MB, mutant %zu); "
      "slowest %.2f s (mutant %zu)\n",
      seeds[0].minor, settings.count, seeds.size(), static_cast<unsigned long long>(settings.seed), progress.loaded,
      progress.failed, progress.marked, progress.state_machines, progress.stubs, ended, progress.over,
      progress.worst_share * 100, double(progress.worst_memory) / 1e6, progress.worst_memory_index, progress.slowest,
      progress.slowest_index);
  return ended || progress.over ? 1 : 0;
}
