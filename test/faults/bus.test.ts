import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, jest, test } from '@jest/globals';
import { putBetween } from '@quittance/testkit/between';
import { anEventOf, aSettledDeposit } from '@quittance/testkit/builders';
import { type BusFault, startBusShim } from '@quittance/testkit/bus-shim';
import { eventually } from '@quittance/testkit/eventually';
import { patient } from '@quittance/testkit/patience';
import { expectHarmless, expectTrueWords, recovered } from './expect-harmless.ts';
import { allDataLost } from './lost-data.ts';
import { sized } from './size.ts';
import { onTheBus, underLoad } from './under-load.ts';
import { untilArrived } from './until-arrived.ts';

/**
 * A bus that doubles, reorders, loses and lies, under load, between every service and a real broker: nothing has its
 * effect twice, and within a minute everything has had it once.
 */
const STORM_MS = sized(2_000, 60_000);
const HEALS_WITHIN_MS = 60_000;

jest.setTimeout(patient(STORM_MS + 3 * HEALS_WITHIN_MS));

const on = underLoad({
  options: { chains: [], fixedFees: true },
  async between(quittance) {
    const shim = await startBusShim(quittance.stack.engines.nats.url, 17);
    await putBetween(
      quittance,
      onTheBus.map((service) => ({ service, setting: 'NATS_URL', through: shim.through })),
    );
    return shim;
  },
  close: (shim) => shim.close(),
});

type Shares = Partial<Record<BusFault, number>>;

const storms: { what: string; shares: Shares }[] = [
  // First: that nobody has them is found out only when they were due long ago.
  { what: 'says that it has what it has not', shares: { 'false receipt': 0.15 } },
  {
    what: 'doubles and reorders',
    shares: {
      'doubled publication': 0.4,
      'doubled delivery': 0.4,
      'reordered delivery': 0.4,
      'doubled question': 0.5,
    },
  },
  {
    what: 'loses events and words about them',
    shares: {
      'lost publication': 0.1,
      'lost receipt': 0.1,
      'lost delivery': 0.1,
      'lost acknowledgement': 0.2,
    },
  },
  {
    what: 'loses and delays questions',
    shares: { 'lost question': 0.15, 'lost answer': 0.15, 'late question': 0.15 },
  },
];

/** What has not arrived everywhere yet, since each storm ended. */
const arriving: { faults: readonly BusFault[]; recovered: Promise<number> }[] = [];

describe.each(storms)('a bus that $what', ({ what, shares }) => {
  const faults = Object.keys(shares) as BusFault[];

  test('leaves clients with true words and services alive', () =>
    expectHarmless('bus', `storm: the bus ${what}`, async (found) => {
      const { between: shim, load } = on;
      await load.nextAccepted(HEALS_WITHIN_MS);
      on.mark();
      const before = new Map(faults.map((fault) => [fault, shim.fired(fault)]));
      shim.set(shares);
      await sleep(STORM_MS);
      // On a machine that is busy with other things little is said in that time.
      await eventually(() => {
        for (const fault of faults) expect(shim.fired(fault)).toBeGreaterThan(before.get(fault) ?? 0);
      }, STORM_MS + HEALS_WITHIN_MS);
      shim.set({});
      for (const fault of faults) found.fired += shim.fired(fault) - (before.get(fault) ?? 0);
      const arrived = untilArrived(on.quittance, new Date(), 2 * HEALS_WITHIN_MS);
      // It is awaited by the tests that follow; until then nobody hears of its failure, and Node would end the process.
      arrived.catch(() => undefined);
      arriving.push({ faults, recovered: arrived });
      const ended = performance.now();
      await load.nextAccepted(HEALS_WITHIN_MS);
      recovered(found, performance.now() - ended);
      found.violations.push(...on.logs.unusable(), ...on.endedServices());
    }));
});

const deadLetters = async (): Promise<string[]> =>
  (await on.quittance.db.rows<{ failure: string }>('select failure from ledger.dead_letters')).map(
    ({ failure }) => failure,
  );

/** An operator has looked at the dead letters and deleted them. */
const lookedAt = () => on.quittance.db.rows('delete from ledger.dead_letters');

/** Money that was never paid. */
const credit = (account: string, changed: object = {}): string =>
  JSON.stringify(
    anEventOf('deposit.settled', {
      ...aSettledDeposit({
        account_id: account,
        invoice_id: 'inv_of_nobody',
        amount: '1000000000000000000000',
        address: `0x${randomBytes(20).toString('hex')}`,
        outpoint: `0x${randomBytes(32).toString('hex')}`,
      }),
      ...changed,
    }),
  );

