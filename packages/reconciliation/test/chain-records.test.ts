import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ScriptedEvmNode } from '@quittance/testkit/scripted-evm-node';
import { runAll, suiteDatabase } from '@quittance/testkit/suite-database';
import type { CheckScope, ReconciledChain } from '../src/chain-records.ts';
import { snapshotOf } from '../src/snapshot.ts';
import { checkChain } from '../src/verify-books.ts';

/** Rows of a database against a chain: one deposit, of which a part is paid out. */

const HOT = `0x${'1'.repeat(40)}`;
const RECIPIENT = `0x${'3'.repeat(40)}`;
const PAID = `0x${'9'.repeat(64)}`;
const BLOCK = `0x${'a'.repeat(64)}`;
const [DEPOSITED, AMOUNT, FEE, COST] = [1_000n, 500n, 30n, 20n];

const database = await suiteDatabase();
const db = database.openAsAdmin('public', { pool: 1 });
const run = (sql: string) => runAll(db, sql);
let node: ScriptedEvmNode;
let chain: ReconciledChain;

const noBooks = `
  delete from ledger.balances; delete from ledger.holds; delete from ledger.transfers; delete from payouts.payments;
  delete from payouts.transactions; delete from payouts.payouts; delete from payouts.wallets;
  delete from invoices.deposits; delete from invoices.outbox`;
const books = `${noBooks};
  insert into ledger.balances (account_id, asset, available, held)
    values ('acc_1', 'ETH', ${DEPOSITED - AMOUNT - FEE}, ${AMOUNT + FEE});
  insert into ledger.holds (payout_id, account_id, asset, amount, network_fee, state)
    values ('7', 'acc_1', 'ETH', ${AMOUNT}, ${FEE}, 'placed');
  insert into payouts.wallets (chain, address, role, next_nonce) values ('ethereum', '${HOT}', 'hot', 1);
  insert into payouts.payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status)
    values (1, 7, 'acc_1', 'ETH', ${AMOUNT}, ${FEE}, '${RECIPIENT}', 3, 'broadcast');
  insert into payouts.transactions (id, replacement_group, chain, wallet, nonce, purpose, asset, amount, max_cost,
      min_confirmations, raw, tx_hash, fence, state) overriding system value
    values (1, 1, 'ethereum', '${HOT}', 0, 'payout', 'ETH', ${AMOUNT}, 1, 3, 'bytes', '${PAID}', 1, 'broadcast');
  insert into payouts.payments (payout_id, replacement_group, address, amount) values (7, 1, '${RECIPIENT}', ${AMOUNT})`;

/** What is wrong, with nothing looked at twice. */
const found = async (given: Partial<CheckScope> = {}) =>
  (await checkChain(snapshotOf(db, 10_000), chain, { gracePeriodSeconds: 0, ...given })).discrepancies.map(
    ({ what }) => what,
  );

beforeAll(() => run('set session_replication_role = replica'));
database.finally(() => run(noBooks));
beforeEach(async () => {
  await run(books);
  node = new ScriptedEvmNode();
  node.blocks.set(10, BLOCK);
  node.balances.set(HOT, DEPOSITED);
  const settings = await node.start();
  chain = { settings };
});
afterEach(() => node.stop());

/** The payment is in a block, and too new to be settled. */
function isMined(): void {
  node.mined.set(PAID, { to: RECIPIENT, value: AMOUNT, succeeded: true, height: 10 });
  node.balances.set(HOT, DEPOSITED - AMOUNT - COST);
}

test('a payout in flight is no shortage, since its fee pays for its transaction, and what is missing beside it is one', async () => {
  expect(await found()).toEqual([]);
  isMined();
  expect(await found()).toEqual([]);
  node.balances.set(HOT, DEPOSITED - AMOUNT - FEE - 1n);
  expect(await found()).toEqual([expect.stringMatching(/^ETH is short of 1:/)]);
});

