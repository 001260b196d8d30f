#include "page/lines.h"

#include "texts/words.h"

namespace depyf::page {

int Lines::file_of(const std::string& path) {
  // In some guards, PyTorch writes only the last three parts of a path, which refer to the file whose full path ends
  // with the three parts.
  if (!path.starts_with('/') && path.find('/') != std::string::npos && !file_numbers_.contains(path))
    for (std::size_t file = 0; file < files_.size(); ++file)
      if (files_[file].ends_with("/" + path)) return static_cast<int>(file);
  const auto [known, is_new] = file_numbers_.try_emplace(path, static_cast<int>(files_.size()));
  if (is_new) files_.push_back(path);
  return known->second;
}

int Lines::number_of(const record::Place& place) {
  if (place.file.empty() || place.line <= 0) return no_line;
  const int file = file_of(place.file);
  const auto [known, is_new] = numbers_.try_emplace({file, place.line}, static_cast<int>(lines_.size()));
  if (is_new) lines_.push_back({file, place.line, place.text});
  else if (std::string& text = lines_[static_cast<std::size_t>(known->second)].text; text.empty()) text = place.text;
  return known->second;
}

int Lines::find(std::string_view file_name, int line) const {
  for (const auto& [path, file] : file_numbers_)
    if (texts::file_name(path) == file_name)
      if (const auto known = numbers_.find({file, line}); known != numbers_.end()) return known->second;
  return no_line;
}

}  // namespace depyf::page
