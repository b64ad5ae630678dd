import { describe, expect, it } from '@jest/globals';
import type { PayoutId } from '@quittance/shared/ids';
import { CANCELLED } from '../src/domain/states.ts';
import { runAutomaticPayouts } from '../src/operations/run-automatic-payouts.ts';
import { claimDue } from '../src/store/automatic-payouts.ts';
import { movePayout } from '../src/store/payouts.ts';
import { recipient, requestsSuite } from './service-fixture.ts';

/** Rules by which the service pays all that a balance has. */
const fixture = requestsSuite();

const PATH = '/api/automatic-payouts';
const ETHER = 10n ** 18n;
const whenEnough = { address: recipient, schedule: 'threshold', threshold: 2 };
const put = (rule: object, asset = 'ETH') => fixture.shop.put(`${PATH}/${asset}`, rule);
const shown = async () => (await fixture.shop.get(PATH)).body.data;
/** One step of the worker when this much is in the balance, which the ledger then holds. */
const step = (available: bigint | undefined, ports = fixture.service.ports) => {
  fixture.ledger.available = available?.toString();
  fixture.ledger.reply = (hold) => ({
    ...{ outcome: 'placed', amount: ((available ?? 0n) - BigInt(hold.network_fee)).toString() },
  });
  return runAutomaticPayouts(ports);
};
const makeDue = () => fixture.makeDue(fixture.shop);

describe('the worker of automatic payouts', () => {
  it('pays all that the balance has once when two replicas run a rule at the same time', async () => {
    const { ports } = fixture.service;
    const other = await fixture.start();
    await put(whenEnough);
    const ran = await Promise.all([step(3n * ETHER), step(3n * ETHER, other.ports), step(3n * ETHER)]);
    await other.stop();
    expect(ran.reduce((sum, count) => sum + count)).toBe(1);
    expect(fixture.ledger.asked).toMatchObject([{ amount: (2n * ETHER).toString(), takes_all: true }]);
    const [payout, ...others] = (await fixture.shop.get('/api/payouts')).body.data;
    expect(others).toEqual([]);
    expect(payout).toMatchObject({ amount: '2.9995', automatic: true, status: 'pending' });
    const [rule] = await shown();
    expect(rule).toMatchObject({ last_payout_id: payout.id, last_error: null, threshold: '2' });
    expect(Date.parse(rule.next_run_at) - Date.parse(rule.last_run_at)).toBe(5 * 60_000);
    expect(await runAutomaticPayouts(ports)).toBe(0);
  });

  it('does not claim a rule that another replica is claiming', async () => {
    await put(whenEnough);
    const { ports } = fixture.service;
    const soon = new Date(Date.now() + 60_000);
    await ports.db.transaction(async (trx) => {
      expect(await claimDue(trx, new Date(), soon, 10)).toMatchObject([{ account: fixture.shop.account }]);
      expect(await claimDue(ports.db, new Date(), soon, 10)).toEqual([]);
    });
    expect(await claimDue(ports.db, new Date(), soon, 10)).toEqual([]);
  });

  it('leaves no payout while the balance does not cover the threshold and the network fee', async () => {
    await put(whenEnough);
    await step(2n * ETHER);
    expect(await fixture.rowsOf(fixture.shop)).toEqual([]);
    expect(await shown()).toMatchObject([
      { last_error: null, last_payout_id: null, last_run_at: expect.any(String) },
    ]);
    await makeDue();
    await step(2n * ETHER + 500_000_000_000_000n);
    expect(await fixture.rowsOf(fixture.shop)).toHaveLength(1);
  });

  it('tells why it could not pay and tries again later', async () => {
    await put({ ...whenEnough, schedule: 'daily' });
    const failing = async (make: () => Promise<unknown>, undo: () => unknown) => {
      await makeDue();
      await make();
      await step(3n * ETHER);
      await undo();
      const [rule] = await shown();
      expect(rule).toMatchObject({ last_error: 'unavailable', last_payout_id: null });
      expect(Date.parse(rule.next_run_at) - Date.parse(rule.last_run_at)).toBe(10 * 60_000);
    };
    await failing(
      async () => (fixture.board.isFresh = false),
      () => (fixture.board.isFresh = true),
    );
    await failing(
      () => fixture.db.rows(`insert into halted_assets (asset, halt) values ('ETH', 1)`),
      () => fixture.db.rows('update halted_assets set resumed_at = now()'),
    );
    expect(await fixture.rowsOf(fixture.shop)).toEqual([]);
    await makeDue();
    await step(3n * ETHER);
    const [rule] = await shown();
    expect(rule.last_error).toBeNull();
    expect(rule.next_run_at).toMatch(/T00:00:00\.000Z$/);
  });

  const other = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
  it.each<[string, () => Promise<unknown>]>([
    ['given another address', () => put({ ...whenEnough, address: other })],
    ['replaced by the same rule', () => put(whenEnough)],
    ['disabled', () => put({ ...whenEnough, enabled: false })],
    ['deleted', () => fixture.shop.delete(`${PATH}/ETH`)],
  ])('stores no payout of a rule that is %s while it runs', async (_, change) => {
    await put(whenEnough);
    let changed: unknown;
    fixture.ledger.beforeAvailable = async () => (changed ??= await change());
    try {
      expect(await step(3n * ETHER)).toBe(1);
    } finally {
      fixture.ledger.beforeAvailable = async () => {};
    }
    expect(changed).toMatchObject({ status: 200 });
    expect([await fixture.rowsOf(fixture.shop), fixture.ledger.asked]).toEqual([[], []]);
    // A rule that is enabled is due as it is now.
    const [rule] = await shown();
    await step(3n * ETHER);
    const { data } = (await fixture.shop.get('/api/payouts')).body;
    expect(data).toMatchObject(rule?.enabled ? [{ to_address: rule.address }] : []);
    expect(data).toHaveLength(rule?.enabled ? 1 : 0);
    expect((await shown())[0]?.last_error ?? null).toBeNull();
  });

  it('does not run a rule that is disabled or deleted', async () => {
    await put({ ...whenEnough, enabled: false });
    expect(await shown()).toMatchObject([{ enabled: false, next_run_at: null }]);
    expect(await step(3n * ETHER)).toBe(0);
    await put(whenEnough);
    const deleted = await fixture.shop.delete(`${PATH}/ETH`);
    expect([deleted.status, await shown()]).toEqual([200, []]);
    expect(await step(3n * ETHER)).toBe(0);
    expect((await fixture.shop.delete(`${PATH}/ETH`)).status).toBe(404);
  });
});

