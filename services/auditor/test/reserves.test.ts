import { describe, expect, it } from '@jest/globals';
import { creditedDeposit } from '@quittance/testkit/credited-deposit';
import { ADDRESS, PAID } from './audit-fixture.ts';
import { chainSuite, HOT } from './chain-with-deposit.ts';

/** A deposit of 60 units, unswept, and a hot wallet with 100 of the operator's own. */

const UNUSED = `0x${'3'.repeat(40)}`;
const SWEEP = `0x${'5'.repeat(64)}`;
const LATE = `0x${'6'.repeat(64)}`;
const DUST = 10n ** 13n;

const { fixture, at } = await chainSuite(`
  ${creditedDeposit({ amount: 60, address: ADDRESS, txHash: PAID, height: 10, booked: "now() - interval '1 day'" })};
  insert into invoices.addresses (chain, address, invoice_id, derivation_index) values
    ('ethereum', '${ADDRESS}', 'inv_1', 0), ('ethereum', '${UNUSED}', 'inv_2', 1);
  insert into payouts.wallets (chain, address, role, next_nonce) values ('ethereum', '${HOT}', 'hot', 0);
  insert into payouts.unswept_deposits (deposit_id, chain, address, derivation_index, asset, amount)
    select id, chain, address, 0, asset, amount from invoices.deposits`);
const { db } = fixture;

async function check(times = 1): Promise<void> {
  for (let i = 0; i < times; i++) await fixture.checkOf(at.ports);
}
const funds = () =>
  db.rows<{ cause: string; amount: string }>(
    'select cause, amount::text as amount from operator_funds order by seq',
  );
const discrepancies = () =>
  db.rows<{ subject: string }>(
    `select subject, times::int as times from discrepancies where chain = 'ethereum'`,
  );

describe('the operator’s funds', () => {
  it('are measured when two comparisons have found the same', async () => {
    await check();
    expect(await funds()).toEqual([]);
    await check(2);
    expect(await funds()).toEqual([{ cause: 'measured', amount: '100' }]);
    expect(await fixture.halts()).toEqual([]);
  });

  it('do not hide a theft that they would cover', async () => {
    await check(2);
    at.node.balances.set(HOT, 99n);
    await check(2);
    expect(await fixture.halts()).toEqual([{ asset: 'ETH', open: true }]);
    expect(await discrepancies()).toEqual([{ subject: 'ETH is short', times: 2 }]);
    expect(await funds()).toEqual([{ cause: 'measured', amount: '100' }]);
  });

  it('grow by what has come to the hot wallet, which is logged, and a theft of that is found too', async () => {
    await check(2);
    at.node.balances.set(HOT, 150n);
    await check(2);
    expect(await funds()).toEqual([
      { cause: 'measured', amount: '100' },
      { cause: 'arrived', amount: '50' },
    ]);
    expect(fixture.lines.filter(({ msg }) => msg.startsWith('money has come'))).toMatchObject([
      { level: 'warn', fields: { asset: 'ETH' } },
    ]);
    at.node.balances.set(HOT, 149n);
    await check(2);
    expect(await fixture.halts()).toEqual([{ asset: 'ETH', open: true }]);
  });

  it('are not measured while a deposit is not in the chain', async () => {
    at.node.mined.clear();
    await check(3);
    expect(await discrepancies()).toMatchObject([{ subject: 'deposit dep_1 chain' }]);
    expect(await funds()).toEqual([]);
  });

  it('are not measured while a transaction is on its way', async () => {
    await fixture.run(
      `insert into payouts.transactions (id, replacement_group, chain, wallet, nonce, purpose, asset, amount, max_cost,
         min_confirmations, raw, tx_hash, fence) overriding system value
       values (1, 1, 'ethereum', '${HOT}', 0, 'payout', 'ETH', 30, 1, 3, 'bytes', '0x9', 1)`,
    );
    await check(3);
    expect(await funds()).toEqual([]);
    await fixture.run('delete from payouts.transactions');
  });
});

