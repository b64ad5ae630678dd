import { randomBytes } from 'node:crypto';
import { beforeAll, expect, jest, test } from '@jest/globals';
import { connectBus } from '@quittance/shared/bus';
import { createLogger } from '@quittance/shared/logger';
import { formatUnits, units } from '@quittance/shared/money';
import { unitsOf } from '@quittance/testkit/customer';
import { checkWebhook } from '@quittance/testkit/documented-answers';
import { eventually } from '@quittance/testkit/eventually';
import { type Merchant, merchant } from '@quittance/testkit/merchant';
import { patient } from '@quittance/testkit/patience';
import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { type Asked, accepted, askFor, givenTo, newAddress, PAYOUT, paidExactly } from './asked-payouts.ts';
import { expectHarmless, recovered } from './expect-harmless.ts';
import { FENCING_COSTS, OVERTAKES_WITHIN_MS, overtake, STOPPED_MS } from './fencing.ts';
import { replicated } from './replicas.ts';
import { sized } from './size.ts';
import { untilArrived } from './until-arrived.ts';
import { CLOCKS_COST, payByWrongClocks } from './wrong-clocks.ts';

/**
 * Two of every service that decides about money, and everybody at once: what a balance has is given out exactly, a key
 * is one payout, a hold that comes too late holds nothing, an event is told once.
 */
const GROUP = 'races';
const CONNECTIONS = 500;
const ETHER_DECIMALS = 18;
const ENDS_WITHIN_MS = 180_000;

jest.setTimeout(patient(ENDS_WITHIN_MS + 120_000));

const on = replicated();
/** What one payout takes from a balance. */
let cost: bigint;

beforeAll(async () => {
  const { fee } = await on.quittance.db.one<{ fee: string }>(
    `select network_fee::text as fee from ledger.assets where symbol = 'ETH'`,
  );
  cost = unitsOf('ETH', PAYOUT) + BigInt(fee);
});

/** A merchant with so much, that reaches each replica half of the time. */
async function richMerchant(amount: bigint): Promise<{ id: string; at(turn: number): Merchant }> {
  const { quittance, replicas } = on;
  const one = await quittance.merchant();
  const gateways = [quittance.url, `http://127.0.0.1:${replicas.gateway.port}`];
  const ways = gateways.map((url) => merchant(url, one.id, one.token, CONNECTIONS, quittance.clientLog));
  const { body } = await one.post('/api/invoices', { asset: 'ETH', amount: '5' });
  const paid = formatUnits(units(amount), ETHER_DECIMALS);
  await quittance.ethereum.pay('ETH', body.data.address.address, paid);
  await eventually(async () => expect(await balanceOf(one.id)).toEqual({ available: amount, held: 0n }));
  return { id: one.id, at: (turn) => ways[turn % ways.length] as Merchant };
}

async function balanceOf(account: string): Promise<{ available: bigint; held: bigint }> {
  const row = await on.quittance.db.maybe<{ available: string; held: string }>(
    `select available::text, held::text from ledger.balances where account_id = $1 and asset = 'ETH'`,
    [account],
  );
  return { available: BigInt(row?.available ?? 0), held: BigInt(row?.held ?? 0) };
}

/** Every payout of this merchant has come to its end. */
const allEnded = (account: string) =>
  eventually(
    async () =>
      expect(
        await on.quittance.db.one(
          `select count(*)::int as open from payouts.payouts
           where account_id = $1 and status in ('requested', 'reserved', 'planned', 'signed', 'broadcast')`,
          [account],
        ),
      ).toEqual({ open: 0 }),
    ENDS_WITHIN_MS,
    500,
  );

test(
  `a process of payouts that was stopped for ${STOPPED_MS / 1_000} s is refused when it goes on`,
  () =>
    expectHarmless(
      'fencing',
      `two engines for one hot wallet, the one at work stopped for ${STOPPED_MS / 1_000} s`,
      async (found) => await overtake(on, (await richMerchant(FENCING_COSTS * cost)).at(0), found),
    ),
  patient(OVERTAKES_WITHIN_MS),
);

const AT_ONCE = sized(500, 2_000);
const AFFORDABLE = sized(60, 1_000);

