// Removes the user's own names, strings and numbers from names, code and sentences.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

namespace depyf::page {

inline constexpr std::string_view left_out =
    "\xe2\x80\xa6";  // The ellipsis that replaces a string, a number or a line.

class TextRedactor {
 public:
  TextRedactor();

  // The `add_` functions must be called before any text is redacted. `add_shape` declares sizes, which are kept as
  // numbers. `add_private_name` declares names of the user's program, which no redacted sentence may contain.
  // `add_path` declares names of files, which no redacted text may contain even if they are public words.
  void add_shape(std::string_view shape);
  void add_private_name(std::string_view dotted);
  void add_path(std::string_view path);

  // Returns the pseudonym of a path: file1.py, file2.py and so on. For a file of PyTorch, returns its path from the
  // folder `torch` on.
  std::string path(std::string_view path);
  // Returns a name, or several names with dots between them, in redacted form.
  std::string name(std::string_view dotted);
  // Returns lines of Python or C++, of a graph or of guards, in redacted form: without private names, strings, numbers
  // other than sizes, and source in comments.
  std::string code(std::string_view text);
  // Returns a sentence of PyTorch or depyf in redacted form. English words are kept unless they are names of the user.
  std::string sentence(std::string_view text);
  // Returns Dynamo's code. A line is replaced by an ellipsis unless the line calls a graph or a resume function, or
  // starts a function.
  std::string calls_of_graphs(std::string_view text);

 private:
  bool is_public(std::string_view part) const;
  std::string identifier(std::string_view text);
  void line(std::string_view text, bool is_sentence, std::string& out);
  void comment(std::string_view text, std::string& out);
  std::size_t number(std::string_view text, std::size_t from, std::string& out) const;
  std::size_t literal(std::string_view text, std::size_t from, std::string& out);
  struct NamedLine {
    std::size_t name = 0, size = 0;  // `name` is the length of the file name; `size` includes the line number
  };
  std::optional<NamedLine> named_line(std::string_view text) const;
  std::string shown_line(std::string_view text, NamedLine named);
  int number_of_file(std::string_view name);

  std::unordered_set<std::string_view> public_words_;
  std::set<std::string, std::less<>> private_names_, stems_;
  std::set<std::uint64_t> sizes_;
  std::map<std::string, int, std::less<>> names_, files_, file_names_;
  int file_count_ = 0;
};

}  // namespace depyf::page
