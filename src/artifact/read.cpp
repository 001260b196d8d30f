#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "artifact/budget.h"
#include "artifact/bundle.h"
#include "artifact/guards.h"
#include "artifact/miss.h"
#include "artifact/outlines.h"
#include "artifact/precompile.h"
#include "artifact/stages.h"
#include "depyf/constant.h"
#include "depyf/recode.h"
#include "load/zip.h"
#include "page/sha256.h"
#include "pickle/outline.h"
#include "support/deep_stack.h"
#include "support/words.h"

namespace depyf::artifact {
namespace {

using pickle::Kind;
using pickle::Value;

// The maximum number of parts of one file; the bundle of a large program has some hundred entries.
constexpr std::size_t parts_max = 10'000;
constexpr std::size_t sources_max = 10'000;  // the maximum number of sources of one function
constexpr std::size_t names_max = 10'000;  // the maximum number of globals that unpickling would import
constexpr std::string_view ahead_mark = "PT2AOT";
constexpr std::size_t archive_max = std::size_t{64} << 20;  // the maximum size of the pickle in an archive

class Reader {
 public:
  explicit Reader(Artifact& artifact) : artifact_(artifact), budget_(artifact.size) {}

  void read(std::string_view bytes) {
    if (is_bundle(bytes)) {
      artifact_.format = "a bundle of cache entries (torch.compiler.save_cache_artifacts)";
      return read_entries(bytes);
    }
    if (is_precompile_source(bytes)) return read_precompiled(bytes);
    if (is_zip(bytes)) return read_archive(bytes);
    if (is_recorded_key(bytes)) {
      if (std::optional<Part> part = read_recorded_key(bytes, budget_)) {
        artifact_.format = "the key of a cache entry, as a run recorded it";
        artifact_.parts.push_back(std::move(*part));
        return;
      }
    }
    if (!read_pickle(without_mark(bytes), {}, {})) return;
    if (artifact_.format.empty()) artifact_.format = "a pickle of an unknown kind";
  }

 private:
  void read_entries(std::string_view bytes) {
    const auto entries = read_bundle(bytes);
    if (!entries) return fail(entries.error());
    for (const BundleEntry& entry : *entries) {
      if (artifact_.parts.size() >= parts_max) return;
      const std::size_t count = artifact_.parts.size();
      std::string problem;
      if (looks_like_pickle(entry.content)) {
        Artifact inner;
        std::swap(inner.outline, artifact_.outline);
        read_pickle(entry.content, entry.kind, entry.key);
        std::swap(inner.outline, artifact_.outline);
        problem = std::exchange(artifact_.error, {});
      }
      if (artifact_.parts.size() == count) {
        Part& part = artifact_.parts.emplace_back();
        part.title = entry.kind + " entry";
        if (!problem.empty()) part.notes.push_back(problem);
        else if (!looks_like_pickle(entry.content))
          part.stages.push_back({"content", {}, false, budget_.copied(entry.content)});
      }
      for (std::size_t index = count; index < artifact_.parts.size(); ++index) {
        artifact_.parts[index].kind = entry.kind;
        artifact_.parts[index].key = entry.key;
        artifact_.parts[index].size = entry.content.size();
      }
    }
  }

  // Returns the pickle in a file of aot_compile. From PyTorch 2.15 on, a magic number and the version of the format
  // precede the pickle.
  static std::string_view without_mark(std::string_view bytes) {
    if (bytes.starts_with(ahead_mark)) bytes.remove_prefix(std::min(ahead_mark.size() + 1, bytes.size()));
    return bytes;
  }

  static bool looks_like_pickle(std::string_view bytes) { return pickle::has_magic(bytes); }

  void fail(const Error& error) {
    artifact_.error = error.message;
    artifact_.error_offset = error.offset;
  }

  bool read_pickle(std::string_view bytes, const std::string& kind, const std::string& key) {
    if (!budget_.take_nested(bytes.size())) return false;
    const auto document = pickle::read(bytes);
    if (!document) {
      fail(document.error());
      return false;
    }
    note_reach(*document);
    read_value(document->root(), kind, key);
    if (artifact_.parts.empty()) artifact_.outline = pickle::outline(document->root(), 4000);
    return true;
  }

