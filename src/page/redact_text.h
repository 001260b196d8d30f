// Names, code and sentences without what belongs to the user alone.
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
    "\xe2\x80\xa6";  // stands for a string, a number or a line that is left out

class TextRedactor {
 public:
  TextRedactor();

  // Declares what the record says of itself before any text is redacted: sizes, which are kept as numbers; names of the
  // user, which sentences may not have; and names of files, which no text may have though they are public words.
  void add_shape(std::string_view shape);
  void add_private_name(std::string_view dotted);
  void add_path(std::string_view path);

  // The path as file1.py, file2.py, ...; a path of PyTorch's own from its package on.
  std::string path(std::string_view path);
  // A name, or several with dots between them.
  std::string name(std::string_view dotted);
  // Lines of Python or C++, of a graph, of guards. Strings, numbers that are no sizes, and source in comments are left out.
  std::string code(std::string_view text);
  // A sentence of PyTorch's or depyf's own: English words are kept unless they are names of the user.
  std::string sentence(std::string_view text);
  // The lines of Dynamo's code that call a graph or a resume function; the other lines are left out.
  std::string calls_of_graphs(std::string_view text);

 private:
  bool is_public(std::string_view part) const;
  std::string identifier(std::string_view text);
  void line(std::string_view text, bool is_sentence, std::string& out);
  void comment(std::string_view text, std::string& out);
  std::size_t number(std::string_view text, std::size_t from, std::string& out) const;
  std::size_t literal(std::string_view text, std::size_t from, std::string& out);
  struct NamedLine {
    std::size_t name = 0, size = 0;  // of the file's name, and with the number of the line
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
