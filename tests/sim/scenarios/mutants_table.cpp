#include "scenarios/mutants_table.h"

#include <cstdlib>

#include "scenarios/accepting.h"
#include "scenarios/handoff.h"
#include "scenarios/lifecycle.h"
#include "scenarios/reactor.h"
#include "scenarios/stopping.h"

namespace flare::sim {

namespace {

Scenario lifecycle(ListenerStrategy strategy, const std::string& name) {
  for (Scenario& one : lifecycle_scenarios(strategy)) {
    if (one.name == "lifecycle." + strategy_text(strategy) + "." + name) return std::move(one);
  }
  std::abort();  // no scenario of that name
}

Scenario own(const std::string& name) {
  return lifecycle(ListenerStrategy::kPerWorker, name);
}

Search preemptions(int count) {
  Search search;
  search.budget.preemptions = count;
  return search;
}
// No other thread than the next one follows who cannot go on: what is left to choose are the preemptions.
Search preemptions_only(int count) {
  Search search = preemptions(count);
  search.budget.switches = 0;
  search.budget.waiters = 0;
  return search;
}
Search one_fault() {
  Search search = preemptions(0);
  search.budget.faults = 1;
  return search;
}
// So many preemptions of a hundred scheduling points.
Search random(int percent = 10) {
  Search search;
  search.percent = percent;
  return search;
}

// Those that must be found at once, by few preemptions.
constexpr bool kNamed = true;

#define FLARE_CASE(mutant, ...)          \
  MutantCase {                           \
    Mutant::mutant, #mutant, __VA_ARGS__ \
  }

std::vector<MutantCase> handoff_cases() {
  return {
      FLARE_CASE(kQueueOverfull, queue_against_a_list(), preemptions(0), "handoff"),
      FLARE_CASE(kQueueFullEarly, queue_against_a_list(), preemptions(0), "handoff"),
      FLARE_CASE(kQueueNeverWraps, queue_against_a_list(), preemptions(0), "handoff"),
      FLARE_CASE(kQueueInsertsInSecondHold, queue_last_slot(), preemptions(1), "handoff"),
      FLARE_CASE(kDrainResetsHead, queue_against_a_list(), preemptions(0), "handoff"),
      FLARE_CASE(kDrainNewestFirst, queue_against_a_list(), preemptions(0), "handoff"),
      FLARE_CASE(kRefusalNotCounted, queue_against_a_list(), preemptions(0), "handoff"),
      FLARE_CASE(kTokenNarrowed, queue_against_a_list(), preemptions(0), "handoff"),
      FLARE_CASE(kClosedQueueAccepts, queue_push_meets_close(), preemptions(0), "handoff"),
      FLARE_CASE(kQueueDrainedBeforeClosed, queue_push_meets_close(), preemptions(1), "handoff", kNamed),
      FLARE_CASE(kUnsignedDifference, pool_choices(), preemptions(0), "handoff"),
      FLARE_CASE(kDisabledHandsOff, pool_choices(), preemptions(0), "handoff"),
      FLARE_CASE(kChoosesItself, pool_choices(), preemptions(0), "handoff"),
      FLARE_CASE(kChoosesFullPeer, pool_choices(), preemptions(0), "handoff"),
      FLARE_CASE(kRefusalIsSuccess, late_client_in_drain(), random()),
      FLARE_CASE(kRefusalClosesAndKeeps, late_client_in_drain(), random(), "ledger"),
      FLARE_CASE(kRefusalCloses, late_client_in_drain(), random()),
      FLARE_CASE(kPushedAndKept, handed_over(), preemptions(0), "ledger"),
      FLARE_CASE(kLoadReadsLiveFirst, pool_load_while_adopting(), preemptions(1), "handoff"),
      FLARE_CASE(kLoadStaysWithDonor, loads_at_rest(), preemptions(0), "load"),
  };
}

std::vector<MutantCase> waking_cases() {
  return {
      FLARE_CASE(kWokenBeforePush, handed_to_one_that_falls_asleep(), preemptions_only(1), "late", kNamed),
      FLARE_CASE(kLooksBeforeItSleeps, handed_to_one_that_falls_asleep(), random(3), "late"),
      FLARE_CASE(kSleepsOverRequest, asked_as_it_falls_asleep(), random(3), "late"),
      FLARE_CASE(kWakeClearedAfterLook, handed_to_one_that_falls_asleep(), random(3), "late"),
      FLARE_CASE(kWakeNeverCleared, reactor_rules(), preemptions(0), "reactor"),
      FLARE_CASE(kOrphanNotWoken, crash_with_waiting_client(), preemptions(0), "late"),
      FLARE_CASE(kInterruptedWaitFails, reactor_interrupted(), one_fault(), "reactor"),
      FLARE_CASE(kEventsKept, reactor_rules(), preemptions(0), "reactor"),
      FLARE_CASE(kWakeupTokenRegistered, reactor_rules(), preemptions(0), "reactor"),
      FLARE_CASE(kExclusiveDropped, reactor_exclusive(), preemptions(0), "herd"),
      FLARE_CASE(kUnregisterRemembers, reactor_rules(), preemptions(0), "reactor"),
      FLARE_CASE(kClosedTwice, own("drain"), preemptions(0), "ledger"),
      FLARE_CASE(kGenerationIgnored, reactor_reuse_in_batch(), preemptions(0), "reactor"),
      FLARE_CASE(kEndlessWaitSpins, reactor_rules(), preemptions(0), "reactor"),
  };
}

std::vector<MutantCase> accepting_cases() {
  return {
      FLARE_CASE(kEmptyIsFatal, own("drain"), preemptions(0)),
      FLARE_CASE(kNoDescriptorSpins, descriptor_freed_by_client(), preemptions(0), "livelock"),
      FLARE_CASE(kBudgetSwallowsWake, budget_spent(), preemptions(0), "late", kNamed),
      FLARE_CASE(kPauseSwallowsWake, cap_reached(), preemptions(0), "late", kNamed),
      FLARE_CASE(kCrashSwallowsWake, crash_with_shared_wake(), preemptions(1), "late"),
      FLARE_CASE(kHandlersBeforeAccept, handler_sticks(), random(), "late"),
      FLARE_CASE(kResumesDeaf, resumed(), preemptions(0), "late"),
      FLARE_CASE(kPausesWithoutSecondLook, place_freed_meanwhile(), random(), "late"),
      FLARE_CASE(kFreedTellsNobody, descriptor_freed_by_client(), preemptions(0), "late"),
      FLARE_CASE(kRetryNotArmed, descriptor_freed_by_stranger(), preemptions(0), "late"),
      FLARE_CASE(kNeverTakesBack, taken_back(), preemptions(0), "late"),
  };
}

std::vector<MutantCase> stopping_cases() {
  return {
      FLARE_CASE(kListenerClosedBeforeJoin, shutdown_among_strangers(), random(), "ledger", kNamed),
      FLARE_CASE(kFailedStartLeavesThreads, failed_start(), one_fault(), "assertion"),
      FLARE_CASE(kStopCellRelaxed, stop_publishes(), preemptions(1), "race", kNamed),
      FLARE_CASE(kCrashNotCounted, own("crash"), preemptions(0)),
      FLARE_CASE(kEveryStopLeads, own("double-shutdown"), preemptions(1)),
      FLARE_CASE(kSecondStopReturnsEarly, own("double-shutdown"), preemptions(1)),
      FLARE_CASE(kRequestNotAwaited, request_meets_shutdown(), preemptions(1)),
      FLARE_CASE(kStopWakesNobody, drain_of_an_idle_server(), preemptions(0)),
      FLARE_CASE(kWokenBeforeStop, drain_of_an_idle_server(), preemptions(1), "late"),
      FLARE_CASE(kDrainZeroDetaches, drain_zero_awaits_handler(), preemptions(0), "report"),
      FLARE_CASE(kWorkerHoldsNothing, own("drain-stuck"), preemptions(0), "", kNamed),
      FLARE_CASE(kCutTokensDropped, cut_with_queued_token(), preemptions(0)),
      FLARE_CASE(kLastTokensForgotten, late_client_in_drain(), random()),
      FLARE_CASE(kLeftNotInFlight, own("drain-stuck"), preemptions(0), "report"),
  };
}

}  // namespace

std::vector<MutantCase> mutant_cases() {
  std::vector<MutantCase> all;
  for (auto* part : {handoff_cases, waking_cases, accepting_cases, stopping_cases}) {
    for (MutantCase& one : part()) all.push_back(std::move(one));
  }
  return all;
}

Scenario with_mutant(const MutantCase& one) {
  Scenario broken = one.scenario;
  broken.name = std::string("mutant.") + one.name + "." + broken.name;
  broken.settings.mutant = one.mutant;
  return broken;
}

}  // namespace flare::sim
