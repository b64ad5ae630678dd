import { describe, expect, it } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { depositAddress, HOT } from '@quittance/testkit/scripted-evm-sender';
import { haltedAssets } from '../src/store/halts.ts';
import { halt, resume } from './chain-worker-fixture.ts';
import { CONFIRMATIONS, ETHER, engineSuite } from './engine-fixture.ts';
import { MAX_FEE } from './scripted-chain.ts';
import { order, requestsSuite } from './service-fixture.ts';

/** Halts of the auditor, and what is not signed because of them. */

describe('a halt on Ethereum', () => {
  const fixture = engineSuite();

  it('stops new signatures for the asset until it is resumed, and other assets are paid', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    fixture.chain.fund('USDC_ERC20', HOT, 1_000n);
    const ether = await fixture.reserve();
    const token = await fixture.reserve({ asset: 'USDC_ERC20', amount: 100n });
    await halt(fixture.db, 'ETH');
    await fixture.finish();
    expect(await fixture.statusesOf(ether, token)).toEqual(['reserved', 'mined']);
    fixture.expectLogged({ level: 'error', assets: ['ETH'] });
    await resume(fixture.db, 'ETH');
    await fixture.expectPaid(ether);
  });

  it('does not stop signed transactions from being followed and sent again, and their fees are not raised', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await fixture.reserve();
    await fixture.run();
    fixture.chain.leastFee = 3n * MAX_FEE;
    fixture.chain.mine();
    fixture.clock.advance(180_001);
    await halt(fixture.db, 'ETH');
    const arrived = fixture.chain.arrived.length;
    await fixture.run();
    const [stuck, ...others] = await fixture.transactions();
    expect(others).toEqual([]);
    // All later transactions of the hot wallet wait for it.
    fixture.expectLogged({ level: 'error', asset: 'ETH', transaction: stuck?.['tx_hash'] });
    expect(fixture.chain.arrived.length).toBeGreaterThan(arrived);
    fixture.chain.leastFee = 0n;
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('does not stop the fees of another asset from being raised, however many transactions of the halted one are stuck', async () => {
    fixture.chain.fund('ETH', HOT, ETHER);
    fixture.chain.fund('USDC_ERC20', HOT, 1_000n);
    await fixture.reserve({ asset: 'USDC_ERC20', amount: 100n });
    const token = await fixture.reserve({ asset: 'USDC_ERC20', amount: 100n });
    await fixture.run();
    await fixture.depositMany(1, 51, 2n * ETHER);
    await fixture.reserve({ amount: 101n * ETHER });
    await fixture.run();
    // Each sweep has the first nonce of its address, so all of them come before the second payout of tokens.
    expect((await fixture.transactions()).filter(({ purpose }) => purpose === 'sweep')).toHaveLength(51);
    fixture.chain.leastFee = 3n * MAX_FEE;
    fixture.clock.advance(180_001);
    await halt(fixture.db, 'ETH');
    await fixture.run();
    const bumped = (await fixture.transactions()).filter(({ attempt }) => attempt === 2);
    expect(bumped.map(({ asset, nonce }) => [asset, nonce])).toEqual([
      ['USDC_ERC20', '0'],
      ['USDC_ERC20', '1'],
    ]);
    await fixture.expectPaid(token);
  });

  it('stops sweeps of the asset', async () => {
    await fixture.deposit(1, 'ETH', 3n * ETHER, depositAddress(1));
    await fixture.reserve();
    await halt(fixture.db, 'ETH');
    await fixture.run();
    expect(await fixture.transactions()).toEqual([]);
    await resume(fixture.db, 'ETH');
    await fixture.finish();
    expect((await fixture.transactions()).map(({ purpose }) => purpose)).toEqual(['sweep', 'payout']);
  });

  it('stops a payout that was planned before the halt and not signed', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await fixture.reserve();
    fixture.signer.before = async () => ({ known: false, reason: 'TIMEOUT' });
    expect(await fixture.run()).toBe(0);
    expect(await fixture.payout(id)).toMatchObject({ status: 'planned' });
    await halt(fixture.db, 'ETH');
    fixture.signer.before = async () => undefined;
    expect(await fixture.run()).toBe(0);
    expect(await fixture.payout(id)).toMatchObject({ status: 'reserved' });
    expect(await fixture.transactions()).toEqual([]);
    fixture.expectLogged({ msg: expect.stringMatching(/the signer does not answer/) });
    await resume(fixture.db, 'ETH');
    await fixture.expectPaid({ id });
  });

  it('does not stop a payout that was signed before the halt, when the answer of the signer was lost', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const { id } = await fixture.reserve();
    const sign = fixture.signer.sign;
    const lost = fixture.replica({
      signer: {
        async sign(request) {
          await sign(request);
          return { known: false, reason: 'TIMEOUT' };
        },
      },
    });
    expect(await fixture.run(lost)).toBe(0);
    await fixture.freeLease();
    await halt(fixture.db, 'ETH');
    expect(await fixture.run()).toBe(1);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    expect(new Set(fixture.signer.asked.map((order) => JSON.stringify(order))).size).toBe(1);
    fixture.expectLogged({ msg: expect.stringMatching(/the signer does not answer/) });
  });

  it('is not ended by the late message of an earlier one', async () => {
    const { db } = fixture;
    const isHalted = async () => (await haltedAssets(db)).has('ETH');
    await resume(db, 'ETH', '1');
    await halt(db, 'ETH', '1');
    expect(await isHalted()).toBe(false);
    await halt(db, 'ETH', '2');
    expect(await isHalted()).toBe(true);
    await resume(db, 'ETH', '1');
    expect(await isHalted()).toBe(true);
    await resume(db, 'ETH', '2');
    await halt(db, 'ETH', '2');
    expect(await isHalted()).toBe(false);
  });
});

