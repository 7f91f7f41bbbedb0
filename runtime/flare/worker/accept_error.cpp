#include "flare/worker/accept_error.h"

#include <cerrno>

#include "flare/base/sync.h"

namespace flare::inline FLARE_ABI {

AcceptError accept_error(int error) {
  switch (error) {
    case EAGAIN:
      return FLARE_MUTANT(kEmptyIsFatal) ? AcceptError::kListener : AcceptError::kEmpty;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return AcceptError::kNoResources;
    // EPERM is a packet filter's.
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
    case ETIMEDOUT:
    case ENOSR:
    case ESOCKTNOSUPPORT:
    case EPROTONOSUPPORT:
      return AcceptError::kOneConnection;
    default:
      return AcceptError::kListener;
  }
}

}  // namespace flare::inline FLARE_ABI
