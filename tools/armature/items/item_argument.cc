#include "tools/armature/items/item_argument.h"

#include <optional>
#include <sstream>
#include <utility>

#include "storage/base/strings.h"
#include "tools/armature/condition_text.h"
#include "tools/armature/display.h"
#include "tools/armature/json_text.h"
#include "tools/armature/plain_json.h"

namespace armature::cli {
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
    absl::StatusOr<std::string> content = TextOfArgument(argument);
    if (!content.ok()) return UsageError(Sv(content.status().message()));
    text = *std::move(content);
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
