#include "page/redact_text.h"

#include <algorithm>
#include <charconv>

#include "page/redact.h"
#include "support/words.h"

namespace depyf::page {
namespace {

constexpr std::uint64_t small_number_max =
    16;  // Dimensions, positions and widths of vectors up to this number reveal nothing about a program.
constexpr std::uint64_t position_max = 10000;  // a smaller index in brackets is kept: it numbers a layer
constexpr std::size_t string_prefix_max = 2;  // the most letters that can precede a string literal, such as rb
// When the number of elements of a tensor is computed, the sizes are multiplied only until the product reaches
// `product_max`.
constexpr std::size_t product_max = std::size_t{1} << 40;

bool is_letter(char character) { return is_word(character) && !is_digit(character) && character != '_'; }
// True if the character can be part of an identifier. All characters outside of ASCII count as parts of identifiers.
bool is_of_name(char character) { return is_word(character) || (character & 0x80) != 0; }

std::string_view without_digits(std::string_view text) {
  while (!text.empty() && is_digit(text.back())) text.remove_suffix(1);
  return text;
}

// True if a part of a name has the form of a pseudonym, such as name1. If a user's own name has the form name1, it must
// be replaced by a pseudonym, too.
bool is_pseudonym(std::string_view part) { return part.starts_with("name") && part.size() > 4 && is_digit(part[4]); }

// Calls visit(part) for each part of the text between characters that `is_between` accepts.
template <class IsBetween, class Visit>
void for_each_part(std::string_view text, IsBetween is_between, Visit visit) {
  for (std::size_t from = 0; from < text.size();) {
    std::size_t end = from;
    while (end < text.size() && !is_between(text[end])) ++end;
    if (end > from) visit(text.substr(from, end - from));
    from = end + 1;
  }
}

std::string_view last_component(std::string_view path) { return path.substr(path.find_last_of("/\\") + 1); }

// Returns the end of a path, from the folder `torch` on; empty if the file is not known to be a file of PyTorch.
std::string_view path_in_torch(std::string_view path) {
  for (const std::string_view folder : {"/site-packages/torch/", "/dist-packages/torch/"})
    if (const std::size_t at = path.rfind(folder); at != std::string_view::npos)
      return path.substr(at + folder.size() - std::string_view("/torch/").size());
  return path.starts_with("<eval_with_key>") || path.starts_with("<frozen ") ? path : std::string_view();
}

bool is_device(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  return (name == "cpu" || name == "cuda" || name == "mps" || name == "xpu" || name == "meta") &&
         without_digits(text.substr(name.size())).size() <= 1;
}

// True if PyTorch generated the name, as PyTorch does for buffers, operations and inputs: buf0, op0, primals_1, arg0_1.
bool is_generated(std::string_view text) {
  for (const std::string_view base : {"buf", "op", "primals_", "tangents_", "arg"})
    if (text.starts_with(base) && text.size() > base.size() && is_digit(text[base.size()]) &&
        text.find_first_not_of("0123456789_", base.size()) == std::string_view::npos)
      return true;
  return false;
}

// True if the text is the type and the sizes of a value as graphs state them: f32[8, 16][16, 1]cpu, Sym(s27).
bool is_annotation(std::string_view text) {
  if (text.starts_with("Sym(")) return true;
  std::size_t end = 0;
  while (end < text.size() && is_letter(text[end])) ++end;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end > 0 && end < text.size() && text[end] == '[' && text.find(']') != std::string_view::npos;
}

bool is_apostrophe(std::string_view text, std::size_t at) {
  if (text[at] != '\'' || at < string_prefix_max + 1 || at + 1 >= text.size()) return false;
  return is_letter(text[at + 1]) && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at - string_prefix_max - 1),
                                                text.begin() + static_cast<std::ptrdiff_t>(at), is_letter);
}

bool is_import(std::string_view line) { return line.starts_with("import ") || line.starts_with("from "); }

}  // namespace

TextRedactor::TextRedactor() {
  for_each_part(
      public_words, [](char character) { return character == ' '; },
      [&](std::string_view word) { public_words_.insert(word); });
}

