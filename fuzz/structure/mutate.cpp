#include "mutate.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace depyf::fuzz {
namespace {

// Names that have a meaning for the compiler or the decompiler, and names that have none.
constexpr std::string_view odd_names[] = {"",
                                          "a b",
                                          "a_b",
                                          "_x",
                                          "@x",
                                          "1",
                                          "1a",
                                          "class",
                                          "def",
                                          "None",
                                          "True",
                                          "False",
                                          "print",
                                          "match",
                                          "case",
                                          "type",
                                          "lazy",
                                          "_",
                                          "__debug__",
                                          "__class__",
                                          "__classdict__",
                                          "__doc__",
                                          "__annotations__",
                                          "__annotate__",
                                          "__annotate_func__",
                                          "__conditional_annotations__",
                                          "__build_class__",
                                          "__temp_1",
                                          "__stack_0",
                                          "__state",
                                          "__exception",
                                          "__outer",
                                          "__private",
                                          "_C__private",
                                          ".0",
                                          ".1",
                                          ".defaults",
                                          ".kwdefaults",
                                          ".type_params",
                                          ".generic_base",
                                          ".format",
                                          "format",
                                          "*",
                                          "a.b",
                                          "a.b.c",
                                          "__future__",
                                          "annotations",
                                          "barry_as_FLUFL",
                                          "NotImplementedError",
                                          "AssertionError",
                                          "\xed\xa0\x80",
                                          "x\xed\xb3\xbf",
                                          "\xc3\xa9",
                                          "\xef\xac\x81x",
                                          "\xe2\x80\xae",
                                          "a\nb",
                                          "a\0b",
                                          "\"\"\"",
                                          "'",
                                          "\\",
                                          "{",
                                          "}",
                                          "#",
                                          "x: int",
                                          "list[",
                                          "x if y else z",
                                          "yield",
                                          "await",
                                          "async",
                                          "nonlocal",
                                          "global",
                                          "return",
                                          "lambda: 0",
                                          "x := 1",
                                          "*a",
                                          "a, b",
                                          "0x",
                                          "f''",
                                          "\t",
                                          "C",
                                          "f"};
constexpr std::string_view code_names[] = {"<module>",
                                           "<lambda>",
                                           "<listcomp>",
                                           "<setcomp>",
                                           "<dictcomp>",
                                           "<genexpr>",
                                           "<generic parameters of C>",
                                           "<generic parameters of f>",
                                           "__annotate__",
                                           "<annotation of x>",
                                           "f",
                                           "C",
                                           "<",
                                           "",
                                           "__init__",
                                           "class",
                                           "a b"};
constexpr std::uint32_t odd_numbers[] = {0,     1,          2,          3,          4,          5,         7,
                                         8,     15,         16,         127,        128,        255,       256,
                                         65535, 0x00ffffff, 0x0fffffff, 0x7fffffff, 0x80000000, 0xffffffff};

std::string four_bytes(std::uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}
std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (int i = 4; i--;) value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return value;
}

bool is_sequence(const Object& object) {
  return object.type == ')' || object.type == '(' || object.type == '>' || object.type == '<' || object.type == '[';
}
bool is_string(const Object& object) { return std::string_view("zZaAut").find(object.type) != std::string_view::npos; }

void collect(Object& object, std::vector<Object*>& all, std::vector<Object*>& codes) {
  all.push_back(&object);
  if (object.type == 'c') codes.push_back(&object);
  for (Object& item : object.items) collect(item, all, codes);
}

Object text(std::string_view value) { return {'u', std::string(value), {}, 0}; }

void resized(Object& tuple) {  // a tuple of type ')' has at most 255 items
  if (tuple.type == ')' && tuple.items.size() > 255) tuple.type = '(';
}

class Mutator {
 public:
  Mutator(Pyc& pyc, const std::vector<Pyc>& seeds, Random& random)
      : pyc_(pyc), seeds_(seeds), random_(random), fields_(code_fields(pyc.minor)) {}

  void change() {
    all_.clear(), codes_.clear();
    collect(pyc_.code, all_, codes_);
    if (codes_.empty()) return;
    Object& code = *codes_[random_.below(codes_.size())];
    switch (random_.below(20)) {
      case 0: integer(code); break;
      case 1: flag(code); break;
      case 2:
      case 3: argument(code); break;
      case 4: huge_argument(code); break;
      case 5:
      case 6: operation(code); break;
      case 7:
      case 8: move_instructions(code); break;
      case 9: borrowed_instructions(code); break;
      case 10:
      case 11: table(code); break;
      case 12:
      case 13: name(code); break;
      case 14: constant(code); break;
      case 15: items(); break;
      case 16: kinds(code); break;
      case 17: nest(code); break;
      case 18: share(); break;
      default: code_name(code); break;
    }
  }