  void note_reach(const pickle::Document& document) {
    const pickle::Reach found = pickle::reach(document);
    const auto add = [](std::vector<std::string>& to, std::set<std::string>& seen,
                        const std::vector<std::string>& from) {
      for (const std::string& name : from)
        if (seen.size() < names_max && seen.insert(name).second) to.push_back(name);
    };
    add(artifact_.names, seen_names_, found.names);
    add(artifact_.called, seen_calls_, found.called);
    artifact_.persistent_count += found.persistent_count;
  }

  void set_format(std::string words) {
    if (artifact_.format.empty()) artifact_.format = std::move(words);
  }

  void read_value(const Value& root, const std::string& kind, const std::string& key) {
    if (artifact_.parts.size() >= parts_max) return;
    if (root["original_code"] && root["runtime_env"]) {
      set_format("a function compiled ahead of time (torch.compile(...).aot_compile)");
      return read_function_part(root);
    }
    if (root.is(Kind::list) && root.size() > 0 && root.at(0).is(Kind::bytes)) return read_model(root);
    if (root.is_a("PrecompileCacheEntry")) {
      read_package(root.attribute("dynamo"));
      return read_backends(root.attribute("backends"));
    }
    if (root.is_a("_DynamoCacheEntry")) return read_package(root);
    const Value result = root.is(Kind::tuple) && root.at(0).is_object() ? root.at(0) : root;
    if (result.is_a("CompiledFxGraph")) {
      set_format("an entry of Inductor's cache");
      Part& part = new_part("Inductor's entry", kind, key);
      return read_inductor_result(result, "", part, budget_);
    }
    if (result.class_name().find("AOTAutogradResult") != std::string::npos) {
      set_format("an entry of AOTAutograd's cache");
      Part& part = new_part("AOTAutograd's entry", kind, key);
      return read_aot_result(result, part, budget_);
    }
  }

  Part& new_part(std::string title, const std::string& kind, const std::string& key) {
    Part& part = artifact_.parts.emplace_back();
    part.title = std::move(title), part.kind = kind, part.key = key, part.size = artifact_.size;
    return part;
  }

  // Reads a file with a model that was compiled ahead of time. The file contains a list of pickled functions, one for
  // each input for which the model was compiled.
  void read_model(const Value& list) {
    set_format("a model compiled ahead of time for " + std::to_string(list.size()) +
               (list.size() == 1 ? " input" : " inputs"));
    for (std::size_t position = 0; position < list.size() && artifact_.parts.size() < parts_max; ++position) {
      const std::string_view bytes = without_mark(list.at(position).text());
      if (!list.at(position).is(Kind::bytes) || depth_ > 0 || !budget_.take_nested(bytes.size())) continue;
      const auto document = pickle::read(bytes);
      if (!document) {
        new_part("input " + std::to_string(position), {}, {}).notes.push_back(document.error().message);
        continue;
      }
      note_reach(*document);
      ++depth_;
      read_value(document->root(), {}, {});
      --depth_;
    }
  }

  void read_function_part(const Value& root) {
    Part& part = new_part({}, {}, {});
    const Value environment = root["runtime_env"];
    const std::optional<Version> version = read_system(root["system_info"], part);
    add_fact(part, "device", root["device_type"]);
    add_fact(part, "backend", root["backend_name"]);
    add_fact(part, "name of the compiled graph", root["backend_id"]);
    part.functions.push_back(read_function(root["original_code"], "original", version, budget_.code));
    part.functions.push_back(read_function(environment.attribute("bytecode"), "transformed", version, budget_.code));
    part.title = part.functions[0].name + signature_text(root["signature"]);
    for (const std::string& note : kept_values(environment)) part.notes.push_back(note);
    read_guards_state(root["guards_state"], part);
    read_compiled(root["compiled_fn"], part);
    read_sources(root["source_info"], part);
  }

  void add_fact(Part& part, std::string name, const Value& value) {
    if (value && !value.is(Kind::none)) part.facts.push_back({std::move(name), short_text(value)});
  }

  std::optional<Version> read_system(const Value& system, Part& part) {
    const Value python = system.attribute("python_version"), torch = system.attribute("torch_version");
    add_fact(part, "Python", python);
    add_fact(part, "torch", torch.is_object() ? torch.argument(0) : torch);
    add_fact(part, "toolkit", system.attribute("toolkit_version"));
    const Value triton = system.attribute("triton_version");
    if (triton.at(0).integer() || triton.at(1).integer()) add_fact(part, "Triton", triton);
    add_fact(part, "GPU", system.attribute("gpu_name"));
    return version_of(python.text());
  }

