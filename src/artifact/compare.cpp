// Compares two artifacts part by part. Values that differ between any two compilations are not compared: the numbers
// and uuids in the names of compiled graphs, and the keys of caches, which are hashes of parts that are compared.
#include <algorithm>
#include <map>
#include <set>

#include "artifact/words.h"
#include "pickle/outline.h"
#include "support/words.h"

namespace depyf::artifact {
namespace {

constexpr std::size_t shown_lines_max = 3;  // the maximum number of lines of each of two texts that are shown
constexpr std::size_t shown_value_max = 200;  // the maximum number of bytes of a value that are shown
constexpr std::string_view hashes[] = {"name of the compiled graph", "key in Inductor's cache",
                                       "Inductor's entry, forward", "Inductor's entry, backward"};

std::string cut(std::string_view text) {
  std::string line(text.substr(0, std::min(text.find('\n'), shown_value_max)));
  return line.size() < text.size() ? line + "..." : line;
}

// Returns a line without the parts that differ from compilation to compilation.
std::string comparable(std::string_view line) {
  if (line.starts_with("# AOT ID")) return {};
  constexpr std::string_view prefix = "__compiled_fn_";
  std::string text;
  for (std::size_t start = line.find(prefix); start != std::string_view::npos; start = line.find(prefix)) {
    text += line.substr(0, start + prefix.size());
    line.remove_prefix(start + prefix.size());
    line.remove_prefix(word_at(line).size());
  }
  return text += line;
}

std::vector<std::string> comparable_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : lines_of(text)) lines.push_back(comparable(line));
  return lines;
}

// Returns the lines [first, last) as a phrase such as "`a`, `b` and 2 more lines".
std::string quoted_lines(const std::vector<std::string>& lines, std::size_t first, std::size_t last) {
  if (first == last) return "nothing";
  std::vector<std::string> quoted;
  for (std::size_t index = first; index < std::min(last, first + shown_lines_max); ++index)
    quoted.push_back("`" + cut(stripped(lines[index])) + "`");
  std::string text = joined(quoted, ", ");
  if (last - first > shown_lines_max) text += " and " + std::to_string(last - first - shown_lines_max) + " more lines";
  return text;
}

class Comparison {
 public:
  std::vector<std::string> take() { return std::move(lines_); }

  void compare_keys(const Part& first, const Part& second) { compare_key_parts(first.key_parts, second.key_parts); }

  void compare(const Artifact& first, const Artifact& second) {
    value("", "format", first.format, second.format);
    if (first.error != second.error) value("", "error", first.error, second.error);
    std::vector<bool> is_paired(second.parts.size());
    for (const Part& part : first.parts) {
      const std::size_t index = counterpart(part, second.parts, is_paired);
      if (index == second.parts.size()) {
        lines_.push_back("only the first has " + title_of(part));
        continue;
      }
      is_paired[index] = true;
      prefix_ = first.parts.size() == 1 && second.parts.size() == 1 ? std::string() : part.title + ": ";
      compare_parts(part, second.parts[index]);
    }
    for (std::size_t index = 0; index < is_paired.size(); ++index)
      if (!is_paired[index]) lines_.push_back("only the second has " + title_of(second.parts[index]));
    if (first.outline != second.outline && first.parts.empty() && second.parts.empty())
      value("", "content", first.outline, second.outline);
  }

 private:
  static std::string title_of(const Part& part) { return part.key.empty() ? part.title : part.title + " " + part.key; }

  // Returns the index of a part in `others` that has no counterpart yet and has the same kind as `part`. Prefers a part
  // with the key of `part`, and next a part with the title of `part`. Returns the size of `others` if `others` has no
  // part of the kind of `part` without a counterpart.
  static std::size_t counterpart(const Part& part, const std::vector<Part>& others,
                                 const std::vector<bool>& is_paired) {
    const auto find = [&](auto is_like) {
      std::size_t index = 0;
      while (index < others.size() && (is_paired[index] || !is_like(others[index]))) ++index;
      return index;
    };
    std::size_t index = others.size();
    if (!part.key.empty())
      index = find([&](const Part& other) { return other.key == part.key && other.kind == part.kind; });
    if (index == others.size())
      index = find([&](const Part& other) { return other.title == part.title && other.kind == part.kind; });
    if (index == others.size()) index = find([&](const Part& other) { return other.kind == part.kind; });
    return index;
  }

  void say(std::string line) { lines_.push_back(prefix_ + std::move(line)); }