const TO_LEDGER = 'evt.invoices.ledger.deposit.settled';

test('a message that always fails becomes a dead letter and stops nothing behind it', () =>
  expectHarmless('bus', 'poison message', async (found) => {
    const { between: shim, load, logs } = on;
    logs.mark();
    const { id } = load.merchant;
    const poison: (string | Buffer)[] = [
      'not JSON',
      'null',
      '[]',
      '{}',
      Buffer.from([0xff, 0xfe, 0x00]),
      '{"id":"evt_\\u0000"}',
      `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
      credit(id).replace('deposit.settled', 'deposit.invented'),
      credit(id).replace('deposit.settled', '__proto__'),
      credit(id, { amount: '-1' }),
      credit(id, { amount: '1e30' }),
      credit(id, { amount: '9'.repeat(79) }),
      credit(id, { asset: 'DOGE' }),
      credit(id, { disposition: 'gift' }),
      credit(id, { block_height: 1.5 }),
    ];
    const began = performance.now();
    for (const one of poison) expect(shim.publish('invoices', TO_LEDGER, one)).toBe(true);
    await eventually(async () => expect(await deadLetters()).toHaveLength(poison.length), HEALS_WITHIN_MS);
    found.fired = poison.length;
    await load.nextAccepted(HEALS_WITHIN_MS);
    recovered(found, performance.now() - began);
    await logs.said('ledger', /an event became a dead letter: an operator must look at it/);
    await lookedAt();
    found.violations.push(...logs.unusable());
  }));

test('a forged sender credits nobody, whoever he says he is', () =>
  expectHarmless('bus', 'forged sender', async (found) => {
    const { between: shim, logs, quittance } = on;
    logs.mark();
    const thief = await quittance.merchant();
    // Whatever a service may say under its own name, it may not say under another's, nor another's under its own.
    expect(shim.publish('webhooks', TO_LEDGER, credit(thief.id))).toBe(true);
    expect(shim.publish('payouts', TO_LEDGER, credit(thief.id))).toBe(true);
    expect(shim.publish('payouts', 'evt.payouts.ledger.deposit.settled', credit(thief.id))).toBe(true);
    for (const service of ['webhooks', 'payouts'] as const)
      await logs.said(service, /the bus refused something/);
    // A broker that lets it through all the same.
    await eventually(() =>
      expect(shim.deliver('ledger', 'evt.payouts.ledger.deposit.settled', credit(thief.id))).toBe(true),
    );
    await eventually(async () => expect(await deadLetters()).toHaveLength(1), HEALS_WITHIN_MS);
    expect(await deadLetters()).toEqual([expect.stringContaining('may not come as')]);
    await logs.said('ledger', /an event became a dead letter/);
    await lookedAt();
    const { n } = await quittance.db.one<{ n: number }>(
      'select count(*)::int as n from ledger.balances where account_id = $1',
      [thief.id],
    );
    // Three that the broker refused, and one that was let through.
    found.fired = 4;
    found.violations.push(...logs.unusable(), ...(n === 0 ? [] : ['a forged credit was booked']));
  }));

test('a day later everything comes again, and changes nothing', () =>
  expectHarmless('bus', 'redelivered a day later, when the broker has forgotten it', async (found) => {
    const { between: shim, load, logs } = on;
    await Promise.all(arriving.map((one) => one.recovered));
    logs.mark();
    const again = shim.tomorrow();
    expect(again).toBeGreaterThan(50);
    const began = performance.now();
    await eventually(() => expect(shim.cameAgain()).toBe(again), HEALS_WITHIN_MS);
    found.fired = shim.cameAgain();
    await load.nextAccepted(HEALS_WITHIN_MS);
    await untilArrived(on.quittance, new Date(), HEALS_WITHIN_MS);
    recovered(found, performance.now() - began);
    found.violations.push(...logs.unusable());
  }));

allDataLost(on);

test('in the end each effect was there within a minute, once, and every word that was given is true', async () => {
  for (const { faults, recovered: arrived } of arriving) {
    for (const fault of faults) {
      await expectHarmless('bus', fault, async (found) => {
        found.fired = on.between.fired(fault);
        const ms = await arrived;
        recovered(found, ms);
        if (ms > patient(HEALS_WITHIN_MS)) found.violations.push(`all had arrived after ${ms} ms`);
      });
    }
  }
  await expectTrueWords('bus', on.load);
});
