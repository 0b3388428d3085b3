#include "tests/unit/engine/serial_clients.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

namespace armature::engine {

void SerialClients::Run(const std::vector<SerialBackend*>& backends, uint64_t seed, int operations,
                        const std::function<void()>& meanwhile) {
  std::vector<Client> clients(kClients);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < clients.size(); ++i) {
    clients[i].backend = backends[i % backends.size()];
    clients[i].rng.seed(seed + i);
    threads.emplace_back([this, operations, client = &clients[i]] { Work(operations, client); });
  }
  if (meanwhile != nullptr) meanwhile();
  for (std::thread& thread : threads) thread.join();
  for (Client& client : clients) {
    history_.insert(history_.end(), client.history.begin(), client.history.end());
    // An unanswered read has no effect.
    if (!client.unanswered.has_value() || client.unanswered->accesses.empty()) continue;
    client.unanswered->ended = ++time_;
    unanswered_.push_back(*std::move(client.unanswered));
  }
}

void SerialClients::ReadAll(SerialBackend* backend) {
  Client client;
  client.backend = backend;
  for (int item = 0; item < items_; ++item) EXPECT_TRUE(Read(item, &client).has_value());
  history_.insert(history_.end(), client.history.begin(), client.history.end());
}

void SerialClients::Work(int operations, Client* client) {
  for (int done = 0; done < operations && !client->unanswered.has_value(); ++done) DoOne(client);
}

void SerialClients::DoOne(Client* client) {
  switch (client->Pick(write_blindly_ ? 5 : 4)) {
    case 0:
      Read(client->Pick(items_), client);
      break;
    case 1:
      WriteIfUnchanged(client);
      break;
    case 2:
      ReadSeveral(client);
      break;
    case 3:
      WriteSeveral(client);
      break;
    default:
      WriteBlindly(client);
  }
}

std::vector<int> SerialClients::PickItems(Client* client) {
  std::vector<int> items;
  const int first = client->Pick(items_);
  const int count = 2 + client->Pick(3);
  for (int i = 0; i < count; ++i) items.push_back((first + i * 7) % items_);
  return items;
}

bool SerialClients::IsRead(const absl::Status& status, int64_t began, Client* client) {
  if (absl::IsUnavailable(status)) client->unanswered = Operation{began, 0, {}};
  EXPECT_TRUE(status.ok() || absl::IsUnavailable(status) || absl::IsAborted(status)) << status;
  return status.ok();
}

std::optional<int64_t> SerialClients::Read(int item, Client* client) {
  const int64_t began = ++time_;
  const absl::StatusOr<int64_t> state = client->backend->Get(item);
  if (!IsRead(state.status(), began, client)) return std::nullopt;
  client->history.push_back({began, ++time_, {{item, *state, 0}}});
  return *state;
}

void SerialClients::ReadSeveral(Client* client) {
  const std::vector<int> items = PickItems(client);
  const int64_t began = ++time_;
  const absl::StatusOr<std::vector<int64_t>> states = client->backend->TransactRead(items);
  if (!IsRead(states.status(), began, client)) return;
  Operation operation{began, ++time_, {}};
  for (size_t i = 0; i < items.size(); ++i) operation.accesses.push_back({items[i], states->at(i), 0});
  client->history.push_back(std::move(operation));
}

void SerialClients::WriteBlindly(Client* client) {
  const Change change{client->Pick(items_), std::nullopt, ++state_};
  const int64_t began = ++time_;
  Remember(began, {change}, client->backend->Put(change), client);
}

void SerialClients::WriteIfUnchanged(Client* client) {
  const int item = client->Pick(items_);
  const std::optional<int64_t> old = Read(item, client);
  if (!old.has_value()) return;
  const Change change{item, *old, ++state_};
  const int64_t began = ++time_;
  Remember(began, {change}, client->backend->Put(change), client);
}

// Replaces all items, or checks the first one and replaces the others.
void SerialClients::WriteSeveral(Client* client) {
  const std::vector<int> items = PickItems(client);
  const bool check_first = client->Pick(2) == 0;
  std::vector<Change> changes;
  for (const int item : items) {
    const std::optional<int64_t> old = Read(item, client);
    if (!old.has_value()) return;
    const bool check = check_first && changes.empty();
    changes.push_back({item, *old, check ? 0 : ++state_});
  }
  const int64_t began = ++time_;
  Remember(began, changes, client->backend->TransactWrite(changes), client);
}

void SerialClients::Remember(int64_t began, const std::vector<Change>& changes, const absl::StatusOr<Found>& found,
                             Client* client) {
  Operation operation{began, ++time_, {}};
  const bool lost = absl::IsUnavailable(found.status());
  EXPECT_TRUE(found.ok() || lost || absl::IsAborted(found.status())) << found.status();
  if (!found.ok() && !lost) return;
  bool as_expected = true;
  for (size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    EXPECT_TRUE(!lost || change.expected.has_value()) << "a write of item " << change.item << " was not answered";
    const int64_t seen = found.ok() ? found->states.at(i) : change.expected.value_or(0);
    as_expected = as_expected && seen == change.expected.value_or(seen);
    operation.accesses.push_back({change.item, seen, lost || found->done ? change.written : 0});
  }
  if (lost) {
    client->unanswered = std::move(operation);
    return;
  }
  EXPECT_EQ(found->done, as_expected) << "item " << changes[0].item << " state " << changes[0].written;
  client->history.push_back(std::move(operation));
}

}  // namespace armature::engine
