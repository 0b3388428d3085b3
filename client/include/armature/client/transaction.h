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

// A unique token of 32 hexadecimal digits.
std::string NewClientToken();

// Sets the other members of an action of a transaction. Lifetime: points into the transaction, and is invalid once
// another action is added.
class TransactionAction {
 public:
  // Sets condition_expression.
  TransactionAction& If(std::string_view condition);
  // Sets the value of a :placeholder, or the attribute name of a #placeholder, of the expressions.
  TransactionAction& Value(std::string_view placeholder, AttributeValue value);
  TransactionAction& Name(std::string_view placeholder, std::string_view attribute);
  // Includes the item in the cancellation reason if the condition fails.
  TransactionAction& ShowItemOnFailure();

 private:
  friend class Transaction;
  explicit TransactionAction(api::v1::TransactWriteItem* item) : item_(item) {}
  api::v1::TransactWriteItem* item_;
};

// Checks nothing; the daemon refuses wrong requests.
//
// The request has a client token from the beginning: if it is sent again within ten minutes of its success, by the
// client library or by the program, it is not applied twice. Applying the same actions twice needs two Transaction
// objects.
//
// Thread-safety: thread-compatible.
class Transaction {
 public:
  Transaction();

  TransactionAction Put(std::string_view table, Item item);
  TransactionAction Update(std::string_view table, Item key, std::string_view update_expression);
  TransactionAction Delete(std::string_view table, Item key);
  // Checks a condition without writing the item.
  TransactionAction Check(std::string_view table, Item key, std::string_view condition);

  const api::v1::TransactWriteItemsRequest& request() const { return request_; }
  // Gives access to members of the request without a function above.
  api::v1::TransactWriteItemsRequest& request() { return request_; }

 private:
  api::v1::TransactWriteItemsRequest request_;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_TRANSACTION_H_
