import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { Db } from '@quittance/shared/db';
import { type TestDatabase, testDatabase, testNats } from '@quittance/testkit/engines';
import { eventually } from '@quittance/testkit/eventually';
import type { PayoutsService } from '../src/service.ts';
import { haltedAssets, noteHalt, noteResume } from '../src/store/halts.ts';
import { BITCOIN, CONFIRMATIONS as BITCOIN_DEPTH, BitcoinWorld, bitcoinGround } from './bitcoin-world.ts';
import { CONFIRMATIONS, EngineWorld, ETHER } from './engine-world.ts';
import { depositAddress, HOT, MAX_FEE } from './scripted-chain.ts';
import { type ScriptedLedger, scriptedLedger } from './scripted-ledger.ts';
import { Client, environment, startService, TestBoard } from './service-client.ts';
import { SOL, SolanaWorld, solanaGround } from './solana-world.ts';

/** What the auditor has said, and what is not signed because of it. */

const halt = (db: Db, asset: AssetSymbol, number = '1') =>
  db.transaction((trx) => noteHalt(trx, { asset, halt: number, breaches: [] }));
const resume = (db: Db, asset: AssetSymbol, number = '1') =>
  db.transaction((trx) => noteResume(trx, { asset, halt: number }));

describe('on Ethereum', () => {
  let database: TestDatabase;
  let world: EngineWorld;

  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.drop());

  async function run(test: () => Promise<void>): Promise<void> {
    world = await EngineWorld.fresh(database);
    await world.admin.rows('delete from halted_assets');
    try {
      await test();
      await world.expectSound();
    } finally {
      await world.close();
    }
  }

  it('nothing new is signed for what is halted, other assets go on, and it goes on when resumed', () =>
    run(async () => {
      world.chain.fund('ETH', HOT, 10n * ETHER);
      world.chain.fund('USDC_ERC20', HOT, 1_000n);
      const ether = await world.reserve();
      const token = await world.reserve({ asset: 'USDC_ERC20', amount: 100n });
      await halt(world.db, 'ETH');
      await world.finish();
      expect(await world.payout(ether.id)).toMatchObject({ status: 'reserved' });
      expect(await world.payout(token.id)).toMatchObject({ status: 'mined' });
      expect(world.lines).toContainEqual(expect.objectContaining({ level: 'error', assets: ['ETH'] }));
      await resume(world.db, 'ETH');
      await world.finish();
      expect(await world.payout(ether.id)).toMatchObject({ status: 'mined' });
    }));

  it('what was signed before is followed and sent again, and its fee is not raised', () =>
    run(async () => {
      world.chain.fund('ETH', HOT, 10n * ETHER);
      const { id } = await world.reserve();
      await world.run();
      world.chain.leastFee = 3n * MAX_FEE;
      world.chain.mine();
      world.clock.advance(180_001);
      await halt(world.db, 'ETH');
      const arrived = world.chain.arrived.length;
      await world.run();
      expect(await world.transactions()).toHaveLength(1);
      expect(world.chain.arrived.length).toBeGreaterThan(arrived);
      world.chain.leastFee = 0n;
      world.chain.mine(CONFIRMATIONS);
      await world.run();
      expect(await world.payout(id)).toMatchObject({ status: 'mined' });
    }));

  it('what is stuck of it, however much, does not keep the fee of another asset from being raised', () =>
    run(async () => {
      world.chain.fund('ETH', HOT, ETHER);
      world.chain.fund('USDC_ERC20', HOT, 1_000n);
      await world.reserve({ asset: 'USDC_ERC20', amount: 100n });
      const token = await world.reserve({ asset: 'USDC_ERC20', amount: 100n });
      await world.run();
      for (let index = 1; index <= 51; index++) await world.deposit(index, 'ETH', 2n * ETHER);
      await world.reserve({ amount: 101n * ETHER });
      await world.run();
      // Each sweep has the first nonce of its address: all of them come before the second payout of tokens.
      expect((await world.transactions()).filter(({ purpose }) => purpose === 'sweep')).toHaveLength(51);
      world.chain.leastFee = 3n * MAX_FEE;
      world.clock.advance(180_001);
      await halt(world.db, 'ETH');
      await world.run();
      const bumped = (await world.transactions()).filter(({ attempt }) => attempt === 2);
      expect(bumped.map(({ asset, nonce }) => [asset, nonce])).toEqual([
        ['USDC_ERC20', '0'],
        ['USDC_ERC20', '1'],
      ]);
      await world.finish();
      expect(await world.payout(token.id)).toMatchObject({ status: 'mined' });
    }));

  it('what is stuck of it in the hot wallet is said to stop what is behind it', () =>
    run(async () => {
      world.chain.fund('ETH', HOT, 10n * ETHER);
      world.chain.fund('USDC_ERC20', HOT, 1_000n);
      await world.reserve({ asset: 'USDC_ERC20', amount: 100n });
      await world.run();
      world.chain.leastFee = 3n * MAX_FEE;
      world.clock.advance(180_001);
      await world.reserve();
      await halt(world.db, 'USDC_ERC20');
      await world.run();
      const [stuck] = await world.transactions();
      expect(world.lines).toContainEqual(
        expect.objectContaining({ level: 'error', asset: 'USDC_ERC20', transaction: stuck?.['tx_hash'] }),
      );
    }));

  it('no deposit of it is swept', () =>
    run(async () => {
      await world.deposit(1, 'ETH', 3n * ETHER, depositAddress(1));
      await world.reserve();
      await halt(world.db, 'ETH');
      await world.run();
      expect(await world.transactions()).toEqual([]);
      await resume(world.db, 'ETH');
      await world.finish();
      expect((await world.transactions()).map(({ purpose }) => purpose)).toEqual(['sweep', 'payout']);
    }));

  it('what was planned before the halt came is refused when it is to be signed', () =>
    run(async () => {
      world.chain.fund('ETH', HOT, 10n * ETHER);
      const { id } = await world.reserve();
      const { sender } = world.ports;
      const slow: typeof sender = {
        ...sender,
        signTransfer: async (order) => {
          // Another connection's commit, in the middle of the transaction that signs.
          await halt(world.db, 'ETH');
          return sender.signTransfer(order);
        },
      };
      expect(await world.run(world.replica({ sender: slow }))).toBe(0);
      expect(await world.payout(id)).toMatchObject({ status: 'reserved' });
      expect(await world.transactions()).toEqual([]);
    }));

  it('a message that comes late says nothing about a later halt', () =>
    run(async () => {
      const { db } = world;
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
    }));
});

