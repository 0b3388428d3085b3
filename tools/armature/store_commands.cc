// Databases in Ceph RADOS: their owner, and their objects.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/place/place.h"
#include "storage/store/data_directory.h"
#include "storage/store/database_copy.h"
#include "storage/store/files/volume.h"
#include "storage/store/recovery.h"
#include "tools/armature/command.h"
#include "tools/armature/data_place.h"
#include "tools/armature/display.h"
#include "tools/armature/offline_engine.h"

namespace armature::cli {
namespace {

constexpr int64_t kMsPerSecond = 1000;

struct StoreOptions {
  std::string place;
};

void PrintStatus(const Session& session, const std::string& place, const rados::VolumeStatus& status) {
  Json json = {{"Store", place},
               {"VolumeId", status.id},
               {"Epoch", status.epoch},
               {"StripeBytes", status.stripe_bytes},
               {"LeaseHolder", status.holder}};
  if (!status.owner.client.empty()) {
    json["Owner"] = {{"Client", status.owner.client},
                     {"Service", status.owner.service},
                     {"Host", status.owner.host},
                     {"LeaseMs", status.owner.lease_ms},
                     {"SinceMs", static_cast<int64_t>(status.owner.since_s) * kMsPerSecond}};
  }
  session.Print(json, [&json] { return DetailsTable(json); });
}

absl::Status ShowStatus(const Session& session, const StoreOptions& options) {
  const absl::StatusOr<rados::VolumeStatus> status = place::ReadPlaceStatus(options.place, RadosAccess());
  if (!status.ok()) return PlaceError(options.place, status.status());
  PrintStatus(session, options.place, *status);
  return absl::OkStatus();
}

struct HandoverOptions {
  std::string place;
  double wait_s = 60;
};

absl::Status HandOver(const Session& session, const HandoverOptions& options) {
  place::PlaceOptions access = RadosAccess();
  access.owner_wait = absl::Seconds(options.wait_s);
  // A cluster that does not answer must not outlast the wait.
  access.op_timeout = std::min(access.op_timeout, std::max(absl::Seconds(1), access.owner_wait));
  const absl::StatusOr<rados::VolumeStatus> status = place::HandOverPlace(options.place, access);
  if (!status.ok()) return PlaceError(options.place, status.status());
  PrintStatus(session, options.place, *status);
  return absl::OkStatus();
}

absl::Status CheckStore(const Session& session, const StoreOptions& options, bool collects) {
  absl::StatusOr<rados::VolumeCheck> check = place::CheckPlace(options.place, RadosAccess(), collects);
  if (!check.ok()) return PlaceError(options.place, check.status());
  const Json json = {{"Files", check->files},      {"FileBytes", check->file_bytes},     {"Objects", check->objects},
                     {"Orphans", check->orphans},  {"OrphanBytes", check->orphan_bytes}, {"OrphansRemoved", collects},
                     {"Problems", check->problems}};
  session.Print(json, [&json, &check] {
    std::string text = DetailsTable(json);
    for (const std::string& problem : check->problems) text += Cat("problem: ", problem, "\n");
    return text;
  });
  if (check->problems.empty()) return absl::OkStatus();
  return DifferencesError(Cat(check->problems.size(), " objects are missing or too short; see armature recover"));
}

absl::Status Fsck(const Session& session, const StoreOptions& options) {
  return CheckStore(session, options, /*collects=*/false);
}

absl::Status Collect(const Session& session, const StoreOptions& options) {
  ARM_RETURN_IF_ERROR(session.Confirm(Cat("remove the objects of ", options.place, " that belong to no file")));
  return CheckStore(session, options, /*collects=*/true);
}

struct CopyOptions {
  std::string from;
  std::string to;
};

// A copy of a database that does not start would not start either, and might lose the sight of what is missing.
absl::Status CheckWhole(const std::string& from, const place::Place& place) {
  const absl::Status is_there = store::CheckHoldsDatabase(place.volume(), place.data_dir());
  if (!is_there.ok()) return PlaceError(from, is_there);
  RaiseDescriptorLimit();
  const absl::StatusOr<std::vector<store::Damage>> damage = store::FindDamage(place.volume(), place.data_dir());
  if (!damage.ok()) return PlaceError(from, damage.status());
  if (damage->empty()) return absl::OkStatus();
  return InputError(
      Cat(from, " is damaged, and nothing was copied: ", damage->front().fault, "; see armature recover"));
}

absl::Status Copy(const Session& session, const CopyOptions& options) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<place::Place> from, OpenDataPlace(options.from));
  ARM_RETURN_IF_ERROR(CheckWhole(options.from, *from));
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<place::Place> to, OpenDataPlace(options.to, PlaceUse::kNew));
  store::RestrictNewFiles();
  uint64_t bytes = 0;
  absl::Status copied;
  {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    copied = store::CopyDatabase(
        from->volume(), from->data_dir(), to->volume(), to->data_dir(), [&](uint64_t done, uint64_t total) {
          bytes = done;
          bar.Show({.what = options.to, .done = static_cast<int64_t>(done), .total = static_cast<int64_t>(total)});
        });
  }
  if (absl::IsNotFound(copied) || absl::IsFailedPrecondition(copied)) return UsageError(Sv(copied.message()));
  if (!copied.ok()) return InputError(Sv(copied.message()));
  const Json json = {{"From", options.from}, {"To", options.to}, {"Bytes", bytes}};
  session.Print(json, [&json] { return DetailsTable(json); });
  return absl::OkStatus();
}

void AddCommand(CLI::App& group, Action* action, const char* name, const char* description,
                absl::Status (*run)(const Session&, const StoreOptions&)) {
  CLI::App& command = *group.add_subcommand(name, description);
  StoreOptions& options = SetAction(command, action, run);
  command.add_option("place", options.place, "rados://POOL/NAMESPACE")->required()->type_name("PLACE");
}

}  // namespace

void AddStoreCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("store", "Databases in Ceph RADOS");
  group.require_subcommand(1);
  AddCommand(group, action, "status", "Shows who owns the database, and where that daemon serves", ShowStatus);
  AddCommand(group, action, "fsck", "Compares the files with their objects. No daemon may own the database meanwhile",
             Fsck);
  AddCommand(group, action, "gc", "The same, and removes objects that belong to no file", Collect);
  CLI::App& handover = *group.add_subcommand(
      "handover", "Asks the owner to end, and waits until another daemon owns the database, or the same one again");
  HandoverOptions& handover_options = SetAction(handover, action, HandOver);
  handover.add_option("place", handover_options.place, "rados://POOL/NAMESPACE")->required()->type_name("PLACE");
  handover.add_option("--wait", handover_options.wait_s, "Seconds to wait for the next owner")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
  CLI::App& copy = *group.add_subcommand("copy", "Copies a stopped database between places");
  CopyOptions& options = SetAction(copy, action, Copy);
  copy.add_option("from", options.from, "Data directory, or rados://POOL/NAMESPACE")->required()->type_name("FROM");
  copy.add_option("to", options.to, "The same; nothing may be there")->required()->type_name("TO");
  copy.footer(
      "The copy has the same database id: serve one of them only. Before it may be served, all of it is durable.\n\n"
      "armature store copy /var/lib/armature rados://armature/orders");
  group.footer("armature --rados-conf /etc/ceph/ceph.conf store status rados://armature/orders");
}

}  // namespace armature::cli