test(`${AT_ONCE} payouts at once on one balance: as many are accepted as it can pay`, () =>
  expectHarmless(GROUP, `${AT_ONCE} payouts at once on one balance for ${AFFORDABLE}`, async (found) => {
    const rest = cost - 1n;
    const shop = await richMerchant(BigInt(AFFORDABLE) * cost + rest);
    const asked = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, i) => askFor(shop.at(i), newAddress())),
    );
    found.fired = AT_ONCE;
    const unheard = () => asked.filter(({ answer }) => answer.status === 503).length;
    const first = { accepted: accepted(asked), unheard: unheard() };
    expect(accepted(asked)).toBeLessThanOrEqual(AFFORDABLE);
    // What was not decided in time is undone, and others were refused while it was held: they may ask again.
    if (first.unheard > 0) await untilArrived(on.quittance, new Date(), 30_000);
    for (let turn = 0; accepted(asked) < AFFORDABLE && turn < 10 * AFFORDABLE && first.unheard > 0; turn++) {
      asked.push(await askFor(shop.at(turn), newAddress()));
    }
    expect(accepted(asked)).toBe(AFFORDABLE);
    if (first.unheard === 0) expect(first.accepted).toBe(AFFORDABLE);
    expect(new Set(asked.map(({ answer }) => answer.status))).toEqual(
      new Set(first.unheard > 0 ? [201, 400, 503] : [201, 400]),
    );
    expect((await askFor(shop.at(0), newAddress())).answer.status).toBe(400);
    expect((await balanceOf(shop.id)).available).toBe(rest);
    await allEnded(shop.id);
    // Of those that were refused, whom the chain knows is asked of some: nothing was ever signed for any.
    const looked = asked.filter(({ answer }, i) => answer.status === 201 || i % 20 === 0);
    await Promise.all(looked.map((one) => paidExactly(on.quittance, one)));
    const signed = await on.quittance.db.rows(
      `select 1 from payouts.payments m join payouts.payouts p on p.id = m.payout_id where p.account_id = $1`,
      [shop.id],
    );
    expect(signed).toHaveLength(AFFORDABLE);
  }));

test('the same key 100 times at once: one payout, whatever else was in the body', () =>
  expectHarmless(GROUP, 'the same key 100 times at once', async (found) => {
    const ROUNDS = sized(1, 50);
    const TIMES = 100;
    const shop = await richMerchant(cost * BigInt(4 * ROUNDS));
    let doubles = 0;
    const once: Asked[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const [key, to, other] = [randomBytes(8).toString('hex'), newAddress(), newAddress()];
      const same = await Promise.all(Array.from({ length: TIMES }, (_, i) => askFor(shop.at(i), to, key)));
      expect(new Set(same.map(({ answer }) => answer.status)).difference(new Set([201, 409]))).toEqual(
        new Set(),
      );
      const made = same.filter(({ answer }) => answer.status === 201);
      const originals = made.filter(({ answer }) => answer.headers['idempotent-replayed'] === undefined);
      expect(originals).toHaveLength(1);
      doubles += new Set(made.map(({ answer }) => answer.body.data.id)).size - 1;
      const again = await askFor(shop.at(round), to, key);
      expect(again.answer).toMatchObject({ status: 201, body: made[0]?.answer.body });
      once.push(again);

      // Half of them with another body: one of the two is paid, once.
      const mixedKey = `${key} mixed`;
      const mixed = await Promise.all(
        Array.from({ length: TIMES }, (_, i) => askFor(shop.at(i), i % 4 < 2 ? to : other, mixedKey)),
      );
      expect(new Set(mixed.map(({ answer }) => answer.status)).difference(new Set([201, 409, 422]))).toEqual(
        new Set(),
      );
      const ids = mixed
        .filter(({ answer }) => answer.status === 201)
        .map(({ answer }) => answer.body.data.id);
      doubles += new Set(ids).size - 1;
      found.fired += 2;
    }
    await allEnded(shop.id);
    const { n } = await on.quittance.db.one<{ n: number }>(
      'select count(*)::int as n from payouts.payouts where account_id = $1',
      [shop.id],
    );
    expect(n).toBe(2 * ROUNDS);
    // The ledger hears of a mined payout a moment after it.
    const left = { available: cost * BigInt(2 * ROUNDS), held: 0n };
    await eventually(async () => expect(await balanceOf(shop.id)).toEqual(left));
    expect(doubles).toBe(0);
  }));

