import { beforeEach, describe, expect, it } from '@jest/globals';
import { api } from '@quittance/testkit/api';
import { chooseAsset } from '../src/operations/choose-asset.ts';
import { expireInvoices } from '../src/operations/expire-invoices.ts';
import { outageLimits } from '../src/watch-chains.ts';
import { later, MINUTE, openFixture } from './fixture.ts';

const limits = { outageMs: MINUTE, staleMs: 3 * MINUTE, gapMs: 3 * MINUTE, lateMs: 3 * MINUTE };
const { fixture, mine, blocks, pass, anInvoice: invoiceOf } = await openFixture(limits);
beforeEach(async () => {
  await blocks(1);
});

const anInvoice = (order: object = { expires_in: 10 }) => invoiceOf(order);

/** Lets time pass in which the node makes blocks and does not answer. */
function away(minutes: number) {
  fixture.chain.away = true;
  for (let i = 0; i < minutes; i++) {
    fixture.pass(MINUTE);
    fixture.chain.mine({});
  }
  fixture.chain.away = false;
}

/** Lets time pass in which every block is scanned. */
async function watch(minutes: number) {
  for (let i = 0; i < minutes; i++) {
    await pass(MINUTE);
  }
}

describe('while a chain is not synced', () => {
  it('none of its invoices expires, and afterwards each has as much time left as before', async () => {
    const early = await anInvoice();
    await watch(8);
    const young = await anInvoice();
    away(30);
    await fixture.scan();
    await early.expectShown({ status: 'pending', expires_at: later(early.expiresAt, 30 * MINUTE) });
    await young.expectShown({ expires_at: later(young.expiresAt, 30 * MINUTE) });
    await early.expectReported();
    const stored = await fixture.rows('select version from invoices where id = $1', [early.id]);
    expect(stored).toEqual([{ version: 2 }]);
    await watch(2);
    await early.expectShown({ status: 'pending' });
    await watch(1);
    await early.expectShown({ status: 'expired' });
    await young.expectShown({ status: 'pending' });
  });

  it('a payment between the old and the extended expiry is in time', async () => {
    // A token's invoice needs no balance check: only the state of the chain keeps it open.
    const invoice = await anInvoice({ asset: 'USDC_ERC20', expires_in: 10 });
    away(15);
    await mine({ pay: [{ to: invoice.to, amount: 25_000_000n, asset: 'USDC_ERC20' }] }, {}, {});
    await invoice.expectShown({ status: 'confirmed', paid_amount: '25' });
    await invoice.expectReported('deposit.settled', 'invoice.confirmed');
    const settled = (await fixture.told(invoice.id)).find(({ kind }) => kind === 'deposit.settled');
    expect(settled?.payload).toMatchObject({ disposition: 'credit' });
  });

  it('no invoice expires before the chain is synced, also when that takes many steps', async () => {
    const invoice = await anInvoice({ asset: 'USDC_ERC20', expires_in: 10 });
    away(40);
    expect(await fixture.scanner.step()).toBe(16);
    await fixture.scanner.step();
    expect(await expireInvoices(fixture.ports, fixture.watchedChain)).toBe(0);
    await invoice.expectShown({ status: 'pending' });
    await fixture.scan();
    await invoice.expectShown({ expires_at: later(invoice.expiresAt, 40 * MINUTE) });
  });

  it('an invoice that had expired keeps its expiry, and one without expiry has none', async () => {
    const invoice = await anInvoice({ expires_in: 1 });
    await watch(2);
    await invoice.expectShown({ status: 'expired' });
    away(10);
    await fixture.scan();
    await invoice.expectShown({ expires_at: invoice.expiresAt.toISOString() });
  });

  it('more invoices than one batch are each extended once, also after an interruption', async () => {
    const merchant = fixture.merchant();
    const { id } = await merchant.invoice({ expires_in: 10 });
    await fixture.rows(
      `insert into invoices select copy.* from invoices i, generate_series(1, 599) as n,
         jsonb_populate_record(i, jsonb_build_object('id', i.id || n)) as copy
       where i.id = $1`,
      [id],
    );
    away(5);
    // The process dies after the first batch.
    const { transaction } = fixture.ports.db;
    let batches = 0;
    fixture.ports.db.transaction = (work) =>
      transaction(async (trx) => {
        const { n } = await trx.one<{ n: number }>(
          'select count(*)::int as n from invoices where account_id = $1 and extended_until is not null',
          [merchant.account],
        );
        if (n > 0 && batches++ === 0) throw new Error('cut');
        return await work(trx);
      });
    await expect(fixture.scan()).rejects.toThrow('cut');
    fixture.pass(2 * MINUTE);
    await fixture.scan();
    fixture.ports.db.transaction = transaction;
    expect(
      await fixture.rows(
        `select (extract(epoch from expires_at - created_at) / 60)::int as minutes, count(*)::int as n
         from invoices where account_id = $1 group by 1`,
        [merchant.account],
      ),
    ).toEqual([{ minutes: 17, n: 600 }]);
  });
});