  void read_guards_state(const Value& bytes, Part& part) {
    if (!bytes.is(Kind::bytes) || !budget_.take_nested(bytes.text().size())) return;
    const auto document = pickle::read(bytes.text());
    if (!document) {
      part.notes.push_back("the guards could not be read: " + document.error().message + " at byte " +
                           std::to_string(document.error().offset) + " of their pickle");
      return;
    }
    note_reach(*document);
    std::vector<std::string> reads;
    if (!part.functions.empty() && part.functions[0].code) {
      for (const std::string& name : global_names(*part.functions[0].code))
        if (!is_builtin(name)) reads.push_back(name);
    }
    read_guards(document->root(), reads, part);
  }

  // Reads a compiled function in the form that PyTorch's backends and vLLM save: a pair of the name of the function
  // that unpickles the bytes, and the pickled bytes.
  void read_compiled(const Value& compiled, Part& part) {
    const std::string maker = compiled.at(0).dotted_name();
    if (!maker.empty()) part.facts.push_back({"what is compiled is loaded by", maker});
    const Value bytes = compiled.at(1);
    if (!bytes.is(Kind::bytes) || !budget_.take_nested(bytes.text().size())) return;
    const auto document = pickle::read(bytes.text());
    if (!document) {
      part.notes.push_back("the compiled code could not be read: " + document.error().message + " at byte " +
                           std::to_string(document.error().offset) + " of its pickle");
      return;
    }
    note_reach(*document);
    const Value root = document->root();
    const Value result = root.is(Kind::tuple) ? root.at(0) : root;
    if (result.class_name().find("AOTAutogradResult") != std::string::npos) {
      read_aot_result(result, part, budget_);
      if (root.at(1).size() > 0)
        part.notes.push_back("Triton kernels that loading imports: " + pickle::outline(root.at(1), 500));
      return;
    }
    read_graph_modules(*document, "graph", part, budget_);
    read_nested_graphs(root, part);
  }

  // Reads a dict in which each graph module is a separate pickle.
  void read_nested_graphs(const Value& state, Part& part) {
    for (std::size_t position = 0; position < state.size() && position < text_max; ++position) {
      const Value bytes = state.value(position);
      const std::string name = short_text(state.key(position));
      if (!bytes.is(Kind::bytes) || !pickle::has_magic(bytes.text())) {
        if (state.is(Kind::dict) && !bytes.is(Kind::bytes)) part.facts.push_back({name, pickle::outline(bytes, 200)});
        continue;
      }
      if (!budget_.take_nested(bytes.text().size())) continue;
      const auto document = pickle::read(bytes.text());
      if (!document) {
        part.notes.push_back(name + " could not be read: " + document.error().message);
        continue;
      }
      note_reach(*document);
      read_graph_modules(*document, name == "graph_module" ? "graph" : "graph: " + name, part, budget_);
    }
  }

  // Returns the lines [first, last) of a module's text, like `lines_between`. The functions of a module share the
  // module's text, so the starts of the lines are searched for only once.
  std::string_view lines_of_module(std::string_view text, std::int64_t first, std::int64_t last) {
    const auto [entry, is_new] = line_starts_.try_emplace(text.data());
    std::vector<std::size_t>& starts = entry->second;
    if (is_new && text.size() <= lines_left_) {
      starts.push_back(0);
      for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1))
        if (end + 1 < text.size()) starts.push_back(end + 1);
      starts.push_back(text.size());
      lines_left_ -= text.size();
    }
    if (first < 1 || last <= first || static_cast<std::size_t>(first) >= starts.size()) return {};
    const std::size_t start = starts[static_cast<std::size_t>(first) - 1];
    const std::size_t end = starts[std::min(static_cast<std::size_t>(last), starts.size()) - 1];
    return end <= text.size() ? text.substr(start, end - start) : std::string_view();
  }

  void read_sources(const Value& info, Part& part) {
    const Value sources = info.attribute("inlined_sources");
    for (std::size_t position = 0; position < sources.size() && position < sources_max; ++position) {
      const Value pickled = sources.at(position);
      Source source;
      source.module = short_text(pickled.attribute("module"));
      source.first_line = pickled.attribute("firstlineno").integer();
      source.last_line = pickled.attribute("lastlineno").integer();
      source.checksum = short_text(pickled.attribute("checksum"));
      source.text =
          budget_.copied(lines_of_module(pickled.attribute("content").text(), source.first_line, source.last_line));
      source.text_has_checksum = page::sha256_hexadecimal(source.text) == source.checksum;
      part.sources.push_back(std::move(source));
    }
    std::sort(part.sources.begin(), part.sources.end(), [](const Source& one, const Source& two) {
      return std::tie(one.module, one.first_line, one.last_line) < std::tie(two.module, two.first_line, two.last_line);
    });
  }

