const HOUR = 3_600_000;
/** A delivery has a signature for each secret that is good: its header stays short. */
export const GOOD_SECRETS_MAX = 5;

/** A secret that deliveries are signed with now, and when that ends; null for the newest. */
export type GoodSecret = { endsAt: Date | null };

export type Rotation =
  /** The former ones are good until then, those that end earlier excepted. */
  | { kind: 'rotated'; formerUntil: Date }
  /** Too many would be good at once, until the first of them ends. */
  | { kind: 'too_many'; until: Date };

/** What becomes of an endpoint's secrets when it is given a new one. Without an overlap no former one is good any more. */
export function rotate(good: readonly GoodSecret[], overlapHours: number, now: Date): Rotation {
  if (overlapHours > 0 && good.length >= GOOD_SECRETS_MAX) {
    const ends = good.flatMap(({ endsAt }) => (endsAt === null ? [] : [endsAt.getTime()]));
    return { kind: 'too_many', until: new Date(Math.min(...ends)) };
  }
  return { kind: 'rotated', formerUntil: new Date(now.getTime() + overlapHours * HOUR) };
}
