import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { STREAM } from '@quittance/shared/bus-connection';
import { ADMIN } from '@quittance/shared/bus-permissions';
import { type Fault, type FaultProxy, startFaultProxy } from '@quittance/testkit/fault-proxy';
import type { Merchant } from '@quittance/testkit/merchant';
import { patient } from '@quittance/testkit/patience';
import { type Quittance, startQuittance } from '@quittance/testkit/quittance';
import { connect } from 'nats';
import { pidsOf, putBetween } from './between.ts';
import { expectHarmless, expectTrueWords, recovered } from './expect-harmless.ts';
import { type Load, startLoad } from './load.ts';
import { type LogLines, logLines } from './log-lines.ts';
import { type Looks, lookingOn, unseemly } from './onlookers.ts';
import { faultsOfTheDay, sized } from './size.ts';
import { untilArrived } from './until-arrived.ts';
import { type Case, hung, notConnected, onTheWay, recurring } from './wire.ts';

/**
 * Without NATS payouts are answered 503, what can be read is read, and invoices are made. When it is back, all that
 * was published in that time arrives, and nothing has its effect twice.
 */
const FAULT_MS = sized(1_500, 60_000);
const STORM_MS = sized(2_000, 30_000);
const HEALS_WITHIN_MS = 60_000;
/** A rate is good for a minute: so long invoices can be made without NATS. */
const INVOICES_FOR_MS = 50_000;
const READ = ['/api/balances', '/api/invoices', '/api/payouts', '/api/assets'];
const onTheBus = ['invoices', 'payouts', 'ledger', 'webhooks'] as const;

jest.setTimeout(patient(FAULT_MS + 2 * HEALS_WITHIN_MS + 60_000));

let quittance: Quittance;
let proxy: FaultProxy;
let load: Load;
let logs: LogLines;
let pids: (number | undefined)[];
let other: Merchant;

beforeAll(async () => {
  quittance = await startQuittance({ chains: [], fixedFees: true, busAdmin: true });
  proxy = await startFaultProxy(quittance.stack.engines.nats.url, 13);
  await putBetween(
    quittance,
    onTheBus.map((service) => ({ service, setting: 'NATS_URL', through: proxy.through })),
  );
  load = await startLoad(quittance);
  other = await quittance.merchant();
  logs = logLines(quittance);
  pids = pidsOf(quittance);
});
afterAll(async () => {
  await load?.abandon();
  await quittance?.stop();
  await proxy?.close();
});

const engine = () => quittance.stack.engines.nats;
const way = (fault: Fault) => onTheWay(() => proxy, fault);

type Met = Case & {
  /** No bus at all: a payout is answered 503 for sure. */
  away?: true;
  /** A bus that does not answer: a payout is answered 503 when that has been waited for. */
  silent?: true;
  /** What those say who meet it; nothing where they need not notice. */
  says?: RegExp;
};
const NOT_CONNECTED = /the bus is gone, reconnecting/;

const kinds: Met[][] = [
  [
    { fault: 'NATS stopped', ...notConnected(engine, 'kill'), away: true, says: NOT_CONNECTED },
    { fault: 'NATS not to be reached', ...way({ kind: 'refuse' }), away: true, says: NOT_CONNECTED },
  ],
  [
    { fault: 'NATS hung (SIGSTOP)', ...hung(engine), silent: true },
    { fault: 'NATS in a black hole', ...way({ kind: 'black hole' }), silent: true },
  ],
  [
    { fault: 'NATS 60 ms late', ...way({ kind: 'latency', ms: 60 }), ms: STORM_MS },
    { fault: 'words of NATS in drops', ...way({ kind: 'drip', bytes: 256, everyMs: 2 }), ms: STORM_MS },
  ],
  [
    {
      fault: 'connections to NATS cut',
      ...recurring(() => proxy.cut()),
      ms: STORM_MS,
      says: NOT_CONNECTED,
    },
    {
      fault: 'connections to NATS cut in the middle of a word',
      ...way({ kind: 'reset', afterBytes: 3_000 }),
      ms: STORM_MS,
      says: NOT_CONNECTED,
    },
    {
      fault: 'connections to NATS half-closed',
      ...way({ kind: 'half-close', afterBytes: 3_000 }),
      ms: STORM_MS,
      says: NOT_CONNECTED,
    },
  ],
  [{ fault: 'its stream full', ...full(), ms: STORM_MS }],
];