void TextRedactor::add_shape(std::string_view shape) {
  std::uint64_t product = 1;
  bool is_sizes = true;  // the first brackets contain the sizes, and the second the strides
  for (std::size_t at = shape.find('['); at < shape.size();) {
    if (shape[at] == ']') is_sizes = false;
    if (!is_digit(shape[at])) {
      ++at;
      continue;
    }
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(shape.data() + at, shape.data() + shape.size(), size);
    at = static_cast<std::size_t>(end - shape.data());
    if (error != std::errc()) continue;
    sizes_.insert(size);
    if (is_sizes && size < product_max && product < product_max) product *= size;
  }
  sizes_.insert(product);
}

void TextRedactor::add_private_name(std::string_view dotted) {
  for_each_part(
      dotted, [](char character) { return !is_of_name(character); },
      [&](std::string_view word) { private_names_.emplace(word); });
}

void TextRedactor::add_path(std::string_view path) {
  if (path.empty() || !path_in_torch(path).empty()) return;
  add_private_name(path);
  std::string_view stem = last_component(path);
  file_names_.try_emplace(std::string(stem), 0);
  if (int& number = file_names_.find(stem)->second; number == 0) number = ++file_count_;
  stem = stem.substr(0, stem.find('.'));
  // The words in `kept` occur in every text of PyTorch, and are kept even if a file of the user has one of the words as
  // its name.
  static constexpr std::string_view kept[] = {"torch", "forward", "call", "kernel", "x", "self", "aten", "__init__"};
  if (std::find(std::begin(kept), std::end(kept), stem) == std::end(kept)) stems_.emplace(stem);
}

std::string TextRedactor::path(std::string_view path) {
  if (path.empty()) return {};
  if (const std::string_view own = path_in_torch(path); !own.empty()) return std::string(own);
  const auto [known, is_new] = files_.try_emplace(std::string(path), 0);
  if (is_new) known->second = number_of_file(last_component(path));
  return "file" + std::to_string(known->second) + ".py";
}

// Returns the number N of the pseudonym fileN.py for a file with the name `name`, which does not include its folder. If
// several files have the same name, the first file gets the number of the name, and each other file gets a new number.
int TextRedactor::number_of_file(std::string_view name) {
  const auto [known, is_new] = file_names_.try_emplace(std::string(name), file_count_ + 1);
  const bool is_taken =
      std::count_if(files_.begin(), files_.end(), [&](const auto& file) { return file.second == known->second; }) > 0;
  if (!is_new && !is_taken) return known->second;
  return ++file_count_;
}

bool TextRedactor::is_public(std::string_view part) const {
  if (public_words_.contains(part)) return true;
  if (is_pseudonym(part)) return false;
  while (!part.empty() && is_digit(part.front())) part.remove_prefix(1);
  part = without_digits(part);
  return part.empty() || (part.size() == 1 && is_letter(part[0])) || public_words_.contains(part);
}

// Redacts an identifier. Only those parts of an identifier that are not public words are replaced, so that the
// structure of a name such as blocks_0_attention_weight is kept.
std::string TextRedactor::identifier(std::string_view text) {
  const bool is_of_file = stems_.contains(text);
  std::string out;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('_', from), text.size());
    const std::string_view part = text.substr(from, end - from);
    if (part.empty() || (is_public(part) && !is_of_file)) {
      out += part;
    } else {
      const auto known = names_.try_emplace(std::string(part), static_cast<int>(names_.size()) + 1).first;
      out += "name" + std::to_string(known->second);
    }
    if (end < text.size()) out += '_';
    from = end + 1;
  }
  return out;
}

std::string TextRedactor::name(std::string_view dotted) {
  std::string out;
  for (std::size_t at = 0; at < dotted.size();) {
    std::size_t end = at;
    while (end < dotted.size() && is_of_name(dotted[end])) ++end;
    if (end == at) {
      out += (dotted[at] & 0x80) != 0 ? '?' : dotted[at];
      ++at;
      continue;
    }
    out += identifier(dotted.substr(at, end - at));
    at = end;
  }
  return out;
}

