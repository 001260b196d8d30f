#include "cli/command.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/checker.h"
#include "cli/interpreters.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/text.h"
#include "depyf/code_object.h"
#include "depyf/decompile.h"
#include "depyf/disassemble.h"
#include "support/deep_stack.h"

namespace depyf::cli {
namespace {

struct Outcome {
  std::string text, error;  // `error` contains whole lines for standard error
  FileReport report;
};

// The interpreters of one thread. There is one interpreter for all files or, with `auto`, one for each version of
// Python. Each interpreter is started when it is first needed.
class Checkers {
 public:
  explicit Checkers(const std::string& python) : python_(python) {}

  Checker& of(Version version) {
    const bool automatic = python_ == "auto";
    std::unique_ptr<Checker>& checker = running_[automatic ? version : Version{0, 0}];
    if (checker) return *checker;
    std::string program = automatic ? find_interpreter(version) : python_;
    if (program.empty()) {
      const std::string number = std::to_string(version.major) + "." + std::to_string(version.minor);
      throw std::runtime_error("--check auto: no interpreter of Python " + number +
                               " was found; name the interpreter with --check PYTHON");
    }
    checker = std::make_unique<Checker>(program);
    return *checker;
  }
  // Drops an interpreter that has died, so that another interpreter is started for the next file.
  void forget(Version version) { running_.erase(python_ == "auto" ? version : Version{0, 0}); }

 private:
  std::string python_;
  std::map<Version, std::unique_ptr<Checker>> running_;
};

// Returns the source, with a comment `# depyf: not equal` at each code object whose source compiles to bytecode that
// differs from the original bytecode. Sets `error` to the reason if the source could not be checked.
Decompiled checked(const CodeObject& code, Options options, Checkers& checkers, std::string& error) {
  options.compared = true;
  Decompiled result = decompile(code, options);
  try {
    options.marks = checkers.of(code.version).differences(code, result.source);
    if (!options.marks.empty()) result = decompile(code, options);
  } catch (const std::runtime_error& failure) {
    error = failure.what();
    if (error.starts_with("--check")) checkers.forget(code.version);
    options.compared = false;
    result = decompile(code, options);
    result.source = "# depyf: not equal: not checked: " + error + "\n" + result.source;
  }
  return result;
}

void count_aligned(const std::vector<LineMapping>& lines, FileReport& report) {
  for (const LineMapping& mapping : lines) {
    if (mapping.original < 0) ++report.without_line;
    else if (std::int64_t(mapping.line) == mapping.original) ++report.aligned;
    else report.not_aligned.push_back(mapping);
  }
}

bool prints_source(const Settings& settings) {
  return !settings.fields && !settings.disassemble && !settings.graph && !settings.lines &&
         settings.stop_after.empty() && settings.dump_after.empty();
}

// Returns the text that the settings select instead of the source, such as the disassembly.
std::string other_text(const CodeObject& code, Options options, const Settings& settings) {
  if (settings.fields) return fields_text(code);
  if (settings.disassemble) return disassembly_text(code);
  if (settings.graph) return control_flow_dot(code);
  if (settings.lines) return line_map_text(decompile(code, options));
  options.stop_after = settings.stop_after, options.dump_after = settings.dump_after;
  Decompiled result = decompile(code, options);
  return settings.dump_after.empty() ? std::move(result.source) : std::move(result.dump);
}

// The objects that one thread uses for all of its files.
struct Tools {
  Checkers checkers;
  std::string buffer = {};  // the memory for the bytes of the file that is processed
  std::deque<std::size_t> filled = {};  // the inputs whose outcomes the thread has filled and not yet freed
};

void process(const Input& input, const Settings& settings, Tools& tools, Outcome& outcome) {
  FileReport& report = outcome.report;
  auto fail = [&](const std::string& what) {
    outcome.error += input.path + ": " + what + "\n";
    report.error += (report.error.empty() ? "" : "; ") + what;
    report.status = FileReport::Status::failed;
  };
  std::string reason;
  const std::optional<std::string_view> bytes = read_input(input, settings.max_size, tools.buffer, reason);
  if (!bytes) return fail(reason);
  const LoadedPyc loaded = load_input(*bytes, settings.python);
  if (!loaded.code) return fail(std::to_string(loaded.error_offset) + ": " + loaded.error);
  report.python = loaded.code->version;
  Options options;
  options.limits = Limits::of_file(bytes->size());
  options.lines = settings.lines || (settings.align && settings.json);
  options.align = settings.align;
  options.width = settings.width;
  options.prove = settings.prove;
  options.standalone = true;
  if (!prints_source(settings)) {
    outcome.text = other_text(*loaded.code, options, settings);
    report.status = FileReport::Status::text;
  } else {
    const bool checks = !settings.check.empty();
    Decompiled result =
        checks ? checked(*loaded.code, options, tools.checkers, reason) : decompile(*loaded.code, options);
    outcome.text = std::move(result.source);
    for (CodeProof& proof : result.proofs) {
      const CodeObject& code = *proof.code;
      if (proof.proved) ++report.proved;
      else
        report.unproved.push_back(
            {code.qualname.empty() ? code.name : code.qualname, proof.offset, std::move(proof.reason)});
    }
    find_marks(outcome.text, report);
    report.is_aligned = settings.align;
    count_aligned(result.lines, report);
    for (const NestedLines& nested : result.nested) count_aligned(nested.lines, report);
    report.status = !report.marks.empty() ? FileReport::Status::marked
                    : checks              ? FileReport::Status::equal
                                          : FileReport::Status::unchecked;
    if (!reason.empty()) fail(reason);
  }
  if (settings.output.empty()) return;
  const std::filesystem::path path = std::filesystem::path(settings.output) / input.output;
  if (reason = write_file(settings.output, input.output, outcome.text, settings.force); reason.empty()) {
    report.output = path.string();
  } else {
    outcome.error += path.string() + ": cannot be written: " + reason + "\n";
    report.error += (report.error.empty() ? "" : "; ") + path.string() + ": cannot be written: " + reason;
    report.status = FileReport::Status::failed;
  }
  outcome.text.clear();
}

// Processes one file, and turns an exception into an error of the file.
Outcome process_safely(const Input& input, const Settings& settings, Tools& tools) {
  Outcome outcome;
  outcome.report.file = input.path;
  std::string failure;
  try {
    process(input, settings, tools, outcome);
    return outcome;
  } catch (const std::exception& error) {
    failure = error.what();
  } catch (...) {
    failure = "an error without a description";
  }
  outcome = {};
  outcome.report.file = input.path, outcome.report.error = failure;
  outcome.error = input.path + ": " + failure + "\n";
  return outcome;
}

// Processes all files in several threads. The thread that calls `wait_for` (the reader) takes the results in the order
// of the inputs.
class Batch {
 public:
  Batch(const std::vector<Input>& inputs, const Settings& settings)
      : inputs_(inputs), settings_(settings), outcomes_(inputs.size()), done_(inputs.size()) {}

