#include "serve/handlers.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace flare::tools {
namespace {

HttpResponse plain(std::string body) {
  HttpResponse response;
  response.headers.emplace_back("Content-Type", "text/plain");
  response.body = std::move(body);
  return response;
}

timespec as_timespec(std::int64_t us) {
  return {static_cast<time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000 * 1000)};
}

void sleep_us(std::int64_t us) {
  timespec left = as_timespec(us);
  while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

// Uses this much time of the CPU, however long that takes on a busy machine.
void burn_us(std::int64_t us) {
  const auto used = []() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  };
  const std::int64_t end = used() + us * 1000;
  while (used() < end) {
  }
}

HttpResponse echo(const HttpRequest& request) {
  HttpResponse response;
  const std::string_view type = request.header("content-type");
  response.headers.emplace_back("Content-Type", type.empty() ? "application/octet-stream" : std::string(type));
  response.body = std::string(request.body);
  return response;
}

HttpResponse big(std::int64_t size) {
  HttpResponse response;
  response.headers.emplace_back("Content-Type", "application/octet-stream");
  response.source_length = size;
  response.source = [left = size](char* data, std::size_t room) mutable -> std::size_t {
    const auto now = static_cast<std::size_t>(std::min<std::int64_t>(left, static_cast<std::int64_t>(room)));
    std::memset(data, 'x', now);
    left -= static_cast<std::int64_t>(now);
    return now;
  };
  return response;
}

// "/sleep/250" for the name "sleep": 250. Nothing for another name, or for what is no whole number up to most.
std::optional<std::int64_t> number_behind(std::string_view target, std::string_view name, std::int64_t most) {
  if (!target.starts_with('/') || !target.substr(1).starts_with(name)) return std::nullopt;
  target.remove_prefix(1 + name.size());
  if (!target.starts_with('/')) return std::nullopt;
  target.remove_prefix(1);
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(target.data(), target.data() + target.size(), value);
  if (error != std::errc() || end != target.data() + target.size() || value < 0 || value > most) return std::nullopt;
  return value;
}

// A body that ends with an exception after its first bytes: the head is out by then.
HttpResponse throwing_body() {
  HttpResponse response;
  response.source_length = 1 << 20;
  response.source = [first = true](char* data, std::size_t room) mutable -> std::size_t {
    if (!first) throw std::runtime_error("/throw-late was asked for");
    first = false;
    std::memset(data, 'x', room);
    return room;
  };
  return response;
}

HttpResponse by_path(const HttpRequest& request, const std::string& text) {
  const std::string_view target = request.target;
  if (target == "/") return plain(text);
  if (target == "/echo") return echo(request);
  if (target == "/throw") throw std::runtime_error("/throw was asked for");
  if (target == "/throw-late") return throwing_body();
  if (const auto size = number_behind(target, "big", kMostBodyBytes)) return big(*size);
  if (const auto us = number_behind(target, "sleep", kMostHandlerUs)) {
    sleep_us(*us);
    return plain(text);
  }
  if (const auto us = number_behind(target, "burn", kMostHandlerUs)) {
    burn_us(*us);
    return plain(text);
  }
  HttpResponse response = plain("'" + std::string(target) + "' is none of: /, /echo, /throw, /throw-late, /sleep/US, " +
                                "/burn/US (up to " + std::to_string(kMostHandlerUs) + "), /big/BYTES (up to " +
                                std::to_string(kMostBodyBytes) + ")\n");
  response.status = 404;
  return response;
}

}  // namespace

HttpResponse static_response(const ServeOptions& options) {
  return plain(options.text);
}

HttpHandler make_handler(const ServeOptions& options) {
  const std::int64_t us = options.handler_us;
  switch (options.handler) {
    case HandlerKind::kStatic:
      break;
    case HandlerKind::kEcho:
      return echo;
    case HandlerKind::kBig:
      return [size = options.body_bytes](const HttpRequest&) { return big(size); };
    case HandlerKind::kPath:
      return [text = options.text](const HttpRequest& request) { return by_path(request, text); };
    case HandlerKind::kSleep:
      return [us, text = options.text](const HttpRequest&) {
        sleep_us(us);
        return plain(text);
      };
    case HandlerKind::kBurn:
      return [us, text = options.text](const HttpRequest&) {
        burn_us(us);
        return plain(text);
      };
  }
  return [text = options.text](const HttpRequest&) { return plain(text); };
}

}  // namespace flare::tools