// If the text begins with a place such as "train.py:12", returns the size of the place and the size of the file name
// in it. Returns std::nullopt if the text does not begin with a place.
std::optional<TextRedactor::NamedLine> TextRedactor::named_line(std::string_view text) const {
  const auto with_line = [&](std::size_t name) -> std::optional<NamedLine> {
    std::size_t end = name + 1;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (name >= text.size() || text[name] != ':' || end == name + 1) return std::nullopt;
    return NamedLine{name, end};
  };
  for (const auto& [name, number] : file_names_)
    if (text.starts_with(name))
      if (const std::optional<NamedLine> named = with_line(name.size())) return named;
  std::size_t name = 0;
  while (name < text.size() && (is_of_name(text[name]) || text[name] == '.' || text[name] == '-')) ++name;
  return text.substr(0, name).ends_with(".py") ? with_line(name) : std::nullopt;
}

std::string TextRedactor::shown_line(std::string_view text, NamedLine named) {
  const std::string_view name = text.substr(0, named.name);
  const auto known = file_names_.find(name);
  const int number = known != file_names_.end() ? known->second : number_of_file(name);
  return "file" + std::to_string(number) + ".py" + std::string(text.substr(named.name, named.size - named.name));
}

// Appends the number that begins at `from`, or the replacement of the number, to `out`. Returns the position in `text`
// behind the number.
std::size_t TextRedactor::number(std::string_view text, std::size_t from, std::string& out) const {
  std::size_t end = from;
  while (end < text.size() &&
         (is_word(text[end]) || text[end] == '.' ||
          ((text[end] == '-' || text[end] == '+') && end > from && (text[end - 1] == 'e' || text[end - 1] == 'E'))))
    ++end;
  while (end > from && text[end - 1] == '.') --end;
  const std::string_view digits = text.substr(from, end - from);
  const std::size_t count = std::min(digits.find_first_not_of("0123456789"), digits.size());
  const std::string_view suffix = digits.substr(count);
  std::uint64_t value = 0;
  const std::string_view whole = digits.substr(0, count);
  const auto [behind, error] = std::from_chars(whole.data(), whole.data() + whole.size(), value);
  const bool is_whole = error == std::errc() && (suffix.empty() || suffix == "L" || suffix == "LL" || suffix == "U" ||
                                                 suffix == "UL" || suffix == "ULL" || suffix == "d" || suffix == "D");
  const std::string_view rest = text.substr(end);
  const bool is_position = from > 1 && text[from - 1] == '[' && is_of_name(text[from - 2]) && rest.starts_with(']');
  const bool is_kept = value <= small_number_max || sizes_.contains(value) || rest.starts_with(" guards)") ||
                       (is_position && value < position_max);
  if (is_whole && is_kept) out += digits;
  else out += left_out;
  return end;
}

// Appends the string literal that begins at `from`, or the replacement of the literal, to `out`. Returns the position
// in `text` behind the literal.
std::size_t TextRedactor::literal(std::string_view text, std::size_t from, std::string& out) {
  const char quote = text[from];
  if (text.substr(from).starts_with("'''") || text.substr(from).starts_with("\"\"\"")) {
    out += text.substr(from, 3);
    return from + 3;
  }
  const std::size_t end = behind_string(text, from);
  // A quote whose literal does not end in the line is skipped without any output.
  if (end <= from + 1 || text[end - 1] != quote || end - from < 2) return from + 1;
  const std::string_view content = text.substr(from + 1, end - from - 2);
  const bool is_key = out.ends_with('[') && end < text.size() && text[end] == ']';
  const bool is_name = !content.empty() && std::all_of(content.begin(), content.end(), [](char character) {
    return is_of_name(character) || character == '.';
  });
  out += quote;
  if (is_annotation(content)) line(content, false, out);
  else if (is_key && is_name && !is_digit(content[0])) out += name(content);
  else if (is_device(content) || is_generated(content)) out += content;
  else if (!content.empty()) out += left_out;
  out += quote;
  return end;
}

