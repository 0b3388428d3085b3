#include "tools/armature/schema/yaml_text.h"

#include <yaml.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr size_t kNodeBytes = 32;
// Longer integers would lose digits.
constexpr size_t kDigitsMax = 18;

std::string_view TextOf(const yaml_char_t* text) {
  // libyaml's characters are bytes.
  return text == nullptr ? std::string_view()
                         : std::string_view(reinterpret_cast<const char*>(text));  // NOLINT(*-reinterpret-cast)
}

absl::Status FaultAt(const yaml_mark_t& mark, std::string_view what) {
  return absl::InvalidArgumentError(Cat("line ", mark.line + 1, ", column ", mark.column + 1, ": ", what));
}

// Skips digits from *at on. False if there is none.
bool SkipDigits(std::string_view text, size_t* at) {
  const size_t begin = *at;
  while (*at < text.size() && std::isdigit(static_cast<unsigned char>(text[*at])) != 0) ++*at;
  return *at > begin;
}

// True for a number as JSON writes it, of few digits.
bool IsNumber(std::string_view text) {
  size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
  const size_t integer = at;
  if (!SkipDigits(text, &at) || at - integer > kDigitsMax) return false;
  if (text[integer] == '0' && at - integer > 1) return false;
  if (at < text.size() && text[at] == '.' && !SkipDigits(text, &++at)) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!SkipDigits(text, &at)) return false;
  }
  return at == text.size();
}

Json PlainScalar(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (IsNumber(text)) {
    Json number = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!number.is_discarded()) return number;
  }
  return std::string(text);
}

// The member that a tag of CloudFormation stands for; empty for other tags.
std::string FunctionOf(std::string_view tag) {
  if (tag.size() < 2 || tag[0] != '!') return "";
  const std::string_view name = tag.substr(1);
  return name == "Ref" || name == "Condition" ? std::string(name) : Cat("Fn::", name);
}

// A value that is complete.
struct Node {
  Json value;
  size_t bytes = kNodeBytes;
  size_t height = 1;  // levels of the value
};

// Builds the value from the parser's events.
class Builder {
 public:
  absl::Status Handle(const yaml_event_t& event);
  Json TakeRoot() { return std::move(root_.value); }

 private:
  // A sequence or a mapping that is not complete.
  struct Open {
    Node node;
    std::string function;
    std::string anchor;
    std::optional<std::string> key;  // of the next value of a mapping
  };

  absl::Status Begin(Json empty, std::string_view tag, std::string_view anchor, const yaml_event_t& event);
  absl::Status End(const yaml_event_t& event);
  absl::Status Scalar(const yaml_event_t& event);
  absl::Status Alias(const yaml_event_t& event);
  absl::Status Key(std::string_view text, const yaml_event_t& event);
  // Wraps a value into its function, remembers it under its anchor, and puts it where it belongs.
  absl::Status Finish(Node node, const std::string& function, const std::string& anchor, const yaml_event_t& event);
  absl::Status Place(Node node, const yaml_event_t& event);
  // True if the next value is the name of a member.
  bool IsAtKey() const { return !open_.empty() && open_.back().node.value.is_object() && !open_.back().key; }

  std::vector<Open> open_;
  Node root_;
  bool has_document_ = false;
  size_t bytes_ = 0;  // of all nodes so far, also of those for anchors
  absl::flat_hash_map<std::string, Node> anchors_;
};

