import { afterAll, expect, it } from '@jest/globals';
import { applyBlocks } from '@quittance/invoices/operations/apply-blocks';
import { cancelInvoice } from '@quittance/invoices/operations/cancel-invoice';
import { chooseAsset } from '@quittance/invoices/operations/choose-asset';
import { expireInvoices } from '@quittance/invoices/operations/expire-invoices';
import { scanChain } from '@quittance/invoices/operations/scan-chain';
import { findCursor } from '@quittance/invoices/store/cursors';
import type { Db } from '@quittance/shared/db';
import type { InvoiceId } from '@quittance/shared/ids';
import { type Lease, LeaseLost, takeLease } from '@quittance/shared/lease';
import { ETHER, MINUTE, openFixture } from '../../services/invoices/test/fixture.ts';
import { type Operation, openInterleaver, returned } from './interleave.ts';

/** The amount due of an invoice of 25 dollars: 0.01 ETH. */
const DUE = ETHER / 100n;
const LEASE_MS = 60_000;

const { fixture, anInvoice } = await openFixture();
const { ports, chain, watchedChain: watched } = fixture;
const replicas = await openInterleaver(fixture.database, 'invoices');
afterAll(() => replicas.close());

const LEASE = 'scanner.ethereum';
let replica = 0;

/** Time passes: the replica that has the lease did not prolong it. */
const letLeaseExpire = (db: Db) =>
  db.rows(`update leases set expires_at = clock_timestamp() - interval '1 second'`);

async function newerLease(db: Db): Promise<Lease> {
  await letLeaseExpire(db);
  const lease = await takeLease(db, LEASE, `replica ${++replica}`, LEASE_MS);
  if (lease === undefined) throw new Error('the lease has expired');
  return lease;
}

/** Scans with a lease that this replica took before, or takes now. It pauses before the lease is checked, and before the commit. */
const scanning = (given?: Lease): Operation<number> => ({
  pausesBefore: ['lease_fence', 'commit'],
  async run(db) {
    const lease = given ?? (await newerLease(db));
    return (await scanChain({ ...ports, db }, watched, lease)).taken;
  },
});

const heightOf = async () => (await findCursor(ports.db, 'ethereum'))?.height;

/** The next block pays an invoice. @returns what expects that the block was applied, and the payment noted once */
async function payInNextBlock(): Promise<() => Promise<void>> {
  const invoice = await anInvoice();
  chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
  return async () => {
    expect(await heightOf()).toBe(chain.height());
    expect(await invoice.deposits()).toHaveLength(1);
    expect(await invoice.changes()).toEqual(['invoice.confirmed']);
  };
}

it('applies a block once when a second scanner takes over the lease meanwhile', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const expectAppliedOnce = await payInNextBlock();
    const { a, b } = await interleave(scanning(await newerLease(ports.db)), scanning());
    const taken = a.status === 'fulfilled' ? a.value : 0;
    if (a.status === 'rejected') expect(a.reason).toBeInstanceOf(LeaseLost);
    expect(taken + returned(b)).toBe(1);
    await expectAppliedOnce();
  });
});

it('applies a block once when two scanners have the same lease', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const expectAppliedOnce = await payInNextBlock();
    const lease = await newerLease(ports.db);
    const scan = { ...scanning(lease), pausesBefore: ['cursors_lock', 'commit'] as const };
    const both = await interleave(scan, scan);
    const outcomes = Object.values(both);
    const taken = outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    expect(taken.reduce((sum, one) => sum + one, 0)).toBe(1);
    for (const one of outcomes) {
      if (one.status === 'rejected') expect(one.reason.message).toMatch('only the holder of the lease');
    }
    await expectAppliedOnce();
  });
});

it('does not drop a new branch when an older scanner applies the former one', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const invoice = await anInvoice();
    const [former] = chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    const from = await findCursor(ports.db, 'ethereum');
    if (former === undefined || from === undefined) throw new Error('the chain has blocks');
    const old = await newerLease(ports.db);
    chain.reorg(1, {});
    chain.mine({});
    const { a, b } = await interleave(
      {
        pausesBefore: ['lease_fence', 'commit'],
        run: (db) =>
          applyBlocks({ ...ports, db }, { watched, lease: old, from, base: from, blocks: [former] }),
      },
      scanning(),
    );
    if (a.status === 'rejected') expect(a.reason).toBeInstanceOf(LeaseLost);
    returned(b);
    await scanAll();
    expect(await heightOf()).toBe(chain.height());
    expect((await findCursor(ports.db, 'ethereum'))?.hash).toBe((await chain.head()).hash);
    expect((await invoice.deposits()).filter(({ state }) => ['seen', 'settled'].includes(state))).toEqual([]);
  });
});

