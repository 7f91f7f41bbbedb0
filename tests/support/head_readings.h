// head_readings.h: the two ways in which a request head is read, as values that can be compared.
// Source: plain_head.h against head_scanner.h and request_parser.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "flare/http/head_scanner.h"
#include "flare/http/plain_head.h"
#include "flare/http/request_parser.h"

namespace flare::testing {

// All that a reader keeps of a head, as text.
inline std::string text_of_head(const HttpRequest& request, const HeadInfo& info, int status, std::size_t end) {
  std::string text = "end " + std::to_string(end) + ", status " + std::to_string(status);
  if (status != 0) return text;  // of a head that is refused nothing else is used
  text += ", " + std::string(request.method) + ' ' + std::string(request.target) + " 1." +
          std::to_string(request.version_minor) + (info.keep_alive ? ", keep" : ", close") +
          (info.chunked ? ", chunked" : "") + (info.expects_continue ? ", expects" : "") +
          (info.is_head ? ", HEAD" : "") + ", 1." + std::to_string(info.version_minor) + ", " +
          std::to_string(info.content_length) + " bytes";
  for (const HttpHeader& header : request.headers) {
    text += "\n|" + std::string(header.name) + "|" + std::string(header.value) + "|";
  }
  return text;
}

// Nothing: it is not plain, or not whole.
inline std::optional<std::string> plain_reading(std::string_view data, const HttpConfig& config) {
  HttpRequest request;
  HeadInfo info;
  const std::size_t end = read_plain_head(data, config, request);
  if (end == 0) return std::nullopt;
  const int status = judge_head(config, request, info);
  return text_of_head(request, info, status, end);
}

// Nothing: it is not whole. A status alone: refused.
inline std::optional<std::string> strict_reading(std::string_view data, const HttpConfig& config) {
  HttpRequest request;
  HeadInfo info;
  HeadScanner scanner;
  const HeadScanner::Result scanned = scanner.scan(data, config);
  if (scanned == HeadScanner::Result::kNeedMore) return std::nullopt;
  if (scanned == HeadScanner::Result::kRefused) return "refused with " + std::to_string(scanner.status());
  const std::string_view head = data.substr(scanner.start(), scanner.end() - scanner.start());
  const int status = parse_head(head, scanner.version_minor(), config, request, info);
  return text_of_head(request, info, status, scanner.end());
}

}  // namespace flare::testing