  // No further input is started after the caller has stopped taking results, for example because of an exception.
  ~Batch() { next_ = inputs_.size(); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void start() {
    const std::size_t count = std::min<std::size_t>(settings_.jobs, inputs_.size());
    try {
      for (std::size_t i = 0; i < count; ++i) threads_.emplace_back(worker_);
    } catch (const std::exception&) {  // The threads that were started process all files.
      if (threads_.empty()) work();
    }
  }

  // Waits until the input `index` has been processed, and returns its result. The caller takes the results in the order
  // of the inputs; each result is valid until the caller takes the next one.
  template <class Idle>
  const Outcome& wait_for(std::size_t index, Idle idle) {
    taken_ = index;
    std::unique_lock lock(mutex_);
    while (!finished_.wait_for(lock, std::chrono::milliseconds(100), [&] { return done_[index].load(); })) {
      lock.unlock();
      idle();
      lock.lock();
    }
    return outcomes_[index];
  }

 private:
  struct Worker {
    Batch& batch;
    void operator()() const { batch.work(); }
  };

  // Outside of the `try`, nothing allocates memory, because an exception outside of the `try` would end the process.
  void work() {
    // The thread that reads the results is woken only after several small files, because waking it takes longer than
    // processing some files.
    constexpr std::chrono::milliseconds between_wakes(20);
    std::optional<Tools> tools;
    auto woken = std::chrono::steady_clock::now();
    for (std::size_t i = next_++; i < inputs_.size(); i = next_++) {
      try {
        if (!tools) tools.emplace(Checkers(settings_.check));
        free_taken(tools->filled);
        tools->filled.push_back(i);
        outcomes_[i] = process_safely(inputs_[i], settings_, *tools);
      } catch (...) {  // The error message could not be allocated; "out of memory" needs no allocation.
        outcomes_[i].error = "out of memory\n";
      }
      done_[i] = true;
      const auto now = std::chrono::steady_clock::now();
      if (now - woken < between_wakes) continue;
      woken = now;
      wake();
    }
    wake();
  }

  // Frees the outcomes that the reader, which calls `wait_for`, no longer needs. Each outcome is freed by the thread
  // that filled it, because operator delete keeps the memory for the thread that calls it (see allocation.cpp), and the
  // reader allocates hardly anything.
  void free_taken(std::deque<std::size_t>& filled) {
    for (; !filled.empty() && filled.front() < taken_; filled.pop_front())
      const Outcome freed = std::move(outcomes_[filled.front()]);  // Assigning {} would keep the memory of the texts.
  }

  void wake() {
    std::lock_guard lock(mutex_);  // Under the lock, the reader either has not yet checked `done_` or is waiting.
    finished_.notify_one();
  }

  const std::vector<Input>& inputs_;
  const Settings& settings_;
  // An outcome is accessed only by the thread that fills it and by the reader, which calls `wait_for`. The reader
  // accesses an outcome after the outcome's `done_` has become true, and until `taken_` exceeds the outcome's index.
  std::vector<Outcome> outcomes_;
  std::vector<std::atomic<bool>> done_;
  std::atomic<std::size_t> next_ = 0, taken_ = 0;  // `taken_` is the index of the last result that the reader took
  std::mutex mutex_;
  std::condition_variable finished_;
  const Worker worker_{*this};
  std::list<DeepThread> threads_;  // The last member, so that the threads end before the members that they use.
};

}  // namespace

int run(const std::vector<Input>& inputs, const Settings& settings, Sinks& sinks) {
  Batch batch(inputs, settings);
  batch.start();
  Counts counts;
  int status = 0;
  const bool several = inputs.size() > 1;
  if (settings.json) sinks.text("{\"version\": 1, \"files\": [");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Outcome& outcome = batch.wait_for(i, [&] { sinks.idle(); });
    counts.add(outcome.report);
    if (settings.json) {
      const bool holds_text = settings.output.empty() && outcome.report.python.major != 0;
      sinks.text((i ? ",\n" : "\n") + json_of(outcome.report, holds_text ? &outcome.text : nullptr));
    } else if (!outcome.text.empty()) {
      if (several) sinks.text("# " + inputs[i].path + "\n");
      sinks.text(outcome.text);
    }
    if (!outcome.error.empty()) sinks.error(outcome.error), status = 1;
  }
  if (settings.json) sinks.text("],\n\"counts\": " + counts.json() + "}\n");
  if (!settings.quiet && (several || !settings.output.empty())) sinks.error(counts.line());
  return status;
}

}  // namespace depyf::cli
