import type { Verdict } from './outcome.ts';

/** How an endpoint has been doing: attempts that failed since its last success, since when, and the last of them. */
export type Health = { failures: number; failingSince: Date | null; failedAt: Date | null };

export const healthy: Health = { failures: 0, failingSince: null, failedAt: null };

/** Attempts under way at once, by failures in a row: one that does not answer keeps one slot, not sixteen. */
const slotsByFailures = [16, 8, 4, 2, 1] as const;
/** One that has never taken anything yet may be one that never answers. */
const SLOTS_UNPROVEN = 2;
/** No endpoint takes more of what is free than this part: something is always left for the others. */
const PART_OF_FREE = 16;
const DISABLE_AFTER_MS = 5 * 24 * 3_600_000;
/** Longer than any pause of the schedule: after it, nothing was attempted, and that says nothing of the endpoint. */
const SILENCE_MS = 27 * 3_600_000;

/** @param probing it had asked to be left alone, and nothing has arrived since */
export const slotsOf = (failures: number, proven: boolean, probing = false): number =>
  probing ? 1 : Math.min(slotsByFailures[failures] ?? 1, proven ? Infinity : SLOTS_UNPROVEN);

/**
 * How many attempts may be begun now: `prompt` are first attempts at endpoints that take what they are sent, `doubtful`
 * all others, retries too. Each has its own, so that whatever hangs leaves what is prompt alone.
 */
export type Room = { prompt: number; doubtful: number };

/** What a lane may take of either room. */
export type Portion = { news: number; retries: number; all: number };

/**
 * How many attempts each of `lanes` may begin now, so that each gets some before one gets all.
 * @param most how many attempts are begun at once, whatever the room
 */
export function shareOut(
  lanes: readonly {
    failures: number;
    proven: boolean;
    probing: boolean;
    prompt: boolean;
    retriesDue: boolean;
  }[],
  room: Room,
  most: number,
): Portion[] {
  const prompt = lanes.map((lane) => lane.prompt);
  const doubtful = lanes.map((lane) => !lane.prompt || lane.retriesDue);
  const slots = lanes.map((lane) => slotsOf(lane.failures, lane.proven, lane.probing));
  const promptShares = divide(slots, prompt, room.prompt, most);
  const doubtfulShares = divide(slots, doubtful, room.doubtful, most);
  return lanes.map((lane, i) => {
    const retries = doubtfulShares[i] ?? 0;
    const news = promptShares[i] ?? 0;
    return lane.prompt ? { news, retries, all: news + retries } : { news: retries, retries, all: retries };
  });
}

/** Divides `room` among those that take part, at most `atOnce` of it. */
function divide(
  slots: readonly number[],
  takesPart: readonly boolean[],
  room: number,
  atOnce: number,
): number[] {
  let left = Math.max(0, Math.min(room, atOnce));
  const even = Math.max(1, Math.floor(left / Math.max(1, takesPart.filter(Boolean).length)));
  const most = Math.max(1, Math.floor(room / PART_OF_FREE));
  return slots.map((own, i) => {
    const share = takesPart[i] ? Math.min(own, even, most, left) : 0;
    left -= share;
    return share;
  });
}

export type Judgement = { health: Health; disable: string | undefined };

/** An endpoint's health after attempts that ended in this order, and why it is disabled, if it is. */
export function judge(before: Health, verdicts: readonly Verdict[], now: Date): Judgement {
  let health = before;
  for (const verdict of verdicts) {
    if (verdict === 'delivered') health = healthy;
    else if (verdict === 'failed' || verdict === 'gone') {
      const { failures, failingSince, failedAt } = health;
      const wasSilent = failedAt !== null && now.getTime() - failedAt.getTime() > SILENCE_MS;
      health = {
        failures: failures + 1,
        failingSince: wasSilent ? now : (failingSince ?? now),
        failedAt: now,
      };
    }
  }
  if (verdicts.includes('gone')) return { health, disable: 'The endpoint answered 410 Gone.' };
  const since = health.failingSince;
  return since !== null && now.getTime() - since.getTime() >= DISABLE_AFTER_MS
    ? { health, disable: 'No delivery has succeeded for 5 days.' }
    : { health, disable: undefined };
}

/**
 * When the oldest event happened that was tried in vain since the last success; null when that was the last of all.
 * @param failed when those happened of which an attempt has failed now
 * @param arrived whether one has succeeded now
 */
export function missedAfter(
  before: Date | null,
  { failed, arrived }: { failed: readonly Date[]; arrived: boolean },
  after: Health,
): Date | null {
  // What was given up unsent is no word of the endpoint.
  if (after.failures === 0) return arrived ? null : before;
  return failed.reduce<Date | null>(
    (first, time) => (first === null || time < first ? time : first),
    arrived ? null : before,
  );
}

/**
 * Until when an endpoint is left alone, after attempts that ended.
 * @param asked what their answers asked for
 * @param arrived whether one of them succeeded; while the pause goes on, that one had begun before it
 */
export function pauseAfter(
  before: Date | null,
  { asked, arrived }: { asked: readonly Date[]; arrived: boolean },
  now: Date,
): Date | null {
  const kept = arrived && before !== null && before <= now ? null : before;
  return asked.reduce((latest, until) => (latest === null || until > latest ? until : latest), kept);
}
