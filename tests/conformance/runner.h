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
  kPending,              // Fails, and is marked to.
  kPassedThoughPending,  // The mark should go.
  kNotForBackend,
};

struct Report {
  Outcome outcome = Outcome::kPassed;
  std::string path;
  int line = 0;  // Of the request that failed, otherwise of the case.
  std::string name;
  std::string details;  // What was sent, expected and answered; empty if it passed.
};

// Tables and items are those of the setup whenever a case begins: what a case has written or created is taken back.
//
// Thread-safety: thread-compatible. The backend must have no tables when a file begins, and has none when it ends.
class Runner {
 public:
  explicit Runner(Backend* backend) : backend_(*backend) {}

  // Only cases whose name contains `name_part` run. Throws std::runtime_error if the setup fails.
  std::vector<Report> RunFile(const CaseFile& file, std::string_view name_part);

 private:
  Report RunCase(const CaseFile& file, const Case& one);
  // What differs from the expectation; empty if nothing does.
  std::string RunStep(const Step& step);
  void Keep(const Answer& answer);
  Answer Send(const std::string& operation, const Json& request, std::string_view request_text);
  Answer SendForAllPages(const std::string& operation, Json request);

  void SetUp(const CaseFile& file);
  void PutSetupItems(const CaseFile& file);
  void RestoreSetup(const CaseFile& file);
  void EmptyTable(const std::string& table);
  void DeleteTables(const std::set<std::string>& keep);
  std::set<std::string> ListTables();
  void WaitForTable(const std::string& table, bool gone);
  // `created`: the answer of CreateBackup.
  void WaitForBackup(const Json& created);
  void DeleteBackups();
  // Throws if the call fails.
  Json Must(const std::string& operation, const Json& request);

  Backend& backend_;
  std::set<std::string> setup_tables_;
  // What the last answer that had such a member said, by the placeholders that requests have for it.
  std::map<std::string, Json> kept_;
  uint64_t change_sequence_ = 0;
  bool items_changed_ = false;
  bool tables_changed_ = false;
  bool settings_changed_ = false;
  bool backups_changed_ = false;
};

}  // namespace armature::conformance

#endif  // ARMATURE_TESTS_CONFORMANCE_RUNNER_H_
