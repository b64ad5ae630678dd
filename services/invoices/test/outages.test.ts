import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { expireInvoices } from '../src/operations/expire-invoices.ts';
import { MINUTE, startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ outageMs: MINUTE, staleMs: 3 * MINUTE });
});
afterAll(() => world.stop());
beforeEach(async () => {
  world.chain.mine({});
  await world.scan();
});

async function anInvoice(order: object = { expires_in: 10 }) {
  const invoice = await world.anInvoice(order);
  return {
    ...invoice,
    kinds: async () => (await world.told(invoice.id)).map(({ kind }) => kind).slice(1),
    version: async () =>
      (await world.rows('select version from invoices where id = $1', [invoice.id]))[0].version,
  };
}

const later = (time: Date, ms: number): string => new Date(time.getTime() + ms).toISOString();

/** Time in which the node makes blocks, and answers nothing. */
function away(minutes: number) {
  world.chain.away = true;
  for (let i = 0; i < minutes; i++) {
    world.pass(MINUTE);
    world.chain.mine({});
  }
  world.chain.away = false;
}

/** The chain is seen minute by minute. */
async function watch(minutes: number) {
  for (let i = 0; i < minutes; i++) {
    world.pass(MINUTE);
    world.chain.mine({});
    await world.scan();
  }
}

describe('while a chain cannot be seen', () => {
  it('no invoice of it expires, and afterwards each has as much time left as before', async () => {
    const early = await anInvoice();
    await watch(8);
    const young = await anInvoice();
    away(30);
    await world.scan();
    expect(await early.read()).toMatchObject({
      status: 'pending',
      expires_at: later(early.expiresAt, 30 * MINUTE),
    });
    expect(await young.read()).toMatchObject({ expires_at: later(young.expiresAt, 30 * MINUTE) });
    expect(await early.kinds()).toEqual([]);
    expect(await early.version()).toBe(2);
    await watch(2);
    expect(await early.read()).toMatchObject({ status: 'pending' });
    await watch(1);
    expect(await early.read()).toMatchObject({ status: 'expired' });
    expect(await young.read()).toMatchObject({ status: 'pending' });
  });

  it('an invoice made in the meantime gets back what it lived through', async () => {
    world.chain.away = true;
    world.pass(5 * MINUTE);
    const invoice = await anInvoice();
    world.pass(7 * MINUTE);
    world.chain.away = false;
    world.chain.mine({});
    await world.scan();
    expect(await invoice.read()).toMatchObject({ expires_at: later(invoice.expiresAt, 7 * MINUTE) });
  });

  it('a minute is no outage', async () => {
    const invoice = await anInvoice();
    away(1);
    await world.scan();
    expect(await invoice.read()).toMatchObject({ expires_at: invoice.expiresAt.toISOString() });
    expect(await invoice.version()).toBe(1);
  });

  it('a payment that came after the old time and before the new one is in time', async () => {
    // No balance is watched for a token: nothing but the chain’s own standing keeps it from expiring.
    const invoice = await anInvoice({ asset: 'USDC_ERC20', expires_in: 10 });
    away(15);
    world.chain.mine({ pay: [{ to: invoice.to, amount: 25_000_000n, asset: 'USDC_ERC20' }] }, {}, {});
    await world.scan();
    expect(await invoice.read()).toMatchObject({ status: 'confirmed', paid_amount: '25' });
    expect(await invoice.kinds()).toEqual(['deposit.settled', 'invoice.confirmed']);
    const settled = (await world.told(invoice.id)).find(({ kind }) => kind === 'deposit.settled');
    expect(settled?.payload).toMatchObject({ disposition: 'credit' });
  });

  it('so many blocks that it takes many steps: nothing expires before the head is reached', async () => {
    const invoice = await anInvoice({ asset: 'USDC_ERC20', expires_in: 10 });
    away(40);
    expect(await world.scanner.step()).toBe(16);
    await world.scanner.step();
    expect(await expireInvoices(world.ports, world.watchedChain)).toBe(0);
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    await world.scan();
    expect(await invoice.read()).toMatchObject({ expires_at: later(invoice.expiresAt, 40 * MINUTE) });
  });

  it('a day is given at most', async () => {
    const invoice = await anInvoice();
    world.pass(3 * 24 * 60 * MINUTE);
    world.chain.mine({});
    await world.scan();
    // Its time was over long before the chain was seen again.
    expect(await invoice.read()).toMatchObject({
      status: 'expired',
      expires_at: later(invoice.expiresAt, 24 * 60 * MINUTE),
    });
  });

  it('one that expired before keeps its time, and one that never expires has none', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    await watch(2);
    expect(await invoice.read()).toMatchObject({ status: 'expired' });
    away(10);
    await world.scan();
    expect(await invoice.read()).toMatchObject({ expires_at: invoice.expiresAt.toISOString() });
  });

  it('two outages add up', async () => {
    const invoice = await anInvoice();
    away(3);
    await world.scan();
    await watch(1);
    away(4);
    await world.scan();
    expect(await invoice.read()).toMatchObject({ expires_at: later(invoice.expiresAt, 7 * MINUTE) });
  });

  it('more invoices than one batch all get their time, once, also when it is done in two goes', async () => {
    const merchant = world.merchant();
    await Promise.all(Array.from({ length: 600 }, () => merchant.invoice({ expires_in: 10 })));
    away(5);
    // The first batch is written, then the one who writes is gone.
    const { transaction } = world.ports.db;
    let batches = 0;
    world.ports.db.transaction = (work) =>
      transaction(async (trx) => {
        const { n } = await trx.one<{ n: number }>(
          'select count(*)::int as n from invoices where account_id = $1 and clock_until is not null',
          [merchant.account],
        );
        if (n > 0 && batches++ === 0) throw new Error('cut');
        return await work(trx);
      });
    await expect(world.scan()).rejects.toThrow('cut');
    world.pass(2 * MINUTE);
    await world.scan();
    world.ports.db.transaction = transaction;
    expect(
      await world.rows(
        `select (extract(epoch from expires_at - created_at) / 60)::int as minutes, count(*)::int as n
         from invoices where account_id = $1 group by 1`,
        [merchant.account],
      ),
    ).toEqual([{ minutes: 17, n: 600 }]);
  });
});

describe('a node that answers and does not show the chain', () => {
  it.each([
    ['that has gone back', 'lagsAt', 1],
    ['that names blocks it does not have', 'missesAbove', 0],
  ] as const)('%s', async (_what, trouble, below) => {
    world.chain.mine({}, {});
    await world.scan();
    const invoice = await anInvoice();
    world.chain[trouble] = world.chain.height() - below;
    for (let i = 0; i < 20; i++) {
      world.pass(MINUTE);
      world.chain.mine({});
      await world.scan();
    }
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    world.chain.lagsAt = undefined;
    world.chain.missesAbove = undefined;
    await world.scan();
    expect(await invoice.read()).toMatchObject({
      status: 'pending',
      expires_at: later(invoice.expiresAt, 20 * MINUTE),
    });
  });

  it('whose newest block is old, on a chain that makes one every few seconds', async () => {
    const invoice = await anInvoice();
    for (let i = 0; i < 20; i++) {
      world.pass(MINUTE);
      await world.scan();
    }
    world.chain.mine({});
    await world.scan();
    expect(await invoice.read()).toMatchObject({ status: 'pending' });
    // Seen as well as ever for three minutes after the last block.
    expect(await invoice.read()).toMatchObject({ expires_at: later(invoice.expiresAt, 17 * MINUTE) });
  });
});
