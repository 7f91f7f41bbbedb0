#include "flare/http/http_frontend.h"

#include <cerrno>

#include "flare/base/network_error.h"
#include "flare/http/http_protocol.h"
#include "flare/http/response_writer.h"

namespace flare::inline FLARE_ABI {

namespace detail {

void serve_http(WorkerContext& context, const HttpHandler& handler, const HttpConfig& config) {
  HttpProtocol protocol(config, handler, context.stats(), context.stop_cell());
  context.serve(protocol);
}

void serve_http_static(WorkerContext& context, const HttpResponse& response, const HttpConfig& config) {
  HttpProtocol protocol(config, response, context.stats(), context.stop_cell());
  context.serve(protocol);
}

}  // namespace detail

StaticHttpFrontend::StaticHttpFrontend(HttpResponse response, HttpConfig config)
    : response_(std::move(response)), config_(config) {
  config_.validate();
  if (response_.source) throw NetworkError(EINVAL, "StaticHttpFrontend", "a body by callback, expected a fixed body");
  if (const char* fault = check_response(response_)) {
    throw NetworkError(EINVAL, "StaticHttpFrontend", std::string("the response has ") + fault);
  }
}

}  // namespace flare::inline FLARE_ABI