const days = (n: number) => new Date(Date.now() - n * 86_400_000);
const watermarks = { transfers: '999', deposits: '999', transactions: '999' };

describe('a deposit', () => {
  const ADDRESS = `0x${'2'.repeat(40)}`;
  const BY = `0x${'7'.repeat(64)}`;
  const NOT_THERE = [
    expect.stringMatching(/^deposit dep_1 is settled: its transaction 0x7+ is not in the chain/),
  ];
  /** Of a transaction that the chain does not have, unless `paid` has put it there. */
  const deposit = ({
    id = 'dep_1',
    place = `${BY}:0`,
    hash = `'${BY}'`,
    amount = 60,
    state = 'settled',
    ago = '1 hour',
  } = {}) =>
    run(
      `insert into invoices.deposits (id, chain, outpoint, invoice_id, asset, address, derivation_index, amount, tx_hash,
         output_index, block_height, block_hash, first_seen_at, min_confirmations, state, dropped_height, settled_at,
         disposition, credited_at)
       select '${id}', 'ethereum', '${place}', 'inv_1', 'ETH', '${ADDRESS}', 0, ${amount}, ${hash}, 0, 10, '${BLOCK}',
         at, 3, '${state}', ${state === 'missing' ? 9 : 'null'}, settled, case when settled is not null then 'credit' end, settled
       from (select now() - interval '${ago}' as at) as t,
         lateral (select case when '${state}' in ('seen', 'dropped') then null else at end as settled) as s`,
    );
  const paid = (value = 60n) => node.mined.set(BY, { to: ADDRESS, value, succeeded: true, height: 10 });

  test('that the chain never had is named, though the float of the hot wallet covers it', async () => {
    await deposit();
    await run('update ledger.balances set available = available + 60');
    node.balances.set(HOT, 10n * DEPOSITED);
    expect(await found()).toEqual(NOT_THERE);
    paid();
    expect(await found()).toEqual([]);
  });

  test.each(['missing', 'reversed', 'seen'])('that is %s is not asked for', async (state) => {
    await deposit({ state });
    if (state === 'missing')
      await run(
        `update ledger.balances set available = available + 60;
         insert into ledger.transfers (op, kind, account_id, asset, amount) values ('deposit:dep_1', 'deposit', 'acc_1', 'ETH', 60)`,
      );
    expect(await found()).toEqual([]);
  });

  test('is compared with those of its transaction that are not settled yet', async () => {
    await deposit({ amount: 20 });
    await deposit({ id: 'dep_2', place: `${BY}:1`, amount: 40, state: 'seen' });
    await deposit({ id: 'dep_3', place: `${BY}:2`, amount: 40, state: 'reversed' });
    paid();
    expect(await found()).toEqual([]);
  });

  test('that a contract sent is known by its outpoint, and only its block is asked for', async () => {
    await deposit({ place: `${BLOCK}:${ADDRESS}` });
    await deposit({ id: 'dep_2', place: `${BLOCK}:${ADDRESS} 2`, hash: 'null' });
    await run(`update invoices.deposits set address = address || ' 2' where id = 'dep_2'`);
    expect(await found()).toEqual([]);
    node.blocks.set(11, BLOCK);
    node.blocks.set(10, `0x${'b'.repeat(64)}`);
    const dropped = expect.stringMatching(/its block 0xa+ is not in the chain/);
    expect(await found()).toEqual([dropped, dropped]);
  });

  test('is asked for when it is new, on its way to the ledger, booked since, or under suspicion', async () => {
    await deposit();
    expect(await found({ watermarks })).toEqual([]);
    expect(await found({ watermarks, suspects: ['deposit dep_1 chain'] })).toEqual(NOT_THERE);
    const event = `insert into invoices.outbox (id, kind, payload, sent_at, confirmed_at)
      values ('evt_1', 'deposit.settled', '{"deposit_id": "dep_1", "asset": "ETH", "amount": "0"}'`;
    await run(`${event}, now(), now())`);
    expect(await found({ watermarks: { ...watermarks, deposits: '0' } })).toEqual(NOT_THERE);
    expect(await found({ watermarks })).toEqual([]);
    await run(`delete from invoices.outbox; ${event}, null, null)`);
    expect(await found({ watermarks })).toEqual(NOT_THERE);
    await run(
      `delete from invoices.outbox; insert into ledger.transfers (op, kind, account_id, asset, amount)
         values ('deposit:dep_1', 'deposit', 'acc_1', 'ETH', 60)`,
    );
    expect(await found({ watermarks: { ...watermarks, transfers: '0' } })).toEqual(NOT_THERE);
  });

  test('that is old is not asked for again, but for one under suspicion', async () => {
    await deposit({ ago: '3 days' });
    expect(await found({ since: days(2) })).toEqual([]);
    expect(
      await found({ since: days(2), suspects: ['deposit dep_1 chain, more than was accepted'] }),
    ).toEqual(NOT_THERE);
  });

  test('of a chain that was there before this one began is not asked for, whenever it was settled', async () => {
    await deposit({ ago: '3 days' });
    await run('update invoices.deposits set settled_at = now()');
    chain = { ...chain, since: days(1) };
    expect(await found({ suspects: ['deposit dep_1 chain'] })).toEqual([]);
  });
});

