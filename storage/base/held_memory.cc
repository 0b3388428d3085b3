#include "storage/base/held_memory.h"

#include "storage/base/api_error.h"

namespace armature {

absl::Status NoMemoryForAnswerError() {
  return ServiceUnavailableError("The server's memory for requests and answers is used up: try again");
}

}  // namespace armature
