#ifndef ARMATURE_ENGINE_PARTIQL_STATEMENT_STEPS_H_
#define ARMATURE_ENGINE_PARTIQL_STATEMENT_STEPS_H_

// The work on the statements of a request before they are executed, in turns.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "engine/engine.h"
#include "engine/items/request.h"

namespace armature::engine::partiql {

// Steps of a request, each about one statement. They run on the pool of plans. A turn ends when its statements have
// kTurnBytes, or after kTurnNs, and the next one is queued behind the turns of other requests: a request may have
// megabytes of statements, and short statements may be much work, too.
//
// Thread-safety: one call after the other, on any thread. Lives until Finish has returned.
class StatementSteps : public std::enable_shared_from_this<StatementSteps> {
 public:
  virtual ~StatementSteps() = default;
  StatementSteps(const StatementSteps&) = delete;
  StatementSteps& operator=(const StatementSteps&) = delete;

  static constexpr size_t kTurnBytes = size_t{32} << 10;
  static constexpr int64_t kTurnNs = 5'000'000;

  // `engine` must live until Finish has returned.
  void Start(Engine* engine, RequestContext context);

 protected:
  StatementSteps() = default;

  virtual size_t count() const = 0;
  // Size of the statement and its parameters.
  virtual size_t BytesOf(size_t step) const = 0;
  virtual absl::Status Run(size_t step) = 0;
  // Called once, when all steps have run, or with the error that ended them.
  virtual void Finish(const absl::Status& status) = 0;

  Engine* engine() const { return engine_; }
  const RequestContext& context() const { return context_; }

 private:
  void Continue();
  void RunTurn();

  Engine* engine_ = nullptr;
  RequestContext context_;
  size_t next_ = 0;
};

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_STATEMENT_STEPS_H_
