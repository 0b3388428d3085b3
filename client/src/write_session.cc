#include "client/src/write_session.h"

#include <algorithm>
#include <string>

#include "armature/api/v1/items.pb.h"
#include "armature/api/v1/tables.pb.h"
#include "storage/model/table_name.h"

namespace armature::client {
namespace {

// The message as a Message, or null if it has another type.
template <class T>
const T* As(const google::protobuf::Message& message) {
  return google::protobuf::DynamicCastToGenerated<T>(&message);
}

// The change sequence of an answer. 0 if it is not the answer of a write.
uint64_t SequenceIn(const google::protobuf::Message& response) {
  if (const auto* put = As<api::v1::PutItemResponse>(response)) return put->change_sequence();
  if (const auto* update = As<api::v1::UpdateItemResponse>(response)) return update->change_sequence();
  if (const auto* removal = As<api::v1::DeleteItemResponse>(response)) return removal->change_sequence();
  if (const auto* batch = As<api::v1::BatchWriteItemResponse>(response)) return batch->change_sequence();
  if (const auto* transaction = As<api::v1::TransactWriteItemsResponse>(response)) {
    return transaction->change_sequence();
  }
  return 0;
}

// Calls fn(table) for each table that the request writes to. May call it twice for the same table.
template <class Fn>
void ForEachTable(const google::protobuf::Message& request, const Fn& fn) {
  if (const auto* put = As<api::v1::PutItemRequest>(request)) return fn(put->table_name());
  if (const auto* update = As<api::v1::UpdateItemRequest>(request)) return fn(update->table_name());
  if (const auto* removal = As<api::v1::DeleteItemRequest>(request)) return fn(removal->table_name());
  if (const auto* batch = As<api::v1::BatchWriteItemRequest>(request)) {
    for (const auto& [table, writes] : batch->request_items()) fn(table);
    return;
  }
  if (const auto* transaction = As<api::v1::TransactWriteItemsRequest>(request)) {
    for (const api::v1::TransactWriteItem& item : transaction->transact_items()) {
      if (item.has_put()) fn(item.put().table_name());
      if (item.has_delete_()) fn(item.delete_().table_name());
      if (item.has_update()) fn(item.update().table_name());
    }
  }
}

}  // namespace

absl::Status WriteSession::Call(Connection& next, const Method& method, const CallContext& context,
                                const google::protobuf::Message& request, google::protobuf::Message* response) {
  if (const auto* query = As<api::v1::QueryRequest>(request)) return Read(next, method, context, *query, response);
  if (const auto* scan = As<api::v1::ScanRequest>(request)) return Read(next, method, context, *scan, response);
  if (const auto* removal = As<api::v1::DeleteTableRequest>(request)) {
    return DeleteTable(next, method, context, removal->table_name(), request, response);
  }
  absl::Status status = next.Call(method, context, request, response);
  if (status.ok()) Learn(request, *response);
  return status;
}

template <class Request>
absl::Status WriteSession::Read(Connection& next, const Method& method, const CallContext& context,
                                const Request& request, google::protobuf::Message* response) const {
  const uint64_t sequence = request.has_index_name() ? SequenceOf(request.table_name()) : 0;
  if (sequence <= request.at_least_sequence()) return next.Call(method, context, request, response);
  Request raised = request;
  raised.set_at_least_sequence(sequence);
  return next.Call(method, context, raised, response);
}

absl::Status WriteSession::DeleteTable(Connection& next, const Method& method, const CallContext& context,
                                       std::string_view table, const google::protobuf::Message& request,
                                       google::protobuf::Message* response) {
  const uint64_t before = SequenceOf(table);
  absl::Status status = next.Call(method, context, request, response);
  if (!status.ok()) return status;
  // The table may have been created again and written to before this answer arrived. Such writes have higher sequences.
  const absl::MutexLock lock(&mutex_);
  const auto found = sequences_.find(model::TableNamePart(table));
  if (found != sequences_.end() && found->second <= before) sequences_.erase(found);
  return status;
}

void WriteSession::Learn(const google::protobuf::Message& request, const google::protobuf::Message& response) {
  const uint64_t sequence = SequenceIn(response);
  if (sequence == 0) return;
  ForEachTable(request, [this, sequence](const std::string& table) { Raise(table, sequence); });
}

uint64_t WriteSession::SequenceOf(std::string_view table) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = sequences_.find(model::TableNamePart(table));
  return found == sequences_.end() ? 0 : found->second;
}

void WriteSession::Raise(std::string_view table, uint64_t sequence) {
  const absl::MutexLock lock(&mutex_);
  uint64_t& known = sequences_[std::string(model::TableNamePart(table))];
  known = std::max(known, sequence);
}

}  // namespace armature::client
