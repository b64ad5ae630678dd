import { crashPoint } from '@quittance/shared/crash';
import { invariant } from '@quittance/shared/result';
import { shareOut, slotsOf } from '../domain/health.ts';
import type { Ports } from '../ports.ts';
import { type Claimed, claimFromLanes, type DueLane, lockDueLanes } from '../store-deliveries.ts';

const LANES_MAX = 64;
const CLAIM_MAX = 200;
/** A sender that has not renewed its claims for so long is taken for dead. */
export const LEASE_MS = 6_000;
const CLAIM_ID_BYTES = 16;

/** All that an attempt needs, read while the claim was made. */
export type ClaimedDelivery = Claimed & {
  claim: string;
  claimedUntil: Date;
  endpoint: Recipient;
};

/** One for all deliveries of a claim that go there. */
export type Recipient = Pick<DueLane, 'endpointId' | 'url'> & {
  /** The secrets that are good now; unsealed when first needed, so that one that cannot be stops nobody else. */
  secrets(): readonly string[];
};

/**
 * Takes deliveries that are due, the same number from each endpoint as far as they go, and none from one whose
 * slots are taken.
 * @param free how many attempts may be begun now
 */
export async function claimDeliveries(
  { db, clock, random, seal }: Pick<Ports, 'db' | 'clock' | 'random' | 'seal'>,
  free: number,
): Promise<ClaimedDelivery[]> {
  const now = clock.now();
  const room = Math.min(free, CLAIM_MAX);
  const claim = {
    id: Buffer.from(random(CLAIM_ID_BYTES)).toString('hex'),
    until: new Date(now.getTime() + LEASE_MS),
  };
  const claimed = await db.transaction(async (trx) => {
    const lanes = await lockDueLanes(trx, now, Math.min(room, LANES_MAX));
    if (lanes.length === 0) return [];
    const shares = shareOut(lanes, room, free);
    const taken = await claimFromLanes(
      trx,
      lanes.map((lane, i) => ({
        endpointKey: lane.endpointKey,
        slots: slotsOf(lane.failures),
        share: shares[i] ?? 0,
      })),
      now,
      claim,
    );
    const recipients = new Map(lanes.map((lane) => [lane.endpointKey, recipientOf(lane, seal)]));
    return taken.map((delivery) => {
      const endpoint = recipients.get(delivery.endpointKey);
      invariant(endpoint !== undefined, 'only what is due in a locked lane is claimed');
      return { ...delivery, claim: claim.id, claimedUntil: claim.until, endpoint };
    });
  });
  if (claimed.length > 0) crashPoint('webhooks.claimed');
  return claimed;
}

function recipientOf({ endpointId, url, sealedSecrets }: DueLane, seal: Ports['seal']): Recipient {
  let opened: readonly string[] | undefined;
  return {
    endpointId,
    url,
    secrets: () => (opened ??= sealedSecrets.map((sealed) => seal.open(sealed, endpointId))),
  };
}
