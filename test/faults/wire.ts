import { execFileSync } from 'node:child_process';
import type { Engine } from '@quittance/engines/process';
import type { Fault, FaultProxy } from '@quittance/testkit/fault-proxy';
import { recurring } from './recurring.ts';

/** One fault of a suite: how it begins and ends, and how often it happened. */
export type Case = {
  fault: string;
  begin: () => unknown;
  end: () => unknown;
  /** How long it lasts, where not as long as most. */
  ms?: number;
  /** Asked before it ends. */
  fired: () => number | Promise<number>;
  /** How often it occurred again, where it does not last; each time is logged. Asked when it is over. */
  strikes?: () => number;
};

/** A fault on the way to an engine. */
export function onTheWay(proxy: () => FaultProxy, fault: Fault): Struck {
  let fired = 0;
  return {
    begin: () => proxy().set(fault),
    end() {
      fired = proxy().fired();
      proxy().set({ kind: 'pass' });
    },
    fired: () => proxy().fired(),
    ...(cuts.has(fault.kind) ? { strikes: () => fired } : {}),
  };
}

/** Those that end one connection after the other. */
const cuts = new Set<Fault['kind']>(['cut commits', 'reset', 'half-close']);

type Struck = Pick<Case, 'begin' | 'end' | 'fired' | 'strikes'>;

/** An engine that is not there, however it went. */
export const notConnected = (engine: () => Engine, how: 'kill' | 'stop'): Struck => ({
  begin: () => engine()[how](),
  end: () => engine().restart(),
  fired: () => (engine().pid === undefined ? 1 : 0),
});

/** An engine that stands still with its connections open. */
export const hung = (engine: () => Engine): Struck => ({
  begin: () => engine().pause(),
  end: () => engine().resume(),
  fired: () => (isStopped(engine().pid) ? 1 : 0),
});

const isStopped = (pid: number | undefined): boolean =>
  pid !== undefined &&
  /^T/.test(execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' }));

const STRIKES_EVERY_MS = 250;

/** Again and again as long as it lasts; `strike` answers how many it hit. */
export function striking(strike: () => number | Promise<number>): Struck {
  let struck = 0;
  let strikes = 0;
  const { begin, end } = recurring(async () => {
    strikes += 1;
    struck += await strike();
  }, STRIKES_EVERY_MS);
  return { begin, end, fired: () => struck, strikes: () => strikes };
}