// Appends a comment in redacted form. If the comment names a line of source, the file, the number of the line and the
// text behind `->` are kept.
void TextRedactor::comment(std::string_view text, std::string& out) {
  constexpr std::string_view file = "File: ";
  const std::size_t path_start = text.find(file);
  if (path_start != std::string_view::npos) {
    std::string_view place = text.substr(path_start + file.size());
    place = place.substr(0, place.find(", code: "));
    place = place.substr(0, place.rfind(" in "));
    const std::size_t colon = place.rfind(':');
    out += file;
    out += path(place.substr(0, colon));
    if (colon != std::string_view::npos && place.find_first_not_of("0123456789", colon + 1) == std::string_view::npos)
      out += place.substr(colon);
    return;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && is_of_name(text[at - 1])) continue;
    const std::optional<NamedLine> named = named_line(text.substr(at));
    if (!named) continue;
    // depyf writes comments such as "the graph of f (train.py:12)". If a place is not in brackets, the text in front of
    // the place can be source of the user.
    const std::string_view before = text.substr(0, at);
    const bool is_in_brackets =
        before.ends_with(" (") && std::all_of(before.begin(), before.end() - 1, [](char character) {
          return is_of_name(character) || std::string_view(" ./,<>-").find(character) != std::string_view::npos;
        });
    if (is_in_brackets) line(before, true, out);
    else if (!before.empty()) out.append(left_out).append(before.ends_with("# ") ? " # " : " ");
    out += shown_line(text.substr(at), *named);
    if (is_in_brackets) out += ')';
    std::string_view rest = text.substr(at + named->size);
    if (take(rest, ") -> ")) out += " -> ", line(rest, false, out);
    return;
  }
  line(text.substr(0, text.find(", code: ")), false, out);
}

void TextRedactor::line(std::string_view text, bool is_sentence, std::string& out) {
  for (std::size_t at = 0; at < text.size();) {
    const char character = text[at];
    const std::string_view rest = text.substr(at);
    const bool is_start = at == 0 || !(is_of_name(text[at - 1]) || text[at - 1] == '.');
    if (const std::optional<NamedLine> named = is_start ? named_line(rest) : std::nullopt) {
      out += shown_line(rest, *named);
      at += named->size;
    } else if (is_of_name(character) && !is_digit(character)) {
      std::size_t end = at;
      while (end < text.size() && is_of_name(text[end])) ++end;
      const std::string_view word = text.substr(at, end - at);
      const bool is_prefix = word.size() <= string_prefix_max && end < text.size() &&
                             (text[end] == '\'' || text[end] == '"') &&
                             word.find_first_not_of("rbfuRBFU") == std::string_view::npos;
      const bool is_english =
          is_sentence && !private_names_.contains(word) &&
          word.substr(1).find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos &&
          !(end + 1 < text.size() && text[end] == '.' && is_of_name(text[end + 1])) && !out.ends_with('.') &&
          is_letter(word[0]);
      if (is_prefix || is_english) out += word;
      else out += identifier(word);
      at = end;
    } else if (is_digit(character) ||
               (character == '.' && at + 1 < text.size() && is_digit(text[at + 1]) &&
                (at == 0 || !(is_of_name(text[at - 1]) || text[at - 1] == ')' || text[at - 1] == ']')))) {
      at = number(text, at, out);
    } else if (character == '`') {
      const std::size_t end = std::min(text.find('`', at + 1), text.size() - 1);
      out += '`';
      line(text.substr(at + 1, end - at - 1), false, out);
      out += '`';
      at = end + 1;
    } else if (is_apostrophe(text, at)) {
      out += character;
      ++at;
    } else if (character == '\'' || character == '"') {
      at = literal(text, at, out);
    } else if (character == '#' || rest.starts_with("//")) {
      out += character;
      if (character == '/') out += '/', ++at;
      ++at;
      const std::size_t word = std::min(text.find_first_not_of(" ~", at), text.size());
      out += text.substr(at, word - at);
      comment(text.substr(word), out);
      return;
    } else {
      out += character;
      ++at;
    }
  }
}

std::string TextRedactor::code(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    if (is_import(row)) out += "import ", out += left_out;
    else line(row, false, out);
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string TextRedactor::sentence(std::string_view text) {
  std::string out;
  line(text, true, out);
  return out;
}

std::string TextRedactor::calls_of_graphs(std::string_view text) {
  std::string out;
  for (const std::string_view row : lines_of(text)) {
    const bool is_call = row.find('#') == std::string_view::npos &&
                         (row.find("__compiled_fn_") != std::string_view::npos ||
                          row.find("__resume_at_") != std::string_view::npos || row.starts_with("def "));
    if (is_call) out += code(row);
    else
      out += row.substr(0, std::min(row.find_first_not_of(' '), row.size())),
          out += stripped(row).empty() ? "" : left_out;
    out += '\n';
  }
  return out;
}

}  // namespace depyf::page