describe('the rule of an automatic payout', () => {
  /** Ends the newest payout, as the chain worker does. */
  const end = async (to: 'mined' | 'failed', failedReason = 'The recipient refuses it.') => {
    const id = (await fixture.rowsOf(fixture.shop)).at(-1)?.id as PayoutId;
    await fixture.db.transaction(async (trx) => {
      if (to === 'failed') return void (await movePayout(trx, id, ['reserved'], to, { failedReason }));
      await movePayout(trx, id, ['reserved'], 'planned');
      await movePayout(trx, id, ['planned'], 'signed');
      await movePayout(trx, id, ['signed'], to, { txHash: '0x1' });
    });
    return id;
  };
  const waits = async () => {
    const [rule] = await shown();
    return {
      error: rule.last_error,
      minutes: Math.round((Date.parse(rule.next_run_at) - Date.now()) / 60_000),
    };
  };

  it('waits twice as long after each payout that failed, until one is mined', async () => {
    await put(whenEnough);
    for (const minutes of [10, 20]) {
      await makeDue();
      await step(3n * ETHER);
      await end('failed');
      expect(await waits()).toEqual({ error: 'payout_failed', minutes });
    }
    await makeDue();
    await step(0n);
    expect(await waits()).toEqual({ error: 'payout_failed', minutes: 20 });
    await makeDue();
    await step(3n * ETHER);
    await end('mined');
    expect(await waits()).toEqual({ error: null, minutes: 5 });
  });

  it('is disabled when its merchant cancels the payout, until it is put again', async () => {
    await put(whenEnough);
    await step(3n * ETHER);
    const id = await end('failed', CANCELLED);
    const [rule] = await shown();
    expect(rule).toMatchObject({ enabled: false, last_error: 'cancelled', next_run_at: null });
    const { status, body } = await fixture.shop.post({}, {}, `/api/payouts/${id}/cancel`);
    expect([status, body.hint]).toEqual([200, expect.stringContaining('PUT /api/automatic-payouts/ETH')]);
    await makeDue();
    expect(await step(3n * ETHER)).toBe(0);
    expect((await put(whenEnough)).body.data).toMatchObject({ enabled: true, last_error: null });
    expect((await fixture.shop.post({}, {}, `/api/payouts/${id}/cancel`)).body.hint).toBeUndefined();
    expect(await step(3n * ETHER)).toBe(1);
    await fixture.shop.delete(`${PATH}/ETH`);
  });

  it('that was replaced does not follow a payout of the former one', async () => {
    await put(whenEnough);
    await step(3n * ETHER);
    await put({ ...whenEnough, threshold: 1 });
    await end('failed', CANCELLED);
    expect(await shown()).toMatchObject([{ enabled: true, last_error: null }]);
  });
});

describe('PUT /api/automatic-payouts/{asset}', () => {
  it('replaces the rule of the asset and shows it to its account alone', async () => {
    const { status, body } = await put({ ...whenEnough, schedule: 'daily', threshold: null });
    expect([status, body.data]).toMatchObject([
      200,
      { schedule: 'daily', threshold: null, address: recipient },
    ]);
    await put(whenEnough);
    expect(await shown()).toMatchObject([{ schedule: 'threshold', threshold: '2' }]);
    expect((await fixture.newClient().get(PATH)).body.data).toEqual([]);
    await fixture.shop.delete(`${PATH}/ETH`);
  });

  it.each<[string, object, string]>([
    ['an address of another chain', { ...whenEnough, address: 'bc1' }, 'address'],
    ['no threshold', { ...whenEnough, threshold: null }, 'threshold'],
    ['a threshold below the smallest amount', { ...whenEnough, threshold: 0 }, 'threshold'],
    ['another schedule', { ...whenEnough, schedule: 'weekly' }, 'schedule'],
    ['another field', { ...whenEnough, amount: 1 }, 'amount'],
  ])('answers 422 to %s', async (_, rule, field) => {
    const { status, body } = await put(rule);
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
    expect(await shown()).toEqual([]);
  });

  it('answers 404 to an unknown asset and 422 to one that cannot be paid', async () => {
    expect(await put(whenEnough, 'XYZ')).toMatchObject({
      status: 404,
      body: { hint: expect.stringMatching(/^Assets: BTC, /) },
    });
    expect((await put(whenEnough, 'usdc_erc')).body.hint).toBe('Did you mean USDC_ERC20?');
    expect((await put(whenEnough, 'BTC')).body.errors).toHaveProperty('asset');
  });
});
