import { beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@quittance/shared/clock';
import { creditedDeposit } from '@quittance/testkit/credited-deposit';
import { resumePayouts } from '../src/operations/resume-payouts.ts';
import { ADDRESS, PAID } from './audit-fixture.ts';
import { chainSuite, deleteRecords, HOT } from './chain-with-deposit.ts';

/** How far back the auditor looks into a chain: a network fee is booked that the chain does not contain. */

const HASH = `0x${'9'.repeat(64)}`;
const DISCREPANCY = { invariant: 'I6', subject: `cost ${HASH}` };

const { fixture, at } = await chainSuite();
const { db } = fixture;
const run = (sql: string) => fixture.run(sql);

const booked = (ago: string) =>
  run(
    `insert into ledger.transfers (op, kind, account_id, asset, amount, created_at)
       values ('network:${HASH}', 'network', null, 'ETH', 20, now() - interval '${ago}');
     insert into ledger.entries (transfer_seq, account_id, bucket, asset, amount)
       select seq, null, bucket, 'ETH', parts.amount from ledger.transfers,
         (values ('custody', 20), ('network', -20)) as parts(bucket, amount)`,
  );
/** Makes all rows older, and checks. */
async function check(after = '1 minute'): Promise<void> {
  await run(`update ledger.transfers set created_at = created_at - interval '${after}'`);
  await fixture.checkOf(at.ports, { after });
}
const discrepancies = () =>
  db.rows<{ invariant: string; subject: string }>(
    `select invariant, subject from discrepancies where chain = 'ethereum'`,
  );

beforeEach(() => at.node.mined.clear());

describe('a discrepancy of a chain', () => {
  it('is not resolved by age, and is resolved when the records are corrected', async () => {
    await booked('1 hour');
    await check();
    await check();
    expect(await discrepancies()).toEqual([DISCREPANCY]);
    await check('3 days');
    await check('3 days');
    expect(await discrepancies()).toEqual([DISCREPANCY]);
    await run(deleteRecords);
    await check('1 day');
    expect(await discrepancies()).toEqual([]);
  });

  it('that arose while the node was down is found when it is back, a week later too', async () => {
    await check();
    const height = [...at.node.blocks];
    at.node.blocks.clear();
    await check();
    await booked('0 seconds');
    for (let day = 0; day < 9; day++) await check('1 day');
    expect(await discrepancies()).toEqual([]);
    for (const [block, hash] of height) at.node.blocks.set(block, hash);
    await check();
    expect(await discrepancies()).toEqual([DISCREPANCY]);
  });
});

describe('a deposit that was credited', () => {
  /** Records that agree with each other; the hot wallet holds twice as much of the operator's own. */
  const credited = () =>
    run(
      `${creditedDeposit({ amount: 50, address: ADDRESS, txHash: PAID, height: 10 })};
       insert into payouts.wallets (chain, address, role, next_nonce) values ('ethereum', '${HOT}', 'hot', 0)`,
    );

  it('and that the chain never had halts its asset at the second check, however much the hot wallet holds', async () => {
    await check();
    await credited();
    await check();
    expect(await discrepancies()).toEqual([{ invariant: 'I5', subject: 'deposit dep_1 chain' }]);
    expect(await fixture.halts()).toEqual([]);
    await check();
    expect(await fixture.halts()).toEqual([{ asset: 'ETH', open: true }]);
  });

  it('and that the chain has halts nothing, and is not looked up at each check', async () => {
    at.node.mined.set(PAID, { to: ADDRESS, value: 50n, succeeded: true, height: 10 });
    await check();
    await credited();
    for (let i = 0; i < 3; i++) await check();
    expect(await discrepancies()).toEqual([]);
    expect(await fixture.halts()).toEqual([]);
  });
});

describe('an operator', () => {
  const resume = ({ isWatched = true, force = false, chainDays = 30 } = {}) =>
    resumePayouts(
      { db: fixture.admin, clock: systemClock, note: async () => undefined },
      { asset: 'ETH', force, chains: isWatched ? at.ports.chains : [], gracePeriodSeconds: 0, chainDays },
    );
  const unseen = { ok: false, refusal: { why: 'chain_unseen', reason: 'no node of ethereum is configured' } };
  const wrong = {
    ok: false,
    refusal: { why: 'still_wrong', discrepancies: [{ ...DISCREPANCY, amount: 20n }] },
  };

  it('without a node can resume only by force', async () => {
    await booked('1 hour');
    await check();
    await check();
    await run(deleteRecords);
    expect(await resume({ isWatched: false })).toEqual(unseen);
    expect(await resume({ isWatched: false, force: true })).toMatchObject({ ok: true });
  });

  it('cannot resume while a discrepancy is known, however old it is, or is found within the days asked for', async () => {
    await booked('1 hour');
    await check();
    await check();
    await check('60 days');
    expect(await resume()).toMatchObject(wrong);
    await run('delete from auditor.discrepancies');
    expect(await resume({ chainDays: 61 })).toMatchObject(wrong);
    await run(deleteRecords);
    expect(await resume()).toMatchObject({ ok: true, value: { accepted: [] } });
  });
});
