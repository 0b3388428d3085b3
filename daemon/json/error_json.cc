#include "daemon/json/error_json.h"

#include <optional>

#include "daemon/api/error_table.h"
#include "daemon/json/item_json.h"
#include "daemon/json/json_writer.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon {

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
    if (!api_error->item.empty()) WriteItem(api_error->item, &writer.Key("Item"));
  } else {
    const InternalErrorRow& row = LogInternalError(error, request_id);
    answer.status = row.http_status;
    writer.Member("__type", Cat(row.json_namespace, "#", row.name)).Member("message", row.text);
  }
  writer.EndObject();
  answer.body = writer.Take();
  return answer;
}

}  // namespace armature::daemon
