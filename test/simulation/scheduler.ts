import type { Chance } from './chance.ts';

/** When every scenario begins. */
export const BEGINNING = Date.UTC(2026, 2, 1, 12);

/** Whose fibers are stopped and killed together: a process. */
export type Owner = { readonly name: string; isAlive: boolean; isStopped: boolean };

type Waiting = { owner: Owner; wake: () => void };
type Timer = Waiting & { at: number; order: number };

/** Kept from before anything is replaced: the end of all that follows from what was woken last. */
const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A fiber that is never woken again: its process is dead. */
const never = new Promise<never>(() => {});

/** Nothing can go on although not all is done. */
export class Stuck extends Error {}

/**
 * Chooses by the seed who goes on. A fiber is an async function that waits for its turn at everything that it does to
 * the world outside its process; between two turns nobody else goes on. Time passes when nobody can go on without.
 */
export class Scheduler {
  readonly #chance: Chance;
  readonly #ready: Waiting[] = [];
  #timers: Timer[] = [];
  #order = 0;
  #now: number;
  /** Told of everything, in order. */
  readonly tell: (who: string, what: string) => void;
  turns = 0;

  constructor(chance: Chance, now: number, tell: (who: string, what: string) => void) {
    this.#chance = chance;
    this.#now = now;
    this.tell = tell;
  }

  get now(): number {
    return this.#now;
  }

  /** No task runs: the clock moves. */
  jumpTo(ms: number): void {
    this.#now = ms;
  }

  /** Waits for its turn. */
  turn(owner: Owner): Promise<void> {
    if (!owner.isAlive) return never;
    return new Promise((wake) => this.#ready.push({ owner, wake }));
  }

  /** Waits so long, or until told not to. */
  sleep(owner: Owner, ms: number, signal?: AbortSignal): Promise<void> {
    if (!owner.isAlive) return never;
    if (signal?.aborted === true) return Promise.resolve();
    const { slept, wake } = this.nap(owner, ms);
    signal?.addEventListener('abort', wake, { once: true });
    return slept;
  }

  /** What waits so long, or until it is woken. */
  nap(owner: Owner, ms: number): { slept: Promise<void>; wake: () => void } {
    if (!owner.isAlive) return { slept: never, wake: () => {} };
    const { promise: slept, resolve } = Promise.withResolvers<void>();
    this.#order += 1;
    const timer: Timer = { owner, wake: resolve, at: this.#now + Math.max(0, ms), order: this.#order };
    this.#timers.push(timer);
    const wake = (): void => {
      const at = this.#timers.indexOf(timer);
      if (at >= 0) this.#timers.splice(at, 1);
      if (owner.isAlive) resolve();
    };
    return { slept, wake };
  }

  /** Its fibers never go on; whatever they had in memory is lost. */
  forget(owner: Owner): void {
    owner.isAlive = false;
    this.#timers = this.#timers.filter((timer) => timer.owner !== owner);
    for (let i = this.#ready.length - 1; i >= 0; i--) {
      if (this.#ready[i]?.owner === owner) this.#ready.splice(i, 1);
    }
  }

  /** Until the work is done, whatever else runs then. */
  async run(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    let failure: { error: unknown } | undefined;
    work.then(
      () => {
        isDone = true;
      },
      (error: unknown) => {
        failure = { error };
      },
    );
    for (;;) {
      await endOfTurn();
      if (failure !== undefined) throw failure.error;
      if (isDone) return;
      if (this.#wakeOne()) continue;
      // What production code put off to the end of this turn may be what everybody waits for.
      await endOfTurn();
      if (failure !== undefined || isDone || this.#wakeOne()) continue;
      if (!this.#passTime()) throw new Stuck('nobody can go on');
    }
  }

  #wakeOne(): boolean {
    const able: number[] = [];
    for (let i = 0; i < this.#ready.length; i++) if (this.#ready[i]?.owner.isStopped === false) able.push(i);
    if (able.length === 0) return false;
    const [chosen] = this.#ready.splice(this.#chance.oneOf(able), 1);
    this.turns += 1;
    chosen?.wake();
    return true;
  }

  /** Time goes on to the next who waits for it. */
  #passTime(): boolean {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.owner.isStopped) continue;
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order))
        next = timer;
    }
    if (next === undefined) return false;
    this.#timers.splice(this.#timers.indexOf(next), 1);
    this.#now = Math.max(this.#now, next.at);
    next.wake();
    return true;
  }
}
