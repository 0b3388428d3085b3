#include "storage/store/damaged_families.h"

#include <algorithm>
#include <utility>

#include "storage/base/strings.h"
#include "storage/model/wire.h"

namespace armature::store {
namespace {

constexpr char kDamageVersion = 1;

}  // namespace

std::string EncodeDamageRecord(const FamilyDamage& damage) {
  std::string value(1, kDamageVersion);
  model::AppendVarint(static_cast<uint64_t>(damage.found_ms), &value);
  model::AppendVarint(damage.file.size(), &value);
  value += damage.file;
  value += damage.reason;
  return value;
}

bool ParseDamageRecord(std::string_view value, FamilyDamage* damage) {
  if (value.empty() || value[0] != kDamageVersion) return false;
  value.remove_prefix(1);
  uint64_t found_ms = 0;
  uint64_t file_size = 0;
  if (!model::TakeVarint(&value, &found_ms) || !model::TakeVarint(&value, &file_size) || file_size > value.size()) {
    return false;
  }
  damage->found_ms = static_cast<int64_t>(found_ms);
  damage->file = std::string(value.substr(0, file_size));
  damage->reason = std::string(value.substr(file_size));
  return true;
}

std::string DamageText(const FamilyDamage& damage) {
  return damage.file.empty() ? damage.reason : Cat("file db/", damage.file, ": ", damage.reason);
}

std::optional<FamilyDamage> DamagedFamilies::Find(std::string_view family) const {
  if (!any()) return std::nullopt;
  const absl::MutexLock lock(&mutex_);
  const auto found = damages_.find(family);
  if (found == damages_.end()) return std::nullopt;
  return found->second;
}

std::vector<FamilyDamage> DamagedFamilies::All() const {
  std::vector<FamilyDamage> all;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [family, damage] : damages_) all.push_back(damage);
  return all;
}

bool DamagedFamilies::Add(FamilyDamage damage) {
  const absl::MutexLock lock(&mutex_);
  std::string family = damage.family;
  if (!damages_.try_emplace(family, std::move(damage)).second) return false;
  new_.push_back(std::move(family));
  any_.store(true, std::memory_order_release);
  return true;
}

void DamagedFamilies::Remove(std::string_view family) {
  const absl::MutexLock lock(&mutex_);
  if (const auto found = damages_.find(family); found != damages_.end()) damages_.erase(found);
}

std::vector<FamilyDamage> DamagedFamilies::TakeNew() {
  const absl::MutexLock lock(&mutex_);
  std::vector<FamilyDamage> added;
  for (const std::string& family : std::exchange(new_, {})) {
    if (const auto found = damages_.find(family); found != damages_.end()) added.push_back(found->second);
  }
  return added;
}

}  // namespace armature::store
