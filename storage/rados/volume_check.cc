#include "storage/rados/volume_check.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::rados {
namespace {

constexpr std::string_view kFilePrefix = "file.";
// Questions for sizes of objects under way at once: requests of clients go on beside them.
constexpr size_t kAskedMax = 16;

// Numbers of the stripes that exist, by the file's id.
using Stripes = std::map<std::string, std::set<uint64_t>>;

// Objects with other names than those of files are left alone.
absl::StatusOr<Stripes> ListStripes(RadosSession* session, uint64_t* objects) {
  rados_list_ctx_t list = nullptr;
  const std::string& space = session->options().name_space;
  if (const int opened = rados_nobjects_list_open(session->io(), &list); opened < 0) {
    return session->Error("list", space, opened);
  }
  Stripes stripes;
  const char* entry = nullptr;
  int next = 0;
  while ((next = rados_nobjects_list_next(list, &entry, nullptr, nullptr)) == 0) {
    ++*objects;
    const std::string_view name = entry;
    const size_t dot = name.rfind('.');
    uint64_t number = 0;
    if (!name.starts_with(kFilePrefix) || dot < kFilePrefix.size()) continue;
    const auto [end, error] = std::from_chars(name.data() + dot + 1, name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) {
      stripes[std::string(name.substr(0, dot))].insert(number);
    }
  }
  rados_nobjects_list_close(list);
  if (next != -ENOENT) return session->Error("list", space, next);
  return stripes;
}

void AddProblem(std::string problem, VolumeCheck* check) {
  if (check->problems.size() < VolumeCheck::kProblemsMax) check->problems.push_back(std::move(problem));
}

std::string NameOf(const NameTable::File& file, uint64_t stripe) { return Cat(file.id, ".", stripe); }

// The fault of an object of a closed file, which must be there and full, but for the end of the last one. `told`:
// the answer to a question for its size. Empty: nothing.
std::string ProblemOf(const NameTable::File& file, uint64_t stripe, uint64_t stripe_bytes, int told, uint64_t size) {
  const std::string object = Cat(file.names.front(), ": object ", NameOf(file, stripe));
  if (told == -ENOENT) return Cat(object, " is missing");
  if (told < 0) return Cat(object, " cannot be read");
  const uint64_t wanted = std::min(stripe_bytes, file.size - stripe * stripe_bytes);
  return size < wanted ? Cat(object, " has ", size, " bytes of ", wanted) : std::string();
}

void CheckFile(RadosSession* session, const NameTable::File& file, uint64_t stripe_bytes,
               const std::set<uint64_t>& stripes, VolumeCheck* check) {
  for (uint64_t stripe = 0; stripe * stripe_bytes < file.size; ++stripe) {
    uint64_t size = 0;
    const int told = stripes.contains(stripe) ? session->Stat(NameOf(file, stripe), &size) : -ENOENT;
    if (std::string problem = ProblemOf(file, stripe, stripe_bytes, told, size); !problem.empty()) {
      AddProblem(std::move(problem), check);
    }
  }
}

// A question for the size of an object, under way.
struct Asked {
  Flight flight;
  const NameTable::File* file = nullptr;
  uint64_t stripe = 0;
  uint64_t size = 0;
  time_t changed = 0;
};

// True if the file is as it was: neither removed nor written since.
bool IsUnchanged(const NameTable& names, const NameTable::File& file) {
  const std::vector<NameTable::File> now = names.Files();
  return std::any_of(now.begin(), now.end(), [&file](const NameTable::File& each) {
    return each.id == file.id && each.size == file.size && !each.is_open;
  });
}

absl::Status Collect(RadosSession* session, const std::string& name) {
  WriteOp op;
  op.Remove();
  const int removed = session->Operate(op, name);
  return removed < 0 && removed != -ENOENT ? session->Error("remove", name, removed) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindLostObjects(RadosSession* session, const NameTable& names,
                                                         const std::function<bool()>& is_stopped) {
  const std::vector<NameTable::File> files = names.Files();
  std::vector<std::string> lost;
  absl::Status failed;
  std::deque<std::unique_ptr<Asked>> asked;
  const auto take_answer = [&] {
    const std::unique_ptr<Asked> next = std::move(asked.front());
    asked.pop_front();
    const int told = next->flight.Wait();
    if (!failed.ok()) return;
    if (told < 0 && told != -ENOENT) {
      failed = session->Error("read", NameOf(*next->file, next->stripe), told);
      return;
    }
    std::string problem = ProblemOf(*next->file, next->stripe, names.stripe_bytes(), told, next->size);
    if (problem.empty() || lost.size() >= VolumeCheck::kProblemsMax || !IsUnchanged(names, *next->file)) return;
    lost.push_back(std::move(problem));
  };
  for (const NameTable::File& file : files) {
    for (uint64_t stripe = 0; !file.is_open && stripe * names.stripe_bytes() < file.size; ++stripe) {
      if (!failed.ok() || (is_stopped && is_stopped())) break;
      auto next = std::make_unique<Asked>();
      next->file = &file;
      next->stripe = stripe;
      if (const int begun = rados_aio_stat(session->io(), NameOf(file, stripe).c_str(), next->flight.get(), &next->size,
                                           &next->changed);
          begun < 0) {
        failed = session->Error("read", NameOf(file, stripe), begun);
        break;
      }
      asked.push_back(std::move(next));
      if (asked.size() >= kAskedMax) take_answer();
    }
  }
  while (!asked.empty()) take_answer();
  if (!failed.ok()) return failed;
  return lost;
}

absl::StatusOr<VolumeCheck> CheckVolume(RadosSession* session, const NameTable& names, bool collects) {
  VolumeCheck check;
  // The objects first: the names then have every file that was complete before. A file that is being made has objects
  // before its name, which is why nothing else may be under way.
  ARM_ASSIGN_OR_RETURN(Stripes stripes, ListStripes(session, &check.objects));
  const std::vector<NameTable::File> files = names.Files();
  for (const NameTable::File& file : files) {
    ++check.files;
    check.file_bytes += file.size;
    CheckFile(session, file, names.stripe_bytes(), stripes[file.id], &check);
    stripes.erase(file.id);
  }
  for (const auto& [id, numbers] : stripes) {
    for (const uint64_t number : numbers) {
      const std::string name = Cat(id, ".", number);
      uint64_t size = 0;
      const int told = session->Stat(name, &size);
      if (told == -ENOENT) continue;
      if (told < 0) return session->Error("read", name, told);
      ++check.orphans;
      check.orphan_bytes += size;
      if (!collects) continue;
      ARM_RETURN_IF_ERROR(session->CheckOwned());
      ARM_RETURN_IF_ERROR(Collect(session, name));
    }
  }
  return check;
}

}  // namespace armature::rados
