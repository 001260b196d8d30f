// Tracks the source lines that the printed text reaches, and marks where a line may break.
#include "print/breaks.h"

#include <algorithm>

#include "ast/position.h"
#include "print/operands.h"

namespace depyf::print {

using namespace ast;

namespace {
// True if the position is that of a whole list, set or dict comprehension, which starts before its first element. Some
// versions of CPython give a comprehension the position of one of its parts. The result is false for a generator
// expression, because its position may include the brackets of a call.
bool is_position_of(const ComprehensionExpr& node, const Position& position, const CodeObject& around) {
  const Expr* first = first_leaf(node.elt);
  if (node.kind == ComprehensionKind::generator || !first || first->line < 0) return false;
  const Position* inner = position_in(node.code ? *node.code : around, first);
  return inner && std::pair(position.line, position.column) < std::pair(inner->line, inner->column);
}

// Returns the position of the text of `expr`; null if it is unknown. A wrong column would lead to wrong line breaks, so
// the result is null for kinds of nodes whose instruction may have another column than their text.
const Position* place_of(const Expr* expr, const CodeObject& code) {
  const Position* position = position_in(code, expr);
  if (!position || position->column < 0) return nullptr;
  // LOAD_FAST_LOAD_FAST loads two names, and has the position of the first name. So the position is used for a name
  // only if the position is as wide as the name is long, which excludes most second names.
  const auto if_width_of = [&](std::string_view name) {
    const bool is_known =
        position->line == position->end_line && position->end_column - position->column == std::int32_t(name.size());
    return is_known ? position : nullptr;
  };
  if (auto* name = as<Name>(expr)) return if_width_of(name->id);
  if (auto* constant = as<ConstantExpr>(expr))
    return Positions{&code}.loads(expr, *constant->value) ? position : nullptr;
  // Since 3.12, the name of an attribute that is on its own line has an exact position.
  if (auto* attribute = as<Attribute>(expr)) return if_width_of(attribute->attr);
  if (auto* joined = as<JoinedStr>(expr)) return joined->is_percent ? nullptr : position;
  if (auto* comprehension = as<ComprehensionExpr>(expr))
    return is_position_of(*comprehension, *position, code) ? position : nullptr;
  const bool is_known = is<ListExpr>(expr) || is<SetExpr>(expr) || is<Dict>(expr) || is<Await>(expr);
  return is_known ? position : nullptr;
}
}  // namespace

// An anchor is a part of the text whose place in the source is known. Between two marks, only the first anchor is used,
// so the positions of the parts behind this anchor are not looked up.
std::vector<Anchor> Breaks::anchors(std::size_t begin) const {
  std::vector<Anchor> result;
  const std::span<const Mark> marks = marks_.all();
  result.reserve(std::min(parts_.size(), marks.size()));
  std::size_t passed = 0;  // the number of marks up to the last anchor
  for (const Part& part : parts_.all()) {
    if (passed == marks.size()) break;
    const std::size_t at = part.at - begin;
    if (marks[passed].at > at) continue;
    const Position* place = part.expr ? place_of(part.expr, *part.code) : nullptr;
    if (part.expr && !place) continue;
    while (passed < marks.size() && marks[passed].at <= at) ++passed;
    if (place) result.push_back({at, passed, place->line, place->column});
    else result.push_back({at, passed, part.line, part.column});
  }
  return result;
}

void Breaks::reached(const Expr* expr) {
  // The line of a comprehension is ignored, because some versions of CPython give a comprehension the position of one
  // of its parts.
  if (!marking_ || is<ComprehensionExpr>(expr)) return;
  last_line = std::max(last_line, expr->line);
  // An f-string may contain line breaks, so its text reaches the line on which it ends.
  auto* joined = as<JoinedStr>(expr);
  if (joined && !joined->is_percent) last_line = std::max(last_line, positions_.end_line(expr));
}

// Lays out the header of a function whose parameters have no known lines. The header gets one of three layouts: all
// parameters stand on the line of the `def`, all share one line of their own, or each has a line of its own. If the
// parameters do not stand on the line of the `def`, the closing bracket stands on the line below the parameters.
void Breaks::place_parameters(const std::vector<std::size_t>& parameters, std::int32_t def_line, std::int32_t body_line,
                              bool is_documented) {
  // Source that is formatted with the usual width of 88 has no line that is longer than `longest`.
  constexpr std::size_t longest = 88;
  if (parameters.size() < 2 || def_line < 0 || body_line <= def_line) return;
  const std::int32_t lines = body_line - def_line;  // the lines of the header and of comments or blank lines below it
  const std::size_t columns = out_.text().size() - out_.line_begin();
  const std::int32_t count = std::int32_t(parameters.size()) - 1, few = few_parameters;
  const bool is_long = columns > long_header;
  const std::size_t inner = marks_[parameters.back()].at - marks_[parameters.front()].at;
  const bool fits_own_line = out_.indent() + indentation + inner <= longest;
  // The layout with one line for each parameter has a further line for the closing bracket, and perhaps another line
  // for a docstring or blank line.
  const bool one_each = (lines == count + 2 || lines == count + 3) &&
                        (is_long || (count > few && lines == count + 2)) &&
                        !(count <= few && lines == 4 && fits_own_line && is_documented);
  const bool is_broken = lines > 2 && columns > longest;
  const bool own_line = !one_each && is_long && fits_own_line && (lines == 3 || lines == 4 || is_broken);
  const bool each_line = one_each || (is_broken && !own_line);
  if (!each_line && !own_line && lines > 2) return;
  spread_parameters(parameters, def_line, each_line, own_line);
}

void Breaks::place_before_close(const std::vector<std::size_t>& parameters, std::int32_t def_line) {
  const std::int32_t close_line = marks_[parameters.back()].line, count = std::int32_t(parameters.size()) - 1;
  const bool is_own_line = close_line == def_line + 2,
             is_each_line = !is_own_line && close_line == def_line + count + 1;
  if (is_own_line || is_each_line || close_line == def_line)
    spread_parameters(parameters, def_line, is_each_line, is_own_line);
}

void Breaks::spread_parameters(const std::vector<std::size_t>& parameters, std::int32_t def_line, bool each_line,
                               bool own_line) {
  std::int32_t before = def_line, line = def_line;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Mark& mark = marks_[parameters[i]];
    if (each_line || (own_line && (i == 0 || i + 1 == parameters.size()))) ++line;
    mark.before = before, mark.line = line;
    before = line;
  }
  spread_ = spread_ || line > def_line;
}

