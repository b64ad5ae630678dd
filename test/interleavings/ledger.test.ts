import { expect, it } from '@jest/globals';
import { handlers } from '@quittance/ledger/handlers';
import { holdBatcherOf, placeHold } from '@quittance/ledger/operations/place-hold';
import { systemClock } from '@quittance/shared/clock';
import type { ReplyOf, RequestOf } from '@quittance/shared/commands';
import { type EventKind, type EventOf, subjectOf } from '@quittance/shared/events';
import type { AccountId } from '@quittance/shared/ids';
import { throttledLog } from '@quittance/shared/logger';
import { processMessages } from '@quittance/shared/process-messages';
import { aMessage } from '../../packages/shared/test/delivered-message.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  envelopeOf,
  handleOn,
  logger,
  reversalOf,
  type Sent,
} from '../../services/ledger/test/ledger-fixture.ts';
import { type Operation, returned } from './interleave.ts';
import { handling, openLedgerReplicas } from './ledger-replicas.ts';

type Outcome = ReplyOf<'hold.place'>['outcome'];

const { replicas, db } = await openLedgerReplicas();

/** A consumer that NATS delivers this event to. @returns how it answers */
const receiving = (event: EventOf<EventKind>): Operation<string[]> => ({
  pausesBefore: ['balances_lock', 'commit'],
  async run(on) {
    const answers: string[] = [];
    const message = aMessage(subjectOf(event.kind, 'ledger'), JSON.stringify(event), (said) =>
      answers.push(said),
    );
    await processMessages([message], {
      db: on,
      handlers,
      ports: { logger },
      logger,
      throttled: throttledLog(logger),
    });
    return answers;
  },
});

const placing = (hold: RequestOf<'hold.place'>): Operation<Outcome> => ({
  pausesBefore: ['holds_decide', 'commit'],
  async run(on) {
    const holds = holdBatcherOf({ db: on, clock: systemClock });
    return (await placeHold({ holds, logger }, hold)).outcome;
  },
});

/** An account with 100. */
async function aRichAccount(): Promise<AccountId> {
  const account = anAccount();
  await handleOn(db, { kind: 'deposit.settled', payload: aDeposit(account, 100n) });
  return account;
}

const balanceOf = async (account: AccountId): Promise<Record<'available' | 'held', string> | undefined> =>
  await db.maybe('select available, held from balances where account_id = $1', [account]);

it('places one of two holds on a balance that covers one', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const account = await aRichAccount();
    const { a, b } = await interleave(placing(aHold(account, 60n)), placing(aHold(account, 60n)));
    expect([returned(a), returned(b)].sort()).toEqual(['placed', 'refused']);
    expect(await balanceOf(account)).toEqual({ available: '40', held: '60' });
  });
});

it('places a hold that a deposit of the same moment covers, or refuses it', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const account = await aRichAccount();
    const deposit: Sent = { kind: 'deposit.settled', payload: aDeposit(account, 100n) };
    const { a, b } = await interleave(placing(aHold(account, 150n)), handling(deposit));
    returned(b);
    const isPlaced = returned(a) === 'placed';
    expect(await balanceOf(account)).toEqual(
      isPlaced ? { available: '50', held: '150' } : { available: '200', held: '0' },
    );
  });
});

it('places a hold once that two replicas are asked for', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const account = await aRichAccount();
    const hold = aHold(account, 40n);
    const { a, b } = await interleave(placing(hold), placing(hold));
    expect([returned(a), returned(b)]).toEqual(['placed', 'placed']);
    expect(await balanceOf(account)).toEqual({ available: '60', held: '40' });
  });
});

it('never places a hold whose payout is given up', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const account = await aRichAccount();
    const hold = aHold(account, 60n);
    const { payout_id, asset } = hold;
    const giveUp: Sent = { kind: 'hold.void', payload: { payout_id, account_id: account, asset } };
    const { a, b } = await interleave(placing(hold), {
      ...handling(giveUp),
      pausesBefore: ['holds_lock', 'commit'],
    });
    returned(b);
    expect(['placed', 'voided']).toContain(returned(a));
    expect(await db.one('select state from holds where payout_id = $1', [payout_id])).toEqual({
      state: 'voided',
    });
    expect(await balanceOf(account)).toEqual({ available: '100', held: '0' });
  });
});