test('a payout that is mined and away is waited for, and is named at once when its nonce is used by another transaction', async () => {
  await run(
    `update payouts.payouts set status = 'mined', tx_hash = '${PAID}', completed_at = now();
     update payouts.transactions set state = 'mined', block_height = 10, block_hash = '${BLOCK}', updated_at = now();
     update ledger.balances set held = 0; update ledger.holds set state = 'settled'`,
  );
  const patient = { gracePeriodSeconds: 60 };
  expect(await found(patient)).toEqual([]);
  node.nonces.set(HOT, 1);
  expect(await found(patient)).toEqual([
    expect.stringMatching(/^payout 7 is mined, and no transaction of it is in the chain/),
  ]);
});

test('what is known to be wrong is looked at however old, and as long as it is wrong', async () => {
  const STOLEN = `0x${'8'.repeat(64)}`;
  // Three days ago: a payout that is mined only in the records, and a network fee without a known transaction.
  await run(
    `update payouts.payouts set status = 'mined', tx_hash = '${PAID}', completed_at = now() - interval '3 days';
     update payouts.transactions set state = 'mined', block_height = 9, block_hash = '0xb', final_at = now() - interval '3 days',
       updated_at = now() - interval '3 days';
     update ledger.balances set held = 0; update ledger.holds set state = 'settled';
     insert into ledger.transfers (op, kind, account_id, asset, amount, created_at)
       values ('network:${STOLEN}', 'network', null, 'ETH', 20, now() - interval '3 days')`,
  );
  const everything = await found();
  expect(everything).toEqual([
    expect.stringMatching(/^payout 7 is mined, and no transaction of it is in the chain/),
    expect.stringMatching(/^a cost of 20 is booked for 0x8+, which is not in the chain/),
    expect.stringMatching(/^what 0x9+ cost in the chain is not booked/),
  ]);
  const since = days(2);
  expect(await found({ since })).toEqual([]);
  for (const given of [{ since }, { since, watermarks }]) {
    expect(await found({ ...given, suspects: ['payout 7 chain'] })).toEqual([everything[0], everything[2]]);
    expect(await found({ ...given, suspects: [`cost ${STOLEN}`] })).toEqual([everything[1]]);
    expect(await found({ ...given, suspects: [`cost ${PAID}, more than was accepted`] })).toEqual([
      everything[0],
      everything[2],
    ]);
  }
  await run('delete from ledger.transfers');
  isMined();
  expect(await found({ since, suspects: ['payout 7 chain', `cost ${STOLEN}`] })).toEqual([everything[2]]);
});
