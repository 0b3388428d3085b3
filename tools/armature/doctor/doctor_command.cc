#include "tools/armature/doctor/doctor_command.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/display.h"
#include "tools/armature/doctor/checks.h"
#include "tools/armature/doctor/daemon_program.h"

namespace armature::cli {
namespace {

// As the packages install them.
constexpr char kPackagedConfig[] = "/etc/armature/armatured.conf";
constexpr char kDaemonProgram[] = "armatured";

struct DoctorOptions {
  std::string config;
};

std::string_view FindingStateName(FindingState state) {
  switch (state) {
    case FindingState::kOk:
      return "ok";
    case FindingState::kWarn:
      return "warn";
    case FindingState::kFail:
      break;
  }
  return "fail";
}

int64_t CountFindings(const Findings& findings, FindingState state) {
  return std::count_if(findings.begin(), findings.end(), [state](const Finding& each) { return each.state == state; });
}

Json FindingsJson(const Findings& findings) {
  Json list = Json::array();
  for (const Finding& each : findings) {
    Json entry = {{"Check", each.check}, {"State", std::string(FindingStateName(each.state))}, {"Text", each.text}};
    if (!each.remedy.empty()) entry["Remedy"] = each.remedy;
    list.push_back(std::move(entry));
  }
  return {{"Findings", std::move(list)},
          {"Failures", CountFindings(findings, FindingState::kFail)},
          {"Warnings", CountFindings(findings, FindingState::kWarn)}};
}

std::string FindingsText(const Findings& findings) {
  const auto padded = [](std::string_view text, size_t width) {
    return Cat(text, std::string(width - std::min(width, text.size()), ' '));
  };
  size_t width = 0;
  for (const Finding& each : findings) width = std::max(width, each.check.size());
  std::string text;
  for (const Finding& each : findings) {
    text +=
        Cat(padded(FindingStateName(each.state), 4), "  ", padded(each.check, width), "  ", OneLine(each.text), "\n");
    if (!each.remedy.empty()) text += Cat(std::string(width + 8, ' '), "-> ", OneLine(each.remedy), "\n");
  }
  return text;
}

// Reads the configuration into `settings`. `path`: as the user gave it; empty: that of the packages, if it exists.
Finding ReadDaemonSettings(const Host& host, const std::string& path, DaemonSettings* settings) {
  const std::string& file = path.empty() ? kPackagedConfig : path;
  *settings = *ParseDaemonSettings("");
  const absl::StatusOr<std::string> text = host.Read(file);
  if (!text.ok()) {
    if (path.empty() && absl::IsNotFound(text.status())) {
      return Fine("configuration",
                  Cat("there is no ", file, ": the defaults are looked at; name a file with --config"));
    }
    return {"configuration", FindingState::kFail, std::string(text.status().message()),
            "correct its path, or run this as the user of the daemon or as root"};
  }
  absl::StatusOr<DaemonSettings> parsed = ParseDaemonSettings(*text);
  if (!parsed.ok()) {
    return {"configuration", FindingState::kFail, Cat(file, ": ", Sv(parsed.status().message())),
            Cat("correct the line; armatured --config=", file, " --print_config checks the file")};
  }
  *settings = *std::move(parsed);
  const absl::StatusOr<std::string> fault = FindConfigFault(file);
  if (!fault.ok())
    return Fine("configuration", Cat(file, "; only its form is checked: ", Sv(fault.status().message())));
  if (fault->empty()) return Fine("configuration", Cat(file, " is one that armatured takes"));
  return {"configuration", FindingState::kFail, *fault, "docs/reference/flags.md has all flags"};
}

absl::Status ExamineDaemon(const Session& session, const DoctorOptions& options) {
  const std::unique_ptr<Host> host = ThisHost();
  Patient patient{.host = *host};
  Findings findings = {ReadDaemonSettings(*host, options.config, &patient.settings)};
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  const auto info = client.GetServerInfo(admin::v1::GetServerInfoRequest());
  const bool is_here = info.ok() && host->ProgramOf(static_cast<pid_t>(info->pid())) == kDaemonProgram;
  if (is_here) patient.process = static_cast<pid_t>(info->pid());
  // Flags of the command line are not in the file.
  if (is_here && patient.settings.store.empty()) patient.settings.data_dir = info->data_directory();
  patient.user = FindDaemonUser(patient, options.config.empty() || options.config == kPackagedConfig);
  const Findings parts[] = {CheckDaemon(info),          CheckDescriptors(patient), CheckData(patient),
                            CheckMemory(patient),       CheckClock(patient),       CheckPorts(patient),
                            CheckCertificates(patient), CheckSecrets(patient)};
  for (const Findings& part : parts) std::copy(part.begin(), part.end(), std::back_inserter(findings));

  session.Print(FindingsJson(findings), [&findings] { return FindingsText(findings); });
  const int64_t failures = CountFindings(findings, FindingState::kFail);
  if (failures == 0) return absl::OkStatus();
  return DifferencesError(Cat(failures, failures == 1 ? " check has" : " checks have", " failed"));
}

}  // namespace

void AddDoctorCommand(CLI::App& app, Action* action) {
  CLI::App& doctor = *app.add_subcommand("doctor", "Look for what will bite a daemon on this machine");
  DoctorOptions& options = SetAction(doctor, action, ExamineDaemon);
  doctor.add_option("--config", options.config, Cat("Configuration file of the daemon; without it ", kPackagedConfig))
      ->type_name("FILE");
  doctor.footer(
      "Looks at the file, at this machine and, if it answers at --endpoint, at the daemon: open files, file system "
      "and\n"
      "free space of the data, memory, clock, ports, certificates, files with secrets, versions. Each line is ok, warn "
      "or\n"
      "fail, with a remedy. Changes nothing. As root, or as the user of the daemon, it sees all files.\n"
      "Exit code 4: a check has failed. Warnings are no failures.\n\n"
      "Examples:\n  armature doctor\n  armature --output json doctor --config /etc/armature/armatured.conf\n");
}

}  // namespace armature::cli