/** Scans until the chain is synced and its balances are checked. Expires nothing. */
async function scanAll(): Promise<Lease> {
  await letLeaseExpire(ports.db);
  while ((await fixture.scanner.step()) > 0);
  return await newerLease(ports.db);
}

it('reports an expiry and a late payment once, in this order, when a block is applied while its invoice expires', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const invoice = await anInvoice({ expires_in: 1 });
    fixture.pass(MINUTE + 1_000);
    chain.mine({});
    const lease = await scanAll();
    chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    const { a, b } = await interleave(
      { ...scanning(lease), pausesBefore: ['deposits_insert', 'commit'] },
      {
        pausesBefore: ['invoices_lock', 'commit'],
        run: (db) => expireInvoices({ ...ports, db }, watched),
      },
    );
    expect(returned(a)).toBe(1);
    expect([0, 1]).toContain(returned(b));
    await scanAll();
    await expireInvoices(ports, watched);
    expect(await invoice.changes()).toEqual(['invoice.expired', 'invoice.late_payment']);
    expect(await invoice.read()).toMatchObject({ status: 'expired', payments: [{ amount: '0.01' }] });
  });
});

it('either cancels an invoice or sees its payment first when a block pays it meanwhile', async () => {
  const ends = new Set<boolean>();
  await replicas.inEveryOrder(async (interleave) => {
    const invoice = await anInvoice();
    const lease = await scanAll();
    chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
    const { a, b } = await interleave(
      { ...scanning(lease), pausesBefore: ['deposits_insert', 'commit'] },
      {
        pausesBefore: ['payments_totals', 'commit'],
        run: (db) => cancelInvoice({ ...ports, db }, invoice.id as InvoiceId),
      },
    );
    expect(returned(a)).toBe(1);
    const { ok: isCancelled } = returned(b);
    ends.add(isCancelled);
    await scanAll();
    const { status, cancelled_at } = await invoice.read();
    const end = { status, isCancelled: cancelled_at !== null, changes: await invoice.changes() };
    expect(end).toEqual(
      isCancelled
        ? { status: 'expired', isCancelled, changes: ['invoice.expired', 'invoice.late_payment'] }
        : { status: 'confirmed', isCancelled, changes: ['invoice.confirmed'] },
    );
  });
  expect(ends).toEqual(new Set([true, false]));
});

/** An invoice whose payer has not chosen yet, and what became of it. */
async function anUnchosenInvoice() {
  const shop = fixture.merchant();
  const { id } = (await shop.post('/api/invoices', { amount: 25, assets: 'all' })).body.data;
  const choosing = (text: string): Operation<boolean> => ({
    pausesBefore: ['unchosen_invoices_take', 'commit'],
    async run(db) {
      const chosen = await chooseAsset({ ...ports, db }, { id, text, requestId: 'req_choice' });
      return chosen.ok && chosen.value;
    },
  });
  const changes = async () => (await fixture.told(id)).map(({ kind }) => kind).slice(1);
  return { id: id as InvoiceId, choosing, read: () => shop.read(id), changes };
}

it('gives an invoice the asset of one choice when its payer chooses in two tabs', async () => {
  const chosen = new Set<string>();
  await replicas.inEveryOrder(async (interleave) => {
    const invoice = await anUnchosenInvoice();
    const { a, b } = await interleave(invoice.choosing('ETH'), invoice.choosing('USDC_ERC20'));
    const [isFirst, isSecond] = [returned(a), returned(b)];
    expect(isFirst).toBe(!isSecond);
    const symbol = isFirst ? 'ETH' : 'USDC_ERC20';
    chosen.add(symbol);
    expect(await invoice.read()).toMatchObject({ asset: { symbol }, status: 'pending' });
    expect(await invoice.changes()).toEqual(['invoice.asset_chosen']);
  });
  expect(chosen.size).toBe(2);
});

it('cancels an invoice once, before or after its payer chooses, when both happen at once', async () => {
  const ends = new Set<boolean>();
  await replicas.inEveryOrder(async (interleave) => {
    const invoice = await anUnchosenInvoice();
    const { a, b } = await interleave(invoice.choosing('ETH'), {
      pausesBefore: ['unchosen_invoices_cancel', 'commit'],
      run: (db) => cancelInvoice({ ...ports, db }, invoice.id),
    });
    const [isChosen, { ok: isCancelled }] = [returned(a), returned(b)];
    expect(isCancelled).toBe(true);
    ends.add(isChosen);
    expect(await invoice.changes()).toEqual([
      ...(isChosen ? ['invoice.asset_chosen'] : []),
      'invoice.expired',
    ]);
    expect((await invoice.read()).status).toBe('expired');
  });
  expect(ends.size).toBe(2);
});