describe('an address that was given out', () => {
  it('with more than is booked there is reported, halts nothing, and adds nothing to the operator’s funds', async () => {
    await check(2);
    at.node.balances.set(ADDRESS, 60n + DUST);
    await check(2);
    expect(await discrepancies()).toEqual([{ subject: `address ${ADDRESS} ETH`, times: 2 }]);
    expect(await fixture.halts()).toEqual([]);
    expect(await funds()).toEqual([{ cause: 'measured', amount: '100' }]);
  });

  it('without a payment is looked at as well', async () => {
    at.node.balances.set(UNUSED, DUST);
    await check(2);
    expect(await discrepancies()).toEqual([{ subject: `address ${UNUSED} ETH`, times: 2 }]);
    at.node.balances.set(UNUSED, 0n);
    await check();
    expect(await discrepancies()).toEqual([]);
  });

  it('keeps what a sweep has left there as ours, and is not asked for again', async () => {
    await check(2);
    // The payment was in another block first. The sweep has cost 20, and left 3 of its fee behind.
    await fixture.run(
      `insert into invoices.deposits
       select (jsonb_populate_record(d, '{"id":"dep_0","state":"dropped","dropped_height":9,"settled_at":null,"disposition":null,"credited_at":null}')).*
       from invoices.deposits d;
       update payouts.unswept_deposits set state = 'swept', sweep_id = 1;
       insert into payouts.transactions (id, replacement_group, chain, wallet, nonce, purpose, asset, amount, max_cost,
           min_confirmations, raw, tx_hash, fence, state, swept_address, block_height, block_hash, final_at) overriding system value
         values (1, 1, 'ethereum', '${ADDRESS}', 0, 'sweep', 'ETH', 37, 23, 3, 'bytes', '${SWEEP}', 1, 'mined', '${ADDRESS}', 10,
           '0xb', now());
       insert into ledger.transfers (op, kind, account_id, asset, amount) values ('network:${SWEEP}', 'network', null, 'ETH', 20);
       insert into ledger.entries (transfer_seq, account_id, bucket, asset, amount)
         select seq, null, bucket, 'ETH', parts.amount from ledger.transfers,
           (values ('custody', 20), ('network', -20)) as parts(bucket, amount) where op = 'network:${SWEEP}'`,
    );
    at.node.mined.set(SWEEP, { to: HOT, value: 37n, succeeded: true, height: 10 });
    at.node.balances.set(ADDRESS, 3n).set(HOT, 137n);
    await check(3);
    expect(await discrepancies()).toEqual([]);
    expect(await db.rows('select tx_hash, amount::text as amount from sweep_remains')).toEqual([
      { tx_hash: SWEEP, amount: '3' },
    ]);
    expect(await funds()).toEqual([{ cause: 'measured', amount: '100' }]);
    at.node.balances.set(HOT, 136n);
    await check(2);
    expect(await fixture.halts()).toEqual([{ asset: 'ETH', open: true }]);
    await fixture.run('delete from payouts.transactions');
  });

  it('with a payment that is written down late halts nothing then', async () => {
    await check(2);
    at.node.balances.set(ADDRESS, 61n);
    await check(3);
    expect(await funds()).toEqual([{ cause: 'measured', amount: '100' }]);
    await fixture.run(
      `${creditedDeposit({ n: 2, amount: 1, address: ADDRESS, txHash: LATE, height: 10 }).replace('insert into ledger.balances', 'delete from ledger.balances; insert into ledger.balances')};
       update ledger.balances set available = 61;
       insert into payouts.unswept_deposits (deposit_id, chain, address, derivation_index, asset, amount)
         select id, chain, address, 0, asset, amount from invoices.deposits where id = 'dep_2'`,
    );
    at.node.mined.set(LATE, { to: ADDRESS, value: 1n, succeeded: true, height: 10 });
    await check(3);
    expect(await fixture.halts()).toEqual([]);
    expect(await discrepancies()).toEqual([]);
    at.node.balances.set(ADDRESS, 60n);
    await check(2);
    expect(await fixture.halts()).toEqual([{ asset: 'ETH', open: true }]);
  });

  it('stays reported until it was looked at once more', async () => {
    at.node.balances.set(UNUSED, DUST);
    await check(2);
    await fixture.run(`update auditor.address_rounds set after_address = '0xffff'`);
    await check();
    expect(await discrepancies()).toEqual([{ subject: `address ${UNUSED} ETH`, times: 3 }]);
  });
});
