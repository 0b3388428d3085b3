#ifndef ARMATURE_DAEMON_API_ITEM_REQUEST_FIELDS_H_
#define ARMATURE_DAEMON_API_ITEM_REQUEST_FIELDS_H_

// The fields of requests on items, single and in batches and transactions: the member of the engine's request that each
// field of a message sets. Both protocols read their requests by this description. Items, keys and values are written
// once, in the engine's form.
//
// A Source reads one encoding: WireSource (wire_source.h) messages, JsonSource (daemon/json/item_requests.cc)
// documents. It has a type Whole of requests, a type Value of values of a field, and these functions. They set `*to`,
// which may hold an earlier value of the field. Errors: those of the encoding.
//
//   Fields<M>(whole, read)             calls read(number, value) for each field of a request M
//   Structure<M>(value, read)          likewise for a member message; ActionFields for an action of a transaction
//   Text, RequiredText, Word<Enum>, Flag, Integer, Position      scalars. RequiredText: of a field without presence
//   Item, Values, Names, Texts         an item or a key; maps of values and of names by placeholder; a list of texts
//   AttributeValue, AttributeValues    one value, a list of values
//   LegacyMap<M>(value, to, read)      a map of legacy parameters: calls read(source, number, value, entry) for the
//                                      fields of its messages M
//   List(value, max, to, read)         calls read(element, next) for each element of a list; see engine::NextElement
//   Elements<M>(value, max, to, read)  likewise for the list in a message M, which JSON has without the message
//   Tables(value, shape, max, to, read)  likewise for the entries of a map by table name; see engine::NextTable.
//                                      `shape`: the documented name of their type
//
// kHasPresence is true if an absent member differs from an empty one, and several members of a oneof may be present.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/items.pb.h"
#include "engine/items/request.h"
#include "storage/base/status_macros.h"
#include "storage/model/limits.h"

namespace armature::daemon {

template <class Source>
class ItemRequestFields {
 public:
  using Whole = typename Source::Whole;

  constexpr explicit ItemRequestFields(Source source) : in_(source) {}

  auto GetItem(Whole whole) const { return Read<api::v1::GetItemRequest>(whole, &ItemRequestFields::Get); }
  // Message: the request of PutItem, UpdateItem or DeleteItem.
  template <class Message>
  auto WriteItem(Whole whole) const {
    return Read<Message>(whole, &ItemRequestFields::Write);
  }
  auto Query(Whole whole) const { return Read<api::v1::QueryRequest>(whole, &ItemRequestFields::QueryField); }
  auto Scan(Whole whole) const { return Read<api::v1::ScanRequest>(whole, &ItemRequestFields::ScanField); }
  auto BatchGetItem(Whole whole) const {
    return Read<api::v1::BatchGetItemRequest>(whole, &ItemRequestFields::BatchGet);
  }
  auto BatchWriteItem(Whole whole) const {
    return Read<api::v1::BatchWriteItemRequest>(whole, &ItemRequestFields::BatchWrite);
  }
  auto TransactGetItems(Whole whole) const {
    return Read<api::v1::TransactGetItemsRequest>(whole, &ItemRequestFields::TransactGets);
  }
  auto TransactWriteItems(Whole whole) const {
    return Read<api::v1::TransactWriteItemsRequest>(whole, &ItemRequestFields::TransactWrites);
  }

 private:
  using Value = typename Source::Value;
  using Status = absl::Status;

  template <class Message, class Request>
  absl::StatusOr<Request> Read(Whole whole,
                               Status (ItemRequestFields::*read)(uint32_t, const Value&, Request*) const) const {
    Request request;
    Prepare(&request);
    ARM_RETURN_IF_ERROR(in_.template Fields<Message>(
        whole, [&](uint32_t number, const Value& value) { return (this->*read)(number, value, &request); }));
    if constexpr (requires { request.message_bytes; }) request.message_bytes = whole.size();
    return request;
  }

  // If the encoding cannot tell, required members are present, though empty.
  template <class Request>
  static void Prepare(Request* request) {
    constexpr bool kArePresent = !Source::kHasPresence;
    if constexpr (requires { request->given; }) request->given = kArePresent;
    if constexpr (kArePresent && requires { request->table_name; }) request->table_name.emplace();
    if constexpr (kArePresent && requires { request->key_wire; }) request->key_wire.emplace();
    if constexpr (kArePresent && requires { request->item_wire; }) request->item_wire.emplace();
  }

  Status Capacity(const Value& value, std::string* to) const {
    return in_.template Word<api::v1::ReturnConsumedCapacity>(value, to);
  }
  Status Collections(const Value& value, std::string* to) const {
    return in_.template Word<api::v1::ReturnItemCollectionMetrics>(value, to);
  }

  // ---- Legacy parameters ----

