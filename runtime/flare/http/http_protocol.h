// http_protocol.h: what all HTTP connections of one worker share.  Internal.
// Threads:    one worker; stop is read from wherever it is written.
// Owns:       config, handler, buffers. Every connection that open() made must end before it.
// Bounds:     HttpConfig; the answer buffer is given back when it grew past http_limits::kBatchBytes.
// Errors:     std::bad_alloc from open().
// Ordering:   stop: StopCell's own.
// Invariants: none.
// Not here:   the connection's life (http_connection.h).
// Source:     own design.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "flare/base/abi.h"
#include "flare/http/http_config.h"
#include "flare/http/http_date.h"
#include "flare/http/http_handler.h"
#include "flare/http/response_writer.h"
#include "flare/kernel/system_kernel.h"
#include "flare/worker/connection.h"
#include "flare/worker/stop_cell.h"
#include "flare/worker/worker_stats.h"

namespace flare::inline FLARE_ABI {

class HttpProtocol final : public Protocol {
 public:
  // One of the two: a handler, or an answer that is rendered once.
  HttpProtocol(const HttpConfig& config, HttpHandler handler, WorkerStats& stats, const StopCell& stop);
  HttpProtocol(const HttpConfig& config, HttpResponse response, WorkerStats& stats, const StopCell& stop);

  std::unique_ptr<Connection> open() override;

  const HttpConfig& config() const { return config_; }
  const HttpHandler& handler() const { return handler_; }
  const StaticAnswer* static_answer() const { return static_ ? &*static_ : nullptr; }
  WorkerStats& stats() { return stats_; }
  const StopCell& stop() const { return stop_; }
  HttpRequest& request() { return request_; }
  std::string& out() { return out_; }
  std::string_view date(MonoTime now) { return date_.at(now); }
  // How long handlers and sources of bodies have run so far.
  Duration handler_time() const { return handler_time_; }
  // Counts its scope as theirs.
  class HandlerScope {
   public:
    explicit HandlerScope(HttpProtocol& protocol) : protocol_(protocol), began_(SystemKernel::now()) {}
    ~HandlerScope() { protocol_.handler_time_ += SystemKernel::now() - began_; }
    HandlerScope(const HandlerScope&) = delete;
    HandlerScope& operator=(const HandlerScope&) = delete;

   private:
    HttpProtocol& protocol_;
    const MonoTime began_;
  };
  // The descriptor that HttpRequest::peer asks about.
  void set_current(int fd);

 private:
  void bind_peer();

  const HttpConfig config_;
  const HttpHandler handler_;
  const std::optional<StaticAnswer> static_;
  WorkerStats& stats_;
  const StopCell& stop_;
  // Reused by every request of the worker, so that none of them allocates.
  HttpRequest request_;
  std::string out_;
  DateCache date_;
  Duration handler_time_{};
  int current_fd_ = -1;
  std::optional<SocketAddress> current_peer_;
};

}  // namespace flare::inline FLARE_ABI
