// Restores the statement `...`, and branches that are only `pass`, in code of 3.11 and later. For `...` and `pass`, the
// compiler emits no instruction with an effect, but keeps the position of the statement if it is alone on its line. For
// example, an `if not a: b()` in the tree may have been `if a: pass` with `else: b()` in the source. If the body of a
// with statement is `pass` in the tree, but the next line has a position that is 3 columns wide, the body was `...` in
// the source.
#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "ast/visit.h"
#include "decode/instruction.h"
#include "decode/op.h"
#include "decode/op_table.h"
#include "depyf/constant.h"
#include "depyf/position.h"
#include "dialect/dialect.h"
#include "flow/search.h"
#include "refine/refine.h"
#include "refine/rewrite.h"
#include "refine/statement_columns.h"
#include "support/search_limits.h"

namespace depyf {
using namespace ast;

namespace {

constexpr int width_of_ellipsis = 3, width_of_pass = 4;

// The instructions that may have the position of a `...` or `pass`.
constexpr OpTable<bool> is_silent = {false,
                                     {{{Op::nop_, Op::jump_, Op::load_const_, Op::return_value_, Op::pop_except_,
                                        Op::store_fast_, Op::delete_fast_, Op::store_name_, Op::delete_name_},
                                       true}}};

// True if the only statement of `block` is a `pass` or `continue`, which may have been a `...` or `pass` in the source.
bool is_empty(Block block) { return block.size() == 1 && (is<Pass>(block[0]) || is<Continue>(block[0])); }

// The lines from `first` to `last`; the range is empty if `last` is less than `first`.
struct LineRange {
  int first = std::numeric_limits<int>::max(), last = -1;
  void add(int from, int to) { first = std::min(first, from), last = std::max(last, to); }
  bool empty() const { return last < first; }
};

// Adds to `lines` the lines on which the pass may restore a statement of `body` or of its nested blocks. The pass may
// restore a statement on any line below the start of a statement with an empty block. The pass may also restore a
// statement between an `if` and its body, if another branch of the `if` fits on the lines between the `if` and the
// body.
void add_silent_lines(Block body, LineRange& lines) {
  constexpr int lines_of_branch = 2;  // the lines of the silent statement and of the `else` or `elif` below it
  for (Stmt* stmt : body) {
    if (!StmtKinds::of(stmt).has(StmtKinds::nesting())) continue;
    auto* branch = as<If>(stmt);
    if (branch && branch->orelse.empty() && !branch->body.empty() &&
        branch->body[0]->line - stmt->line > lines_of_branch - 1)
      lines.add(stmt->line, branch->body[0]->line);
    for_each_block(stmt, [&](Block& inner) {
      if (is_empty(inner)) lines.add(stmt->line, std::numeric_limits<int>::max());
      else if (!inner.empty()) add_silent_lines(inner, lines);
    });
  }
}

// The column and the width of a statement on its line.
struct Place {
  int column, width;
  bool operator==(const Place&) const = default;
};
using PlaceByLine = std::map<int, Place>;

// Returns the position of `instruction` if the position has a column and is on one of `lines`; otherwise null.
const Position* position_of(std::span<const Position> positions, const Instruction& instruction, LineRange lines) {
  const std::size_t index = instruction.offset / 2;
  if (index >= positions.size()) return nullptr;
  const Position& position = positions[index];
  const bool is_on_lines = position.line >= lines.first && position.line <= lines.last;
  return is_on_lines && position.column >= 0 ? &position : nullptr;
}

// Returns the column and width of the source of `instruction`; the width is -1 if the instruction cannot belong to a
// `...` or `pass`.
Place place_of(const Instruction& instruction, const Position& position) {
  const bool may_belong = is_silent[instruction.op] && position.line == position.end_line;
  return {position.column, may_belong ? position.end_column - position.column : -1};
}

// Maps a line to the place (the column and the width) of the `...` or `pass` on that line. The map contains each of
// `lines` on which all instructions have the place of a single `...` or `pass`.
PlaceByLine silent_places(const DecodedCode& decoded, LineRange lines) {
  lines.first = std::max(lines.first, 0);  // excludes instructions without a line
  const std::span<const Position> positions = decoded.positions;
  const Row<const Instruction, InstructionIndex> code(decoded.instructions);
  PlaceByLine places;
  for_each_marked(code, is_silent, [&](int at) {
    const Position* position = position_of(positions, code[at], lines);
    if (!position) return;
    const Place place = place_of(code[at], *position);
    if (place.width != width_of_ellipsis && place.width != width_of_pass) return;
    // The map stays small, because most instructions stand behind an instruction that has another place on their line.
    const Position* before = at > 0 ? position_of(positions, code[at - 1], lines) : nullptr;
    const bool is_behind = before && before->line == position->line && place_of(code[at - 1], *before) != place;
    if (!is_behind) places.try_emplace(position->line, place);
  });
  if (places.empty()) return places;
  // If two instructions of one line have different places, the line is removed from the map.
  auto known = places.end();  // the entry of the map for `line`
  int line = -1;
  for (const Instruction& instruction : decoded.instructions) {
    const Position* position = position_of(positions, instruction, lines);
    if (!position) continue;
    if (position->line != line) line = position->line, known = places.find(line);
    if (known == places.end() || known->second == place_of(instruction, *position)) continue;
    places.erase(known);
    known = places.end();
  }
  return places;
}

class SilentStatements {
 public:
  SilentStatements(Context& context, const StatementColumns& columns, PlaceByLine places)
      : context_(context), columns_(columns), places_(std::move(places)) {}

