#include <algorithm>
#include <map>
#include <utility>

#include "depyf/conditions.h"
#include "depyf/texts.h"
#include "support/words.h"

namespace depyf::conditions {
namespace {

// True if the expression `text` reads a dict in which an nn.Module keeps its submodules, parameters or buffers, as in
// `['_modules']` or `._modules`.
bool is_of_module(std::string_view text) {
  for (const std::string_view table : {"modules", "parameters", "buffers"}) {
    if (text.find("['_" + std::string(table) + "']") != std::string_view::npos) return true;
    const std::string attribute = "._" + std::string(table);
    for (std::size_t at = text.find(attribute); at != std::string_view::npos; at = text.find(attribute, at + 1)) {
      const std::size_t end = at + attribute.size();
      if (end == text.size() || !is_word(text[end])) return true;
    }
  }
  return false;
}

// Returns the sentence about a guard that relates several values, such as "a, b are the same object"; empty for a guard
// of any other kind.
std::string relation(const Guard& guard) {
  std::vector<std::string> names;
  for (const std::string& member : guard.members) names.push_back(in_terms(member));
  const std::string all = joined(names, ", ");
  if (guard.kind == "NO_TENSOR_ALIASING") return "no two of " + all + " are the same tensor";
  if (guard.kind == "OBJECT_ALIASING") return all + " are the same object";
  if (guard.kind == "STORAGE_OVERLAPPING") return all + " overlap in memory as they did";
  return {};
}

// True if the text contains only characters of names, attributes and subscripts with string keys.
bool is_path(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return is_word(c) || c == '.' || c == '\'' || c == '[' || c == ']'; });
}

// True if a guard checks to which objects the names of modules refer: all of its conditions have the form `a is b`, and
// none of them reads a local variable.
bool is_about_modules(const Guard& guard) {
  return !guard.conditions.empty() && std::ranges::all_of(guard.conditions, [](const std::string& condition) {
    const std::size_t is = condition.find(" is ");
    return is != std::string::npos && condition.find("L[") == std::string::npos &&
           is_path(std::string_view(condition).substr(0, is)) && is_path(std::string_view(condition).substr(is + 4));
  });
}

// Returns the class in Dynamo's text of a guard, `type=<class 'a.B'>`; empty if the text names no class.
std::string_view class_in(std::string_view text) {
  constexpr std::string_view before = "type=<class '";
  const std::size_t start = text.find(before);
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start + before.size());
  const std::size_t end = text.find("'>");
  return end == std::string_view::npos || text.substr(0, end).find('\'') != std::string_view::npos
             ? std::string_view()
             : text.substr(0, end);
}

// Derives limits on the next call from the guards of a compilation.
class Frontier {
 public:
  Frontier(const std::vector<Guard>& guards, const std::optional<std::vector<SymbolBounds>>& symbols)
      : guards_(guards), symbols_(symbols) {}

  std::vector<Limit> run() {
    for (std::size_t i = 0; i < guards_.size(); ++i)
      if (guards_[i].kind != "DIMENSION_DYNAMIC_MARKING_GUARD") guard(guards_[i], static_cast<int>(i));
    std::vector<Limit> limits = ranges();
    std::ranges::move(limits_, std::back_inserter(limits));
    add_count(tensors_, "parameters and buffers keep type, dtype, device, shape and requires_grad", limits);
    add_count(parts_, "modules have the same classes, submodules and hooks", limits);
    add_count(fixed_, "functions, classes and modules in use are the same objects", limits);
    add_count(state_,
              "grad mode, autocast, default dtype and device, number of threads and other global state are the same",
              limits);
    return limits;
  }

 private:
  // The guard with the index `guard` compares a value with `constant` by the operator `sign`.
  struct Part {
    std::string sign, constant;
    int guard;
  };

  int line_of(int index) const { return guards_[static_cast<std::size_t>(index)].has_line ? index : -1; }

  void add(std::string condition, std::string subject, int index) {
    limits_.push_back({std::move(condition), std::move(subject), line_of(index), {}});
  }

  static void add_count(int count, const std::string& text, std::vector<Limit>& limits) {
    if (count)
      limits.push_back({text + " (" + std::to_string(count) + " guard" + (count > 1 ? "s)" : ")"), {}, -1, {}});
  }

