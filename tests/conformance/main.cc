// Runs the cases of a folder against a backend. Prints failures and a summary.

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "storage/base/strings.h"
#include "tests/conformance/backend.h"
#include "tests/conformance/case_file.h"
#include "tests/conformance/runner.h"

namespace armature::conformance {
namespace {

struct Options {
  std::string backend = "engine";
  std::string folder = ARMATURE_CONFORMANCE_CASES;
  std::string file;
  std::string name_part;
  bool list = false;
  bool show_pending = false;
  bool strict = false;
};

// The files sorted by path. Throws if one cannot be read.
std::vector<CaseFile> ReadFiles(const Options& options) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(options.folder)) {
    const bool wanted = options.file.empty() || entry.path().stem() == options.file;
    if (entry.path().extension() == ".txt" && wanted) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) throw std::runtime_error(Cat("no such cases in ", options.folder));
  std::vector<CaseFile> files;
  for (const std::string& path : paths) {
    absl::StatusOr<CaseFile> file = ReadCaseFile(path);
    if (!file.ok()) throw std::runtime_error(std::string(file.status().message()));
    files.push_back(*std::move(file));
  }
  return files;
}

void PrintList(const std::vector<CaseFile>& files) {
  for (const CaseFile& file : files) {
    for (const Case& one : file.cases) {
      std::cout << file.path << ":" << one.line << ": " << one.name << "\n";
    }
  }
}

void Print(const Report& report, const Options& options) {
  const std::string where = Cat(report.path, ":", report.line, ": ");
  if (report.outcome == Outcome::kFailed) std::cout << where << "FAILED: " << report.name << "\n" << report.details;
  if (report.outcome == Outcome::kPassedThoughPending) {
    std::cout << where << "passes though pending; remove the mark: " << report.name << "\n";
  }
  if (report.outcome == Outcome::kPending && options.show_pending) {
    std::cout << where << "pending: " << report.name << "\n" << report.details;
  }
}

std::unique_ptr<Backend> MakeBackend(std::string_view name) {
  if (name == "grpc") return MakeGrpcBackend();
  return name == "http" ? MakeHttpBackend() : MakeEngineBackend();
}

int RunAll(const Options& options) {
  const std::vector<CaseFile> files = ReadFiles(options);
  if (options.list) {
    PrintList(files);
    return 0;
  }
  const std::unique_ptr<Backend> backend = MakeBackend(options.backend);
  Runner runner(backend.get());
  std::map<Outcome, int> counts;
  int total = 0;
  for (const CaseFile& file : files) {
    for (const Report& report : runner.RunFile(file, options.name_part)) {
      Print(report, options);
      ++counts[report.outcome];
      ++total;
    }
  }
  std::cout << "conformance " << options.backend << ": " << total << " cases: " << counts[Outcome::kPassed]
            << " passed, " << counts[Outcome::kFailed] << " failed, " << counts[Outcome::kPending] << " pending, "
            << counts[Outcome::kPassedThoughPending] << " passed though pending, " << counts[Outcome::kNotForBackend]
            << " for other backends\n";
  const bool marks_are_right = !options.strict || counts[Outcome::kPassedThoughPending] == 0;
  return total > 0 && counts[Outcome::kFailed] == 0 && marks_are_right ? 0 : 1;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Runs the conformance cases.");
  app.add_option("--backend", options.backend, "engine, grpc or http")
      ->check(CLI::IsMember({"engine", "grpc", "http"}));
  app.add_option("--cases", options.folder, "Folder of the case files");
  app.add_option("--file", options.file, "Only this file, such as numbers");
  app.add_option("--case", options.name_part, "Only cases whose name contains this text");
  app.add_flag("--list", options.list, "Print the cases instead of running them");
  app.add_flag("--show-pending", options.show_pending, "Also print how pending cases fail");
  app.add_flag("--strict", options.strict, "A pending case that passes is a failure");
  CLI11_PARSE(app, argc, argv);
  try {
    return RunAll(options);
  } catch (const std::exception& error) {
    std::cout << error.what() << "\n";
    return 1;
  }
}

}  // namespace
}  // namespace armature::conformance

int main(int argc, char** argv) { return armature::conformance::Main(argc, argv); }