  // Reads an entry of Dynamo's cache for a function: the compilations of the function and of its resume functions.
  void read_package(const Value& package) {
    set_format("an entry of Dynamo's cache (torch.compile with caching_precompile)");
    const Value codes = package.attribute("codes");
    for (std::size_t position = 0; position < codes.size() && artifact_.parts.size() < parts_max; ++position) {
      const Value code = codes.at(position);
      const Value compilations = code.attribute("guarded_codes");
      const std::size_t count = std::max<std::size_t>(compilations.size(), 1);
      for (std::size_t number = 0; number < count && artifact_.parts.size() < parts_max; ++number) {
        Part& part = new_part({}, {}, {});
        const std::optional<Version> version = read_system(package.attribute("system_info"), part);
        add_fact(part, "device", package.attribute("device_type"));
        add_fact(part, "module", code.attribute("python_module"));
        add_fact(part, "compiled graphs", code.attribute("backend_ids"));
        const bool is_resume = code.attribute("install_to_global").is_true();
        part.functions.push_back(
            read_function(code.attribute("python_code"), is_resume ? "resume" : "original", version, budget_.code));
        part.title = part.functions[0].name + ", compilation " + std::to_string(number + 1) + " of " +
                     std::to_string(compilations.size());
        if (const Value compilation = compilations.at(number)) {
          part.functions.push_back(
              read_function(compilation.attribute("dynamo_code"), "transformed", version, budget_.code));
          read_guards_state(compilation.attribute("guards_state"), part);
        }
        if (position == 0 && number == 0) read_sources(package.attribute("source_info"), part);
      }
    }
  }

  // Reads a file of torch.save. The only files of torch.save that depyf can read are the caches that
  // torch.compiler.precompile writes beside its source.
  void read_archive(std::string_view bytes) {
    set_format("a file of torch.save");
    Result<std::string> pickled = pickle_of_archive(bytes, budget_.nested);
    if (!pickled) return fail(pickled.error());
    const std::string& content = decoded_.emplace_back(std::move(*pickled));
    const auto document = pickle::read(content);
    if (!document) return fail(document.error());
    note_reach(*document);
    const Value root = document->root();
    if (root["format"].text() != "torch.compiler.precompile") {
      artifact_.outline = pickle::outline(root, 4000);
      return;
    }
    artifact_.format = "the cache of a function captured ahead of time (torch.compiler.precompile)";
    artifact_.source_checksum = short_text(root["code_hash"]);
    Part& part = new_part("cache of torch.compiler.precompile", {}, {});
    add_fact(part, "version of the format", root["version"]);
    add_fact(part, "backend", root["backend"]);
    add_fact(part, "tracer", root["tracer"]);
    add_fact(part, "SHA-256 of the source that it belongs to", root["code_hash"]);
    const Value bundle = root["artifact"];
    if (bundle.is(Kind::none)) part.notes.push_back("the cache contains no kernels");
    else read_entries(decoded_.emplace_back(bytes_of(bundle)));
  }

  // Reads the source that torch.compiler.precompile writes, which contains pickles of Dynamo's frames as text.
  void read_precompiled(std::string_view text) {
    set_format("a function captured ahead of time (torch.compiler.precompile)");
    artifact_.own_checksum = page::sha256_hexadecimal(text);
    const PrecompileSource source = read_precompile_source(text);
    Part& part = new_part("what was captured", {}, {});
    std::optional<Version> version;
    for (const Fact& fact : source.facts) {
      if (fact.name == "Python") version = version_of(fact.value);
      if (fact.name == "function") part.title = fact.value;
      part.facts.push_back({fact.name, budget_.copied(fact.value)});
    }
    part.unchecked = source.unchecked;
    part.notes.push_back("torch.compiler.precompile.load runs this file as a program; depyf read it as text");
    for (const PrecompileSection& section : source.sections)
      part.stages.push_back({section.title, {}, true, budget_.copied(section.text)});
    read_pickled_text(source.frames, [&](const pickle::Document& document) { read_frames(document.root(), version); });
    read_pickled_text(source.backends, [&](const pickle::Document& document) {
      read_backends(document.root());
      read_graph_modules(document, "graph", artifact_.parts.front(), budget_);
    });
  }

