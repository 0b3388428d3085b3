#include <string>
#include <utility>
#include <vector>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"
#include "storage/store/recovery.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/offline_engine.h"

namespace armature::cli {
namespace {

struct RecoverOptions {
  std::string data_dir;
};

void PrintDamage(const Session& session, const std::vector<store::Damage>& damage) {
  Json records = Json::array();
  for (const store::Damage& each : damage) {
    records.push_back({{"Fault", each.fault}, {"Loss", each.loss.empty() ? "not recoverable" : each.loss}});
  }
  session.Print({{"Damage", records}}, [&records] {
    return records.empty() ? std::string("nothing stops a start\n") : RecordsTable(records, {"Fault", "Loss"});
  });
}

absl::Status Recover(const Session& session, const RecoverOptions& options) {
  RaiseDescriptorLimit();
  ARM_ASSIGN_OR_RETURN(const std::vector<store::Damage> damage, store::FindDamage(options.data_dir));
  PrintDamage(session, damage);
  if (damage.empty()) return absl::OkStatus();
  for (const store::Damage& each : damage) {
    if (each.loss.empty()) {
      return InputError(Cat(each.fault, ": restore a backup, or read the rows with armature inspect rows --data-dir ",
                            options.data_dir));
    }
  }
  ARM_RETURN_IF_ERROR(session.Confirm(Cat("give up what is lost, and make ", options.data_dir, " start again")));
  store::RestrictNewFiles();
  ARM_RETURN_IF_ERROR(store::AcceptLosses(options.data_dir, damage));
  // Without the lost writes, more tables may be unknown.
  ARM_ASSIGN_OR_RETURN(const std::vector<store::Damage> left, store::FindDamage(options.data_dir));
  if (left.empty()) return absl::OkStatus();
  return InputError(
      Cat("this was accepted, but a start is still refused: ", left.front().fault, ": run the command again"));
}

}  // namespace

void AddRecoverCommand(CLI::App& app, Action* action) {
  CLI::App& recover = *app.add_subcommand("recover", "Make a damaged data directory start again, without what is lost");
  RecoverOptions& options = SetAction(recover, action, Recover);
  recover.add_option("data-dir", options.data_dir, "Data directory of a daemon that does not start")
      ->type_name("DIR")
      ->required();
  recover.footer(
      "Shows the damage that stops a start and what accepting it loses. With --yes, or after a question, accepts it:\n"
      "missing log files are forgotten, damaged records of the log are skipped, column families without a table are\n"
      "dropped. Copy the directory before. Rows and indexes may differ afterwards: run armature verify --repair.\n\n"
      "Examples:\n  armature --output table recover /var/lib/armature\n"
      "  armature --yes recover /var/lib/armature\n");
}

}  // namespace armature::cli
