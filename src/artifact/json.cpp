#include "artifact/words.h"
#include "json/writer.h"

namespace depyf::artifact {
namespace {

void write_facts(json::Writer& writer, std::string_view name, const std::vector<Fact>& facts) {
  writer.object(name, [&] {
    for (const Fact& fact : facts) writer.member(fact.name, fact.value);
  });
}

void write_function(json::Writer& writer, const Function& function) {
  writer.member("role", function.role);
  writer.member("name", function.name);
  writer.member("file", function.filename);
  writer.member("line", function.line);
  writer.optional("source", function.source);
  writer.key("proved"), writer.boolean(function.is_proved);
  writer.optional("problem", function.problem);
}

void write_guard(json::Writer& writer, const Guard& guard) {
  writer.member("kind", guard.printed.kind);
  writer.optional("value", guard.printed.value);
  writer.optional("line", guard.printed.line);
  writer.strings("words", guard.words);
  writer.strings("conditions", guard.printed.conditions);
  writer.optional("without_form", guard.without_form);
}

void write_source(json::Writer& writer, const Source& source) {
  writer.member("module", source.module);
  writer.member("first_line", source.first_line);
  writer.member("last_line", source.last_line - 1);
  writer.member("sha256", source.checksum);
  writer.key("text_has_checksum"), writer.boolean(source.text_has_checksum);
  writer.optional("match", match_words(source.match));
  writer.optional("path", source.path);
  writer.member("text", source.text);
}

void write_part(json::Writer& writer, const Part& part) {
  writer.member("title", part.title);
  writer.optional("kind", part.kind);
  writer.optional("key", part.key);
  writer.member("size", static_cast<std::int64_t>(part.size));
  write_facts(writer, "facts", part.facts);
  write_facts(writer, "settings", part.settings);
  write_facts(writer, "state", part.state);
  writer.objects("functions", part.functions, [&](const Function& function) { write_function(writer, function); });
  writer.objects("guards", part.guards, [&](const Guard& guard) { write_guard(writer, guard); });
  writer.optional("guard_source", part.has_guards ? guard_source(part) : std::string());
  writer.strings("unchecked", part.unchecked);
  writer.objects("stages", part.stages, [&](const Stage& stage) {
    writer.member("title", stage.title);
    writer.optional("key", stage.key);
    writer.key("is_code"), writer.boolean(stage.is_code);
    writer.member("text", stage.text);
  });
  writer.objects("sources", part.sources, [&](const Source& source) { write_source(writer, source); });
  writer.objects("key_parts", part.key_parts, [&](const KeyPart& each) {
    writer.member("name", each.name);
    writer.member("hash", each.hash);
    writer.member("value", each.value);
  });
  writer.strings("notes", part.notes);
}

void write_artifact(json::Writer& writer, const Artifact& artifact) {
  writer.member("name", artifact.name);
  writer.optional("format", artifact.format);
  writer.member("size", static_cast<std::int64_t>(artifact.size));
  writer.optional("error", artifact.error);
  if (!artifact.error.empty()) writer.member("error_offset", static_cast<std::int64_t>(artifact.error_offset));
  writer.objects("parts", artifact.parts, [&](const Part& part) { write_part(writer, part); });
  writer.strings("names", artifact.names);
  writer.strings("called", artifact.called);
  writer.member("persistent_count", static_cast<std::int64_t>(artifact.persistent_count));
  writer.optional("outline", artifact.outline);
}

}  // namespace

std::string to_json(const std::vector<Artifact>& artifacts) {
  json::Writer writer;
  writer.object([&] {
    writer.objects("artifacts", artifacts, [&](const Artifact& artifact) { write_artifact(writer, artifact); });
  });
  return writer.take();
}

}  // namespace depyf::artifact
