#include "daemon/auth/secret_checker.h"

#include <utility>

#include "daemon/auth/crypto.h"

namespace armature::daemon {
namespace {

constexpr size_t kKeyBytes = 32;

}  // namespace

SecretChecker::SecretChecker() : key_(RandomBytes(kKeyBytes)), pool_("auth-secrets", 1, kComputationsMax) {}

std::string SecretChecker::NameOf(const SecretHash& hash, std::string_view secret) const {
  return std::string(BytesOf(HmacSha256(key_, Cat(hash.ToString(), "\n", secret))));
}

bool SecretChecker::IsKnown(const SecretHash& hash, std::string_view secret) {
  const std::string name = NameOf(hash, secret);
  absl::MutexLock lock(&mutex_);
  return remembered_.contains(name);
}

void SecretChecker::Check(const SecretHash& hash, std::string secret, Done done) {
  std::string name = NameOf(hash, secret);
  {
    absl::MutexLock lock(&mutex_);
    if (askers_ < kAskersMax) {
      const auto [entry, is_new] = computing_.try_emplace(name);
      if (!is_new) {
        entry->second.push_back(std::move(done));
        ++askers_;
        return;
      }
      Task task = [this, hash, secret = std::move(secret), name] { Finish(name, hash.Matches(secret)); };
      if (pool_.TryRun(task)) {
        entry->second.push_back(std::move(done));
        ++askers_;
        return;
      }
      computing_.erase(entry);
    }
  }
  std::move(done)(Answer::kBusy);
}

void SecretChecker::Finish(const std::string& name, bool right) {
  std::vector<Done> askers;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = computing_.find(std::string_view(name));
    askers = std::move(found->second);
    computing_.erase(found);
    askers_ -= askers.size();
    if (right) {
      if (remembered_.size() >= kRememberedMax) remembered_.clear();
      remembered_.insert(name);
    }
  }
  for (Done& done : askers) std::move(done)(right ? Answer::kRight : Answer::kWrong);
}

}  // namespace armature::daemon
