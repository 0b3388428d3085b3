#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_TRANSACTION_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_TRANSACTION_H_

// Short ways to write transactions.
//
//   Transaction transfer;
//   transfer.Update("accounts", from, "SET balance = balance - :sum")
//       .If("balance >= :sum")
//       .Value(":sum", N(10));
//   transfer.Update("accounts", to, "SET balance = balance + :sum").Value(":sum", N(10));
//   absl::StatusOr<api::v1::TransactWriteItemsResponse> done = client.TransactWriteItems(transfer.request());

#include <string>
#include <string_view>

#include "armature/api/v1/items.pb.h"
#include "armature/client/item_builder.h"

namespace armature::client {

// A token that nobody else has: 32 hexadecimal digits.
std::string NewClientToken();

// One action of a transaction, for what it has beside its item. Lifetime: points into its transaction, which must not
// get another action meanwhile.
class TransactionAction {
 public:
  // condition_expression.
  TransactionAction& If(std::string_view condition);
  // What a :placeholder or a #placeholder of the expressions stands for.
  TransactionAction& Value(std::string_view placeholder, AttributeValue value);
  TransactionAction& Name(std::string_view placeholder, std::string_view attribute);
  // If the condition is false, the reason of the cancellation shows the item.
  TransactionAction& ShowItemOnFailure();

 private:
  friend class Transaction;
  explicit TransactionAction(api::v1::TransactWriteItem* item) : item_(item) {}
  api::v1::TransactWriteItem* item_;
};

// Nothing is checked here; the daemon refuses what is wrong.
//
// It has a token from the beginning, so the request may be sent again, by the client library or by the program, within
// ten minutes of its success, and is not carried out twice. Each transaction is an object of its own: the same actions
// anew need a new one.
//
// Thread-safety: thread-compatible.
class Transaction {
 public:
  Transaction();

  TransactionAction Put(std::string_view table, Item item);
  TransactionAction Update(std::string_view table, Item key, std::string_view update_expression);
  TransactionAction Delete(std::string_view table, Item key);
  // The item is not written; the condition must hold.
  TransactionAction Check(std::string_view table, Item key, std::string_view condition);

  const api::v1::TransactWriteItemsRequest& request() const { return request_; }
  // For what has no short way.
  api::v1::TransactWriteItemsRequest& request() { return request_; }

 private:
  api::v1::TransactWriteItemsRequest request_;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_TRANSACTION_H_
