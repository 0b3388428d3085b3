#ifndef ARMATURE_TESTS_CONFORMANCE_RUNNER_H_
#define ARMATURE_TESTS_CONFORMANCE_RUNNER_H_

// Runs the cases of a file against a backend.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/backend.h"
#include "tests/conformance/case_file.h"

namespace armature::conformance {

enum class Outcome {
  kPassed,
  kFailed,
  kPending,              // fails as marked
  kPassedThoughPending,  // the mark is obsolete
  kNotForBackend,
};

struct Report {
  Outcome outcome = Outcome::kPassed;
  std::string path;
  int line = 0;  // of the failed request, otherwise of the case
  std::string name;
  std::string details;  // request, expectation and answer; empty if passed
};

// Each case begins with the tables and items of the setup: changes of earlier cases are undone.
//
// Thread-safety: thread-compatible. The backend must have no tables when a file begins. It has none when the file ends.
class Runner {
 public:
  explicit Runner(Backend* backend) : backend_(*backend) {}

  // Runs the cases whose name contains `name_part`. Throws std::runtime_error if the setup fails.
  std::vector<Report> RunFile(const CaseFile& file, std::string_view name_part);

 private:
  Report RunCase(const CaseFile& file, const Case& one);
  // The mismatch with the expectation; empty if there is none.
  std::string RunStep(const Step& step);
  void Keep(const Answer& answer);
  Answer Send(const std::string& operation, const Json& request, std::string_view request_text);
  Answer SendForAllPages(const std::string& operation, Json request);

  // All records of the latest stream of a table, in order: {"Records": [...]}.
  Answer ReadStream(const Json& request);
  // Repeats GetItem until the item is gone.
  Answer AwaitGone(const Json& request);

  void SetUp(const CaseFile& file);
  void PutSetupItems(const CaseFile& file);
  void RestoreSetup(const CaseFile& file);
  void EmptyTable(const std::string& table);
  void DeleteTables(const std::set<std::string>& keep);
  std::set<std::string> ListTables();
  void WaitForTable(const std::string& table, bool gone);
  // `created`: the answer of CreateBackup.
  void WaitForBackup(const Json& created);
  // Keeps the ARN of the job that `operation` has started, and waits until the job has ended.
  void AwaitTransfer(const std::string& operation, const Json& answer);
  void DeleteBackups();
  // Throws if the call fails.
  Json Must(const std::string& operation, const Json& request);

  Backend& backend_;
  std::set<std::string> setup_tables_;
  // Values of placeholders in requests, from the last answer that had the member.
  std::map<std::string, Json> kept_;
  uint64_t change_sequence_ = 0;
  bool items_changed_ = false;
  bool tables_changed_ = false;
  bool settings_changed_ = false;
  bool backups_changed_ = false;
};

}  // namespace armature::conformance

#endif  // ARMATURE_TESTS_CONFORMANCE_RUNNER_H_
