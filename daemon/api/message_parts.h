#ifndef ARMATURE_DAEMON_API_MESSAGE_PARTS_H_
#define ARMATURE_DAEMON_API_MESSAGE_PARTS_H_

// Parts shared by item requests and answers, single or in batches and transactions.

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "armature/api/v1/items.pb.h"
#include "daemon/api/legacy_messages.h"
#include "daemon/api/wire_split.h"
#include "engine/capacity.h"
#include "engine/items/request.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon {

inline absl::Status NotAMessageError(std::string_view operation) {
  return SerializationError(
      Cat("The request is not a valid ", operation, " message: malformed, or text that is not UTF-8"));
}

// Separates the items from the request and parses the rest into `message`. Errors: SerializationException.
template <class Message>
absl::StatusOr<SplitRequest> ParseSplit(std::string_view bytes, std::string_view operation, const LegacyFields& legacy,
                                        Message* message) {
  SplitRequest split;
  if (!Split(bytes, legacy, &split) || !message->ParseFromString(split.rest)) {
    return NotAMessageError(operation);
  }
  return split;
}

// Reads the placeholder names of a request with expressions.
template <class Message>
void TakeNames(Message* message, engine::ExpressionParameters* to) {
  if (message->expression_attribute_names().empty()) return;
  to->names.emplace();
  for (const auto& [placeholder, name] : message->expression_attribute_names()) {
    (*to->names)[placeholder] = name;
  }
}

// Protobuf cannot tell an empty list from an absent one.
template <class Message>
void TakeAttributesToGet(const Message& message, engine::ExpressionParameters* to) {
  if (message.attributes_to_get().empty()) return;
  to->legacy.attributes_to_get.emplace(message.attributes_to_get().begin(), message.attributes_to_get().end());
}

void FillCapacity(const engine::ConsumedCapacity& from, api::v1::ConsumedCapacity* to);

// An encoded ItemCollectionMetrics message.
std::string SerializeCollection(const engine::ItemCollectionMetrics& metrics);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_MESSAGE_PARTS_H_
