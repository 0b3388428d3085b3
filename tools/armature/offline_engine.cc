#include "tools/armature/offline_engine.h"

#include <sys/resource.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/synchronization/notification.h"
#include "engine/engine.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/database.h"
#include "tools/armature/session.h"

namespace armature::cli {

struct OfflineEngine::Impl {
  std::unique_ptr<store::Database> database;
  std::unique_ptr<engine::Engine> engine;
};

namespace {

// The database keeps its files open.
void RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

OfflineEngine::OfflineEngine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

OfflineEngine::~OfflineEngine() = default;

absl::StatusOr<std::unique_ptr<OfflineEngine>> OfflineEngine::Open(const std::string& data_dir) {
  // To open what is not there would make it.
  std::error_code error;
  const bool is_there = std::filesystem::exists(std::filesystem::path(data_dir) / "armature.format", error);
  if (error) return UsageError(Cat("cannot read ", data_dir, ": ", error.message()));
  if (!is_there) {
    return UsageError(Cat(data_dir, " holds no database of Armature"));
  }
  RaiseDescriptorLimit();
  // The answers of commands are enough for people.
  FLAGS_minloglevel = google::GLOG_ERROR;
  auto impl = std::make_unique<Impl>();
  store::DatabaseOptions options;
  options.path = data_dir;
  absl::StatusOr<std::unique_ptr<store::Database>> database = store::Database::Open(options);
  if (!database.ok()) return UsageError(Cat("cannot open ", data_dir, ": ", Sv(database.status().message())));
  impl->database = *std::move(database);
  impl->engine = std::make_unique<engine::Engine>(impl->database.get(), engine::EngineOptions());
  return std::unique_ptr<OfflineEngine>(new OfflineEngine(std::move(impl)));
}

std::vector<std::string> OfflineEngine::TableNames() const {
  std::vector<std::string> names;
  const std::shared_ptr<const store::CatalogSnapshot> catalog = impl_->database->catalog();
  for (const auto& [name, table] : catalog->tables()) names.push_back(name);
  return names;
}

store::Database* OfflineEngine::database() { return impl_->database.get(); }

absl::StatusOr<engine::VerifyTableResult> OfflineEngine::Verify(const engine::VerifyTableRequest& request) {
  absl::Notification done;
  absl::StatusOr<engine::VerifyTableResult> result = absl::InternalError("no answer");
  impl_->engine->VerifyTable(request, [&](absl::StatusOr<engine::VerifyTableResult> answer) {
    result = std::move(answer);
    done.Notify();
  });
  done.WaitForNotification();
  return result;
}

}  // namespace armature::cli