describe('a request', () => {
  const fixture = requestsSuite();

  it('is answered 503 while its asset is halted, nothing is stored, and its key is free again', async () => {
    const { shop, db } = fixture;
    const post = (asset: string, key?: string) =>
      shop.post({ ...order, asset }, key === undefined ? {} : { 'idempotency-key': key });
    const before = await post('ETH', 'before');
    expect(before.status).toBe(201);
    await halt(db, 'ETH');
    for (const key of [undefined, 'during']) {
      const { status, headers, body } = await post('ETH', key);
      const answer = [status, headers['retry-after'], body];
      expect(answer).toMatchObject([503, '60', { message: 'Service Unavailable' }]);
      expect(body.hint).toContain('paused until the operator resumes them');
    }
    expect(await db.rows('select 1 from payouts')).toHaveLength(1);
    expect((await post('USDC_ERC20')).status).toBe(201);
    const again = await post('ETH', 'before');
    expect([again.status, again.body]).toEqual([201, before.body]);
    expect((await shop.get(`/api/payouts/${before.body.data.id}`)).body).toMatchObject({ status: 'pending' });
    await resume(db, 'ETH');
    expect((await post('ETH', 'during')).status).toBe(201);
  });

  it('tells every merchant which assets are halted, and since when', async () => {
    const { shop, db } = fixture;
    const list = async () => (await shop.get('/api/halted-assets')).body;
    expect(await list()).toEqual({ data: [] });
    const before = Date.now();
    await halt(db, 'ETH', '101');
    const { data } = await list();
    expect(data).toEqual([
      {
        asset: { id: 2, symbol: 'ETH', name: 'Ethereum', decimals: 18 },
        halted_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ]);
    expect(Date.parse(data[0].halted_at)).toBeGreaterThan(before - 60_000);
    await resume(db, 'ETH', '101');
    expect(await list()).toEqual({ data: [] });
    expect((await shop.get('/api/halted-assets?page=1')).status).toBe(422);
  });

  it('depends on the halts and resumptions that NATS delivers', async () => {
    const halted = async () => [...(await haltedAssets(fixture.db))];
    const found = [{ invariant: 'I2', what: 'a balance is off by 1' }];
    const halt = { asset: 'USDC_ERC20', halt: '7' };
    await fixture.publish('asset.halted', 'evt_h', { ...halt, ['breaches']: found });
    await eventually(async () => expect(await halted()).toEqual(['USDC_ERC20']));
    await fixture.publish('asset.resumed', 'evt_r', halt);
    await eventually(async () => expect(await halted()).toEqual([]));
  });
});
