// mutants.h: defects that the tests switch on in the product's own functions to prove that the simulation finds them.
// Threads:    set on the host, before a schedule.
// Ordering:   FLARE_MUTANT(name) in runtime/ is (active_mutant == Mutant::name) here, and false in production.
#pragma once

#include <cstdint>

namespace flare::sim {

enum class Mutant : std::uint8_t {
  kOff,
  // The queue.
  kQueueOverfull,             // Q01: one token more than the capacity, over the oldest
  kQueueFullEarly,            // Q02: the last slot is never used
  kQueueNeverWraps,           // Q03: the slot to leave next runs out of the ring
  kQueueInsertsInSecondHold,  // Q05: room is looked for in one hold of the lock, the token put in a second one
  kDrainResetsHead,           // Q06: after a drain the next slot to leave is the first, not the one behind the last
  kDrainNewestFirst,          // Q07: a drain gives the newest token first
  kRefusalNotCounted,         // Q09: refused pushes are not counted
  kTokenNarrowed,             // Q10: a token loses its upper half
  kClosedQueueAccepts,        // Q11: a closed queue takes tokens
  kQueueDrainedBeforeClosed,  // D03: a push between the last drain and the close is stranded
  // Choosing and pushing.
  kUnsignedDifference,     // P03: a busier peer looks infinitely idle
  kDisabledHandsOff,       // P04: a disabled policy still pushes
  kChoosesItself,          // W01, W06: a worker is its own best peer
  kChoosesFullPeer,        // W02: a peer without room is chosen
  kRefusalIsSuccess,       // W04: nobody keeps what was refused
  kRefusalClosesAndKeeps,  // W05: the caller goes on with a number that was closed
  kRefusalCloses,          // F08: a refused connection is dropped instead of being served here
  kPushedAndKept,          // F04: two workers own one descriptor
  kLoadReadsLiveFirst,     // a connection that is just adopted is in neither part of the load
  kLoadStaysWithDonor,     // F06: who accepted counts a connection for ever, wherever it went
  // Waking and sleeping.
  kWokenBeforePush,       // F05: the wake is spent on a queue that is still empty
  kLooksBeforeItSleeps,   // a push between the look and "sleeping" finds nobody to wake
  kSleepsOverRequest,     // a request to accept that came last is slept over
  kWakeClearedAfterLook,  // R06: the wake descriptor is emptied after the queue was looked at
  kWakeNeverCleared,      // R05: every poll returns at once
  kOrphanNotWoken,        // a crashing worker's token waits in a sleeping peer's queue
  // The reactor.
  kInterruptedWaitFails,   // R01: EINTR ends a worker
  kEventsKept,             // R02: events of the poll before come again
  kWakeupTokenRegistered,  // R04: a user's event looks like a wake
  kExclusiveDropped,       // R07: all who watch a listener are woken for each client
  kUnregisterRemembers,    // R09: a descriptor stays registered in the books
  kClosedTwice,            // R10: a number is closed that may be another's
  kGenerationIgnored,      // R11: an event of a registration that ended reaches its successor
  kEndlessWaitSpins,       // R13: -1 waits not at all
  // Accepting.
  kEmptyIsFatal,             // F01: who finds the listener empty leaves
  kNoDescriptorSpins,        // F02: at EMFILE the worker tries again at once
  kBudgetSwallowsWake,       // a shared listener's wake ends with the budget
  kPauseSwallowsWake,        // a shared listener's wake ends at the cap
  kCrashSwallowsWake,        // a shared listener's wake ends in a crash
  kHandlersBeforeAccept,     // a shared listener's wake waits for a handler
  kResumesDeaf,              // after a pause the listener is not watched again
  kPausesWithoutSecondLook,  // what was freed between the failed accept and the pause is missed
  kFreedTellsNobody,         // who waits for a place or a descriptor is not told of one
  kRetryNotArmed,            // what others freed is never noticed
  kNeverTakesBack,           // what was pushed to a stuck worker stays there
  // Stopping.
  kListenerClosedBeforeJoin,  // S05, CONC-05: the number is another's while the worker still uses it
  kFailedStartLeavesThreads,  // S02: the workers before the one that did not start go on
  kStopCellRelaxed,           // S03: what was written before the stop is not visible to whoever reads it
  kCrashNotCounted,           // S07: a crash leaves no trace
  kEveryStopLeads,            // S08: two callers join the same threads
  kSecondStopReturnsEarly,    // the second caller does not wait for the first
  kRequestNotAwaited,         // the group is freed under a request to stop
  kStopWakesNobody,           // D06: a stop relies on the poll's limit
  kWokenBeforeStop,           // D07: the wake is spent on a stop cell that still says "running"
  kDrainZeroDetaches,         // D01: a stop without time leaves a worker behind
  kWorkerHoldsNothing,        // D02: what a detached worker uses is freed
  kCutTokensDropped,          // D04: queued descriptors are forgotten, open
  kLastTokensForgotten,       // F07: what the last drain took is owned by nobody
  kLeftNotInFlight,           // D05: what a stuck worker holds is missing in the report
  kCount_,
};

inline constinit Mutant active_mutant = Mutant::kOff;

}  // namespace flare::sim

#define FLARE_MUTANT(name) (::flare::sim::active_mutant == ::flare::sim::Mutant::name)