  void value(std::string_view before, std::string_view name, std::string_view one, std::string_view two) {
    if (one == two) return;
    say(std::string(before) + std::string(name) + ": " + (one.empty() ? "none" : cut(one)) + " became " +
        (two.empty() ? "none" : cut(two)));
  }

  void compare_parts(const Part& first, const Part& second) {
    value("", "function", first.title, second.title);
    facts("", first.facts, second.facts);
    facts("", first.settings, second.settings);
    facts("state of the process that the guards require: ", first.state, second.state);
    compare_key_parts(first.key_parts, second.key_parts);
    compare_sources(first.sources, second.sources);
    compare_functions(first, second);
    compare_guards(first, second);
    compare_stages(first.stages, second.stages);
  }

  void facts(std::string_view before, const std::vector<Fact>& first, const std::vector<Fact>& second) {
    std::map<std::string, std::pair<std::string, std::string>> values;
    for (const Fact& fact : first) values[fact.name].first = fact.value;
    for (const Fact& fact : second) values[fact.name].second = fact.value;
    for (const auto& [name, pair] : values)
      if (std::find(std::begin(hashes), std::end(hashes), name) == std::end(hashes))
        value(before, name, pair.first, pair.second);
  }

  // Returns the full name of the setting in a part of a key, such as torch._inductor.config.max_autotune for
  // "inductor_config[max_autotune]". A name without `inductor_config[...]` is returned unchanged.
  static std::string setting_name(std::string_view name) {
    std::string_view rest = name;
    if (take_prefix(rest, "inductor_config[") && rest.ends_with(']'))
      return "torch._inductor.config." + std::string(rest.substr(0, rest.size() - 1));
    return std::string(name);
  }

  static bool take_prefix(std::string_view& text, std::string_view prefix) { return depyf::take(text, prefix); }

  void compare_key_parts(const std::vector<KeyPart>& first, const std::vector<KeyPart>& second) {
    std::map<std::string, std::pair<const KeyPart*, const KeyPart*>> parts;
    for (const KeyPart& part : first) parts[part.name].first = &part;
    for (const KeyPart& part : second) parts[part.name].second = &part;
    for (const auto& [name, pair] : parts) {
      const auto& [one, two] = pair;
      if (one && two && one->hash == two->hash) continue;
      if (first.empty() || second.empty()) continue;
      const std::string words = "key: " + setting_name(name);
      if (one && two && one->value.find('\n') != std::string::npos) text(words, one->value, two->value);
      else value("", words, one ? one->value : "", two ? two->value : "");
    }
  }

  void text(const std::string& what, std::string_view one, std::string_view two) {
    const std::vector<std::string> first = comparable_lines(one), second = comparable_lines(two);
    if (first == second) return;
    std::size_t start = 0, first_end = first.size(), second_end = second.size();
    while (start < std::min(first_end, second_end) && first[start] == second[start]) ++start;
    while (first_end > start && second_end > start && first[first_end - 1] == second[second_end - 1])
      --first_end, --second_end;
    say(what + " differs from line " + std::to_string(start + 1) + " on: " + quoted_lines(first, start, first_end) +
        " became " + quoted_lines(second, start, second_end));
  }

  void compare_functions(const Part& first, const Part& second) {
    for (const Function& function : first.functions) {
      const auto other = std::find_if(second.functions.begin(), second.functions.end(),
                                      [&](const Function& each) { return each.role == function.role; });
      if (other == second.functions.end()) continue;
      text(function.role + " code", function.source, other->source);
      if (function.is_proved != other->is_proved)
        say(function.role +
            " code: " + (function.is_proved ? "proved only in the first file" : "proved only in the second file"));
    }
  }

  void compare_sources(const std::vector<Source>& first, const std::vector<Source>& second) {
    // Maps the name of a module to the sources of the module in `second`, sorted by line.
    std::map<std::string, std::vector<const Source*>> others;
    for (const Source& source : second) others[source.module].push_back(&source);
    std::map<std::string, std::size_t> next;
    for (const Source& source : first) {
      const std::vector<const Source*>& same_module = others[source.module];
      const std::size_t index = next[source.module]++;
      const std::string place =
          source.module + ":" + std::to_string(source.first_line) + "-" + std::to_string(source.last_line - 1);
      if (index >= same_module.size()) {
        say("only the first was compiled from " + place);
        continue;
      }
      const Source& other = *same_module[index];
      if (source.checksum != other.checksum) text("source of " + place, source.text, other.text);
      else if (source.first_line != other.first_line)
        say("source of " + place + " is at line " + std::to_string(other.first_line) + " in the second");
    }
    for (const auto& [module, sources] : others)
      for (std::size_t index = next[module]; index < sources.size(); ++index)
        say("only the second was compiled from " + module + ":" + std::to_string(sources[index]->first_line) + "-" +
            std::to_string(sources[index]->last_line - 1));
  }

