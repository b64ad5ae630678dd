import { describe, expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { eventually } from '@quittance/testkit/eventually';
import { placeHold } from '../src/operations/place-hold.ts';
import {
  aDeposit,
  aHold,
  anAccount,
  giveUp,
  type Hold,
  openLedger,
  release,
  type Sent,
  settle,
  settled,
} from './ledger-fixture.ts';

const { fixture, one, handle, platform } = openLedger({ replicas: 2 });

/** An account with 100, of which 60 and a fee of 5 are held. */
async function aPlacedHold(): Promise<{ account: AccountId; hold: Hold }> {
  const account = anAccount();
  await handle(settled(aDeposit(account, 100n)));
  const hold = aHold(account, 60n, { network_fee: '5' });
  expect(await fixture.place(hold)).toBe('placed');
  expect(await fixture.balance(account)).toEqual(['35', '65', '0']);
  return { account, hold };
}

const endings: [string, (hold: Hold) => Sent, [string, string, string], Record<string, string>][] = [
  ['settled', settle, ['35', '0', '0'], { custody: '-40', fees: '5' }],
  ['released', release, ['100', '0', '0'], { custody: '-100' }],
  ['released, the fee kept', (hold) => release(hold, true), ['95', '0', '0'], { custody: '-100', fees: '5' }],
  ['given up', giveUp, ['100', '0', '0'], { custody: '-100' }],
];

describe.each(endings)('a hold that is %s', (_how, end, balance, earned) => {
  it('moves its money once, however often it is told', async () => {
    const { account, hold } = await aPlacedHold();
    await handle(end(hold));
    expect(await fixture.balance(account)).toEqual(balance);
    await handle(end(hold));
    await handle(end(hold), end(hold));
    expect(await fixture.balance(account)).toEqual(balance);
    expect(await platform(account)).toEqual(earned);
    const asked = end(hold).kind === 'hold.void' ? 'voided' : 'placed';
    expect(await fixture.place(hold)).toBe(asked);
  });

  it('cannot end another way afterwards', async () => {
    const { account, hold } = await aPlacedHold();
    const done = end(hold);
    await handle(done);
    for (const [, other] of endings) {
      const event = other(hold);
      if (event.kind === done.kind && JSON.stringify(event) === JSON.stringify(done)) continue;
      await expect(handle(event)).rejects.toThrow(/cannot be|other contents/);
    }
    expect(await fixture.balance(account)).toEqual(balance);
  });

  it('under other contents is refused', async () => {
    const { account, hold } = await aPlacedHold();
    const other = anAccount();
    await expect(handle(end({ ...hold, account_id: other }))).rejects.toThrow(/other_contents/);
    await expect(handle(end({ ...hold, asset: 'USDC_ERC20' }))).rejects.toThrow(/other_contents/);
    if (end(hold).kind !== 'hold.void') {
      await expect(handle(end({ ...hold, amount: '59' }))).rejects.toThrow(/other_contents/);
      await expect(handle(end({ ...hold, network_fee: '6' }))).rejects.toThrow(/other_contents/);
    }
    expect(await fixture.balance(account)).toEqual(['35', '65', '0']);
    expect(await fixture.balance(other)).toEqual(['0', '0', '0']);
  });
});

describe('a payout that is given up', () => {
  it('before its hold is asked for can never have one', async () => {
    const account = anAccount();
    await handle(settled(aDeposit(account, 100n)));
    const hold = aHold(account, 60n);
    await handle(giveUp(hold));
    expect(await fixture.place(hold)).toBe('voided');
    await handle(giveUp(hold));
    expect(await fixture.place(hold)).toBe('voided');
    expect(await fixture.balance(account)).toEqual(['100', '0', '0']);
  });

  it('while its hold is being asked for: placed and released, or never placed', async () => {
    const account = anAccount();
    await handle(settled(aDeposit(account, 1_000n)));
    const holds = Array.from({ length: 100 }, () => aHold(account, 1n, { network_fee: '1' }));
    await Promise.all([
      Promise.all(holds.map((hold) => fixture.place(hold))),
      ...holds.map((hold) => handle(giveUp(hold))),
    ]);
    for (const hold of holds) expect(await fixture.place(hold)).toBe('voided');
    expect(await fixture.balance(account)).toEqual(['1000', '0', '0']);
  });

  it('with an account that is not its own is refused', async () => {
    const hold = aHold(anAccount(), 60n);
    await handle(giveUp(hold));
    await expect(handle(giveUp({ ...hold, account_id: anAccount() }))).rejects.toThrow(/other_contents/);
    await expect(placeHold(one.ports, { ...hold, account_id: anAccount() })).rejects.toThrow(
      'other contents',
    );
  });
});

it('one bad event does not hold up the others, and waits for an operator', async () => {
  const { account, hold } = await aPlacedHold();
  const [bad, good] = [aHold(account, 1n), aDeposit(account, 7n)];
  await fixture.send([settle(bad), settled(good), settle(hold)]);
  await eventually(async () => expect(await fixture.balance(account)).toEqual(['42', '0', '0']));
  await eventually(async () =>
    expect(
      await fixture.admin.rows(
        `select kind, failure from dead_letters where envelope -> 'payload' ->> 'payout_id' = $1`,
        [bad.payout_id],
      ),
    ).toEqual([{ kind: 'hold.settle', failure: expect.stringContaining('unknown') }]),
  );
});

it('any sequence of payout events, doubled and out of order at two replicas, ends right', async () => {
  const accounts = Array.from({ length: 6 }, anAccount);
  await handle(...accounts.map((account): Sent => settled(aDeposit(account, 1_000n))));
  const spent = new Map(accounts.map((account) => [account, 0n]));
  const ends = [settle, release, (hold: Hold) => release(hold, true), giveUp];
  const costs = [12n, 0n, 2n, 0n];
  await Promise.all(
    Array.from({ length: 240 }, async (_, i) => {
      const account = accounts[i % accounts.length] ?? anAccount();
      const hold = aHold(account, 10n, { network_fee: '2' });
      const end = ends[i % ends.length] ?? settle;
      if (end === giveUp) await fixture.send([giveUp(hold)]);
      const outcome = await fixture.place(hold);
      if (end === giveUp) return;
      expect(outcome).toBe('placed');
      spent.set(account, (spent.get(account) ?? 0n) + (costs[i % ends.length] ?? 0n));
      await fixture.send([end(hold), end(hold)]);
    }),
  );
  await eventually(async () => {
    for (const account of accounts) {
      expect(await fixture.balance(account)).toEqual([
        (1_000n - (spent.get(account) ?? 0n)).toString(),
        '0',
        '0',
      ]);
    }
  });
  const { deadlocks } = await fixture.admin.one<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  expect(deadlocks).toBe('0');
});
