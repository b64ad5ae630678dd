import { describe, expect, it } from '@jest/globals';
import type { ReplyOf } from '@quittance/shared/commands';
import type { AccountId } from '@quittance/shared/ids';
import { selectDescribed } from '../src/store/described-holds.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  aReturn,
  giveUp,
  type Hold,
  type LedgerDeposit,
  openLedger,
  release,
  reversed,
  settle,
  settled,
} from './ledger-fixture.ts';
import { DESTINATION } from './with-request.ts';

/** What the ledger answers who signs payouts. */
const { fixture, handle, accept } = openLedger();

const LONG_AGO = '2 hours';
const AN_HOUR_AGO = () => new Date(Date.now() - 3_600_000).toISOString();

type Described = ReplyOf<'holds.describe'>['holds'];

/** Over NATS, as the signer asks. */
async function described(holds: readonly Hold[], since: string | null = AN_HOUR_AGO()): Promise<Described> {
  const asked = await fixture.bus.ask('holds.describe', {
    holds: holds.map(({ payout_id }) => ({ payout_id, deposits_since: since })),
  });
  if (!asked.known) throw new Error(asked.reason);
  return asked.reply.holds;
}
async function one(hold: Hold, since?: string | null): Promise<Described[number]> {
  const [only] = await described([hold], since);
  if (only === undefined) throw new Error('it is not described');
  return only;
}
const youngOf = async (hold: Hold) => (await one(hold)).deposited_since;

/** As if it had been booked so long ago. */
const age = ({ deposit_id }: LedgerDeposit, ago = LONG_AGO) =>
  fixture.admin.rows(`update transfers set created_at = now() - $2::interval where op = 'deposit:' || $1`, [
    deposit_id,
    ago,
  ]);

async function credited(account: AccountId, amount: bigint, other: Partial<LedgerDeposit> = {}) {
  const deposit = aDeposit(account, amount, other);
  await handle(settled(deposit));
  return deposit;
}
async function placed(hold: Hold): Promise<Hold> {
  expect(await fixture.place(hold)).toBe('placed');
  return hold;
}

describe('a hold', () => {
  it('is described with its recipient, what is left beside it, and what deposits have brought since', async () => {
    const account = anAccount();
    await age(await credited(account, 100n));
    await credited(account, 30n);
    await credited(account, 7n, { asset: 'USDC_ERC20' });
    await credited(anAccount(), 1_000n);
    const hold = await placed(aHold(account, 60n, { network_fee: '5' }));
    expect(await one(hold)).toEqual({
      payout_id: hold.payout_id,
      account_id: account,
      asset: 'ETH',
      amount: '60',
      network_fee: '5',
      destination: DESTINATION,
      is_placed: true,
      available: '65',
      deposited_since: '30',
    });
    expect((await one(hold, null)).deposited_since).toBe('130');
  });

  it('of an older release has no recipient', async () => {
    const account = anAccount();
    await credited(account, 100n);
    const hold = await placed(aHold(account, 60n));
    await fixture.admin.rows('delete from hold_proofs where payout_id = $1', [hold.payout_id]);
    expect((await one(hold)).destination).toBeNull();
  });

  it('is not placed any more when it was settled, released, refused or voided', async () => {
    const account = anAccount();
    await credited(account, 100n);
    const [paid, failed] = [await placed(aHold(account, 10n)), await placed(aHold(account, 10n))];
    const voided = await placed(aHold(account, 10n));
    const [tooMuch, neverAsked] = [aHold(account, 1_000n), aHold(account, 10n)];
    expect(await fixture.place(tooMuch)).toBe('refused');
    await handle(settle(paid), release(failed), giveUp(voided), giveUp(neverAsked));
    const all = await described([paid, failed, voided, tooMuch, neverAsked]);
    expect(all.map((hold) => hold.is_placed)).toEqual(Array(5).fill(false));
    expect(all.find((hold) => hold.payout_id === neverAsked.payout_id)).toMatchObject({
      amount: '0',
      network_fee: '0',
    });
  });

  it('that does not exist is left out, and the others are described', async () => {
    const account = anAccount();
    await credited(account, 100n);
    const holds = [await placed(aHold(account, 10n)), await placed(aHold(account, 20n))];
    const answers = await described([aHold(account, 5n), ...holds]);
    expect(answers.map(({ payout_id, available }) => [payout_id, available]).toSorted()).toEqual(
      holds.map(({ payout_id }) => [payout_id, '70']).toSorted(),
    );
  });
});

