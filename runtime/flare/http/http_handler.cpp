#include "flare/http/http_handler.h"

#include "flare/http/http_text.h"

namespace flare::inline FLARE_ABI {

std::string_view HttpRequest::header(std::string_view name) const {
  for (const HttpHeader& header : headers) {
    if (header.name.size() != name.size()) continue;
    std::size_t i = 0;
    while (i < name.size() && http_text::lower(header.name[i]) == http_text::lower(name[i])) ++i;
    if (i == name.size()) return header.value;
  }
  return {};
}

}  // namespace flare::inline FLARE_ABI
