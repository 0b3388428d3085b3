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
  return found->second.damage;
}

std::vector<FamilyDamage> DamagedFamilies::All() const {
  std::vector<FamilyDamage> all;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [family, known] : damages_) all.push_back(known.damage);
  return all;
}

bool DamagedFamilies::Add(FamilyDamage damage, IsKept is_kept) {
  {
    const absl::MutexLock lock(&mutex_);
    std::string family = damage.family;
    const bool is_new =
        damages_.try_emplace(std::move(family), Known{std::move(damage), is_kept == IsKept::kYes}).second;
    if (!is_new) return false;
    any_.store(true, std::memory_order_release);
  }
  const absl::MutexLock lock(&listener_mutex_);
  if (on_found_ != nullptr) on_found_();
  return true;
}

void DamagedFamilies::Remove(std::string_view family) {
  const absl::MutexLock lock(&mutex_);
  if (const auto found = damages_.find(family); found != damages_.end()) damages_.erase(found);
}

bool DamagedFamilies::Withdraw(const FamilyDamage& damage) {
  const absl::MutexLock lock(&mutex_);
  if (!withdrawn_.insert(damage.file).second) return false;
  if (FindSame(damage) != nullptr) damages_.erase(damage.family);
  return true;
}

std::vector<FamilyDamage> DamagedFamilies::NotKept() const {
  std::vector<FamilyDamage> added;
  if (!any()) return added;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [family, known] : damages_) {
    if (!known.is_kept) added.push_back(known.damage);
  }
  return added;
}

void DamagedFamilies::SetKept(const FamilyDamage& damage) {
  const absl::MutexLock lock(&mutex_);
  if (Known* const known = FindSame(damage); known != nullptr) known->is_kept = true;
}

DamagedFamilies::Known* DamagedFamilies::FindSame(const FamilyDamage& damage) {
  const auto found = damages_.find(damage.family);
  if (found == damages_.end()) return nullptr;
  const FamilyDamage& known = found->second.damage;
  return known.file == damage.file && known.found_ms == damage.found_ms ? &found->second : nullptr;
}

void DamagedFamilies::SetListener(std::function<void()> found) {
  const absl::MutexLock lock(&listener_mutex_);
  on_found_ = std::move(found);
}

}  // namespace armature::store
