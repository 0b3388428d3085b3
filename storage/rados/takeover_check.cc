#include "storage/rados/takeover_check.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/status/status.h"
#include "glog/logging.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/strings.h"
#include "storage/base/time_histogram.h"
#include "storage/rados/lease.h"
#include "storage/rados/name_table.h"

namespace armature::rados {
namespace {

constexpr absl::Duration kLookPause = absl::Seconds(1);
// Between looks at rights and files, which seldom change.
constexpr absl::Duration kRareLookPause = absl::Seconds(10);
// Limits of an answer: together the time that an end may have to wait.
constexpr absl::Duration kConnectTime = absl::Seconds(5);
constexpr absl::Duration kAnswerTime = absl::Seconds(5);
// Expiry of items, signatures and the ages of records depend on the wall clock. Daemons that agree with a time server
// differ by far less.
constexpr int64_t kClockDifferenceMaxS = 10;
// Permitted by the profile rbd, which looks at the form only, and no address.
constexpr char kTryBlock[] = R"({"prefix": "osd blocklist", "blocklistop": "add", "addr": "x/1"})";

std::string Text(const absl::Status& status) { return std::string(Sv(status.message())); }

}  // namespace

std::string ClockDifference(int64_t changed_s, int64_t now_s, int64_t age_s_max) {
  const int64_t ahead_s = now_s - changed_s - age_s_max;
  const int64_t behind_s = changed_s - now_s;
  if (ahead_s > kClockDifferenceMaxS) return Cat("the clock of this machine is ", ahead_s, " s ahead of the owner's");
  if (behind_s > kClockDifferenceMaxS) return Cat("the clock of this machine is ", behind_s, " s behind the owner's");
  return {};
}

TakeoverCheck::TakeoverCheck(const RadosVolumeOptions& options, std::string own_address)
    : options_([&options] {
        RadosVolumeOptions own = options;
        own.op_timeout = kAnswerTime;
        own.monitor_timeout = kConnectTime;
        own.on_lost = nullptr;
        return own;
      }()),
      own_address_(std::move(own_address)) {
  worker_.Start(Worker::Next::AtOnce().EvenIfStopped());
}

std::vector<TakeoverProblem> TakeoverCheck::problems() const {
  const absl::MutexLock lock(&mutex_);
  return problems_;
}

Worker::Next TakeoverCheck::Work() {
  Look();
  return Worker::Next::WhenWoken(kLookPause);
}

void TakeoverCheck::Set(std::string_view reason, std::string text) {
  const absl::MutexLock lock(&mutex_);
  const auto found = std::find_if(problems_.begin(), problems_.end(),
                                  [reason](const TakeoverProblem& each) { return each.reason == reason; });
  if (text.empty()) {
    if (found == problems_.end()) return;
    LOG(INFO) << "rados: this no longer prevents a takeover reason=" << reason;
    problems_.erase(found);
  } else if (found == problems_.end()) {
    LOG(WARNING) << "rados: this daemon could not take the database over reason=" << reason << ": " << text;
    problems_.push_back({.reason = std::string(reason), .text = std::move(text)});
  } else {
    found->text = std::move(text);
  }
}

void TakeoverCheck::Look() {
  const bool is_rare = MonotonicNs() >= next_rare_look_ns_;
  // The monitors read the rights of a user when it connects.
  if (is_rare) session_.reset();
  if (session_ == nullptr) {
    absl::StatusOr<std::shared_ptr<RadosSession>> connected = RadosSession::Connect(options_);
    if (!connected.ok()) return Set("cluster", Text(connected.status()));
    session_ = *std::move(connected);
  }
  if (is_rare) {
    if (!LookAtRights() || !LookAtFiles()) return;
    next_rare_look_ns_ = MonotonicAfter(kRareLookPause);
  }
  if (LookAtRecord()) Set("cluster", "");
}

bool TakeoverCheck::LookAtRights() {
  const int refused = session_->Command(kTryBlock, nullptr);
  if (refused == -ETIMEDOUT) {
    Set("cluster", "the monitors do not answer");
    return false;
  }
  const bool has_rights = refused != -EACCES && refused != -EPERM;
  Set("rights", has_rights ? ""
                           : Cat("client.", options_.user,
                                 " may not block a former owner: its capabilities need mon 'profile rbd'"));
  return true;
}

bool TakeoverCheck::LookAtRecord() {
  const absl::StatusOr<VolumeRecord> record = ReadVolumeRecord(session_.get());
  if (absl::IsUnavailable(record.status())) {
    Set("cluster", Text(record.status()));
    return false;
  }
  const auto of_files = [this](std::string_view reason) {
    return files_problem_.has_value() && files_problem_->reason == reason ? files_problem_->text : std::string();
  };
  Set("damage", absl::IsDataLoss(record.status()) ? Text(record.status()) : of_files("damage"));
  Set("version", absl::IsFailedPrecondition(record.status()) ? Text(record.status()) : of_files("version"));
  Set("place", of_files("place"));
  const bool has_other_owner = record.ok() && !record->owner.client.empty() && record->owner.client != own_address_;
  const auto lease_ms = static_cast<uint64_t>(absl::ToInt64Milliseconds(options_.lease));
  const bool is_other_lease = has_other_owner && record->owner.lease_ms != 0 && record->owner.lease_ms != lease_ms;
  Set("lease", is_other_lease ? Cat("the lease is ", absl::FormatDuration(options_.lease), " here and ",
                                    absl::FormatDuration(absl::Milliseconds(record->owner.lease_ms)),
                                    " at the owner: --lease_seconds must be equal on all daemons of a database")
                              : "");
  return LookAtClock(has_other_owner);
}

bool TakeoverCheck::LookAtClock(bool has_other_owner) {
  int64_t changed_s = 0;
  const int read = session_->ReadChangeTime(kLeaseObject, &changed_s);
  const int64_t now_s = std::time(nullptr);
  const int64_t look_ns = MonotonicNs();
  if (read == -ETIMEDOUT) {
    Set("cluster", "the object of the lease cannot be read");
    return false;
  }
  // A renewal since the last look is at most so old. The clock of an owner that does not renew its lease is not known.
  const bool is_renewed = read >= 0 && last_change_s_ != 0 && changed_s != last_change_s_;
  const int64_t age_s_max = (look_ns - last_change_look_ns_) / 1'000'000'000 + 2;
  last_change_s_ = read < 0 ? 0 : changed_s;
  last_change_look_ns_ = look_ns;
  if (!has_other_owner) Set("clock", "");
  if (has_other_owner && is_renewed) Set("clock", ClockDifference(changed_s, now_s, age_s_max));
  return true;
}

bool TakeoverCheck::LookAtFiles() {
  if (!options_.check_files) return true;
  absl::Status failed;
  const auto read = [this, &failed](const std::string& path) {
    absl::StatusOr<std::string> content = ReadFileOfOther(session_.get(), path);
    if (absl::IsUnavailable(content.status())) failed = content.status();
    return content;
  };
  std::optional<TakeoverProblem> problem = options_.check_files(read);
  if (!failed.ok()) {
    Set("cluster", Text(failed));
    return false;
  }
  files_problem_ = std::move(problem);
  return true;
}

}  // namespace armature::rados