  // Compares the conditions on each value. Guards of the kind GLOBAL_STATE are skipped, because `compare_parts`
  // compares the state of the process (`Part::state`) separately.
  void compare_guards(const Part& first, const Part& second) {
    const auto conditions_of = [](const Part& part) {
      std::map<std::string, std::vector<std::string>> by_value;
      for (const Guard& guard : part.guards) {
        if (guard.printed.kind == "GLOBAL_STATE") continue;
        std::vector<std::string>& conditions = by_value[guard.printed.value];
        conditions.insert(conditions.end(), guard.printed.conditions.begin(), guard.printed.conditions.end());
      }
      return by_value;
    };
    auto ones = conditions_of(first), twos = conditions_of(second);
    for (const auto& [expression, conditions] : twos) ones.try_emplace(expression);
    for (const auto& [expression, conditions] : ones) {
      const std::string removed = missing(conditions, twos[expression]), added = missing(twos[expression], conditions);
      if (removed.empty() && added.empty()) continue;
      say("guards" + (expression.empty() ? std::string() : " on " + expression) + ": " +
          (removed.empty() ? "nothing" : removed) + " became " + (added.empty() ? "nothing" : added));
    }
    const std::string removed = missing(first.unchecked, second.unchecked),
                      added = missing(second.unchecked, first.unchecked);
    if (!removed.empty()) say("only the first has: " + removed);
    if (!added.empty()) say("only the second has: " + added);
  }

  // Returns a phrase that quotes the texts in `texts` that `others` lacks; empty if `others` contains all of them.
  static std::string missing(const std::vector<std::string>& texts, const std::vector<std::string>& others) {
    const std::set<std::string> known(others.begin(), others.end());
    std::vector<std::string> rest;
    std::size_t count = 0;
    for (const std::string& text : texts)
      if (!known.contains(text) && ++count <= shown_lines_max) rest.push_back("`" + cut(text) + "`");
    std::string result = joined(rest, ", ");
    if (count > shown_lines_max) result += " and " + std::to_string(count - shown_lines_max) + " more";
    return result;
  }

  void compare_stages(const std::vector<Stage>& first, const std::vector<Stage>& second) {
    std::map<std::string, std::pair<const Stage*, const Stage*>> stages;
    for (const Stage& stage : first) stages[stage.title].first = &stage;
    for (const Stage& stage : second) stages[stage.title].second = &stage;
    for (const auto& [title, pair] : stages) {
      if (!pair.second) say("only the first has: " + title);
      else if (!pair.first) say("only the second has: " + title);
      else text(title, pair.first->text, pair.second->text);
    }
  }

  std::vector<std::string> lines_;
  std::string prefix_;
};

}  // namespace

std::optional<std::vector<std::string>> nearest_differences(const Part& asked, const std::vector<Artifact>& artifacts) {
  const Part* nearest = nullptr;
  std::string place;
  std::size_t fewest = 0, count = 0;
  std::map<std::string, std::string> hashes;
  for (const KeyPart& part : asked.key_parts) hashes[part.name] = part.hash;
  for (const Artifact& artifact : artifacts) {
    for (const Part& entry : artifact.parts) {
      if (entry.key_parts.empty() || entry.kind_of_key() != asked.kind || entry.key == asked.key) continue;
      std::size_t differing = 0, shared = 0;
      for (const KeyPart& part : entry.key_parts) {
        const auto own = hashes.find(part.name);
        ++(own != hashes.end() && own->second == part.hash ? shared : differing);
      }
      differing += hashes.size() - std::min(hashes.size(), shared);
      // An entry with the same parts as the missed key was created after the miss, so it does not explain the miss.
      if (differing == 0) continue;
      ++count;
      if (nearest && differing >= fewest) continue;
      nearest = &entry, fewest = differing, place = artifact.name;
    }
  }
  if (!nearest) return {};
  Comparison comparison;
  comparison.compare_keys(*nearest, asked);
  std::vector<std::string> lines = comparison.take();
  lines.insert(lines.begin(), "the nearest of " + std::to_string(count) + (count == 1 ? " entry is " : " entries is ") +
                                  place + (nearest->key.empty() ? "" : ", " + nearest->key) +
                                  ", with these differences:");
  return lines;
}

std::vector<std::string> differences(const Artifact& first, const Artifact& second) {
  Comparison comparison;
  comparison.compare(first, second);
  return comparison.take();
}

}  // namespace depyf::artifact