  template <class Take>
  void read_pickled_text(std::string_view base64, Take take) {
    if (base64.empty()) return;
    std::optional<std::string> bytes = decoded_base64(base64);
    if (!bytes || !budget_.take_nested(bytes->size()))
      return artifact_.parts.front().notes.push_back("the pickles in the file are not valid base64 text");
    const std::string& content = decoded_.emplace_back(std::move(*bytes));
    const auto document = pickle::read(content);
    if (!document)
      return artifact_.parts.front().notes.push_back("a pickle in the file could not be read: " +
                                                     document.error().message);
    note_reach(*document);
    take(*document);
  }

  // Reads the frames that torch.compiler.precompile captured, and the compiled variants of each frame.
  void read_frames(const Value& frames, const std::optional<Version>& version) {
    for (std::size_t position = 0; position < frames.size(); ++position) {
      const Value frame = frames.at(position), variants = frame["variants"];
      const std::size_t count = std::max<std::size_t>(variants.size(), 1);
      for (std::size_t number = 0; number < count && artifact_.parts.size() < parts_max; ++number) {
        Part& part = new_part({}, {}, {});
        add_fact(part, "module", frame["python_module"]);
        add_fact(part, "called as", frame["resume_names"].size() > 0 ? frame["resume_names"] : Value());
        part.functions.push_back(
            read_function(frame["code"], frame["is_entry"].is_true() ? "original" : "resume", version, budget_.code));
        part.title = part.functions[0].name + ", variant " + std::to_string(number + 1) + " of " +
                     std::to_string(variants.size());
        if (frame["trivial"].is_true())
          part.notes.push_back("no part of the function was compiled, so the function runs as it was written");
        if (frame["bypassed"].is_true())
          part.notes.push_back("the function could not be saved, so a call of the function raises an exception");
        if (const Value variant = variants.at(number)) {
          part.functions.push_back(read_function(variant["dynamo_code"], "transformed", version, budget_.code));
          read_guards_state(variant["guards_state"], part);
        }
      }
    }
  }

  // Reads a dict from the names of compiled graphs to the results of the backend, and skips results that AOTAutograd
  // did not produce.
  void read_backends(const Value& backends) {
    for (std::size_t position = 0; position < backends.size() && artifact_.parts.size() < parts_max; ++position) {
      const Value content = backends.value(position).attribute("content");
      if (content.class_name().find("AOTAutogradResult") == std::string::npos) continue;
      Part& part = new_part("compiled graph " + short_text(backends.key(position)), {}, {});
      read_aot_result(content, part, budget_);
    }
  }

  Artifact& artifact_;
  Budget budget_;
  // The decoded pickles that the file contains as text. The decoded pickles are kept because `pickle::Value` refers
  // to their bytes.
  std::deque<std::string> decoded_;
  std::set<std::string> seen_names_, seen_calls_;
  std::map<const char*, std::vector<std::size_t>> line_starts_;  // maps the text of a module to the starts of its lines
  // The remaining budget for `lines_of_module`: the number of bytes of modules' texts that may still be searched for
  // line ends.
  std::size_t lines_left_ = std::size_t{64} << 20;
  int depth_ = 0;  // the nesting depth of models within models
};

}  // namespace

std::string_view lines_between(std::string_view text, std::int64_t first, std::int64_t last) {
  std::size_t start = 0, end = 0;
  std::int64_t line = 1;
  for (; end < text.size() && line < last; ++line) {
    if (line == first) start = end;
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  return first >= 1 && first < line ? text.substr(start, end - start) : std::string_view();
}

bool is_likely(std::string_view bytes) {
  return is_bundle(bytes) || pickle::has_magic(bytes) || bytes.starts_with(ahead_mark) || is_recorded_key(bytes) ||
         is_precompile_source(bytes) || (is_zip(bytes) && pickle_of_archive(bytes, archive_max));
}

Artifact read(std::string_view bytes, const std::string& name) {
  Artifact artifact;
  artifact.name = name;
  artifact.size = bytes.size();
  on_deep_stack([&] { Reader(artifact).read(bytes); });
  return artifact;
}

}  // namespace depyf::artifact
