#include "tools/armature/copy/table_pairs.h"

#include <map>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/session.h"

namespace armature::cli::copy {
namespace {

absl::StatusOr<std::vector<Rename>> ParseRenames(const std::vector<std::string>& texts, const char* option,
                                                 bool may_be_empty) {
  std::vector<Rename> renames;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const bool is_whole = equals != text.npos && equals > 0 && equals + 1 < text.size();
    if (equals == text.npos || (!may_be_empty && !is_whole) || text == "=") {
      return UsageError(Cat(option, " ", text, " is not OLD=NEW"));
    }
    renames.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return renames;
}

void Exchange(std::vector<Rename>* renames) {
  for (Rename& each : *renames) std::swap(each.from, each.to);
}

}  // namespace

absl::StatusOr<TableNames> TableNames::Parse(const std::vector<std::string>& names,
                                             const std::vector<std::string>& prefixes) {
  TableNames made;
  ARM_ASSIGN_OR_RETURN(made.names_, ParseRenames(names, "--rename", /*may_be_empty=*/false));
  ARM_ASSIGN_OR_RETURN(made.prefixes_, ParseRenames(prefixes, "--rename-prefix", /*may_be_empty=*/true));
  return made;
}

TableNames TableNames::Reversed() const {
  TableNames made = *this;
  Exchange(&made.names_);
  Exchange(&made.prefixes_);
  return made;
}

std::string TableNames::TargetOf(const std::string& source) const {
  for (const Rename& each : names_) {
    if (each.from == source) return each.to;
  }
  for (const Rename& each : prefixes_) {
    if (source.starts_with(each.from)) return each.to + source.substr(each.from.size());
  }
  return source;
}

absl::StatusOr<std::vector<TablePair>> TableNames::PairsOf(const std::vector<std::string>& sources) const {
  std::vector<TablePair> pairs;
  std::map<std::string, std::string> source_of;
  for (const std::string& source : sources) {
    const auto [found, is_new] = source_of.emplace(TargetOf(source), source);
    if (!is_new && found->second != source) {
      return UsageError(Cat("the tables ", found->second, " and ", source, " would both become ", found->first));
    }
    if (is_new) pairs.push_back({source, found->first});
  }
  return pairs;
}

}  // namespace armature::cli::copy
