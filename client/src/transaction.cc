#include "armature/client/transaction.h"

#include <cstdint>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"

namespace armature::client {
namespace {

// Calls fn with the message of the action. All four messages have the members that fn sets.
template <class Fn>
void WithAction(api::v1::TransactWriteItem* item, Fn fn) {
  if (item->has_put()) return fn(item->mutable_put());
  if (item->has_update()) return fn(item->mutable_update());
  if (item->has_delete_()) return fn(item->mutable_delete_());
  fn(item->mutable_condition_check());
}

}  // namespace

std::string NewClientToken() {
  thread_local absl::BitGen random;
  std::string token;
  for (int i = 0; i < 2; ++i) {
    absl::StrAppend(&token, absl::Hex(absl::Uniform<uint64_t>(random), absl::kZeroPad16));
  }
  return token;
}

TransactionAction& TransactionAction::If(std::string_view condition) {
  WithAction(item_, [condition](auto* action) { action->set_condition_expression(std::string(condition)); });
  return *this;
}

TransactionAction& TransactionAction::Value(std::string_view placeholder, AttributeValue value) {
  WithAction(item_, [&](auto* action) {
    (*action->mutable_expression_attribute_values())[std::string(placeholder)] = std::move(value);
  });
  return *this;
}

TransactionAction& TransactionAction::Name(std::string_view placeholder, std::string_view attribute) {
  WithAction(item_, [&](auto* action) {
    (*action->mutable_expression_attribute_names())[std::string(placeholder)] = std::string(attribute);
  });
  return *this;
}

TransactionAction& TransactionAction::ShowItemOnFailure() {
  WithAction(item_, [](auto* action) {
    action->set_return_values_on_condition_check_failure(api::v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
  });
  return *this;
}

Transaction::Transaction() { request_.set_client_request_token(NewClientToken()); }

TransactionAction Transaction::Put(std::string_view table, Item item) {
  api::v1::TransactWriteItem* const added = request_.add_transact_items();
  added->mutable_put()->set_table_name(std::string(table));
  *added->mutable_put()->mutable_item() = std::move(item);
  return TransactionAction(added);
}

TransactionAction Transaction::Update(std::string_view table, Item key, std::string_view update_expression) {
  api::v1::TransactWriteItem* const added = request_.add_transact_items();
  added->mutable_update()->set_table_name(std::string(table));
  *added->mutable_update()->mutable_key() = std::move(key);
  added->mutable_update()->set_update_expression(std::string(update_expression));
  return TransactionAction(added);
}

TransactionAction Transaction::Delete(std::string_view table, Item key) {
  api::v1::TransactWriteItem* const added = request_.add_transact_items();
  added->mutable_delete_()->set_table_name(std::string(table));
  *added->mutable_delete_()->mutable_key() = std::move(key);
  return TransactionAction(added);
}

TransactionAction Transaction::Check(std::string_view table, Item key, std::string_view condition) {
  api::v1::TransactWriteItem* const added = request_.add_transact_items();
  added->mutable_condition_check()->set_table_name(std::string(table));
  *added->mutable_condition_check()->mutable_key() = std::move(key);
  added->mutable_condition_check()->set_condition_expression(std::string(condition));
  return TransactionAction(added);
}

}  // namespace armature::client