describe('what deposits have brought since a time', () => {
  it('has those of some seconds before it, which a check that began then may not have seen', async () => {
    const account = anAccount();
    await age(await credited(account, 100n), '1 hour 5 seconds');
    await age(await credited(account, 11n), '1 hour 1 minute');
    expect(await youngOf(await placed(aHold(account, 10n)))).toBe('100');
  });

  it('has a deposit that the chain took back, because it never counts less', async () => {
    const account = anAccount();
    const deposit = await credited(account, 100n);
    await age(await credited(account, 50n));
    const hold = await placed(aHold(account, 10n));
    await handle(reversed(deposit));
    expect(await one(hold)).toMatchObject({ available: '40', deposited_since: '100' });
  });

  it('has an unresolved deposit when it is accepted, by when it was booked', async () => {
    const account = anAccount();
    const [young, old] = [
      await credited(account, 100n, { disposition: 'unresolved' }),
      await credited(account, 70n, { disposition: 'unresolved' }),
    ];
    await age(await credited(account, 50n));
    await age(old);
    const hold = await placed(aHold(account, 10n));
    expect(await youngOf(hold)).toBe('0');
    await accept(young);
    await accept(old);
    expect(await one(hold)).toMatchObject({ available: '210', deposited_since: '100' });
  });

  it('is the deposit that a refund pays back, beside which nothing is available', async () => {
    const account = anAccount();
    await credited(account, 500n);
    const deposit = await credited(account, 100n, { disposition: 'unresolved' });
    const hold = await placed(aReturn(deposit));
    expect(await one(hold)).toMatchObject({ amount: '90', available: '0', deposited_since: '100' });
    await age(deposit);
    expect(await one(hold)).toMatchObject({ available: '0', deposited_since: '0' });
  });
});

it('is read by indexes, however many transfers and holds there are', async () => {
  const account = anAccount();
  await credited(account, 100n);
  const hold = await placed(aHold(account, 10n));
  const undone = new Error('undone');
  const filled = fixture.admin.transaction(async (trx) => {
    await trx.rows(`set local session_replication_role = replica`);
    await trx.rows(
      `insert into transfers (op, kind, account_id, asset, amount, detail, created_at)
       select 'deposit:many' || n, 'deposit', 'acc_' || n % 500, 'ETH', 1, 'credit', now() - n * interval '1 second'
       from generate_series(1, 50000) as n`,
    );
    await trx.rows(
      `insert into holds (payout_id, account_id, asset, amount, network_fee, state)
       select 'many' || n, 'acc_' || n % 500, 'ETH', 1, 0, 'settled' from generate_series(1, 20000) as n`,
    );
    await trx.rows(
      `insert into hold_proofs (payout_id, assertion_id, item, use, destination)
       select 'many' || n, 'many' || n, 0, 'once', 'x' from generate_series(1, 20000) as n`,
    );
    await trx.rows(
      `insert into balances (account_id, asset) select 'acc_' || n, 'ETH' from generate_series(1, 20000) as n`,
    );
    await trx.rows('analyze transfers, holds, hold_proofs, balances');
    const plan = await trx.rows<{ 'QUERY PLAN': string }>(`explain ${selectDescribed.text}`, [
      [hold.payout_id],
      [AN_HOUR_AGO()],
    ]);
    planned = plan.map((line) => line['QUERY PLAN']).join('\n');
    throw undone;
  });
  let planned = '';
  await expect(filled).rejects.toBe(undone);
  expect(planned).not.toContain('Seq Scan');
  expect(planned).toContain('transfers_of_account');
});
