import { expect, it } from '@jest/globals';
import { acceptDeposit } from '@quittance/ledger/operations/accept-unresolved';
import { holdBatcherOf, placeHold } from '@quittance/ledger/operations/place-hold';
import { systemClock } from '@quittance/shared/clock';
import type { AccountId, DepositId } from '@quittance/shared/ids';
import {
  aDeposit,
  anAccount,
  aReturn,
  type Hold,
  handleOn,
  type LedgerDeposit,
  logger,
  release,
  reversed,
  settle,
  settled,
} from '../../services/ledger/test/ledger-fixture.ts';
import { type Operation, returned } from './interleave.ts';
import { handling, openLedgerReplicas } from './ledger-replicas.ts';

const { replicas, db } = await openLedgerReplicas();

/** @returns the outcome, or the name of the error: no answer, and the client asks again. */
const placing = (hold: Hold): Operation<string> => ({
  pausesBefore: ['returns_decide', 'commit'],
  async run(on) {
    const holds = holdBatcherOf({ db: on, clock: systemClock });
    return await placeHold({ holds, logger }, hold).then(
      ({ outcome }) => outcome,
      (error: Error) => error.name,
    );
  },
});
const accepting = ({ account_id, deposit_id }: LedgerDeposit): Operation<boolean> => ({
  pausesBefore: ['unresolved_accept', 'commit'],
  run: async (on) => (await acceptDeposit({ db: on }, account_id as AccountId, deposit_id as DepositId)).ok,
});

async function anOpenDeposit(): Promise<LedgerDeposit> {
  const deposit = aDeposit(anAccount(), 100n, { disposition: 'unresolved' });
  await handleOn(db, settled(deposit));
  return deposit;
}
const part = (deposit: LedgerDeposit, amount: bigint): Hold =>
  aReturn({ ...deposit, amount: amount.toString() }, 10n, { is_part: true });

/** Available, held and unresolved; what is left of the deposit and its state; what is returning and was returned in parts. */
const booksOf = async ({ deposit_id }: LedgerDeposit) =>
  Object.values(
    await db.one<object>(
      `select available, held, unresolved, amount, state, returning_amount, returned_amount
       from unresolved join balances using (account_id, asset) where deposit_id = $1`,
      [deposit_id],
    ),
  ).map(String);

it.each([
  [60n, 60n, ['RefundInProgress', 'placed'], ['0', '60', '40', '40', 'open', '60', '0']],
  [30n, 50n, ['placed', 'placed'], ['0', '80', '20', '20', 'open', '80', '0']],
])('places of parts of %p and %p of 100 what fits', async (one, two, outcomes, books) => {
  await replicas.inEveryOrder(async (interleave) => {
    const deposit = await anOpenDeposit();
    const { a, b } = await interleave(placing(part(deposit, one)), placing(part(deposit, two)));
    expect([returned(a), returned(b)].sort()).toEqual(outcomes);
    expect(await booksOf(deposit)).toEqual(books);
  });
});

it('places two parts that are all of a deposit, of which the second takes the rest', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const deposit = await anOpenDeposit();
    const { a, b } = await interleave(placing(part(deposit, 40n)), placing(part(deposit, 60n)));
    expect([returned(a), returned(b)]).toEqual(['placed', 'placed']);
    const books = await booksOf(deposit);
    const rest = books[3] ?? '';
    expect(['40', '60']).toContain(rest);
    expect(books).toEqual(['0', '100', '0', rest, 'returning', (100n - BigInt(rest)).toString(), '0']);
  });
});

it('accepts what a part leaves of a deposit, or all of it', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const deposit = await anOpenDeposit();
    const { a, b } = await interleave(placing(part(deposit, 60n)), accepting(deposit));
    expect(returned(b)).toBe(true);
    const isPlaced = returned(a) === 'placed';
    expect(await booksOf(deposit)).toEqual(
      isPlaced
        ? ['40', '60', '0', '40', 'accepted', '60', '0']
        : ['100', '0', '0', '100', 'accepted', '0', '0'],
    );
  });
});

it('gives a part whose payout fails back to the deposit, whatever becomes of the rest at once', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const deposit = await anOpenDeposit();
    const failing = part(deposit, 60n);
    await placing(failing).run(db);
    const { a, b } = await interleave(handling(release(failing)), placing(part(deposit, 40n)));
    expect([returned(a), returned(b)]).toEqual([undefined, 'placed']);
    expect(await booksOf(deposit)).toEqual(['0', '40', '60', '60', 'open', '40', '0']);
  });
  await replicas.inEveryOrder(async (interleave) => {
    const deposit = await anOpenDeposit();
    const failing = part(deposit, 60n);
    await placing(failing).run(db);
    const { a, b } = await interleave(handling(release(failing)), placing(part(deposit, 70n)));
    expect(returned(a)).toBe(undefined);
    const outcome = returned(b);
    expect(['placed', 'RefundInProgress']).toContain(outcome);
    expect(await booksOf(deposit)).toEqual(
      outcome === 'placed'
        ? ['0', '70', '30', '30', 'open', '70', '0']
        : ['0', '0', '100', '100', 'open', '0', '0'],
    );
  });
  await replicas.inEveryOrder(async (interleave) => {
    const deposit = await anOpenDeposit();
    const failing = part(deposit, 60n);
    await placing(failing).run(db);
    const { a, b } = await interleave(handling(release(failing)), accepting(deposit));
    expect([returned(a), returned(b)]).toEqual([undefined, true]);
    expect(await booksOf(deposit)).toEqual(['100', '0', '0', '100', 'accepted', '0', '0']);
  });
});

it('ends the payouts of a part and of the rest at once', async () => {
  for (const [endOfPart, endOfRest, books] of [
    [settle, settle, ['0', '0', '0', '40', 'returned', '0', '60']],
    [release, settle, ['0', '0', '60', '60', 'open', '0', '40']],
    [settle, release, ['0', '0', '40', '40', 'open', '0', '60']],
    [release, release, ['0', '0', '100', '100', 'open', '0', '0']],
  ] as const) {
    await replicas.inEveryOrder(async (interleave) => {
      const deposit = await anOpenDeposit();
      const [one, rest] = [part(deposit, 60n), part(deposit, 40n)];
      for (const hold of [one, rest]) expect(await placing(hold).run(db)).toBe('placed');
      const { a, b } = await interleave(handling(endOfPart(one)), handling(endOfRest(rest)));
      returned(a);
      returned(b);
      expect(await booksOf(deposit)).toEqual(books);
    });
  }
});

it('takes back what a part leaves of a deposit that the chain takes back at once', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const deposit = await anOpenDeposit();
    const hold = part(deposit, 60n);
    const { a, b } = await interleave(placing(hold), handling(reversed(deposit)));
    returned(b);
    const isPlaced = returned(a) === 'placed';
    const [available, held, unresolved, , state] = await booksOf(deposit);
    expect([available, held, unresolved, state]).toEqual(['0', isPlaced ? '60' : '0', '0', 'reversed']);
    if (!isPlaced) return;
    await handleOn(db, release(hold));
    expect((await booksOf(deposit)).slice(0, 3)).toEqual(['0', '0', '0']);
  });
});