  void guard(const Guard& guard, int index) {
    if (!guard.is_quiet) {
      ++state_;
      return;
    }
    if (std::string text = relation(guard); !text.empty()) return add(std::move(text), {}, index);
    if (guard.kind == "TENSOR_MATCH") {
      if (is_of_module(guard.source)) ++tensors_;
      else tensor(guard, index);
      return;
    }
    const bool is_value = guard.kind == "EQUALS_MATCH" || guard.kind == "TRUE_MATCH" || guard.kind == "FALSE_MATCH";
    if (is_of_module(guard.value) && (!is_value || guard.value.starts_with("list(dict.keys("))) {
      ++parts_;
    } else if (guard.kind == "ID_MATCH" || guard.kind == "REACHABLE" || guard.source.starts_with("G['__") ||
               is_about_modules(guard)) {
      ++fixed_;
    } else if (const std::string_view name = class_in(guard.text); !name.empty() && guard.kind == "TYPE_MATCH") {
      const std::string subject = in_terms(guard.source);
      add(subject + " is a " + std::string(name) + ", of no subclass", subject, index);
    } else {
      value(guard, index);
    }
  }

  void tensor(const Guard& guard, int index) {
    const std::string name = in_terms(guard.source);
    std::vector<std::string> facts;
    for (const std::string& condition : guard.conditions) {
      for (const Bound& bound : bounds_of(condition)) {
        const std::string_view subject = bound.subject;
        if (subject.starts_with(name + ".shape[")) {
          reach(bound.subject, {bound.sign, bound.constant, index});
        } else if (subject == name + ".dtype") {
          facts.push_back(bound.constant);
        } else if (subject == name + ".requires_grad") {
          facts.push_back("requires_grad " + bound.constant);
        } else if (subject.starts_with(name + ".stride(")) {
          const std::string_view dimension = subject.substr(subject.rfind('(') + 1);
          facts.push_back("stride(" + std::string(dimension.substr(0, dimension.size() - 1)) + ") " + bound.constant);
        }
      }
      if (condition.starts_with("type("))
        facts.insert(facts.begin(), in_terms(std::string_view(condition).substr(condition.rfind(' ') + 1)));
    }
    if (facts.empty()) return add(guard.text, name, index);
    add(name + " is a tensor like the one that was seen: " + joined(facts, ", "), name, index);
  }

  void value(const Guard& guard, int index) {
    if (guard.is_live) return add(guard.text, in_terms(guard.source), index);
    for (const std::string& condition : guard.conditions) {
      // The class of the value is not listed, because it follows from the constant. For example, a value that equals
      // 1.0 is a float.
      if (guard.conditions.size() > 1 && (condition.starts_with("type(") || condition.starts_with("id(type(")))
        continue;
      const std::vector<Bound> bounds = bounds_of(condition);
      for (const Bound& bound : bounds) reach(bound.subject, {bound.sign, bound.constant, index});
      if (bounds.empty()) add(in_terms(condition), in_terms(guard.source), index);
    }
  }

  void reach(const std::string& subject, Part part) {
    const auto [known, is_new] = numbers_.emplace(subject, reached_.size());
    if (is_new) reached_.push_back({subject, {}});
    reached_[known->second].second.push_back(std::move(part));
  }

  // Returns one limit for each value in `reached_`, which combines all comparisons that the value must satisfy. The
  // limits of sizes come first.
  std::vector<Limit> ranges() {
    std::map<std::string, const SymbolBounds*, std::less<>> by_source;
    if (symbols_)
      for (const SymbolBounds& symbol : *symbols_)
        for (const std::string& source : symbol.sources) by_source.insert_or_assign(in_terms(source), &symbol);
    std::ranges::stable_sort(reached_, {},
                             [](const auto& it) { return it.first.find(".shape[") == std::string::npos; });
    std::vector<Limit> limits;
    for (const auto& [subject, parts] : reached_) {
      const auto symbol = by_source.find(subject);
      limits.push_back(range(subject, parts, symbol == by_source.end() ? nullptr : symbol->second));
    }
    return limits;
  }