 private:
  Object* field(Object& code, int index) {
    return index >= 0 && static_cast<std::size_t>(index) < code.items.size() ? &code.items[std::size_t(index)]
                                                                             : nullptr;
  }
  template <class T, std::size_t N>
  const T& any_of(const T (&values)[N]) {
    return values[random_.below(N)];
  }
  const Object* other_code() {  // a random code object of any seed, at any depth
    const Pyc& seed = seeds_[random_.below(seeds_.size())];
    const Object* code = &seed.code;
    while (!random_.chance(3)) {
      std::vector<const Object*> nested;
      if (code->items.size() > 1)
        for (const Object& item : code->items[std::size_t(fields_.constants)].items)
          if (item.type == 'c') nested.push_back(&item);
      if (nested.empty()) break;
      code = nested[random_.below(nested.size())];
    }
    return code;
  }

  void integer(Object& code) {
    const std::size_t at = 4 * random_.below(code.payload.size() / 4);
    const std::uint32_t old = number_at(code.payload, at);
    const std::uint32_t wanted =
        random_.chance(2) ? old + static_cast<std::uint32_t>(random_.below(5)) - 2 : any_of(odd_numbers);
    code.payload.replace(at, 4, four_bytes(wanted));
  }

  void flag(Object& code) {
    const std::size_t at = code.payload.size() - 4;
    constexpr int flags[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27};
    code.payload.replace(at, 4, four_bytes(number_at(code.payload, at) ^ 1u << any_of(flags)));
  }

  std::string* bytecode(Object& code) {
    Object* found = field(code, fields_.bytecode);
    return found && found->type == 's' && found->payload.size() >= 2 ? &found->payload : nullptr;
  }
  std::size_t unit(const std::string& bytes) { return 2 * random_.below(bytes.size() / 2); }

  void argument(Object& code) {
    if (std::string* bytes = bytecode(code)) {
      char& argument = (*bytes)[unit(*bytes) + 1];
      argument = random_.chance(2) ? static_cast<char>(argument + static_cast<char>(random_.below(7)) - 3)
                                   : static_cast<char>(any_of(odd_numbers));
    }
  }

  void huge_argument(Object& code) {
    std::string* bytes = bytecode(code);
    if (!bytes) return;
    constexpr char extended_arg_old = static_cast<char>(144);
    char extended_arg = extended_arg_old;
    if (pyc_.minor == 13) extended_arg = 71;
    if (pyc_.minor == 14) extended_arg = 69;
    if (pyc_.minor >= 15) extended_arg = 67;
    const std::size_t at = unit(*bytes);
    std::string prefix;
    for (std::size_t count = 1 + random_.below(3); count--;)
      prefix += {extended_arg, static_cast<char>(any_of(odd_numbers))};
    bytes->insert(at, prefix);
  }

  void operation(Object& code) {
    std::string* bytes = bytecode(code);
    if (!bytes) return;
    const std::size_t at = unit(*bytes);
    if (random_.chance(3)) {
      (*bytes)[at] = static_cast<char>(random_.below(256));
    } else if (Object* other = field(const_cast<Object&>(*other_code()), fields_.bytecode);
               other && other->payload.size() >= 2) {
      // the instruction of another code object, so one that compilers emit
      const std::size_t from = unit(other->payload);
      (*bytes)[at] = other->payload[from];
      if (random_.chance(2)) (*bytes)[at + 1] = other->payload[from + 1];
    }
  }

  void move_instructions(Object& code) {
    std::string* bytes = bytecode(code);
    if (!bytes) return;
    const std::size_t at = unit(*bytes), size = 2 * (1 + random_.below(6));
    const std::string run = bytes->substr(at, size);
    switch (random_.below(3)) {
      case 0: bytes->erase(at, size); break;
      case 1: bytes->insert(unit(*bytes), run); break;
      default: {
        const std::size_t to = unit(*bytes), length = std::min(run.size(), bytes->size() - to);
        const std::string there = bytes->substr(to, length);
        bytes->replace(to, length, run.substr(0, length));
        bytes->replace(at, length, there);
      }
    }
  }