describe('a node that answers and lags', () => {
  it.each([
    ['that has gone back', 'lagsAt', 1],
    ['that names blocks it does not have', 'missesAbove', 0],
  ] as const)('%s', async (_what, fault, below) => {
    await mine({}, {});
    const invoice = await anInvoice();
    fixture.chain[fault] = fixture.chain.height() - below;
    for (let i = 0; i < 20; i++) {
      await pass(MINUTE);
    }
    await invoice.expectShown({ status: 'pending' });
    fixture.chain.lagsAt = undefined;
    fixture.chain.missesAbove = undefined;
    await fixture.scan();
    await invoice.expectShown({ status: 'pending', expires_at: later(invoice.expiresAt, 20 * MINUTE) });
  });

  it.each(['evm', 'solana'] as const)(
    'is at its head while it is a minute and a half behind, which is given back: %s',
    (kind) => {
      const { staleMs, gapMs, lateMs } = outageLimits(kind, undefined, 1_000);
      expect(staleMs).toBeGreaterThan(1.5 * MINUTE);
      expect(gapMs).toBeLessThan(1.5 * MINUTE);
      expect(lateMs).toBeLessThan(1.5 * MINUTE);
    },
  );

  it('whose newest block is old, on a chain that makes one every few seconds', async () => {
    const invoice = await anInvoice();
    for (let i = 0; i < 20; i++) {
      fixture.pass(MINUTE);
      await fixture.scan();
    }
    await blocks(1);
    await invoice.expectShown({ status: 'pending' });
    // Which blocks it kept back is unknown.
    await invoice.expectShown({ expires_at: later(invoice.expiresAt, 20 * MINUTE) });
  });
});

it('the time that the extension takes does not count as an outage', async () => {
  const invoice = await anInvoice();
  await watch(1);
  away(5);
  // The last of many invoices is extended after two minutes.
  const { db } = fixture.ports;
  const { transaction } = db;
  let isSlow = true;
  db.transaction = (work) =>
    transaction((trx) =>
      work({
        ...trx,
        rows: async (sql, values) => {
          if (isSlow && typeof sql !== 'string' && sql.name === 'invoices_lock_extendable') {
            isSlow = false;
            fixture.pass(2 * MINUTE);
          }
          return await trx.rows(sql, values);
        },
      }),
    );
  try {
    await fixture.scanner.step();
  } finally {
    db.transaction = transaction;
  }
  expect(isSlow).toBe(false);
  await fixture.scan();
  await invoice.expectShown({ expires_at: later(invoice.expiresAt, 5 * MINUTE) });
});

it('an outage extends an invoice by its part after the choice of the asset', async () => {
  const shop = fixture.merchant();
  const { body } = await shop.post('/api/invoices', { amount: 25, assets: ['ETH'], expires_in: 60 });
  const { id, expires_at } = body.data;
  away(20);
  await chooseAsset(fixture.ports, { id, text: 'ETH', requestId: 'req_1' });
  away(5);
  await fixture.scan();
  expect((await shop.read(id)).expires_at).toBe(later(new Date(expires_at), 5 * MINUTE));
});

it('its page goes on asking for the payment without a time left, until no outage can extend it any more', async () => {
  const { id, shown } = await anInvoice();
  const page = async () => {
    const { body } = await api(fixture.service.port, 'GET', `/pay/${id}`, { now: fixture.clock.now() });
    return { body, version: /events\?after=([0-9a-f]+)/.exec(body)?.[1] };
  };
  expect((await page()).body).toContain('class="left"');
  fixture.pass(15 * MINUTE);
  const during = await page();
  expect(during.body).toContain(shown);
  expect(during.body).toContain('The time to pay is extended');
  expect(during.body).not.toMatch(/class="left"|do not pay/);
  fixture.pass(24 * 60 * MINUTE);
  const { body, version } = await page();
  expect(body).toContain('do not pay');
  expect(body).not.toContain(shown);
  expect(version).toMatch(/./);
  expect(version).not.toBe(during.version);
});