describe('a request', () => {
  let database: TestDatabase;
  let nats: Awaited<ReturnType<typeof testNats>>;
  let ledger: ScriptedLedger;
  let service: PayoutsService;

  beforeAll(async () => {
    [database, nats] = await Promise.all([testDatabase(), testNats()]);
    ledger = await scriptedLedger(nats.url);
    const options = { quotes: new TestBoard() };
    service = await startService(environment(database.urlOf('payouts'), nats.url), options);
  });
  afterAll(async () => {
    await service?.stop();
    await ledger?.close();
    await nats?.stop();
    await database?.drop();
  });

  it('is answered 503 while its asset is halted, nothing is written, and its key is free again', async () => {
    const shop = new Client(() => service);
    const to = '0x52908400098527886E0F7030069857D2E4169EE7';
    const post = (asset: string, key?: string) =>
      shop.post({ asset, amount: 1.5, address: to }, key === undefined ? {} : { 'idempotency-key': key });
    const before = await post('ETH', 'before');
    expect(before.status).toBe(201);
    const { db } = service.ports;
    await halt(db, 'ETH');
    for (const key of [undefined, 'during']) {
      const { status, headers, body } = await post('ETH', key);
      expect([status, headers.get('retry-after'), body]).toEqual([
        503,
        '60',
        { message: 'Service Unavailable' },
      ]);
    }
    expect(await db.rows('select 1 from payouts')).toHaveLength(1);
    expect((await post('USDC_ERC20')).status).toBe(201);
    const again = await post('ETH', 'before');
    expect([again.status, again.body]).toEqual([201, before.body]);
    expect((await shop.get(`/api/payouts/${before.body.data.id}`)).body).toMatchObject({ status: 'pending' });
    await resume(db, 'ETH');
    expect((await post('ETH', 'during')).status).toBe(201);
  });

  it('follows what the bus brings', async () => {
    const { connectBus } = await import('@quittance/shared/bus');
    const bus = await connectBus({ url: nats.url, service: 'auditor', logger: service.ports.logger });
    const { db } = service.ports;
    const send = (id: string, kind: 'asset.halted' | 'asset.resumed', payload: object) =>
      bus.publish([
        {
          kind,
          dedupe: id,
          body: JSON.stringify({ id, kind, created_at: new Date().toISOString(), request_id: null, payload }),
        },
      ]);
    try {
      const breaches = [{ invariant: 'I2', what: 'a balance is off by 1' }];
      await send('evt_h', 'asset.halted', { asset: 'USDC_ERC20', halt: '7', breaches });
      await eventually(async () => expect([...(await haltedAssets(db))]).toEqual(['USDC_ERC20']));
      await send('evt_r', 'asset.resumed', { asset: 'USDC_ERC20', halt: '7' });
      await eventually(async () => expect([...(await haltedAssets(db))]).toEqual([]));
    } finally {
      await bus.close();
    }
  });
});

it('on Bitcoin nothing new is signed, and what was signed is followed', async () => {
  const ground = await bitcoinGround();
  const world = await BitcoinWorld.fresh(ground);
  try {
    await world.deposit(BITCOIN);
    const signed = await world.reserve(BITCOIN / 4n);
    await world.run();
    const waiting = await world.reserve(BITCOIN / 4n);
    await halt(world.db, 'BTC');
    await world.node.mine(BITCOIN_DEPTH);
    await world.run();
    await world.run();
    expect([await world.statusOf(signed), await world.statusOf(waiting)]).toEqual(['mined', 'reserved']);
    await resume(world.db, 'BTC');
    await world.finish();
    expect(await world.statusOf(waiting)).toBe('mined');
    await world.expectSound();
  } finally {
    await world.close();
    await ground.stop();
  }
});

it('on Solana nothing new is signed for what is halted, and other assets go on', async () => {
  const ground = await solanaGround();
  const world = await SolanaWorld.fresh(ground, { lamports: 10n * SOL, usdc: 1_000n });
  try {
    const lamports = await world.reserve('SOL', SOL);
    const tokens = await world.reserve('USDC_SOL', 100n);
    await halt(world.db, 'SOL');
    await world.ends(tokens.id, 'mined');
    expect(await world.payout(lamports.id)).toMatchObject({ status: 'reserved' });
    await resume(world.db, 'SOL');
    await world.ends(lamports.id, 'mined');
    await world.expectSound();
  } finally {
    await world.close();
    await ground.stop();
  }
});
