#include "cli/command.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cli/checker.h"
#include "cli/text.h"
#include "depyf/decompile.h"
#include "depyf/disassemble.h"
#include "depyf/load.h"
#include "support/deep_stack.h"

namespace depyf::cli {
namespace {

struct Outcome {
  std::string text, error;  // error: whole lines for standard error
  bool done = false;
};

bool read_all(const Input& input, std::string& bytes) {
  const std::string& path = input.path;
  if (input.bytes) {
    bytes = *input.bytes;
    return true;
  }
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  if (!file) return false;
  std::istream& stream = path == "-" ? std::cin : file;
  char buffer[1 << 16];
  while (stream.read(buffer, sizeof buffer) || stream.gcount()) bytes.append(buffer, stream.gcount());
  return stream.eof();
}

bool write_all(const std::filesystem::path& path, const std::string& text) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  return file.good();
}

// The source, with a mark at each code object that does not come back; `error` says what could not be checked.
std::string checked(const CodeObject& code, Options options, std::unique_ptr<Checker>& checker,
                    const std::string& python, std::string& error) {
  std::string source = decompile(code, options).source;
  try {
    if (!checker) checker = std::make_unique<Checker>(python);
    options.marks = checker->differences(code, source);
    if (!options.marks.empty()) source = decompile(code, options).source;
  } catch (const std::runtime_error& failure) {
    error = failure.what();
    if (error.starts_with("--check")) checker = nullptr;  // it has died: the next file gets another
    source = "# depyf: not equal: not checked: " + error + "\n" + source;
  }
  return source;
}

// `checker`: of the thread that calls; made where it is needed.
Outcome process(const Input& input, const Settings& settings, std::unique_ptr<Checker>& checker) {
  std::string bytes;
  if (!read_all(input, bytes)) return {"", input.path + ": cannot be read\n"};
  LoadedPyc loaded = load_pyc(bytes);
  if (!loaded.code) {
    return {"", input.path + ": " + std::to_string(loaded.error_offset) + ": " + loaded.error + "\n"};
  }
  Outcome outcome;
  Options options;
  options.limits = Limits::of_file(bytes.size());
  options.lines = settings.lines;
  if (settings.fields) {
    outcome.text = fields_text(*loaded.code);
  } else if (settings.disassemble) {
    outcome.text = disassembly_text(*loaded.code);
  } else if (settings.graph) {
    outcome.text = control_flow_dot(*loaded.code);
  } else if (settings.lines) {
    outcome.text = line_map_text(decompile(*loaded.code, options));
  } else if (!settings.stop_after.empty() || !settings.dump_after.empty()) {
    options.stop_after = settings.stop_after, options.dump_after = settings.dump_after;
    Decompiled made = decompile(*loaded.code, options);
    outcome.text = settings.dump_after.empty() ? made.source : made.dump;
  } else if (!settings.check.empty()) {
    outcome.text = checked(*loaded.code, options, checker, settings.check, outcome.error);
    if (!outcome.error.empty()) outcome.error = input.path + ": " + outcome.error + "\n";
  } else {
    outcome.text = decompile(*loaded.code, options).source;
  }
  if (!settings.output.empty()) {
    std::filesystem::path path = settings.output / input.output;
    if (!write_all(path, outcome.text)) outcome.error += path.string() + ": cannot be written\n";
    outcome.text.clear();
  }
  return outcome;
}

Outcome process_safely(const Input& input, const Settings& settings, std::unique_ptr<Checker>& checker) {
  try {
    return process(input, settings, checker);
  } catch (const std::exception& error) {
    return {"", input.path + ": " + error.what() + "\n"};
  }
}

}  // namespace

int run(const std::vector<Input>& inputs, const Settings& settings, Sinks& sinks) {
  std::vector<Outcome> outcomes(inputs.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::condition_variable finished;
  // Small files are handed over some at a time: to wake who waits takes longer than some of them do.
  constexpr std::chrono::milliseconds together(20);
  auto work = [&] {
    std::unique_ptr<Checker> checker;
    std::vector<std::pair<std::size_t, Outcome>> made;
    auto handed_over = std::chrono::steady_clock::now();
    auto hand_over = [&] {
      std::lock_guard lock(mutex);
      for (auto& [i, outcome] : made) outcomes[i] = std::move(outcome);
      made.clear();
      finished.notify_one();
    };
    for (std::size_t i = next++; i < inputs.size(); i = next++) {
      made.emplace_back(i, process_safely(inputs[i], settings, checker)).second.done = true;
      const auto now = std::chrono::steady_clock::now();
      if (now - handed_over < together) continue;
      handed_over = now;
      hand_over();
    }
    hand_over();
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::min<std::size_t>(settings.jobs, inputs.size()); ++i)
    threads.emplace_back([&] { on_deep_stack(work); });  // one for all of its files
  // Where a sink throws no further input is begun.
  struct Stop {
    std::atomic<std::size_t>& next;
    std::size_t end;
    ~Stop() { next = end; }
  } stop{next, inputs.size()};
  int status = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::unique_lock lock(mutex);
    while (!finished.wait_for(lock, std::chrono::milliseconds(100), [&] { return outcomes[i].done; })) {
      lock.unlock();
      sinks.idle();
      lock.lock();
    }
    Outcome outcome = std::move(outcomes[i]);
    lock.unlock();
    if (!outcome.text.empty() && inputs.size() > 1) sinks.text("# " + inputs[i].path + "\n");
    if (!outcome.text.empty()) sinks.text(outcome.text);
    if (!outcome.error.empty()) sinks.error(outcome.error), status = 1;
  }
  return status;
}

}  // namespace depyf::cli
