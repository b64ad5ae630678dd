import type { ShownCheck } from './store/checks.ts';
import type { StoredDiscrepancy } from './store/discrepancies.ts';
import type { HaltInForce, ShownHalt } from './store/halts.ts';

const checkView = (check: ShownCheck | undefined) =>
  check === undefined
    ? null
    : {
        began_at: check.beganAt.toISOString(),
        ended_at: check.endedAt.toISOString(),
        right: check.wasRight,
        chains: check.chains,
      };

/** The result of the checks, as operators read it. */
export const booksView = (
  checks: { recent: ShownCheck | undefined; whole: ShownCheck | undefined },
  discrepancies: readonly StoredDiscrepancy[],
  halts: readonly ShownHalt[],
  inForce: readonly HaltInForce[],
) => ({
  checks: { recent: checkView(checks.recent), whole: checkView(checks.whole) },
  breaches: discrepancies.map((one) => ({
    invariant: one.invariant,
    what: one.what,
    asset: one.asset ?? null,
    chain: one.chain ?? null,
    halts: one.pausesPayouts,
    seen: one.times,
    first_seen_at: one.firstSeenAt.toISOString(),
    last_seen_at: one.lastSeenAt.toISOString(),
    accepted_at: one.acceptedAt?.toISOString() ?? null,
  })),
  halts: halts.map(({ seq, asset, discrepancies: why, haltedAt }) => ({
    halt: seq,
    asset,
    halted_at: haltedAt.toISOString(),
    // Payouts has halted the asset.
    in_force: inForce.some((one) => one.asset === asset && one.inForce),
    breaches: why,
  })),
});
