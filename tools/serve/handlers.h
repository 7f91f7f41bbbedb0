// handlers.h: what flare-serve answers.
#pragma once

#include "flare/http/http_handler.h"
#include "serve/options.h"

namespace flare::tools {

// The answer of the static handler.
HttpResponse static_response(const ServeOptions& options);
// Every other one. It holds what it needs by value: a detached worker may outlive everything else.
HttpHandler make_handler(const ServeOptions& options);

}  // namespace flare::tools
