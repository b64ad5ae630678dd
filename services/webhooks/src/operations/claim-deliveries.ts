import { crashPoint } from '@quittance/shared/crash';
import type { EndpointId } from '@quittance/shared/ids';
import { invariant } from '@quittance/shared/result';
import { type Room, shareOut, slotsOf } from '../domain/health.ts';
import type { Ports } from '../ports.ts';
import { type SigningKey, signingKey } from '../signature.ts';
import { type Claimed, claimFromLanes, lockDueLanes } from '../store-claims.ts';
import { recipientsOf, type StoredRecipient } from '../store-recipients.ts';

/** Of each of the two kinds: while one claim holds these, what has ended in the others is recorded. */
const LANES_MAX = 24;
/** Of each of the two rooms. */
const CLAIM_MAX = 400;
/**
 * A sender that has not renewed its claims for so long is taken for dead. Replicas compare their own clocks: they may
 * be apart by up to five seconds, and a renewal still comes in time.
 */
export const LEASE_MS = 12_000;
const CLAIM_ID_BYTES = 16;

/** All that an attempt needs, read while the claim was made. */
export type ClaimedDelivery = Claimed & {
  claim: string;
  /** Takes of the room for what is prompt. */
  prompt: boolean;
  endpoint: Recipient;
};

/** One for all deliveries of a claim that go there. */
export type Recipient = Pick<StoredRecipient, 'endpointId' | 'url' | 'generation'> & {
  /** The keys of the secrets that are good now; unsealed when first needed, so that one that cannot be stops nobody else. */
  keys(): readonly SigningKey[];
};

/** What else goes on in this process. */
type Surroundings = {
  /** Endpoints that do not answer at this moment: theirs are doubtful. */
  slow?: readonly string[];
  /** Whether retries can be begun at this moment, if not by this claim then by another: they keep their slots only then. */
  retriesToo?: boolean;
};

/**
 * Takes deliveries that are due, the same number from each endpoint as far as they go, and none from one whose
 * slots are taken.
 * @param room how many attempts may be begun now
 */
export async function claimDeliveries(
  { db, clock, random, seal }: Pick<Ports, 'db' | 'clock' | 'random' | 'seal'>,
  room: Room,
  { slow = [], retriesToo = room.doubtful > 0 }: Surroundings = {},
): Promise<ClaimedDelivery[]> {
  const now = clock.now();
  const limits = { prompt: Math.min(room.prompt, LANES_MAX), doubtful: Math.min(room.doubtful, LANES_MAX) };
  const claim = {
    id: Buffer.from(random(CLAIM_ID_BYTES)).toString('hex'),
    until: new Date(now.getTime() + LEASE_MS),
  };
  const claimed = await db.transaction(async (trx) => {
    const lanes = await lockDueLanes(trx, now, limits, slow);
    if (lanes.length === 0) return [];
    const portions = shareOut(lanes, room, CLAIM_MAX);
    const taken = await claimFromLanes(
      trx,
      lanes.map(({ endpointKey, failures, proven, probing }, i) => ({
        endpointKey,
        slots: slotsOf(failures, proven, probing),
        ...(portions[i] ?? { news: 0, retries: 0, all: 0 }),
      })),
      now,
      claim,
      retriesToo,
    );
    if (taken.length === 0) return [];
    const stored = await recipientsOf(trx, [...new Set(taken.map(({ endpointKey }) => endpointKey))], now);
    const recipients = new Map(stored.map((one) => [one.endpointKey, recipientOf(one, seal)]));
    const prompts = new Set(lanes.filter((lane) => lane.prompt).map(({ endpointKey }) => endpointKey));
    return taken.map((delivery) => {
      const endpoint = recipients.get(delivery.endpointKey);
      invariant(endpoint !== undefined, 'only what is due in a locked lane is claimed');
      const prompt = prompts.has(delivery.endpointKey) && !delivery.retry;
      return { ...delivery, claim: claim.id, prompt, endpoint };
    });
  });
  if (claimed.length > 0) crashPoint('webhooks.claimed');
  return claimed;
}

function recipientOf(
  { endpointId, url, generation, sealedSecrets }: StoredRecipient,
  seal: Ports['seal'],
): Recipient {
  let opened: readonly SigningKey[] | undefined;
  return {
    endpointId,
    url,
    generation,
    keys: () => (opened ??= sealedSecrets.flatMap((sealed) => keyIn(sealed, endpointId, seal))),
  };
}

/** None when it was sealed under another key than this service has: another secret of the endpoint may be good. */
function keyIn(sealed: Buffer, endpoint: EndpointId, seal: Ports['seal']): SigningKey[] {
  try {
    return [signingKey(seal.open(sealed, endpoint))];
  } catch {
    return [];
  }
}