  Limit range(const std::string& subject, const std::vector<Part>& parts, const SymbolBounds* symbol) const {
    const std::string *low = nullptr, *high = nullptr;
    std::vector<std::string> conditions;
    int lows = 0, highs = 0;
    for (const Part& part : parts) {
      if (part.sign == ">=" && lows++ == 0) low = &part.constant;
      if (part.sign == "<=" && highs++ == 0) high = &part.constant;
      std::string condition = subject + " " + part.sign + " " + part.constant;
      if (std::ranges::find(conditions, condition) == conditions.end()) conditions.push_back(std::move(condition));
    }
    Limit limit{joined(conditions, " and "), subject, -1, {}};
    if (lows == 1 && highs == 1 && parts.size() == 2) limit.condition = *low + " <= " + subject + " <= " + *high;
    if (!symbol) {
      const bool is_unknown_size =
          line_of(parts[0].guard) < 0 && subject.find(".shape[") != std::string::npos && !symbols_;
      if (is_unknown_size)
        limit.origin = "what in PyTorch set this bound was not recorded; depyf.prepare_debug records it";
      else limit.guard = line_of(parts[0].guard);
      return limit;
    }
    if (high) limit.origin = "<= " + *high + ": " + bound_origin(symbol->upper_from);
    if (low) limit.origin += (high ? "; >= " : ">= ") + *low + ": " + bound_origin(symbol->lower_from);
    return limit;
  }

  const std::vector<Guard>& guards_;
  const std::optional<std::vector<SymbolBounds>>& symbols_;
  std::vector<Limit> limits_;
  std::vector<std::pair<std::string, std::vector<Part>>> reached_;  // values with their comparisons, in guard order
  std::map<std::string, std::size_t> numbers_;  // maps a value to its index in `reached_`
  int state_ = 0, fixed_ = 0, parts_ = 0, tensors_ = 0;            // counts of guards
};

void add_once(const std::string& text, std::vector<std::string>& texts) {
  if (!text.empty() && std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

// Returns a line of text with the conditions under which the cache entries accept the value `subject`, and with the
// reasons for these conditions. The line is empty if one of several entries accepts any value. `entries` contains the
// limits of each cache entry.
std::string accepted(const std::string& subject, const std::vector<std::vector<Accepted>>& entries) {
  std::vector<std::pair<std::string, std::string>> conditions;  // pairs of a condition and its reason
  bool is_free = false;
  for (const std::vector<Accepted>& limits : entries) {
    bool has_limit = false;
    for (const Accepted& limit : limits) {
      if (limit.subject != subject) continue;
      has_limit = true;
      const auto known = std::ranges::find(conditions, limit.condition, &std::pair<std::string, std::string>::first);
      if (known == conditions.end()) conditions.emplace_back(limit.condition, limit.why);
      else known->second = limit.why;
    }
    is_free |= !has_limit;
  }
  if (is_free && entries.size() > 1) return {};
  std::string line;
  std::vector<std::string> reasons;
  for (const auto& [condition, why] : conditions) {
    line += (line.empty() ? "" : " or ") + condition;
    add_once(why, reasons);
  }
  return reasons.empty() ? line : line + "  # " + joined(reasons, "; ");
}

}  // namespace

std::vector<Limit> frontier(const std::vector<Guard>& guards, const std::optional<std::vector<SymbolBounds>>& symbols) {
  return Frontier(guards, symbols).run();
}

std::vector<std::string> together(const std::vector<std::vector<Accepted>>& entries, std::optional<int> entries_max) {
  std::vector<std::string> subjects;
  for (const std::vector<Accepted>& limits : entries)
    for (const Accepted& limit : limits) add_once(limit.subject, subjects);
  std::vector<std::string> lines;
  for (const std::string& subject : subjects)
    if (std::string line = accepted(subject, entries); !line.empty()) lines.push_back(std::move(line));
  if (!entries_max || entries.empty()) return lines;
  const int left = *entries_max - static_cast<int>(entries.size());
  const std::string limit = " (recompile_limit " + std::to_string(*entries_max) + ").";
  lines.push_back(left > 0 ? "After " + std::to_string(left) + " more compilation" + (left != 1 ? "s" : "") +
                                 " Dynamo gives the function up" + limit
                           : "Dynamo compiles the function no more: it has as many entries as it may" + limit);
  return lines;
}

}  // namespace depyf::conditions
