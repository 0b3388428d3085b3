#include "storage/rados/volume_check.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
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

// A closed file's objects must all be there and full, but for the end of the last one.
void CheckFile(RadosSession* session, const NameTable::File& file, uint64_t stripe_bytes,
               const std::set<uint64_t>& stripes, VolumeCheck* check) {
  for (uint64_t stripe = 0; stripe * stripe_bytes < file.size; ++stripe) {
    const std::string name = Cat(file.id, ".", stripe);
    if (!stripes.contains(stripe)) {
      AddProblem(Cat(file.names.front(), ": object ", name, " is missing"), check);
      continue;
    }
    const uint64_t wanted = std::min(stripe_bytes, file.size - stripe * stripe_bytes);
    uint64_t size = 0;
    const int told = session->Stat(name, &size);
    if (told < 0) AddProblem(Cat(file.names.front(), ": object ", name, " cannot be read"), check);
    if (told >= 0 && size < wanted) {
      AddProblem(Cat(file.names.front(), ": object ", name, " has ", size, " bytes of ", wanted), check);
    }
  }
}

absl::Status Collect(RadosSession* session, const std::string& name) {
  WriteOp op;
  op.Remove();
  const int removed = session->Operate(op, name);
  return removed < 0 && removed != -ENOENT ? session->Error("remove", name, removed) : absl::OkStatus();
}

}  // namespace

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
