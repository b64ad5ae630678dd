import type { Chance } from './chance.ts';

/**
 * All that can go wrong between two steps of a process, and about how many chances it has for that in one scenario: which
 * of them it takes is drawn, so that what could seldom go wrong does so as often as what always could.
 */
export const chances = {
  /** The process is killed here: its fibers never go on, its memory is lost, its open transaction is rolled back. */
  killed: 250,
  /** It sleeps for up to two minutes, as if stopped. */
  stopped: 100,
  /** The statement did not reach the database. */
  'statement lost': 100,
  /** It took effect; the answer was lost. */
  'answer of a statement lost': 20,
  'commit lost': 12,
  'answer of a commit lost': 12,
  'node away': 20,
  'answer of the node lost': 20,
  'answer of the node late': 20,
  /** The node says no to bytes that it takes all the same, or that another node takes. */
  'bytes refused': 2,
  'bus away': 2,
  'answer of the broker lost': 2,
  /** The broker said that it has the message, and lost it. */
  'message lost': 4,
  'message doubled': 4,
  /** Handed out a day later, when nobody remembers it. */
  'message a day late': 4,
  /** The broker's data directory is gone, and all that waited in it. */
  'broker emptied': 4,
  'acknowledgement lost': 3,
  'question lost': 2,
  /** It arrives when nobody waits for the answer any more. */
  'question late': 2,
  'answer lost': 3,
} as const;
export type Fault = keyof typeof chances;
export const faultKinds = Object.keys(chances) as Fault[];

/** With all kinds at once, one hides what another would show. */
const KINDS = { least: 3, most: 5 } as const;
/** A second time soon after the first meets what was done about that. */
const SOON = 4;
const EARLY = 4;

/** What goes wrong in one seed: some kinds of faultKinds, each once or a few times. Quiesced, it injects none. */
export class FaultInjector {
  readonly #chance: Chance;
  /** At which of its next chances each kind strikes, and how often it will. */
  readonly #incoming = new Map<Fault, { after: number; times: number }>();
  isQuiesced = false;
  readonly struck = new Map<Fault, number>();

  constructor(chance: Chance, isFair: boolean) {
    this.#chance = chance;
    if (isFair || chance.percent(1)) return;
    const left = [...faultKinds];
    for (let n = chance.between(KINDS.least, KINDS.most); n > 0; n--) {
      const [fault] = left.splice(chance.below(left.length), 1) as [Fault];
      // Some scenarios have few chances for what was drawn: the first kind comes early, so that few scenarios are spared.
      const within = this.#incoming.size === 0 ? Math.ceil(chances[fault] / EARLY) : chances[fault];
      this.#incoming.set(fault, { after: chance.below(within), times: chance.oneOf([1, 1, 1, 2]) });
    }
  }

  strikes(fault: Fault): boolean {
    const incoming = this.isQuiesced ? undefined : this.#incoming.get(fault);
    if (incoming === undefined) return false;
    if (incoming.after > 0) {
      incoming.after -= 1;
      return false;
    }
    incoming.times -= 1;
    incoming.after = this.#chance.below(this.#chance.percent(50) ? SOON : chances[fault]);
    if (incoming.times === 0) this.#incoming.delete(fault);
    this.struck.set(fault, (this.struck.get(fault) ?? 0) + 1);
    return true;
  }
}