const outcomeOf = (hold: RequestOf<'hold.place'>) => ({ ...hold, tx_hash: '0xab' });
const settled = (hold: RequestOf<'hold.place'>): Sent => ({ kind: 'hold.settle', payload: outcomeOf(hold) });

it.each([
  [
    'given up',
    ({ payout_id, account_id, asset }: RequestOf<'hold.place'>): Sent => ({
      kind: 'hold.void',
      payload: { payout_id, account_id, asset },
    }),
  ],
  [
    'released',
    (hold: RequestOf<'hold.place'>): Sent => ({
      kind: 'hold.release',
      payload: { ...outcomeOf(hold), fee_kept: false },
    }),
  ],
])('ends a hold one way when it is settled and %s at once', async (_how, otherEnd) => {
  await replicas.inEveryOrder(async (interleave) => {
    const account = await aRichAccount();
    const hold = aHold(account, 60n);
    await placing(hold).run(db);
    const { a, b } = await interleave(handling(settled(hold)), handling(otherEnd(hold)));
    const refused = [a, b].filter((one) => one.status === 'rejected');
    expect(refused).toEqual([{ status: 'rejected', reason: expect.any(Error) }]);
    expect(refused[0]?.reason.message).toMatch(/cannot be|illegal/);
    const available = a.status === 'fulfilled' ? '40' : '100';
    expect(await balanceOf(account)).toEqual({ available, held: '0' });
  });
});

it('settles a hold once when two replicas receive two copies of its end', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const account = await aRichAccount();
    const hold = aHold(account, 60n);
    await placing(hold).run(db);
    const { a, b } = await interleave(handling(settled(hold)), handling(settled(hold)));
    returned(a);
    returned(b);
    expect(await balanceOf(account)).toEqual({ available: '40', held: '0' });
  });
});

it('credits a deposit once when two replicas receive its event', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const account = anAccount();
    const event = envelopeOf({ kind: 'deposit.settled', payload: aDeposit(account, 100n) });
    const { a, b } = await interleave(receiving(event), receiving(event));
    expect([returned(a), returned(b)]).toEqual([['acked'], ['acked']]);
    expect(await balanceOf(account)).toEqual({ available: '100', held: '0' });
    expect(
      await db.rows(`select 1 from outbox where kind = 'credit.recorded' and payload->>'deposit_id' = $1`, [
        (event.payload as { deposit_id: string }).deposit_id,
      ]),
    ).toHaveLength(1);
  });
});

it('credits a deposit once when it is sent as two events', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    const account = anAccount();
    const deposit: Sent = { kind: 'deposit.settled', payload: aDeposit(account, 100n) };
    const { a, b } = await interleave(handling(deposit), handling(deposit));
    returned(a);
    returned(b);
    expect(await balanceOf(account)).toEqual({ available: '100', held: '0' });
  });
});

it('takes a deposit back once whichever of deposit and reversal is first', async () => {
  await replicas.inEveryOrder(async (interleave) => {
    // Its balance exists, so that only the lock on it can make one wait for the other.
    const account = await aRichAccount();
    const deposit = aDeposit(account, 50n);
    const reversal: Sent = { kind: 'deposit.reversed', payload: reversalOf(deposit) };
    const { a, b } = await interleave(handling({ kind: 'deposit.settled', payload: deposit }), {
      ...handling(reversal),
      pausesBefore: ['reversals_unbooked', 'commit'],
    });
    returned(a);
    returned(b);
    expect(await balanceOf(account)).toEqual({ available: '100', held: '0' });
    const { booked } = await db.one<{ booked: boolean }>(
      'select booked_at is not null as booked from reversals where deposit_id = $1',
      [deposit.deposit_id],
    );
    expect(booked).toBe(true);
  });
});
