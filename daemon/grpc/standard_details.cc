#include "daemon/grpc/standard_details.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "google/protobuf/any.pb.h"
#include "storage/base/strings.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

using model::AppendBytesField;

constexpr std::string_view kTypePrefix = "type.googleapis.com/google.rpc.";
constexpr size_t kDescriptionBytesMax = 256;
constexpr size_t kFieldBytesMax = 128;
// Room for a BadRequest in the trailers.
constexpr size_t kBadRequestBytesMax = 1024;
constexpr int64_t kMillisPerSecond = 1000;
constexpr int64_t kNanosPerMs = 1'000'000;

void AddDetail(std::string_view type, std::string bytes, api::v1::RpcStatus* status) {
  google::protobuf::Any* const detail = status->add_details();
  detail->set_type_url(Cat(kTypePrefix, type));
  detail->set_value(std::move(bytes));
}

void AppendVarintField(uint32_t number, int64_t value, std::string* out) {
  if (value == 0) return;
  out->push_back(static_cast<char>(model::WireTag(number, model::WireType::kVarint)));
  model::AppendVarint(static_cast<uint64_t>(value), out);
}

bool IsNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
}

// Appends a dotted path in the documented spelling, such as "put.tableName", in snake_case.
void AppendFields(std::string_view path, std::string* to) {
  if (!to->empty()) to->push_back('.');
  for (size_t i = 0; i < path.size(); ++i) {
    const auto c = static_cast<unsigned char>(path[i]);
    const bool begins_word = absl::ascii_isupper(c) && i > 0 && path[i - 1] != '.' &&
                             (!absl::ascii_isupper(static_cast<unsigned char>(path[i - 1])) ||
                              (i + 1 < path.size() && absl::ascii_islower(static_cast<unsigned char>(path[i + 1]))));
    if (begins_word) to->push_back('_');
    to->push_back(static_cast<char>(absl::ascii_tolower(c)));
  }
}

// "transactItems.1.member.put.tableName" is transact_items[1].put.table_name. The key of a map's entry, which stands in
// the place of the number, may have dots.
std::string FieldPath(std::string_view path) {
  constexpr std::string_view kMember = ".member";
  std::string result;
  for (size_t end = path.find(kMember); end != std::string_view::npos; end = path.find(kMember)) {
    const std::string_view part = path.substr(0, end);
    const bool is_list = IsNumber(part.substr(part.rfind('.') + 1));
    const size_t dot = is_list ? part.rfind('.') : part.find('.');
    AppendFields(part.substr(0, dot), &result);
    if (dot != std::string_view::npos) {
      const std::string_view quote = is_list ? "" : "\"";
      result += Cat("[", quote, part.substr(dot + 1), quote, "]");
    }
    path.remove_prefix(end + kMember.size());
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  if (!path.empty()) AppendFields(path, &result);
  return Shortened(result, kFieldBytesMax);
}

// The violations in the list that model::ConstraintList makes: "Value 'x' at 'limit' failed to satisfy constraint:
// ...".
std::vector<FieldViolation> ConstraintViolations(std::string_view message) {
  constexpr std::string_view kAt = " at '";
  constexpr std::string_view kFailed = "' failed to satisfy constraint: ";
  constexpr std::string_view kNext = "; Value ";
  std::vector<FieldViolation> violations;
  size_t failed = message.find(kFailed);
  while (failed != std::string_view::npos && violations.size() < kViolationsMax) {
    const std::string_view before = message.substr(0, failed);
    const size_t at = before.rfind(kAt);
    const std::string_view after = message.substr(failed + kFailed.size());
    if (at != std::string_view::npos) {
      violations.push_back({FieldPath(before.substr(at + kAt.size())), after.substr(0, after.find(kNext))});
    }
    message = after;
    failed = message.find(kFailed);
  }
  return violations;
}

// The expression, or the map of its placeholders, that a text begins with; empty if there is none.
std::string_view ExpressionOf(std::string_view text) {
  constexpr std::string_view kInvalid = "Invalid ";
  if (text.starts_with(kInvalid)) {
    const std::string_view name = text.substr(kInvalid.size(), text.find(':') - kInvalid.size());
    if (name.ends_with("Expression") && name.find(' ') == std::string_view::npos) return name;
  }
  for (const std::string_view name : {"ExpressionAttributeNames", "ExpressionAttributeValues"}) {
    if (text.starts_with(name) || text.starts_with(Cat("Value provided in ", name))) return name;
  }
  return {};
}

}  // namespace

std::string Shortened(std::string_view text, size_t bytes_max) {
  constexpr std::string_view kMark = "...";
  if (text.size() <= bytes_max) return std::string(text);
  size_t end = bytes_max - kMark.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return Cat(text.substr(0, end), kMark);
}

int64_t RetryDelayMs(ApiErrorType type) {
  switch (type) {
    case ApiErrorType::kThrottling:
    case ApiErrorType::kProvisionedThroughputExceeded:
    case ApiErrorType::kRequestLimitExceeded:
    case ApiErrorType::kServiceUnavailable:
      return kUnavailableRetryDelayMs;
    // The other transaction takes some milliseconds.
    case ApiErrorType::kTransactionConflict:
    case ApiErrorType::kTransactionInProgress:
      return kUnavailableRetryDelayMs / 4;
    default:
      return 0;
  }
}

std::vector<FieldViolation> FieldViolations(std::string_view message) {
  constexpr std::string_view kDetected = " detected: ";
  std::vector<FieldViolation> violations = ConstraintViolations(message);
  if (!violations.empty()) return violations;
  // "1 validation error detected: "
  if (!message.empty() && absl::ascii_isdigit(static_cast<unsigned char>(message.front()))) {
    if (const size_t end = message.find(kDetected); end != std::string_view::npos) {
      message.remove_prefix(end + kDetected.size());
    }
  }
  std::string field;
  if (const std::string_view expression = ExpressionOf(message); !expression.empty()) AppendFields(expression, &field);
  violations.push_back({std::move(field), message});
  return violations;
}

void AddErrorInfo(std::string_view exception, api::v1::RpcStatus* status) {
  std::string info;
  AppendBytesField(1, exception, &info);     // reason
  AppendBytesField(2, kErrorDomain, &info);  // domain
  AddDetail("ErrorInfo", std::move(info), status);
}

void AddRetryInfo(int64_t delay_ms, api::v1::RpcStatus* status) {
  std::string duration;
  AppendVarintField(1, delay_ms / kMillisPerSecond, &duration);                // seconds
  AppendVarintField(2, delay_ms % kMillisPerSecond * kNanosPerMs, &duration);  // nanos
  std::string info;
  AppendBytesField(1, duration, &info);  // retry_delay
  AddDetail("RetryInfo", std::move(info), status);
}

void AddBadRequest(std::string_view message, api::v1::RpcStatus* status) {
  std::string bytes;
  for (const FieldViolation& each : FieldViolations(message)) {
    std::string violation;
    if (!each.field.empty()) AppendBytesField(1, each.field, &violation);                // field
    AppendBytesField(2, Shortened(each.description, kDescriptionBytesMax), &violation);  // description
    if (bytes.size() + violation.size() > kBadRequestBytesMax) break;
    AppendBytesField(1, violation, &bytes);  // field_violations
  }
  AddDetail("BadRequest", std::move(bytes), status);
}

}  // namespace armature::daemon