  Status Update(const Source& in, uint32_t number, const Value& value, engine::LegacyUpdate* to) const {
    using M = api::v1::AttributeValueUpdate;
    if (number == M::kValueFieldNumber) return in.AttributeValue(value, &to->value_wire);
    return in.template Word<api::v1::AttributeAction>(value, &to->action);
  }

  Status Expectation(const Source& in, uint32_t number, const Value& value, engine::LegacyExpectation* to) const {
    using M = api::v1::ExpectedAttributeValue;
    if (number == M::kValueFieldNumber) return in.AttributeValue(value, &to->value_wire);
    if (number == M::kExistsFieldNumber) return in.Flag(value, &to->exists);
    if (number == M::kAttributeValueListFieldNumber) return in.AttributeValues(value, &to->argument_wires);
    return in.template Word<api::v1::ComparisonOperator>(value, &to->comparison_operator);
  }

  Status Condition(const Source& in, uint32_t number, const Value& value, engine::LegacyCondition* to) const {
    using M = api::v1::Condition;
    if (number == M::kAttributeValueListFieldNumber) return in.AttributeValues(value, &to->argument_wires);
    return in.template Word<api::v1::ComparisonOperator>(value, &to->comparison_operator);
  }

  template <class Message, class Entry>
  Status Map(const Value& value, std::optional<std::vector<Entry>>* to,
             Status (ItemRequestFields::*read)(const Source&, uint32_t, const Value&, Entry*) const) const {
    return in_.template LegacyMap<Message>(value, to,
                                           [&](const Source& in, uint32_t number, const Value& member, Entry* entry) {
                                             return (this->*read)(in, number, member, entry);
                                           });
  }

  // KeyConditions, QueryFilter, ScanFilter.
  Status Conditions(const Value& value, std::optional<std::vector<engine::LegacyCondition>>* to) const {
    return Map<api::v1::Condition>(value, to, &ItemRequestFields::Condition);
  }

  // ---- Single items ----

  // Fields of GetItemRequest. Get has some of them.
  Status Get(uint32_t number, const Value& value, engine::GetItemRequest* to) const {
    using M = api::v1::GetItemRequest;
    if (number == M::kTableNameFieldNumber) return in_.Text(value, &to->table_name);
    if (number == M::kKeyFieldNumber) return in_.Item(value, &to->key_wire);
    if (number == M::kConsistentReadFieldNumber) return in_.Flag(value, &to->consistent_read);
    if (number == M::kReturnConsumedCapacityFieldNumber) return Capacity(value, &to->return_consumed_capacity);
    return Projection<M>(number, value, &to->expressions);
  }

  // Projection, names and AttributesToGet, which GetItemRequest and KeysAndAttributes share.
  template <class M>
  Status Projection(uint32_t number, const Value& value, engine::ExpressionParameters* to) const {
    if (number == M::kProjectionExpressionFieldNumber) return in_.Text(value, &to->projection);
    if (number == M::kAttributesToGetFieldNumber) return in_.Texts(value, &to->legacy.attributes_to_get);
    return number == M::kExpressionAttributeNamesFieldNumber ? in_.Names(value, &to->names) : absl::OkStatus();
  }

  // Fields of UpdateItemRequest. Puts, deletes and the actions of transactions have some of them, and puts an item in
  // place of the key.
  Status Write(uint32_t number, const Value& value, engine::WriteRequest* to) const {
    using M = api::v1::UpdateItemRequest;
    engine::ExpressionParameters& with = to->expressions;
    if (number == M::kTableNameFieldNumber) return in_.Text(value, &to->table_name);
    if (number == M::kKeyFieldNumber) return in_.Item(value, &to->item_wire);
    if (number == M::kConditionExpressionFieldNumber) return in_.Text(value, &with.condition);
    if (number == M::kUpdateExpressionFieldNumber) return in_.Text(value, &with.update);
    if (number == M::kReturnValuesFieldNumber)
      return in_.template Word<api::v1::ReturnValues>(value, &to->return_values);
    if (number == M::kReturnValuesOnConditionCheckFailureFieldNumber) {
      return in_.template Word<api::v1::ReturnValuesOnConditionCheckFailure>(
          value, &to->return_values_on_condition_check_failure);
    }
    if (number == M::kReturnConsumedCapacityFieldNumber) return Capacity(value, &to->return_consumed_capacity);
    if (number == M::kReturnItemCollectionMetricsFieldNumber) {
      return Collections(value, &to->return_item_collection_metrics);
    }
    if (number == M::kExpectedFieldNumber) {
      return Map<api::v1::ExpectedAttributeValue>(value, &with.legacy.expected, &ItemRequestFields::Expectation);
    }
    if (number == M::kAttributeUpdatesFieldNumber) {
      return Map<api::v1::AttributeValueUpdate>(value, &with.legacy.attribute_updates, &ItemRequestFields::Update);
    }
    return Placeholders<M>(number, value, &with);
  }

