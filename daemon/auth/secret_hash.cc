#include "daemon/auth/secret_hash.h"

#include <openssl/evp.h>

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "daemon/auth/crypto.h"
#include "glog/logging.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr size_t kSaltBytes = 16;
constexpr size_t kHashBytes = 32;
constexpr uint64_t kMemoryBytesMax = uint64_t{64} << 20;

// The number after "NAME=", nullopt if it is missing or out of range.
std::optional<uint32_t> Parameter(std::string_view text, std::string_view name, uint32_t minimum, uint32_t maximum) {
  if (!text.starts_with(Cat(name, "="))) return std::nullopt;
  text.remove_prefix(name.size() + 1);
  uint32_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size() || value < minimum || value > maximum) {
    return std::nullopt;
  }
  return value;
}

uint64_t MemoryBytes(uint32_t log_n, uint32_t r) { return (uint64_t{128} * r) << log_n; }

absl::Status FormError() {
  return absl::InvalidArgumentError(
      "must be $scrypt$ln=10..20,r=1..16,p=1..4$SALT$HASH with salt and hash in base64, and need at most 64 MiB");
}

constexpr size_t kKeyBytes = 32;

}  // namespace

std::string SecretHash::Compute(const Cost& cost, std::string_view salt, std::string_view secret) {
  std::string hash(kHashBytes, '\0');
  // Memory limit for OpenSSL: the blocks and its own overhead.
  const uint64_t memory_bytes_max = 2 * kMemoryBytesMax;
  CHECK(EVP_PBE_scrypt(secret.data(), secret.size(), reinterpret_cast<const unsigned char*>(salt.data()), salt.size(),
                       uint64_t{1} << cost.log_n, cost.r, cost.p, memory_bytes_max,
                       reinterpret_cast<unsigned char*>(hash.data()), hash.size()) == 1);
  return hash;
}

SecretHash SecretHash::Of(std::string_view secret) {
  std::string salt = RandomBytes(kSaltBytes);
  std::string hash = Compute({}, salt, secret);
  return SecretHash({}, std::move(salt), std::move(hash));
}

absl::StatusOr<SecretHash> SecretHash::Parse(std::string_view text) {
  constexpr size_t kTextBytesMax = 512;
  constexpr size_t kSaltBytesMin = 8;
  constexpr size_t kSaltBytesMax = 64;
  if (text.size() > kTextBytesMax) return FormError();
  // The text starts with a separator, so the first part is empty.
  const std::vector<std::string> parts = absl::StrSplit(Av(text), '$');
  if (parts.size() != 5 || !parts[0].empty() || parts[1] != "scrypt") return FormError();
  const std::vector<std::string> costs = absl::StrSplit(parts[2], ',');
  if (costs.size() != 3) return FormError();
  const auto log_n = Parameter(costs[0], "ln", 10, 20);
  const auto r = Parameter(costs[1], "r", 1, 16);
  const auto p = Parameter(costs[2], "p", 1, 4);
  std::string salt;
  std::string hash;
  if (!log_n || !r || !p || MemoryBytes(*log_n, *r) > kMemoryBytesMax || !absl::Base64Unescape(parts[3], &salt) ||
      !absl::Base64Unescape(parts[4], &hash) || salt.size() < kSaltBytesMin || salt.size() > kSaltBytesMax ||
      hash.size() != kHashBytes) {
    return FormError();
  }
  return SecretHash({*log_n, *r, *p}, std::move(salt), std::move(hash));
}

bool SecretHash::Matches(std::string_view secret) const {
  return EqualInConstantTime(Compute(cost_, salt_, secret), hash_);
}

std::string SecretHash::ToString() const {
  return Cat("$scrypt$ln=", cost_.log_n, ",r=", cost_.r, ",p=", cost_.p, "$", absl::Base64Escape(salt_), "$",
             absl::Base64Escape(hash_));
}

SecretChecker::SecretChecker() : key_(RandomBytes(kKeyBytes)), pool_("auth-secrets", 1, kComputationsMax) {}

std::string SecretChecker::NameOf(const SecretHash& hash, std::string_view secret) const {
  return std::string(BytesOf(HmacSha256(key_, Cat(hash.ToString(), "\n", secret))));
}

bool SecretChecker::IsKnown(const SecretHash& hash, std::string_view secret) {
  const std::string name = NameOf(hash, secret);
  absl::MutexLock lock(&mutex_);
  return remembered_.contains(name);
}

void SecretChecker::Check(const SecretHash& hash, std::string secret, MayCompute may_compute, Done done) {
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
      if (may_compute() && pool_.TryRun(task)) {
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
