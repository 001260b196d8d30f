#include "page/changes.h"

#include "texts/words.h"

namespace depyf::page {
namespace {

// Returns the index of a place's line in `lines.lines()`; no_line if only the earlier run has the line.
int line_of(const record::Place& place, const Lines& lines) {
  const int number = lines.find(texts::file_name(place.file), place.line);
  if (number == no_line) return no_line;
  const std::string& known = lines.lines()[static_cast<std::size_t>(number)].text;
  return place.text.empty() || known == place.text ? number : no_line;
}

}  // namespace

void write_changes(json::Writer& out, const std::optional<PageChanges>& changes, const Lines& lines) {
  out.key("changes");
  if (!changes) return out.null();
  out.begin_object();
  out.member("before", changes->before);
  out.member("after", changes->after);
  out.member("functions", static_cast<std::int64_t>(changes->difference.functions));
  out.objects("items", changes->difference.changes, [&](const diff::Change& change) {
    out.member("code", change.code);
    out.member("weight", diff::name_of(change.weight));
    out.member("function", change.function);
    out.member("line", line_of(change.place, lines));
    out.member("sentence", change.sentence);
    out.strings("details", change.details);
  });
  out.strings("notCompared", changes->difference.not_compared);
  out.strings("timings", changes->difference.timings);
  out.end_object();
}

}  // namespace depyf::page