  // Names, values and the operator between legacy conditions.
  template <class M>
  Status Placeholders(uint32_t number, const Value& value, engine::ExpressionParameters* to) const {
    if (number == M::kExpressionAttributeNamesFieldNumber) return in_.Names(value, &to->names);
    if (number == M::kExpressionAttributeValuesFieldNumber) return in_.Values(value, &to->values_wire);
    if (number != M::kConditionalOperatorFieldNumber) return absl::OkStatus();
    return in_.template Word<api::v1::ConditionalOperator>(value, &to->legacy.conditional_operator);
  }

  // Fields that QueryRequest and ScanRequest share.
  Status Page(uint32_t number, const Value& value, engine::ReadRequest* to) const {
    using M = api::v1::QueryRequest;
    engine::ExpressionParameters& with = to->expressions;
    if (number == M::kTableNameFieldNumber) return in_.Text(value, &to->table_name);
    if (number == M::kIndexNameFieldNumber) return in_.Text(value, &to->index_name);
    if (number == M::kExclusiveStartKeyFieldNumber) return in_.Item(value, &to->exclusive_start_key_wire);
    if (number == M::kLimitFieldNumber) return in_.Integer(value, &to->limit);
    if (number == M::kConsistentReadFieldNumber) return in_.Flag(value, &to->consistent_read);
    if (number == M::kReturnConsumedCapacityFieldNumber) return Capacity(value, &to->return_consumed_capacity);
    if (number == M::kSelectFieldNumber) return in_.template Word<api::v1::Select>(value, &to->select);
    if (number == M::kProjectionExpressionFieldNumber) return in_.Text(value, &with.projection);
    if (number == M::kFilterExpressionFieldNumber) return in_.Text(value, &with.filter);
    if (number == M::kAttributesToGetFieldNumber) return in_.Texts(value, &with.legacy.attributes_to_get);
    if (number == M::kAtLeastSequenceFieldNumber) return in_.Position(value, &to->at_least_sequence);
    return Placeholders<M>(number, value, &with);
  }

  Status QueryField(uint32_t number, const Value& value, engine::ReadRequest* to) const {
    using M = api::v1::QueryRequest;
    engine::ExpressionParameters& with = to->expressions;
    if (number == M::kKeyConditionExpressionFieldNumber) return in_.Text(value, &with.key_condition);
    if (number == M::kScanIndexForwardFieldNumber) return in_.Flag(value, &to->scan_index_forward);
    if (number == M::kKeyConditionsFieldNumber) return Conditions(value, &with.legacy.key_conditions);
    if (number == M::kQueryFilterFieldNumber) return Conditions(value, &with.legacy.query_filter);
    return Page(number, value, to);
  }

  Status ScanField(uint32_t number, const Value& value, engine::ReadRequest* to) const {
    using M = api::v1::ScanRequest;
    if (number == M::kScanFilterFieldNumber) return Conditions(value, &to->expressions.legacy.scan_filter);
    if (number == M::kSegmentFieldNumber) return in_.Integer(value, &to->segment);
    if (number == M::kTotalSegmentsFieldNumber) return in_.Integer(value, &to->total_segments);
    return Page(number, value, to);
  }

  // ---- Batches ----

  Status TableKeys(const Value& value, engine::TableKeys* to) const {
    using M = api::v1::KeysAndAttributes;
    return in_.template Structure<M>(value, [&](uint32_t number, const Value& member) {
      if (number == M::kKeysFieldNumber) {
        return in_.List(member, model::kBatchGetKeysMax, &to->key_wires,
                        [&](const Value& key, std::string* wire) { return in_.Item(key, wire); });
      }
      if (number == M::kConsistentReadFieldNumber) return in_.Flag(member, &to->consistent_read);
      return Projection<M>(number, member, &to->expressions);
    });
  }

  Status BatchGet(uint32_t number, const Value& value, engine::BatchGetRequest* to) const {
    using M = api::v1::BatchGetItemRequest;
    if (number == M::kReturnConsumedCapacityFieldNumber) return Capacity(value, &to->return_consumed_capacity);
    return in_.Tables(value, "KeysAndAttributes", model::kBatchGetKeysMax, &to->tables,
                      [&](const Value& keys, engine::TableKeys* table) { return TableKeys(keys, table); });
  }

  // Reads a PutRequest or DeleteRequest: a message with one member, an item.
  template <class Message>
  Status OneItem(const Value& value, std::optional<std::string>* wire) const {
    Source::kHasPresence ? wire->reset() : static_cast<void>(wire->emplace());
    return in_.template Structure<Message>(
        value, [&](uint32_t /*number*/, const Value& item) { return in_.Item(item, wire); });
  }