  void borrowed_instructions(Object& code) {
    std::string* bytes = bytecode(code);
    Object* other = field(const_cast<Object&>(*other_code()), fields_.bytecode);
    if (!bytes || !other || other->payload.size() < 2) return;
    const std::size_t from = unit(other->payload);
    const std::string run = other->payload.substr(from, 2 * (1 + random_.below(12)));
    if (random_.chance(2)) bytes->insert(unit(*bytes), run);
    else bytes->replace(unit(*bytes), 0, run);
  }

  static std::string varint(std::uint32_t value, bool first) {  // encodes a number of an exception table entry
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 6)
      if (shift == 0 || value >> shift) bytes += static_cast<char>((value >> shift & 63) | (shift ? 64 : 0));
    if (first) bytes[0] = static_cast<char>(bytes[0] | 0x80);
    return bytes;
  }

  void table(Object& code) {
    const bool exceptions = fields_.exceptions >= 0 && !random_.chance(3);
    Object* found = field(code, exceptions ? fields_.exceptions : fields_.lines);
    if (!found) return;
    std::string& bytes = found->payload;
    if (exceptions && random_.chance(2)) {
      const std::string* instructions = bytecode(code);
      const std::size_t units = instructions ? instructions->size() / 2 : 1;
      std::string entry = varint(static_cast<std::uint32_t>(random_.below(units)), true);
      entry += varint(static_cast<std::uint32_t>(1 + random_.below(units)), false);
      entry += varint(static_cast<std::uint32_t>(random_.below(units)), false);
      entry += varint(static_cast<std::uint32_t>(random_.chance(8) ? any_of(odd_numbers) & 0xffffff : random_.below(8)),
                      false);
      std::size_t at = 0;  // the position of an entry's first byte (bit 0x80)
      for (std::size_t i = 0; i < bytes.size(); ++i)
        if ((bytes[i] & 0x80) && random_.chance(2)) at = i;
      bytes.insert(at, entry);
    } else if (bytes.empty() || random_.chance(4)) {
      bytes.insert(random_.below(bytes.size() + 1), 1, static_cast<char>(random_.below(256)));
    } else if (random_.chance(3)) {
      bytes.erase(random_.below(bytes.size()), 1 + random_.below(4));
    } else {
      char& byte = bytes[random_.below(bytes.size())];
      byte = static_cast<char>(byte ^ static_cast<char>(1u << random_.below(8)));
    }
  }

  void name(Object& code) {
    Object* tuple = field(code, random_.chance(2) ? fields_.names : fields_.variables);
    if (!tuple || tuple->items.empty()) return;
    Object& entry = tuple->items[random_.below(tuple->items.size())];
    if (random_.chance(4)) entry = tuple->items[random_.below(tuple->items.size())];
    else if (random_.chance(12)) entry = text(std::string(1 + random_.below(5000), 'n'));
    else entry = text(any_of(odd_names));
  }

  Object any_constant() {
    switch (random_.below(14)) {
      case 0: return {'i', four_bytes(any_of(odd_numbers)), {}, 0};
      case 1: {
        const std::size_t digits = 1 + random_.below(random_.chance(8) ? 2000 : 6);
        std::string payload = four_bytes(static_cast<std::uint32_t>(random_.chance(3) ? -digits : digits));
        for (std::size_t i = 0; i < digits; ++i) payload += {static_cast<char>(1 + random_.below(255)), 0x7f};
        return {'l', payload, {}, 0};
      }
      case 2: {
        constexpr std::string_view reals[] = {{"\0\0\0\0\0\0\xf0\x7f", 8},
                                              {"\0\0\0\0\0\0\xf8\x7f", 8},
                                              {"\0\0\0\0\0\0\0\x80", 8},
                                              {"\1\0\0\0\0\0\0\0", 8}};
        return {'g', std::string(any_of(reals)), {}, 0};
      }
      case 3: return {'y', std::string("\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\xf8\xff", 16), {}, 0};
      case 4: return text(any_of(odd_names));
      case 5: return {'s', std::string(any_of(odd_names)), {}, 0};
      case 6: return {'>', {}, {text("a"), {'N', {}, {}, 0}, {'T', {}, {}, 0}}, 0};
      case 7: return {'.', {}, {}, 0};
      case 8: return {'<', {}, {text("a")}, 0};
      case 9: return {')', {}, {text(any_of(odd_names)), text(any_of(odd_names)), {'N', {}, {}, 0}}, 0};
      case 10: {
        Object deep{'N', {}, {}, 0};
        for (std::size_t depth = 1 + random_.below(random_.chance(6) ? 400 : 20); depth--;) {
          Object outer{')', {}, {}, 0};
          outer.items.push_back(std::move(deep));
          deep = std::move(outer);
        }
        return deep;
      }
      case 11:
        return pyc_.minor >= 14 ? Object{':', {}, {{'N', {}, {}, 0}, text("a"), {'T', {}, {}, 0}}, 0}
                                : Object{'F', {}, {}, 0};
      case 12: return {'z', "", {}, 0};
      default: return *other_code();
    }
  }

  void constant(Object& code) {
    Object* tuple = field(code, fields_.constants);
    if (!tuple || !is_sequence(*tuple)) return;
    if (tuple->items.empty() || random_.chance(4)) tuple->items.push_back(any_constant());
    else tuple->items[random_.below(tuple->items.size())] = any_constant();
    resized(*tuple);
  }

  void items() {
    Object& object = *all_[random_.below(all_.size())];
    if (is_string(object) || object.type == 's') {
      if (object.type == 's') return;  // other functions change the bytes of code objects
      object = text(any_of(odd_names));
      return;
    }
    if (!is_sequence(object)) {
      if (object.type != 'c' && object.type != '#') object = any_constant();
      return;
    }
    std::vector<Object>& list = object.items;
    if (list.empty()) list.push_back(any_constant());
    const std::size_t a = random_.below(list.size()), b = random_.below(list.size());
    switch (random_.below(4)) {
      case 0: list.erase(list.begin() + static_cast<std::ptrdiff_t>(a)); break;
      case 1: list.insert(list.begin() + static_cast<std::ptrdiff_t>(a), Object(list[b])); break;
      case 2: std::swap(list[a], list[b]); break;
      default: list[a] = Object(list[b]); break;
    }
    resized(object);
  }

  void kinds(Object& code) {
    Object* found = field(code, fields_.kinds);
    if (!found) return name(code);
    constexpr char all_kinds[] = {0x20, 0x40, 0x60, static_cast<char>(0x80), 0x30, 0, 0x10, static_cast<char>(0xa0),
                                  0x26, 0x28};
    if (!found->payload.empty()) found->payload[random_.below(found->payload.size())] = any_of(all_kinds);
    // Each kind of a local belongs to a name, so sometimes a name and a kind are added.
    Object* names = field(code, fields_.variables);
    if (names && is_sequence(*names) && random_.chance(2)) {
      names->items.push_back(text(any_of(odd_names)));
      found->payload += any_of(all_kinds);
      resized(*names);
    }
  }

  void nest(Object& code) {
    Object* tuple = field(code, fields_.constants);
    if (!tuple || tuple->items.empty()) return;
    std::vector<std::size_t> nested;
    for (std::size_t i = 0; i < tuple->items.size(); ++i)
      if (tuple->items[i].type == 'c') nested.push_back(i);
    if (nested.empty() || random_.chance(4)) {
      tuple->items[random_.below(tuple->items.size())] = *other_code();
      return;
    }
    // Nests copies of a code object in each other, up to 120 levels deep.
    Object& target = tuple->items[nested[random_.below(nested.size())]];
    const Object copy = target;
    const std::size_t most = random_.chance(10) ? 120 : 8;
    Object deep = copy;
    for (std::size_t depth = 1 + random_.below(most); depth--;) {
      Object outer = copy;
      Object* inner = field(outer, fields_.constants);
      if (!inner || inner->items.empty()) return;
      inner->items[random_.below(inner->items.size())] = std::move(deep);
      deep = std::move(outer);
    }
    target = std::move(deep);
  }

  void share() {
    Object& source = *all_[random_.below(all_.size())];
    Object& target = *all_[random_.below(all_.size())];
    if (source.type == '#' || target.type == '#' || &source == &target || &target == &pyc_.code) return;
    source.shared = source.shared ? source.shared : ++shared_;
    Object copy = source;
    target = std::move(copy);
  }

  void code_name(Object& code) {
    Object* found = field(code, random_.chance(4) && fields_.qualname >= 0 ? fields_.qualname : fields_.name);
    if (found) *found = text(any_of(code_names));
  }

  Pyc& pyc_;
  const std::vector<Pyc>& seeds_;
  Random& random_;
  const CodeFields& fields_;
  std::vector<Object*> all_, codes_;
  int shared_ = 0;
};

}  // namespace

Pyc mutant(const std::vector<Pyc>& seeds, Random& random) {
  Pyc pyc = seeds[random.below(seeds.size())];
  Mutator mutator(pyc, seeds, random);
  for (std::size_t changes = 1 + random.below(random.chance(4) ? 6 : 2); changes--;) mutator.change();
  return pyc;
}

}  // namespace depyf::fuzz
