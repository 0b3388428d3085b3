#include "tools/armature/items/item_argument.h"

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/condition_text.h"
#include "tools/armature/display.h"
#include "tools/armature/plain_json.h"

namespace armature::cli {
namespace {

absl::StatusOr<std::string> TextOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // A directory can be opened, and reading it throws.
  std::error_code error;
  if (!file.is_open() || std::filesystem::is_directory(path, error)) return UsageError(Cat("cannot read file ", path));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

absl::StatusOr<api::v1::Item> ItemFromArgument(const std::string& argument, std::istream& input) {
  constexpr std::string_view kFileUrl = "file://";
  if (argument.starts_with(kFileUrl)) {
    return UsageError(Cat(argument, " is not taken here: use @", argument.substr(kFileUrl.size())));
  }
  std::string text = argument;
  std::string place = "the item";
  if (argument == "-" || argument == "@-") {
    std::ostringstream whole;
    whole << input.rdbuf();
    text = whole.str();
    place = "standard input";
  } else if (argument.starts_with('@')) {
    place = argument.substr(1);
    ARM_ASSIGN_OR_RETURN(text, TextOfFile(place));
  }
  absl::StatusOr<api::v1::Item> item = ItemFromPlain(text);
  if (!item.ok()) return UsageError(Cat(place, ": ", Sv(item.status().message())));
  return item;
}

absl::Status ExplainFault(const Session& session, std::string_view option, std::string_view text,
                          const absl::Status& fault) {
  if (fault.ok()) return fault;
  const std::optional<size_t> place = PlaceOf(fault);
  if (!place.has_value()) return UsageError(Cat(option, ": ", Sv(fault.message())));
  if (session.is_progress_live()) session.progress() << CaretLines(text, *place);
  return UsageError(
      Cat(option, " \"", text, "\", character ", TextWidth(text.substr(0, *place)) + 1, ": ", Sv(fault.message())));
}

}  // namespace armature::cli