  Status WriteOfBatch(const Value& value, engine::BatchWrite* to) const {
    return in_.template Structure<api::v1::WriteRequest>(value, [&](uint32_t number, const Value& member) {
      // The last of several members of a oneof counts.
      if constexpr (!Source::kHasPresence) *to = {};
      const bool is_put = number == api::v1::WriteRequest::kPutRequestFieldNumber;
      (is_put ? to->is_put : to->is_delete) = true;
      return is_put ? OneItem<api::v1::PutRequest>(member, &to->put_wire)
                    : OneItem<api::v1::DeleteRequest>(member, &to->delete_wire);
    });
  }

  Status BatchWrite(uint32_t number, const Value& value, engine::BatchWriteRequest* to) const {
    using M = api::v1::BatchWriteItemRequest;
    if (number == M::kReturnConsumedCapacityFieldNumber) return Capacity(value, &to->return_consumed_capacity);
    if (number == M::kReturnItemCollectionMetricsFieldNumber) {
      return Collections(value, &to->return_item_collection_metrics);
    }
    const auto read = [&](const Value& write, engine::BatchWrite* next) { return WriteOfBatch(write, next); };
    return in_.Tables(value, "WriteRequests", model::kBatchWritesMax, &to->tables,
                      [&](const Value& writes, engine::TableWrites* table) {
                        return in_.template Elements<api::v1::WriteRequestList>(writes, model::kBatchWritesMax,
                                                                                &table->writes, read);
                      });
  }

  // ---- Transactions ----

  Status TransactGets(uint32_t number, const Value& value, engine::TransactGetRequest* to) const {
    using M = api::v1::TransactGetItemsRequest;
    if (number == M::kReturnConsumedCapacityFieldNumber) return Capacity(value, &to->return_consumed_capacity);
    to->given = true;
    return in_.List(value, model::kTransactActionsMax, &to->gets, [&](const Value& element, engine::TransactGet* next) {
      return in_.template Structure<api::v1::TransactGetItem>(element, [&](uint32_t /*number*/, const Value& get) {
        *next = {.given = true, .get = {}};
        Prepare(&next->get);
        return in_.template Structure<api::v1::Get>(
            get, [&](uint32_t field, const Value& member) { return Get(field, member, &next->get); });
      });
    });
  }

  // Reads an action. It has members of its operation, with the same field numbers.
  template <class Message>
  Status Action(const Value& value, engine::WriteKind kind, engine::TransactAction* to) const {
    using M = api::v1::UpdateItemRequest;
    // The last of several members of a oneof counts.
    to->given = Source::kHasPresence ? to->given + 1 : 1;
    to->kind = kind;
    to->write = {};
    Prepare(&to->write);
    return in_.template ActionFields<Message>(value, [&](uint32_t number, const Value& member) {
      // An expression without which there is no action has no presence.
      engine::ExpressionParameters& with = to->write.expressions;
      if (number == M::kUpdateExpressionFieldNumber) return in_.RequiredText(member, &with.update);
      const bool is_check = kind == engine::WriteKind::kConditionCheck;
      if (is_check && number == M::kConditionExpressionFieldNumber) return in_.RequiredText(member, &with.condition);
      return Write(number, member, &to->write);
    });
  }

  Status WriteOfTransaction(const Value& value, engine::TransactAction* to) const {
    using M = api::v1::TransactWriteItem;
    using Kind = engine::WriteKind;
    return in_.template Structure<M>(value, [&](uint32_t number, const Value& action) {
      if (number == M::kConditionCheckFieldNumber)
        return Action<api::v1::ConditionCheck>(action, Kind::kConditionCheck, to);
      if (number == M::kPutFieldNumber) return Action<api::v1::Put>(action, Kind::kPut, to);
      if (number == M::kDeleteFieldNumber) return Action<api::v1::Delete>(action, Kind::kDelete, to);
      return Action<api::v1::Update>(action, Kind::kUpdate, to);
    });
  }

  Status TransactWrites(uint32_t number, const Value& value, engine::TransactWriteRequest* to) const {
    using M = api::v1::TransactWriteItemsRequest;
    if (number == M::kClientRequestTokenFieldNumber) return in_.Text(value, &to->client_request_token);
    if (number == M::kReturnConsumedCapacityFieldNumber) return Capacity(value, &to->return_consumed_capacity);
    if (number == M::kReturnItemCollectionMetricsFieldNumber) {
      return Collections(value, &to->return_item_collection_metrics);
    }
    to->given = true;
    return in_.List(
        value, model::kTransactActionsMax, &to->actions,
        [&](const Value& action, engine::TransactAction* next) { return WriteOfTransaction(action, next); });
  }

  Source in_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_ITEM_REQUEST_FIELDS_H_
