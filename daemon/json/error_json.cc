#include "daemon/json/error_json.h"

#include <optional>
#include <vector>

#include "daemon/json/error_table.h"
#include "daemon/json/item_json.h"
#include "daemon/json/json_writer.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

// The two exceptions with reasons spell the member differently.
void WriteReasons(ApiErrorType type, const std::vector<ThrottlingReason>& reasons, JsonWriter* writer) {
  if (reasons.empty()) return;
  const bool provisioned = type == ApiErrorType::kProvisionedThroughputExceeded;
  writer->Key(provisioned ? "ThrottlingReasons" : "throttlingReasons").BeginArray();
  for (const ThrottlingReason& each : reasons) {
    writer->BeginObject().Member("reason", each.reason).Member("resource", each.resource).EndObject();
  }
  writer->EndArray();
}

void WriteCancellation(const std::vector<CancellationReason>& reasons, JsonWriter* writer) {
  if (reasons.empty()) return;
  writer->Key("CancellationReasons").BeginArray();
  for (const CancellationReason& each : reasons) {
    writer->BeginObject().Member("Code", each.code);
    if (!each.message.empty()) writer->Member("Message", each.message);
    if (!each.item.empty()) WriteItem(each.item, &writer->Key("Item"));
    writer->EndObject();
  }
  writer->EndArray();
}

}  // namespace

JsonAnswer ErrorAnswer(const absl::Status& error, std::string_view request_id) {
  JsonAnswer answer;
  JsonWriter writer;
  writer.BeginObject();
  const std::optional<ApiError> api_error = GetApiError(error);
  if (api_error.has_value()) {
    const ErrorRow& row = FindErrorRow(api_error->type);
    answer.status = row.http_status;
    writer.Member("__type", Cat(row.json_namespace, "#", ApiErrorName(api_error->type)));
    if (!api_error->message.empty()) writer.Member(row.json_text_member, api_error->message);
    WriteCancellation(GetCancellationReasons(error), &writer);
    WriteReasons(api_error->type, GetThrottlingReasons(error), &writer);
    if (!api_error->item.empty()) WriteItem(api_error->item, &writer.Key("Item"));
  } else {
    const InternalErrorRow& row = LogInternalError(error, request_id);
    answer.status = row.http_status;
    writer.Member("__type", Cat(row.json_namespace, "#", row.name)).Member("message", row.text);
  }
  writer.EndObject();
  answer.body = writer.Take();
  answer.error = error;
  return answer;
}

}  // namespace armature::daemon
