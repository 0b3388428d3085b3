#include "engine/partiql/statement_steps.h"

#include <utility>

#include "engine/parts.h"

namespace armature::engine::partiql {

void StatementSteps::Start(Engine* engine, RequestContext context) {
  engine_ = engine;
  context_ = std::move(context);
  Continue();
}

void StatementSteps::Continue() {
  const std::shared_ptr<StatementSteps> self = shared_from_this();
  engine_->RunPlanner([self] { self->RunTurn(); }, [self](const absl::Status& refused) { self->Finish(refused); });
}

void StatementSteps::RunTurn() {
  const int64_t begin_ns = engine_->ClockNs();
  size_t bytes = 0;
  bool is_over = false;
  while (next_ < count() && !is_over) {
    absl::Status status = CheckStillWanted(context_);
    if (status.ok()) status = Run(next_);
    if (!status.ok()) return Finish(status);
    bytes += BytesOf(next_);
    ++next_;
    is_over = bytes >= kTurnBytes || engine_->ClockNs() - begin_ns >= kTurnNs;
  }
  next_ < count() ? Continue() : Finish(absl::OkStatus());
}

}  // namespace armature::engine::partiql
