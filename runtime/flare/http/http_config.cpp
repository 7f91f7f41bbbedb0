#include "flare/http/http_config.h"

#include <cerrno>
#include <string>

#include "flare/base/network_error.h"

namespace flare::inline FLARE_ABI {

namespace {

void at_least(const char* field, long long value, long long least) {
  if (value >= least) return;
  throw NetworkError(
      EINVAL, "HttpConfig",
      std::string(field) + " is " + std::to_string(value) + ", expected " + std::to_string(least) + " or more");
}

void span_at_least_1ms(const char* field, std::chrono::milliseconds value) {
  at_least(field, value.count(), 1);
}

}  // namespace

void HttpConfig::validate() const {
  // The smallest request is "GET / HTTP/1.0" and its two line ends.
  at_least("max_head_bytes", static_cast<long long>(max_head_bytes), 18);
  at_least("max_target_bytes", static_cast<long long>(max_target_bytes), 1);
  at_least("max_headers", static_cast<long long>(max_headers), 1);
  at_least("max_body_bytes", static_cast<long long>(max_body_bytes), 0);
  span_at_least_1ms("head_deadline", head_deadline);
  span_at_least_1ms("body_deadline", body_deadline);
  span_at_least_1ms("idle_deadline", idle_deadline);
  span_at_least_1ms("write_deadline", write_deadline);
}

}  // namespace flare::inline FLARE_ABI