// Returns how many columns the printed text of source line `line` may have before it is broken. If positions show that
// the source line was long, a line of that length is kept in one piece.
std::size_t Breaks::limit_of(std::int32_t line) {
  if (!positions_.code || line < 0) return options_.width;
  auto [found, is_new] = line_lengths_.try_emplace(positions_.code);
  LineLengths& lengths = found->second;
  if (is_new) lengths = LineLengths(*positions_.code);
  const std::int32_t columns = lengths.of(line);
  // A printed line may be longer than the source line, because the quotes and brackets of the two can differ.
  constexpr std::size_t tolerated = 120;
  return columns < 0 ? options_.width : std::max({options_.width, tolerated, std::size_t(columns)});
}

// Ignores lines above the first line of the code object, and lines far below its first line, because a hostile file
// may contain any line number.
LineLengths::LineLengths(const CodeObject& code) : first_(code.firstlineno) {
  constexpr std::size_t most_lines = 1 << 20;
  // The index of a line above the first line is a huge number, because the negative difference is converted to an
  // unsigned number. So one comparison excludes both lines above the first line and lines far below it.
  const auto index_of = [&](const Position& position) {
    return std::size_t(std::int64_t(position.end_line) - std::int64_t(first_));
  };
  std::size_t count = 0;
  for (const Position& position : positions_of(code)) {
    const std::size_t index = index_of(position);
    count = std::max(count, index < most_lines ? index + 1 : 0);
  }
  columns_.resize(count, -1);
  for (const Position& position : positions_of(code)) {
    const std::size_t index = index_of(position);
    if (index >= count) [[unlikely]]
      continue;
    std::int32_t& columns = columns_[index];
    columns = std::max(columns, position.end_column);
  }
}

bool Breaks::have_no_lines(std::span<const std::size_t> places) const {
  return std::ranges::all_of(places, [&](std::size_t place) { return marks_[place].line < 0; });
}

// The offsets of marks and anchors count from the start of the text, but the layout needs offsets from the start of
// the line.
void Breaks::lay_out(FunctionRef<std::int32_t()> room) {
  const std::string_view text = out_.text().view();
  const std::size_t begin = out_.line_begin();
  for (Mark& each : marks_.all()) each.at -= begin;
  const std::size_t width = options_.align ? std::string::npos : options_.width;
  auto limit = [&](std::int32_t line) { return options_.align ? width : limit_of(line); };
  const std::int32_t first = marks_[0].before;
  broken_.cut(0);
  append_with_breaks(broken_, text.substr(begin), marks_.all(), anchors(begin), {out_.indent(), width, limit, first});
  // An aligned statement keeps its one-line form if its broken form would reach into the lines of the next statement.
  if (!options_.align || std::ranges::count(broken_.view(), '\n') < room()) out_.rewrite(begin, broken_.view());
}

}  // namespace depyf::print
