// Lists the members of each part of the record in its JSON form, in their order. The writer (to_json.cpp), the reader
// (from_json.cpp) and the JSON Schema (schema.cpp) are visitors of the lists of members, so that the three files cannot
// disagree.
//
// A visitor offers `visit(name, value)` for a member, and `visit.or_null(name, text)` for a member that is a text, or
// a list of texts, and may be unknown. An unknown text is empty in the record, and null in JSON.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "depyf/record.h"

namespace depyf::record {

// True for `Type` and for `const Type`. A visitor that only reads receives a part of the record as const.
template <class Part, class Type>
concept PartOf = std::same_as<std::remove_const_t<Part>, Type>;

// The name that a part of the record has in the JSON Schema.
template <class Type>
constexpr std::string_view part_name = "";
template <>
inline constexpr std::string_view part_name<Place> = "place";
template <>
inline constexpr std::string_view part_name<Phase> = "phase";
template <>
inline constexpr std::string_view part_name<Event> = "event";
template <>
inline constexpr std::string_view part_name<GraphBreak> = "graph_break";
template <>
inline constexpr std::string_view part_name<FailedGuard> = "failed_guard";
template <>
inline constexpr std::string_view part_name<Limit> = "limit";
template <>
inline constexpr std::string_view part_name<LimitReached> = "limit_reached";
template <>
inline constexpr std::string_view part_name<RuntimeValue> = "runtime_value";
template <>
inline constexpr std::string_view part_name<RuntimeAssert> = "runtime_assert";
template <>
inline constexpr std::string_view part_name<MissingArtifact> = "missing_artifact";
template <>
inline constexpr std::string_view part_name<Kernel> = "kernel";
template <>
inline constexpr std::string_view part_name<Node> = "node";
template <>
inline constexpr std::string_view part_name<Graph> = "graph";
template <>
inline constexpr std::string_view part_name<KernelCall> = "kernel_call";
template <>
inline constexpr std::string_view part_name<OutputCode> = "output_code";
template <>
inline constexpr std::string_view part_name<Link> = "link";
template <>
inline constexpr std::string_view part_name<Chain> = "chain";
template <>
inline constexpr std::string_view part_name<NotFused> = "not_fused";
template <>
inline constexpr std::string_view part_name<CacheEvent> = "cache_event";
template <>
inline constexpr std::string_view part_name<GuardGroup> = "guard_group";
template <>
inline constexpr std::string_view part_name<Symbol> = "symbol";
template <>
inline constexpr std::string_view part_name<Artifact> = "artifact";
template <>
inline constexpr std::string_view part_name<Compilation> = "compilation";
template <>
inline constexpr std::string_view part_name<Problem> = "problem";
template <>
inline constexpr std::string_view part_name<FunctionFile> = "function_file";
template <>
inline constexpr std::string_view part_name<Process> = "process";
template <>
inline constexpr std::string_view part_name<Measurement> = "measurement";

template <class Visitor, PartOf<Measurement> Part>
void visit_members(Part& measurement, Visitor& visit) {
  visit("kind", measurement.kind);
  visit("place", measurement.place);
  visit("value", measurement.value);
  visit("unit", measurement.unit);
  visit.or_null("text", measurement.text);
  visit("is_alarm", measurement.is_alarm);
}

template <class Visitor, PartOf<Place> Part>
void visit_members(Part& place, Visitor& visit) {
  visit.or_null("file", place.file);
  visit("line", place.line);
  visit.or_null("function", place.function);
  visit.or_null("text", place.text);
}

template <class Visitor, PartOf<Phase> Part>
void visit_members(Part& phase, Visitor& visit) {
  visit("name", phase.name);
  visit("total_us", phase.total_us);
  visit("self_us", phase.self_us);
  visit("count", phase.count);
  visit("is_parallel", phase.is_parallel);
}

template <class Visitor, PartOf<Event> Part>
void visit_members(Part& event, Visitor& visit) {
  visit("name", event.name);
  visit("start_us", event.start_us);
  visit("duration_us", event.duration_us);
  visit("compilation", event.compilation);
  visit("is_parallel", event.is_parallel);
}

template <class Visitor, PartOf<GraphBreak> Part>
void visit_members(Part& graph_break, Visitor& visit) {
  visit("place", graph_break.place);
  visit("reason", graph_break.reason);
  visit.or_null("explanation", graph_break.explanation);
  visit("hints", graph_break.hints);
  visit("stack", graph_break.stack);
  visit("inside", graph_break.inside);
  visit.or_null("link", graph_break.link);
  visit.or_null("then", graph_break.then);
}

template <class Visitor, PartOf<FailedGuard> Part>
void visit_members(Part& failed, Visitor& visit) {
  visit.or_null("compilation", failed.compilation);
  visit("guard", failed.guard);
  visit("place", failed.place);
  visit.or_null("subject", failed.subject);
  visit.or_null("expected", failed.expected);
  visit.or_null("actual", failed.actual);
  visit.or_null("origin", failed.origin);
  visit("is_in_words", failed.is_in_words);
  visit("is_state", failed.is_state);
  visit("alike", failed.alike);
  visit("follows", failed.follows);
}

template <class Visitor, PartOf<Limit> Part>
void visit_members(Part& limit, Visitor& visit) {
  visit("condition", limit.condition);
  visit.or_null("subject", limit.subject);
  visit.or_null("origin", limit.origin);
  visit("place", limit.place);
}

template <class Visitor, PartOf<LimitReached> Part>
void visit_members(Part& limit, Visitor& visit) {
  visit("setting", limit.setting);
  visit("value", limit.value);
  visit("compilations", limit.compilations);
  visit("reasons", limit.reasons);
  visit("accepted", limit.accepted);
  visit("is_still_used", limit.is_still_used);
}

template <class Visitor, PartOf<RuntimeValue> Part>
void visit_members(Part& value, Visitor& visit) {
  visit("name", value.name);
  visit.or_null("range", value.range);
  visit("place", value.place);
}

template <class Visitor, PartOf<RuntimeAssert> Part>
void visit_members(Part& check, Visitor& visit) {
  visit("condition", check.condition);
  visit.or_null("message", check.message);
  visit("place", check.place);
}

template <class Visitor, PartOf<MissingArtifact> Part>
void visit_members(Part& missing, Visitor& visit) {
  visit("kind", missing.kind);
  visit("why", missing.why);
  visit.or_null("direction", missing.direction);
}

template <class Visitor, PartOf<Kernel> Part>
void visit_members(Part& kernel, Visitor& visit) {
  visit("name", kernel.name);
  visit("kind", kernel.kind);
  visit.or_null("direction", kernel.direction);
  visit("calls", kernel.calls);
  visit("source_nodes", kernel.source_nodes);
}

template <class Visitor, PartOf<Node> Part>
void visit_members(Part& node, Visitor& visit) {
  visit("name", node.name);
  visit("operator", node.op);
  visit.or_null("shape", node.shape);
  visit.or_null("module", node.module);
  visit("inputs", node.inputs);
  visit("place", node.place);
  visit("is_backward", node.is_backward);
}

template <class Visitor, PartOf<Graph> Part>
void visit_members(Part& graph, Visitor& visit) {
  visit("stage", graph.stage);
  visit.or_null("direction", graph.direction);
  visit("number", graph.number);
  visit("nodes", graph.nodes);
  visit.or_null("outputs", graph.outputs);
}

template <class Visitor, PartOf<KernelCall> Part>
void visit_members(Part& call, Visitor& visit) {
  visit("kernel", call.kernel);
  visit("kind", call.kind);
  visit("line", call.line);
  visit("reads", call.reads);
  visit("writes", call.writes);
  visit("overwrites", call.overwrites);
  visit("source_nodes", call.source_nodes);
  visit.or_null("handle", call.handle);
  visit("nodes", call.nodes);
  visit("captured", call.captured);
  visit("places", call.places);
  visit.or_null("evidence", call.evidence);
  visit.or_null("why_no_place", call.why_no_place);
}

template <class Visitor, PartOf<OutputCode> Part>
void visit_members(Part& code, Visitor& visit) {
  visit.or_null("direction", code.direction);
  visit("number", code.number);
  visit.or_null("why_no_calls", code.why_no_calls);
  visit("calls", code.calls);
  visit.or_null("outputs", code.outputs);
  visit("buffer_of", code.buffer_of);
  visit("shapes", code.shapes);
  visit("captured_of", code.captured_of);
  visit("nodes_of", code.nodes_of);
}

template <class Visitor, PartOf<Link> Part>
void visit_members(Part& link, Visitor& visit) {
  visit("graph", link.graph);
  visit("post_grad", link.post_grad);
  visit("kernels", link.kernels);
  visit("operations", link.operations);
  visit("not_recorded", link.not_recorded);
}

template <class Visitor, PartOf<Chain> Part>
void visit_members(Part& chain, Visitor& visit) {
  visit("node", chain.node);
  visit("operator", chain.op);
  visit.or_null("module", chain.module);
  visit("place", chain.place);
  visit("joint", chain.joint);
  visit("directions", chain.directions);
  visit("not_recorded", chain.not_recorded);
}

template <class Visitor, PartOf<NotFused> Part>
void visit_members(Part& pair, Visitor& visit) {
  visit.or_null("direction", pair.direction);
  visit("first", pair.first);
  visit("second", pair.second);
  visit("why", pair.why);
  visit("buffers", pair.buffers);
}

template <class Visitor, PartOf<GuardGroup> Part>
void visit_members(Part& group, Visitor& visit) {
  visit.or_null("source", group.source);
  visit("us", group.us);
  visit("values", group.values);
  visit("guards", group.guards);
}

template <class Visitor, PartOf<CacheEvent> Part>
void visit_members(Part& event, Visitor& visit) {
  visit("cache", event.cache);
  visit("result", event.result);
  visit.or_null("key", event.key);
}

template <class Visitor, PartOf<Symbol> Part>
void visit_members(Part& symbol, Visitor& visit) {
  visit("name", symbol.name);
  visit.or_null("source", symbol.source);
  visit.or_null("value", symbol.value);
  visit.or_null("range", symbol.range);
  visit("place", symbol.place);
  visit.or_null("lower_from", symbol.lower_from);
  visit.or_null("upper_from", symbol.upper_from);
  visit.or_null("specialized_to", symbol.specialized_to);
  visit.or_null("reason", symbol.reason);
}

template <class Visitor, PartOf<Artifact> Part>
void visit_members(Part& artifact, Visitor& visit) {
  visit("kind", artifact.kind);
  visit.or_null("name", artifact.name);
  visit("offset", artifact.offset);
  visit("size", artifact.size);
  visit.or_null("fingerprint", artifact.fingerprint);
  visit.or_null("direction", artifact.direction);
  visit("is_known", artifact.is_known);
}

template <class Visitor, PartOf<Compilation> Part>
void visit_members(Part& it, Visitor& visit) {
  visit("id", it.id);
  visit("is_own_id", it.is_own_id);
  visit("attempts", it.attempts);
  visit("status", it.status);
  visit("place", it.place);
  visit.or_null("name", it.name);
  visit("is_resume", it.is_resume);
  visit("resume_names", it.resume_names);
  visit("resume_calls", it.resume_calls);
  visit("was_before", it.was_before);
  visit.or_null("failure", it.failure);
  visit("is_raised", it.is_raised);
  visit("failed_at", it.failed_at);
  visit("stopped_by", it.stopped_by);
  visit("limit_reached", it.limit_reached);
  visit("seconds", it.seconds);
  visit("backward_seconds", it.backward_seconds);
  visit("start_us", it.start_us);
  visit("guards", it.guards);
  visit("guard_us", it.guard_us);
  visit("guard_groups", it.guard_groups);
  visit("graph_nodes", it.graph_nodes);
  visit("graph_operators", it.graph_operators);
  visit("restart_reasons", it.restart_reasons);
  visit("reasons", it.reasons);
  visit("reasons_in_words", it.reasons_in_words);
  visit("limits", it.limits);
  visit("breaks", it.breaks);
  visit("kernels", it.kernels);
  visit("caches", it.caches);
  visit("symbols", it.symbols);
  visit("runtime_values", it.runtime_values);
  visit("runtime_asserts", it.runtime_asserts);
  visit("missing", it.missing);
  visit("notes", it.notes);
  visit("provenance", it.provenance);
  visit.or_null("code_file", it.code_file);
  visit.or_null("guards_file", it.guards_file);
  visit("is_proved", it.is_proved);
  visit.or_null("why_not_proved", it.why_not_proved);
  visit("graphs", it.graphs);
  visit("output_codes", it.output_codes);
  visit("chains", it.chains);
  visit("not_fused", it.not_fused);
  visit("tables", it.tables);
  visit("phases", it.phases);
  visit("called_from", it.called_from);
  visit("artifacts", it.artifacts);
}

template <class Visitor, PartOf<Problem> Part>
void visit_members(Part& problem, Visitor& visit) {
  visit("offset", problem.offset);
  visit("message", problem.message);
}

template <class Visitor, PartOf<FunctionFile> Part>
void visit_members(Part& file, Visitor& visit) {
  visit("file", file.file);
  visit("title", file.title);
  visit("compilations", file.compilations);
}

template <class Visitor, PartOf<Process> Part>
void visit_members(Part& process, Visitor& visit) {
  visit("log", process.log);
  visit("pid", process.pid);
  visit("rank", process.rank);
  visit("run", process.run);
  visit("is_child", process.is_child);
  visit.or_null("torch_version", process.torch_version);
  visit.or_null("python_version", process.python_version);
  visit.or_null("working_directory", process.working_directory);
  visit("is_cut", process.is_cut);
  visit("unknown_strings", process.unknown_strings);
  visit("problems", process.problems);
  visit("notes", process.notes);
  visit("records", process.records);
  visit("compilations", process.compilations);
  visit("artifacts", process.artifacts);
  visit("function_files", process.function_files);
  visit.or_null("tables", process.tables);
  visit("phases", process.phases);
  visit("events", process.events);
}

}  // namespace depyf::record