test('the answer to a hold is lost twice, and the hold comes late: nothing is held, the third time pays', () =>
  expectHarmless(GROUP, 'the answer to a hold lost twice, and a late hold', async (found) => {
    const ROUNDS = sized(1, 10);
    const { stack } = on.quittance;
    const ledgers = [stack.services.ledger, on.replicas.ledger.engine];
    const payouts = (count: number) => ({ available: cost * BigInt(count), held: 0n });
    // One more than it needs, so that a hold that stays is seen and refuses nobody.
    const shop = await richMerchant(payouts(ROUNDS + 1).available);
    const bus = await connectBus({
      url: stack.settingsOf('payouts')['NATS_URL'] ?? '',
      service: 'payouts',
      logger: createLogger('test', 'silent'),
    });
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const [key, to] = [randomBytes(8).toString('hex'), newAddress()];
        for (const ledger of ledgers) ledger.pause();
        // Both questions wait in front of a ledger that hears nothing, and are answered when nobody listens.
        for (let time = 0; time < 6 && (await givenTo(on.quittance, to)).length < 2; time++) {
          expect((await askFor(shop.at(time), to, key)).answer.status).toBe(503);
        }
        for (const ledger of ledgers) ledger.resume();
        const resumed = performance.now();
        await untilArrived(on.quittance, new Date(), 30_000);
        await eventually(async () => expect(await balanceOf(shop.id)).toEqual(payouts(ROUNDS + 1 - round)));
        const third = await eventually(async () => {
          const asked = await askFor(shop.at(round), to, key);
          expect(asked.answer.status).toBe(201);
          return asked;
        });
        recovered(found, performance.now() - resumed);

        const given = await givenTo(on.quittance, to);
        expect(given.map(({ status }) => status).slice(0, 2)).toEqual(['voided', 'voided']);
        expect(given.map(({ id }) => id).slice(2)).toEqual([String(third.answer.body.data.id)]);
        // The same holds once more, as late as one likes.
        for (const { id } of given.slice(0, 2)) {
          const late = await bus.ask('hold.place', {
            payout_id: id,
            account_id: shop.id,
            asset: 'ETH',
            amount: unitsOf('ETH', PAYOUT).toString(),
            network_fee: (cost - unitsOf('ETH', PAYOUT)).toString(),
            deposit_id: null,
          });
          expect(late).toEqual({ known: true, reply: { outcome: 'voided' } });
        }
        found.fired += 1;
        await allEnded(shop.id);
        await paidExactly(on.quittance, third);
      }
    } finally {
      for (const ledger of ledgers) ledger.resume();
      await bus.close();
    }
    await eventually(async () => expect(await balanceOf(shop.id)).toEqual(payouts(1)));
  }));

test('two replicas tell each event once to each endpoint; one that is killed costs doubles and no event', () =>
  expectHarmless(GROUP, 'two webhooks replicas, one of them killed', async (found) => {
    const EVENTS = sized(100, 1_000);
    const receiver = await startReceiver(checkWebhook);
    try {
      const shop = await on.quittance.merchant();
      const paths = ['/one', '/two'];
      for (const path of paths) {
        expect((await shop.post('/api/webhooks', { url: `${receiver.url}${path}` })).status).toBe(201);
      }
      const allRecorded = async () =>
        expect(
          await on.quittance.db.rows(
            `select 1 from webhooks.deliveries where state in ('waiting', 'sending')`,
          ),
        ).toEqual([]);
      const makeEvents = () =>
        Promise.all(
          Array.from({ length: EVENTS }, () => shop.post('/api/invoices', { asset: 'ETH', amount: '5' })),
        );
      await makeEvents();
      await eventually(() => expect(timesTold(receiver).size).toBe(paths.length * EVENTS));
      await eventually(allRecorded);
      const beforeTheKill = [...timesTold(receiver).keys()];

      receiver.answer((response) => void setTimeout(() => response.writeHead(200).end(), 100));
      const events = makeEvents();
      await eventually(
        () => expect(timesTold(receiver).size).toBeGreaterThan(paths.length * EVENTS + 10),
        20_000,
        1,
      );
      on.replicas.webhooks.engine.kill();
      const killed = performance.now();
      await events;
      await eventually(() => expect(timesTold(receiver).size).toBe(2 * paths.length * EVENTS), 30_000);
      recovered(found, performance.now() - killed);
      found.fired = 2 * EVENTS;
      await on.replicas.webhooks.engine.restart();
      await eventually(allRecorded);
      const told = timesTold(receiver);
      expect(beforeTheKill.filter((one) => told.get(one) !== 1)).toEqual([]);
      expect(Math.max(...told.values())).toBeLessThanOrEqual(2);
    } finally {
      await receiver.close();
    }
  }));

test('clocks that are 10 s off: who is refused is not paid, who is not is paid once, and each says which clock is wrong', () =>
  expectHarmless(GROUP, 'a gateway and a process of payouts with clocks 10 s off', async (found) => {
    await payByWrongClocks(on, (await richMerchant(CLOCKS_COST * cost)).at(1), found);
  }));

/** How often each event came to each endpoint. */
function timesTold({ received }: Receiver): Map<string, number> {
  const times = new Map<string, number>();
  for (const { path, headers } of received) {
    const one = `${path} ${headers['webhook-id']}`;
    times.set(one, (times.get(one) ?? 0) + 1);
  }
  return times;
}