test.each(faultsOfTheDay(kinds))(
  '$fault: who reads is served, and all arrives afterwards',
  ({ fault, begin, end, ms = FAULT_MS, fired, strikes, away, silent, says }) =>
    expectHarmless('nats', fault, async (found) => {
      await load.nextAccepted(HEALS_WITHIN_MS);
      logs.mark();
      const [asked, made] = [seen(), seen()];
      const looks = await lookingOn(
        load.merchant,
        async () => {
          await begin();
          const lasts = sleep(ms);
          let over = false;
          const asking = (async () => {
            const until = performance.now() + INVOICES_FOR_MS;
            // What was sent before NATS was lost may still be answered.
            await sleep(300);
            while (!over) {
              if (away === true || silent === true) asked.add(await payout());
              if (performance.now() < until) made.add(await invoice());
              await sleep(100);
            }
          })();
          await lasts;
          over = true;
          await asking;
          found.fired = await fired();
          await end();
        },
        { paths: READ },
      );
      const ended = new Date();
      const began = performance.now();
      await load.nextAccepted(HEALS_WITHIN_MS);
      await untilArrived(quittance, ended, HEALS_WITHIN_MS);
      const recoveryMs = performance.now() - began;
      recovered(found, recoveryMs);

      found.violations.push(
        ...logs.unusable(strikes?.()),
        ...unseemly(looks, [200]),
        ...unseemly(made.looks, [201]),
        ...unseemly(asked.looks, [503]),
      );
      if ((away === true || silent === true) && asked.looks.statuses.size === 0)
        found.violations.push('nobody asked for a payout meanwhile');
      if (recoveryMs > patient(HEALS_WITHIN_MS))
        found.violations.push(`all had arrived after ${recoveryMs} ms`);
      if (pidsOf(quittance).some((pid, i) => pid !== pids[i])) found.violations.push('a service ended');
      if (says !== undefined) for (const service of onTheBus) await logs.said(service, says);
      if (fault === 'its stream full')
        await logs.said('payouts', /maximum messages exceeded.*events could not be published/);
    }),
);

function seen() {
  const looks: Looks = { statuses: new Map(), tookMs: [] };
  return {
    looks,
    add: (status: number) => void looks.statuses.set(status, (looks.statuses.get(status) ?? 0) + 1),
  };
}

/** Of somebody without money: with a ledger to be asked it would be refused with 400. */
async function payout(): Promise<number> {
  const to = `0x${randomBytes(20).toString('hex')}`;
  const { status, headers } = await other.post('/api/payouts', { asset: 'ETH', amount: '0.01', address: to });
  expect(headers['retry-after'] === undefined).toBe(status !== 503);
  return status;
}

const invoice = async (): Promise<number> =>
  (await other.post('/api/invoices', { asset: 'ETH', amount: 5 })).status;

/** The stream takes nothing more; what it refuses stays with its senders. */
function full(): Pick<Case, 'begin' | 'end' | 'fired'> {
  const limit = async (most: (now: number) => number): Promise<number> => {
    const admin = await connect(adminOf(quittance.stack.busUrl(ADMIN)));
    try {
      const { streams } = await admin.jetstreamManager();
      const { state } = await streams.info(STREAM);
      await streams.update(STREAM, { max_msgs: most(state.messages) });
      return state.messages;
    } finally {
      await admin.close();
    }
  };
  return {
    begin: () => limit((now) => now),
    end: () => limit(() => -1),
    // Nobody sends once and gives up: what was refused is still there.
    fired: async () =>
      (
        await quittance.db.one<{ n: number }>(
          `select (select count(*) from payouts.outbox where sent_at is null)::int
                + (select count(*) from invoices.outbox where sent_at is null)::int
                + (select count(*) from ledger.outbox where sent_at is null)::int as n`,
        )
      ).n,
  };
}

function adminOf(url: string): { servers: string; user: string; pass: string } {
  const { host, username, password } = new URL(url);
  return { servers: host, user: username, pass: password };
}

test('in the end every word that was given is true', async () => {
  const { refused } = await expectTrueWords('nats', load);
  expect(refused).toBeGreaterThan(0);
});
