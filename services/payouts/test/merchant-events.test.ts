import { beforeEach, describe, expect, it } from '@jest/globals';
import { endRefunds } from '../src/operations/claim-refund.ts';
import { runAutomaticPayouts } from '../src/operations/run-automatic-payouts.ts';
import { FINNEY, refundsSuite } from './refunds-fixture.ts';
import { recipient as address } from './service-fixture.ts';

/** What merchants are told of refunds and automatic payouts, so that they act. */
const at = refundsSuite();
const { aLink, page, expireLink, payoutsOf, fail, shown } = at;

type Told = { kind: string; version: number; data: Record<string, unknown> };
/** The events about a resource for webhooks, in order. */
const toldOf = (resource: string) =>
  at.fixture.db.rows<Told>(
    `select kind, (payload->>'version')::float8 as version, payload->'data' as data from outbox
     where payload->>'resource_id' = $1 order by seq`,
    [resource],
  );
const kindsOf = async (resource: string) => (await toldOf(resource)).map(({ kind }) => kind);

describe('refund.expired', () => {
  it('is sent once when the time of a claim link is over', async () => {
    const { refundId, token } = await aLink();
    expect(await kindsOf(refundId)).toEqual([]);
    await expireLink(refundId);
    await Promise.all(at.fixture.replicas().map(({ ports }) => endRefunds(ports)));
    await endRefunds(at.fixture.service.ports);
    expect((await page(token, address)).status).toBe(303);
    const refund = await shown(refundId);
    expect(refund.status).toBe('expired');
    expect(await toldOf(refundId)).toEqual([{ kind: 'refund.expired', version: 2, data: refund }]);
  });

  it('is not sent of a link that was paid or cancelled', async () => {
    const [paid, cancelled] = [await aLink(), await aLink()];
    await page(paid.token, address);
    await at.cancel(cancelled.refundId);
    for (const { refundId } of [paid, cancelled]) {
      await expireLink(refundId);
      await endRefunds(at.fixture.service.ports);
      expect(await kindsOf(refundId)).toEqual([]);
    }
  });
});

describe('refund.unfunded', () => {
  const available = (finneys: bigint) => {
    at.fixture.ledger.available = (finneys * FINNEY).toString();
  };

  it('is sent once, however often a claim meets too low a balance, until a claim is covered', async () => {
    const { refundId, token } = await aLink();
    available(50n);
    const together = await Promise.all([page(token, address), page(token, address), page(token, address)]);
    expect(together.map(({ status }) => status)).toEqual([409, 409, 409]);
    available(51n);
    at.fixture.ledger.reply = () => ({ outcome: 'refused' });
    expect((await page(token, address)).status).toBe(409);
    const unfunded = await shown(refundId);
    expect(unfunded).toMatchObject({ status: 'claimable', unfunded_since: expect.any(String) });
    const first = { kind: 'refund.unfunded', version: 1, data: { ...unfunded } };
    expect(await toldOf(refundId)).toEqual([first]);

    at.fixture.ledger.reply = () => ({ outcome: 'placed' });
    expect((await page(token, address)).status).toBe(303);
    expect(await shown(refundId)).toMatchObject({ status: 'pending', unfunded_since: null });
    const payout = (await payoutsOf(refundId)).at(-1);
    if (payout === undefined) throw new Error('the claim is paid');
    await fail(payout.id);
    available(50n);
    for (let tries = 0; tries < 2; tries++) expect((await page(token, address)).status).toBe(409);
    expect((await kindsOf(refundId)).filter((kind) => kind.startsWith('refund.'))).toEqual([
      'refund.unfunded',
      'refund.unfunded',
    ]);
  });

  it('is sent when the ledger refuses what the balance seemed to cover', async () => {
    const { refundId, token } = await aLink();
    at.fixture.ledger.reply = () => ({ outcome: 'refused' });
    for (let tries = 0; tries < 2; tries++) expect((await page(token, address)).status).toBe(409);
    expect(await kindsOf(refundId)).toEqual(['refund.unfunded']);
  });

  it('is not sent of a link that is cancelled while its claim meets too low a balance', async () => {
    const { refundId, token } = await aLink();
    available(50n);
    at.fixture.ledger.beforeAvailable = () => at.cancel(refundId);
    try {
      expect((await page(token, address)).status).toBe(409);
    } finally {
      at.fixture.ledger.beforeAvailable = async () => {};
    }
    expect(await kindsOf(refundId)).toEqual([]);
  });
});

describe('automatic_payout.failed', () => {
  const PATH = '/api/automatic-payouts';
  const rule = { address, schedule: 'threshold', threshold: 0.1 };
  const resource = () => `${at.fixture.shop.account} ETH`;
  const run = async () => {
    await at.fixture.makeDue(at.fixture.shop);
    await runAutomaticPayouts(at.fixture.service.ports);
    return (await at.fixture.shop.get(PATH)).body.data[0];
  };
  beforeEach(async () => {
    await at.fixture.shop.put(`${PATH}/ETH`, rule);
  });

  it('is sent once for each cause that the merchant can act upon, until a run has no error', async () => {
    const causes = async (active: boolean, isFresh: boolean, outcome: 'placed' | 'refused') => {
      at.fixture.board.set('ETH', { active });
      at.fixture.board.isFresh = isFresh;
      at.fixture.ledger.reply = () => ({ outcome, amount: (999n * FINNEY).toString() });
      const { last_error } = await run();
      return [last_error, (await kindsOf(resource())).length];
    };
    expect(await causes(true, false, 'placed')).toEqual(['unavailable', 0]);
    expect(await causes(false, true, 'placed')).toEqual(['invalid_request', 1]);
    expect(await causes(false, true, 'placed')).toEqual(['invalid_request', 1]);
    expect(await causes(true, false, 'placed')).toEqual(['unavailable', 1]);
    expect(await causes(false, true, 'placed')).toEqual(['invalid_request', 1]);
    expect(await causes(true, true, 'refused')).toEqual(['insufficient_balance', 2]);
    expect(await causes(true, true, 'refused')).toEqual(['insufficient_balance', 2]);
    expect(await causes(true, true, 'placed')).toEqual([null, 2]);
    expect(await causes(true, true, 'refused')).toEqual(['insufficient_balance', 3]);
    const told = await toldOf(resource());
    expect(new Set(told.map(({ kind }) => kind))).toEqual(new Set(['automatic_payout.failed']));
    const versions = told.map(({ version }) => version);
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(told.at(-1)?.data).toMatchObject({
      asset: { symbol: 'ETH' },
      ...{ last_error: 'insufficient_balance', next_run_at: expect.any(String) },
    });
  });

  it('is sent once when two replicas run a rule at the same time, and again of a rule that was replaced', async () => {
    at.fixture.board.set('ETH', { active: false });
    for (let round = 0; round < 5; round++) {
      // Due again while a replica runs it.
      const runs = at.fixture.replicas().map(({ ports }) => runAutomaticPayouts(ports));
      await Promise.all([run(), ...runs]);
    }
    expect(await kindsOf(resource())).toHaveLength(1);
    at.fixture.board.set('ETH', {});
    await at.fixture.shop.put(`${PATH}/ETH`, rule);
    at.fixture.board.set('ETH', { active: false });
    await run();
    expect(await kindsOf(resource())).toHaveLength(2);
  });

  it('is not sent of a rule that its merchant replaces while it fails', async () => {
    at.fixture.ledger.reply = () => ({
      outcome: 'refused',
      before: () => at.fixture.shop.put(`${PATH}/ETH`, rule),
    });
    await run();
    expect(await kindsOf(resource())).toEqual([]);
  });
});
