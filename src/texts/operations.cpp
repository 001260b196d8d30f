#include "texts/operations.h"

#include "support/words.h"

namespace depyf::texts {

using namespace links;

std::string place_text(const SeenLine& line) { return name_of(line) + ":" + std::to_string(line.line); }

Subjects subjects_of(const Operations& operations, const DirectionLinks& links) {
  Subjects subjects;
  for (const SeenOperation* operation : operations)
    for (const std::string& origin : operation->origins) {
      if (const auto captured = links.captured.find(origin); captured != links.captured.end())
        append_new(captured->second, subjects.nodes);
      if (const auto line = links.lines.find(origin); line != links.lines.end())
        append_new(place_text(*line->second), subjects.places);
    }
  if (subjects.nodes.empty()) subjects.nodes.push_back("code of PyTorch");
  return subjects;
}

std::string subject_text(const Operations& operations, const DirectionLinks& links) {
  const Subjects subjects = subjects_of(operations, links);
  const std::string nodes = joined(subjects.nodes, ", ");
  return subjects.places.empty() ? nodes : nodes + " (" + joined(subjects.places, ", ") + ")";
}

Names names_in_group(std::string_view group) {
  Names names;
  for (std::size_t start = 0; start <= group.size();) {
    const std::size_t end = std::min(group.find('_', start), group.size());
    names.emplace_back(group.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

std::string group_name(const Operations& operations) {
  Names names;
  for (const SeenOperation* operation : operations) names.push_back(operation->name);
  return joined(names, "_");
}

}  // namespace depyf::texts