absl::Status Builder::Handle(const yaml_event_t& event) {
  switch (event.type) {
    case YAML_DOCUMENT_START_EVENT:
      if (has_document_) return FaultAt(event.start_mark, "a second document");
      has_document_ = true;
      return absl::OkStatus();
    case YAML_SEQUENCE_START_EVENT:
      return Begin(Json::array(), TextOf(event.data.sequence_start.tag), TextOf(event.data.sequence_start.anchor),
                   event);
    case YAML_MAPPING_START_EVENT:
      return Begin(Json::object(), TextOf(event.data.mapping_start.tag), TextOf(event.data.mapping_start.anchor),
                   event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return End(event);
    case YAML_SCALAR_EVENT:
      return Scalar(event);
    case YAML_ALIAS_EVENT:
      return Alias(event);
    default:
      return absl::OkStatus();
  }
}

absl::Status Builder::Begin(Json empty, std::string_view tag, std::string_view anchor, const yaml_event_t& event) {
  if (IsAtKey()) return FaultAt(event.start_mark, "the name of a member must be a text");
  // A function takes a level of its own.
  if (open_.size() + 2 > kJsonDepthMax) return FaultAt(event.start_mark, "too many levels");
  open_.push_back({{std::move(empty)}, FunctionOf(tag), std::string(anchor), std::nullopt});
  return absl::OkStatus();
}

absl::Status Builder::End(const yaml_event_t& event) {
  Open open = std::move(open_.back());
  open_.pop_back();
  return Finish(std::move(open.node), open.function, open.anchor, event);
}

absl::Status Builder::Scalar(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  // Not TextOf, because the text may contain zero bytes.
  const std::string_view text(TextOf(scalar.value).data(), scalar.length);
  if (IsAtKey()) return Key(text, event);
  const bool is_plain = scalar.plain_implicit != 0;
  Node node{is_plain ? PlainScalar(text) : Json(std::string(text)), kNodeBytes + text.size()};
  return Finish(std::move(node), FunctionOf(TextOf(scalar.tag)), std::string(TextOf(scalar.anchor)), event);
}

absl::Status Builder::Alias(const yaml_event_t& event) {
  if (IsAtKey()) return FaultAt(event.start_mark, "the name of a member must be a text");
  // The anchor of a value that is not complete is not known yet, so no value contains itself.
  const auto found = anchors_.find(std::string(TextOf(event.data.alias.anchor)));
  if (found == anchors_.end()) return FaultAt(event.start_mark, "an alias without an anchor before it");
  // Before the copy is made.
  bytes_ += found->second.bytes;
  if (bytes_ > kYamlBytesMax) return FaultAt(event.start_mark, "the value is too large with all its aliases");
  return Place(found->second, event);
}

absl::Status Builder::Key(std::string_view text, const yaml_event_t& event) {
  Open& open = open_.back();
  if (text == "<<") return FaultAt(event.start_mark, "merge keys (<<) are not supported");
  if (open.node.value.size() >= kYamlMembersMax) return FaultAt(event.start_mark, "too many members");
  if (open.node.value.contains(text)) return FaultAt(event.start_mark, Cat("the member ", text, " occurs twice"));
  open.key = std::string(text);
  open.node.bytes += text.size();
  return absl::OkStatus();
}

absl::Status Builder::Finish(Node node, const std::string& function, const std::string& anchor,
                             const yaml_event_t& event) {
  if (!function.empty()) {
    Json wrapped = Json::object();
    wrapped[function] = std::move(node.value);
    node = {std::move(wrapped), node.bytes + kNodeBytes, node.height + 1};
  }
  // The bytes of its children were counted when they were complete; texts and nodes are counted again for each level,
  // of which there are few.
  bytes_ += node.bytes;
  if (bytes_ > kYamlBytesMax) return FaultAt(event.start_mark, "the value is too large");
  if (!anchor.empty()) anchors_.insert_or_assign(anchor, node);
  return Place(std::move(node), event);
}

absl::Status Builder::Place(Node node, const yaml_event_t& event) {
  if (open_.size() + node.height > kJsonDepthMax) return FaultAt(event.start_mark, "too many levels");
  if (open_.empty()) {
    root_ = std::move(node);
    return absl::OkStatus();
  }
  Open& open = open_.back();
  open.node.bytes += node.bytes;
  open.node.height = std::max(open.node.height, node.height + 1);
  if (open.key) {
    open.node.value[*std::exchange(open.key, std::nullopt)] = std::move(node.value);
  } else {
    open.node.value.push_back(std::move(node.value));
  }
  return absl::OkStatus();
}

// The parser of libyaml, which gives its memory back.
class Parser {
 public:
  explicit Parser(std::string_view text) {
    is_good_ = yaml_parser_initialize(&parser_) != 0;
    if (!is_good_) return;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());  // NOLINT(*-reinterpret-cast)
    yaml_parser_set_input_string(&parser_, bytes, text.size());
  }
  ~Parser() {
    if (is_good_) yaml_parser_delete(&parser_);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // Hands all events to `builder`.
  absl::Status Run(Builder* builder) {
    if (!is_good_) return absl::ResourceExhaustedError("no memory for the parser of YAML");
    bool is_over = false;
    while (!is_over) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) == 0) {
        return FaultAt(parser_.problem_mark, parser_.problem == nullptr ? "no YAML" : parser_.problem);
      }
      is_over = event.type == YAML_STREAM_END_EVENT;
      const absl::Status status = builder->Handle(event);
      yaml_event_delete(&event);
      ARM_RETURN_IF_ERROR(status);
    }
    return absl::OkStatus();
  }

 private:
  yaml_parser_t parser_{};
  bool is_good_ = false;
};

}  // namespace

absl::StatusOr<Json> ParseYaml(std::string_view text) {
  Builder builder;
  ARM_RETURN_IF_ERROR(Parser(text).Run(&builder));
  return builder.TakeRoot();
}

}  // namespace armature::cli
