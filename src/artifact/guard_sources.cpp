#include <set>

#include "artifact/guards.h"
#include "artifact/harmless.h"
#include "pickle/outline.h"
#include "support/words.h"

namespace depyf::artifact {
namespace {

using pickle::Kind;
using pickle::Value;

constexpr int steps_max = 200;  // the maximum number of steps of one source of Dynamo; usual sources have some tens
constexpr std::size_t expression_max = 4000;  // the maximum size of an expression in bytes

bool is_identifier(std::string_view text) {
  return !text.empty() && word_at(text).size() == text.size() && (text[0] < '0' || text[0] > '9');
}

class Expressions {
 public:
  std::string of(const Value& source) {
    if (--steps_ < 0 || !source.is_object()) return {};
    const std::string whole = source.class_name();
    const std::string name = whole.substr(whole.rfind('.') + 1);
    const Value first = field(source, 0, {"base", "local_name", "global_name", "module_name", "source_name"});
    if (name == "LocalSource") return subscript("L", first);
    if (name == "GlobalSource") return subscript("G", first);
    if (name == "GlobalWeakRefSource") return subscript("G", first) + "()";
    if (name == "ImportSource" && first.is(Kind::string))
      return "__import__('sys').modules[" + pickle::quoted(first.text()) + "]";
    const std::string base = of(first);
    if (base.empty() || base.size() > expression_max) return {};
    return step(name, base, source);
  }

 private:
  // Returns a field of a pickled dataclass. The pickle can contain the field as an argument of the constructor or in
  // the state.
  static Value field(const Value& source, std::size_t position, std::initializer_list<std::string_view> names) {
    if (const Value given = source.argument(position)) return given;
    for (const std::string_view name : names)
      if (const Value given = source.attribute(name)) return given;
    return {};
  }

  static std::string subscript(std::string base, const Value& name) {
    return name.is(Kind::string) ? base + "[" + pickle::outline(name, expression_max) + "]" : std::string();
  }

  std::string step(const std::string& name, const std::string& base, const Value& source) {
    static const std::set<std::string, std::less<>> unchanged = {"NNModuleSource",
                                                                 "UnspecializedNNModuleSource",
                                                                 "UnspecializedBuiltinNNModuleSource",
                                                                 "FSDPNNModuleSource",
                                                                 "SkipGuardSource",
                                                                 "OptimizerSource"};
    if (unchanged.contains(name)) return base;
    if (name == "TypeSource") return "type(" + base + ")";
    if (name == "TypeDictSource") return "dict(" + base + ".__dict__)";
    if (name == "TypeMROSource") return base + ".__mro__";
    if (name == "CodeSource") return base + ".__code__";
    if (name == "ClosureSource") return base + ".__closure__";
    if (name == "GradSource") return base + ".grad";
    if (name == "WeakRefCallSource" || name == "CallFunctionNoArgsSource") return base + "()";
    const Value second = field(source, 1, {"member", "index", "idx_key", "idx"});
    if (name == "DefaultsSource")
      return base + (second.is(Kind::string) ? ".__kwdefaults__[" : ".__defaults__[") + pickle::outline(second, 200) +
             "]";
    if (name == "ConstDictKeySource") return "list(dict.keys(" + base + "))[" + pickle::outline(second, 200) + "]";
    if (name == "NonSerializableSetGetItemSource") return "list(" + base + ")[" + pickle::outline(second, 200) + "]";
    if (name == "DictSubclassGetItemSource") return "dict.__getitem__(" + base + ", " + index(second) + ")";
    if (name.ends_with("GetItemSource") && name != "TupleIteratorGetItemSource")
      return base + "[" + index(second) + "]";
    if (name == "GenericAttrSource" && second.is(Kind::string))
      return "object.__getattribute__(" + base + ", " + pickle::quoted(second.text()) + ")";
    if (second.is(Kind::string) && is_identifier(second.text()) && second.text().size() < expression_max)
      // Dynamo describes the value by an instance of AttrSource, or of a class that derives from AttrSource.
      return base + "." + std::string(second.text());
    return {};
  }

  std::string index(const Value& key) {
    if (key.is_object()) {
      if (const std::string expression = of(key); !expression.empty()) return expression;
    }
    return pickle::outline(key, 200);
  }

  int steps_ = steps_max;
};

}  // namespace

std::string source_expression(const Value& source) {
  std::string expression = Expressions().of(source);
  return expression.size() > expression_max ? std::string() : expression;
}

std::optional<TypeCheck> type_check(std::string_view words) {
  constexpr std::string_view before = "___check_type_id(", between = "), type=<class '", behind = "'>";
  if (!take(words, before) || !words.ends_with(behind)) return {};
  const std::size_t end = words.rfind(between);
  if (end == std::string_view::npos) return {};
  const std::size_t comma = words.substr(0, end).rfind(", ");
  if (comma == std::string_view::npos) return {};
  const std::string_view type = words.substr(end + between.size(), words.size() - behind.size() - end - between.size());
  return TypeCheck{std::string(words.substr(0, comma)), std::string(type)};
}

std::string has_type(const std::string& expression, const std::string& type) {
  static const std::set<std::string, std::less<>> builtins = {"bool",  "int",   "float", "complex", "str",
                                                              "bytes", "tuple", "list",  "dict",    "frozenset",
                                                              "set",   "slice", "range", "type"};
  std::string_view name = type;
  take(name, "builtins.");
  const bool is_name = is_dotted_name(type);
  if (builtins.contains(name)) return "type(" + expression + ") is " + std::string(name);
  if (type == "NoneType" || type == "builtins.NoneType") return expression + " is None";
  if (is_name && type.starts_with("torch.") && type.find("._") == std::string::npos)
    return "type(" + expression + ") is " + type;
  // An expression can refer to a class of the program only if its module is imported, so the condition compares the
  // names of the module and the class instead.
  return "(type(" + expression + ").__module__, type(" + expression + ").__qualname__) == " +
         (type.rfind('.') == std::string::npos
              ? "('builtins', " + pickle::quoted(type) + ")"
              : "(" + pickle::quoted(std::string_view(type).substr(0, type.rfind('.'))) + ", " +
                    pickle::quoted(std::string_view(type).substr(type.rfind('.') + 1)) + ")");
}

}  // namespace depyf::artifact