  // Rewrites a block whose statements are at column `base`. `next` is the statement that follows the block; null if the
  // following statement is unknown. `ends_round` is true if the end of the block is the end of a loop's body.
  void block(Block body, int base, const Stmt* next, int depth, bool ends_round = false) {
    if (depth > search_limits::statement_nesting || base < 0) return;
    for (std::size_t index = 0; index < body.size(); ++index) {
      Stmt* stmt = body[index];
      if (!StmtKinds::of(stmt).has(StmtKinds::nesting())) continue;
      const Stmt* behind = index + 1 < body.size() ? body[index + 1] : next;
      if (auto* branch = as<If>(stmt)) turn(*branch, stmt, base, behind);
      nested(stmt, base, behind, depth, index + 1 == body.size() && ends_round);
    }
  }

 private:
  // Rewrites the nested blocks of `stmt`; the statement `behind` follows `stmt`.
  void nested(Stmt* stmt, int base, const Stmt* behind, int depth, bool ends_round) {
    std::vector<Block*> blocks;
    for_each_block(stmt, [&](Block& inner) { blocks.push_back(&inner); });
    const bool may_fill = std::ranges::any_of(blocks, [](const Block* inner) { return is_empty(*inner); });
    int above = stmt->line;
    const bool loops = is<For>(stmt) || is<While>(stmt), ends_branch = ends_round && is<If>(stmt);
    for (std::size_t at = 0; at < blocks.size(); ++at) {
      const Stmt* below = at + 1 < blocks.size() && !blocks[at + 1]->empty() ? blocks[at + 1]->front() : behind;
      if (may_fill) {
        fill(*blocks[at], above, below, base, ends_branch);
        above = std::max(above, last_line(*blocks[at]));
      }
      const bool is_chained =
          at == 1 && is<If>(stmt) && blocks[at]->size() == 1 && columns_.is_elif(blocks[at]->front(), base);
      block(*blocks[at], is_chained ? base : base + columns_.unit(), below, depth + 1, loops ? at == 0 : ends_branch);
    }
  }

  // Returns the first line of `stmt`; -1 if `stmt` is null or the line is unknown.
  static int line_of(const Stmt* stmt) { return stmt ? first_line(stmt) : -1; }

  // Returns the place of the first `...` or `pass` at `column` between the lines `above` and `below`; null if no `...`
  // or `pass` is there.
  const Place* between(int above, int below, int column) const {
    for (auto at = places_.upper_bound(above); at != places_.end() && at->first < below; ++at)
      if (at->second.column == column) return &at->second;
    return nullptr;
  }

  // Replaces the only statement of `body` by the `...` or `pass` whose position the bytecode contains. At the end of a
  // loop's body, a `continue` in the tree may have been a `...` or `pass` in the source.
  void fill(Block& body, int above, const Stmt* next, int base, bool ends_round) {
    if (body.size() != 1 || above < 0) return;
    if (!is<Pass>(body[0]) && !(ends_round && is<Continue>(body[0]))) return;
    const int below = line_of(next);
    const Place* place = between(above, below < 0 ? above + 2 : below, base + columns_.unit());
    if (place) body = context_.list({silent(*place)});
  }

  Stmt* silent(const Place& place) {
    return place.width == width_of_pass ? context_.stmt(Pass{})
                                        : context_.stmt(ExprStmt{context_.constant(Constant::Kind::ellipsis)});
  }

  // Restores the first branch of an `if` if that branch was only a `pass` or `...` in the source. The statement `next`
  // follows the `if`.
  void turn(If& branch, const Stmt* stmt, int base, const Stmt* next) {
    if (!branch.orelse.empty() || branch.body.empty()) return;
    const int above = last_line_of_test(branch.test, stmt->line), column = base + columns_.unit();
    if (!between(above, std::numeric_limits<int>::max(), column) || negation_changes(context_, branch.test)) return;
    const int first = first_line(branch.body[0]), behind = line_of(next);
    // If the body is not above the statement that follows the `if`, the line of the body does not show where the source
    // had the body. For example, a return out of a try statement may have the line of the finally clause.
    if (behind >= 0 && first >= behind) return;
    const Place* place = between(above, first, column);
    if (!place) return;
    branch.test = negate(context_, branch.test);
    branch.orelse = branch.body;
    branch.body = context_.list({silent(*place)});
  }

  Context& context_;
  const StatementColumns& columns_;
  const PlaceByLine places_;
};

}  // namespace

Block silent_statements(Context& context, Block body, const Scope& scope) {
  if (scope.kind == Scope::Kind::expression || !dialect_of(scope.decoded.version).columns) return body;
  LineRange lines;
  add_silent_lines(body, lines);
  if (lines.empty()) return body;
  PlaceByLine places = silent_places(scope.decoded, lines);
  if (places.empty()) return body;
  const StatementColumns columns(*scope.decoded.code, body);
  if (columns.unit() > 0)
    SilentStatements(context, columns, std::move(places)).block(body, columns.of_first(body), nullptr, 0);
  return body;
}

}  // namespace depyf
