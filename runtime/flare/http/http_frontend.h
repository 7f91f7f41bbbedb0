// http_frontend.h: HTTP/1.1 for a Scheduler: a handler, or one answer rendered once.  Public header.
// Threads:    constructed anywhere; each worker runs its own copy.
// Owns:       the handler's copy.
// Bounds:     HttpConfig.
// Errors:     the constructor throws NetworkError(EINVAL) for a bad config.
// Ordering:   none.
// Invariants: INV-21.
// Not here:   parsing (http_connection.h), the handler's contract (http_handler.h).
// Source:     seeds, flare.runtime.scheduler (flare.http.HttpFrontend, StaticHttpFrontend).
#pragma once

#include <string>
#include <utility>

#include "flare/base/abi.h"
#include "flare/http/http_config.h"
#include "flare/http/http_handler.h"
#include "flare/worker/worker_context.h"

namespace flare::inline FLARE_ABI {

namespace detail {
// Compiled once; the templates below only bind the handler.
void serve_http(WorkerContext& context, const HttpHandler& handler, const HttpConfig& config);
void serve_http_static(WorkerContext& context, const HttpResponse& response, const HttpConfig& config);
}  // namespace detail

// Handler: HttpResponse(const HttpRequest&), copyable.
template <class Handler>
class HttpFrontend {
 public:
  explicit HttpFrontend(Handler handler, HttpConfig config = {}) : handler_(std::move(handler)), config_(config) {
    config_.validate();
  }
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext& context) {
    detail::serve_http(
        context, [this](const HttpRequest& request) -> HttpResponse { return handler_(request); }, config_);
  }

 private:
  Handler handler_;
  HttpConfig config_;
};

class StaticHttpFrontend {
 public:
  explicit StaticHttpFrontend(HttpResponse response, HttpConfig config = {});
  bool requires_per_worker_listener() const { return false; }
  void run_worker(WorkerContext& context) { detail::serve_http_static(context, response_, config_); }

 private:
  HttpResponse response_;
  HttpConfig config_;
};

}  // namespace flare::inline FLARE_ABI
