#include <algorithm>
#include <map>

#include "depyf/texts.h"
#include "support/words.h"
#include "texts/shown.h"

namespace depyf {
namespace {

using namespace record;
using texts::shown;

std::string short_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(slash == std::string::npos ? 0 : slash + 1);
}

class LinksText {
 public:
  std::string run(const Run& run) {
    for (const Process& process : run.processes)
      for (const Compilation& compilation : process.compilations) {
        lines_of(compilation, process, run.processes.size() > 1);
        count(compilation);
      }
    if (calls_) {
      text_ += "\n" + std::to_string(calls_) + " calls of kernels and libraries, " +
               std::to_string(calls_ - without_line_) + " of them with a line of source.\n";
      for (const auto& [reason, calls] : reasons_)
        text_ += "  " + std::to_string(calls) + " without a line: " + shown(reason) + "\n";
    }
    return std::move(text_);
  }

 private:
  void lines_of(const Compilation& compilation, const Process& process, bool is_one_of_several) {
    const auto is_linked = [](const Chain& chain) {
      return std::any_of(chain.directions.begin(), chain.directions.end(),
                         [](const auto& direction) { return !direction.second.kernels.empty(); });
    };
    if (std::none_of(compilation.chains.begin(), compilation.chains.end(), is_linked)) return;
    text_ += "\nFrom lines to kernels in compilation " + compilation.id;
    if (is_one_of_several && process.rank) text_ += " of rank " + std::to_string(*process.rank);
    text_ += " (" + shown(compilation.place.function) + "):\n";
    const Place* last = nullptr;
    for (const Chain& chain : compilation.chains) {
      if (!last || last->line != chain.place.line || last->file != chain.place.file) {
        text_ += "  " + (chain.place.line ? shown(short_path(chain.place.file)) + ":" + std::to_string(chain.place.line)
                                          : std::string("no line"));
        text_ += "  " + shown(chain.place.text) + "\n";
        last = &chain.place;
      }
      text_ += "    " + shown(chain.node) + " = " + shown(chain.op) + ": ";
      std::string kernels;
      for (const char* direction : {"forward", "backward"})
        if (const auto link = chain.directions.find(direction);
            link != chain.directions.end() && !link->second.kernels.empty())
          kernels +=
              (kernels.empty() ? "" : "; ") + std::string(direction) + " " + shown(joined(link->second.kernels, ", "));
      text_ += (kernels.empty() ? "no kernel" : kernels) + "\n";
    }
  }

  void count(const Compilation& compilation) {
    for (const OutputCode& code : compilation.output_codes)
      for (const KernelCall& call : code.calls) {
        ++calls_;
        if (!call.places.empty()) continue;
        ++without_line_;
        ++reasons_[call.why_no_place];
      }
  }

  std::string text_;
  std::size_t calls_ = 0, without_line_ = 0;
  std::map<std::string, std::size_t> reasons_;
};

}  // namespace

std::string links_text(const record::Run& run) { return LinksText().run(run); }

}  // namespace depyf
