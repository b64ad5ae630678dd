import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from '@jest/globals';
import type { Service } from '@quittance/shared/events';
import { patient } from '@quittance/testkit/patience';
import { type Quittance, type QuittanceOptions, startQuittance } from '@quittance/testkit/quittance';
import { type Findings, recovered } from './expect-harmless.ts';
import { type Load, type LoadOptions, startLoad } from './load.ts';
import { type LogLines, logLines } from './log-lines.ts';
import { type Looks, lookingOn, unseemly } from './onlookers.ts';
import type { Case } from './wire.ts';

const STARTS_WITHIN_MS = 180_000;
export const onTheBus = ['invoices', 'payouts', 'ledger', 'webhooks'] as const;

/** A stack with a merchant at work, whom every fault of a suite finds there. */
export type UnderLoad<T> = {
  quittance: Quittance;
  /** What stands between the services and what they use. */
  between: T;
  load: Load;
  logs: LogLines;
  /** A fault begins: what the logs say and which processes run is compared with this moment. */
  mark(): void;
  /** The services whose process is another one since then. */
  endedServices(): string[];
};

export type UnderLoadOptions<T> = {
  options: QuittanceOptions | (() => Promise<QuittanceOptions>);
  /** What is to stand between them, and connects the services through it. */
  between(quittance: Quittance): Promise<T>;
  load?: LoadOptions;
  /** After the stack has ended. */
  close(between: T): Promise<void>;
};

/** Starts it before the first test of a file, and ends it after the last one. It is empty until then. */
export function underLoad<T>({ options, between, load = {}, close }: UnderLoadOptions<T>): UnderLoad<T> {
  const on = {} as UnderLoad<T>;
  beforeAll(async () => {
    on.quittance = await startQuittance(typeof options === 'function' ? await options() : options);
    on.between = await between(on.quittance);
    on.load = await startLoad(on.quittance, load);
    on.logs = logLines(on.quittance);
    const { services } = on.quittance.stack;
    const pids = () => Object.entries(services).map(([name, { pid }]) => ({ name, pid }));
    let before = pids();
    on.mark = () => {
      on.logs.mark();
      before = pids();
    };
    on.endedServices = () =>
      pids()
        .filter(({ pid }, i) => pid !== before[i]?.pid)
        .map(({ name }) => `${name} ended`);
  }, patient(STARTS_WITHIN_MS));
  afterAll(async () => {
    try {
      await on.load?.abandon();
      await on.quittance?.stop();
    } finally {
      // Also where an invariant is violated in the end.
      if (on.between !== undefined) await close(on.between);
    }
  }, patient(STARTS_WITHIN_MS));
  return on;
}

/** A fault, and the services that surely meet it and say so. */
export type Met = Omit<Case, 'fired'> & {
  met?: readonly Service[];
  /** What they say, where not what they say of most. */
  says?: RegExp;
  /** How often it happened, for each row of the table. Asked before it ends. */
  fired(): number | readonly number[] | Promise<number>;
};

export type Going = {
  /** How long a fault lasts that does not say so itself. */
  lastsMs: number;
  says?: RegExp;
  /** What they say when it is over, where they say `says` once only. */
  over?: RegExp;
  /** What is done while it lasts. */
  during?(lasts: AbortSignal): Promise<void>;
  /** What a reader may be answered meanwhile. */
  told?: readonly number[];
  healsWithinMs: number;
  /** Waits until all is as before, beside payouts that are accepted. Where rows differ it says when each is. */
  healed?(ended: Date, isWell: (row: number) => void): Promise<unknown>;
};

/** Goes through a fault while readers look on, and notes what it broke. @returns what the readers saw */
export async function goThrough<T>(
  { load, logs, mark, endedServices }: UnderLoad<T>,
  found: readonly Findings[],
  { begin, end, fired, strikes, ms, met = [], says }: Met,
  { lastsMs, during, told = [200], healsWithinMs, healed, ...usual }: Going,
): Promise<Looks> {
  await load.nextAccepted(healsWithinMs);
  mark();
  const lasts = new AbortController();
  const looks = await lookingOn(load.merchant, async () => {
    try {
      await begin();
      const lasting = async () => {
        await sleep(ms ?? lastsMs);
        // Until those who are sure to meet it have: a service may have had nothing to ask so far.
        await Promise.all(met.map((service) => logs.said(service, says ?? usual.says ?? /./, usual.over)));
      };
      await Promise.all([lasting().finally(() => lasts.abort()), during?.(lasts.signal)]);
      for (const [i, times] of [await fired()].flat().entries()) if (found[i]) found[i].fired += times;
    } finally {
      await end();
    }
  });
  const ended = new Date();
  const began = performance.now();
  await load.nextAccepted(2 * healsWithinMs);
  const tookSoFar = () => performance.now() - began;
  const took = new Map<number, number>();
  await healed?.(ended, (row) => void took.set(row, tookSoFar()));
  const allMs = tookSoFar();
  for (const [i, row] of found.entries()) {
    const tookMs = took.get(i) ?? allMs;
    recovered(row, tookMs);
    row.violations.push(...logs.unusable(strikes?.()), ...unseemly(looks, told, logs), ...endedServices());
    if (tookMs > patient(healsWithinMs)) row.violations.push(`all was well after ${tookMs} ms`);
  }
  return looks;
}
