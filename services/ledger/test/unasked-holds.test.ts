import { describe, expect, it } from '@jest/globals';
import type { RequestOf } from '@quittance/shared/commands';
import { IDENTITY_HEADER, verifyProof } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import { foreignKeys, gatewayPublicKeys, identityOf } from '@quittance/testkit/api';
import { eventually } from '@quittance/testkit/eventually';
import {
  aDeposit,
  aHold,
  anAccount,
  aPayoutId,
  giveUp,
  openLedger,
  release,
  settle,
  settled,
} from './ledger-fixture.ts';
import { DESTINATION, shown, withRequest } from './with-request.ts';

const { fixture, one, anUnresolved } = openLedger();

type Hold = RequestOf<'hold.place'>;
const ELSEWHERE = `0x${'e'.repeat(40)}`;
const refused = { known: true, reply: { outcome: 'refused', because: 'not_asked_for' } };
const inUse = { known: true, reply: { outcome: 'refused', because: 'link_in_use' } };
const ask = (hold: Hold) => fixture.bus.ask('hold.place', hold);

async function anAccountWith(amount: bigint, other = {}): Promise<AccountId> {
  const account = anAccount();
  await fixture.handle(settled(aDeposit(account, amount, other)));
  return account;
}
const stored = (hold: Hold) =>
  fixture.admin.rows(
    `select payout_id from holds where payout_id = $1 union all select payout_id from hold_proofs where payout_id = $1`,
    [hold.payout_id],
  );
async function counted(): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${one.port}/metrics`);
  const lines = (await response.text()).matchAll(/^quittance_holds_not_asked_for_total\{.*\} (\d+)$/gm);
  // eslint-disable-next-line no-restricted-syntax -- a count
  return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
}

describe('a hold that no request of its account asks for moves nothing', () => {
  it.each<[string, (hold: Hold, other: AccountId) => Hold]>([
    ['shows no request', ({ proof: _, ...hold }) => hold],
    ['is of a former payouts', ({ proof: _, destination: __, ...hold }) => hold],
    ['is of another account', (hold, other) => ({ ...hold, account_id: other })],
    ['is for more', (hold) => ({ ...hold, amount: '61' })],
    ['is for another asset', (hold) => ({ ...hold, asset: 'ETH_BASE' })],
    ['is to another address', (hold) => ({ ...hold, destination: ELSEWHERE })],
    ['is to no address', ({ destination: _, ...hold }) => hold],
    ['takes all', (hold) => ({ ...hold, takes_all: true })],
    ['has a fee above the cap', (hold) => ({ ...hold, network_fee: (10n ** 17n).toString() })],
    ['changes the body', (hold) => withProof(hold, { body: Buffer.from('{}').toString('base64') })],
    ['changes the path', (hold) => withProof(hold, { path: '/api/payout-batches' })],
    ['is signed by another key', (hold) => signedAs(hold, { privateKey: foreignKeys.privateKey })],
    ['shows what another service received', (hold) => signedAs(hold, { receiver: 'invoices' })],
  ])('when it %s', async (_what, lie) => {
    const [account, other] = [await anAccountWith(10n ** 18n), await anAccountWith(10n ** 18n)];
    const before = await counted();
    const hold = lie(withRequest(aHold(account, 60n)), other);
    expect(await ask(hold)).toEqual(refused);
    for (const owner of [account, other])
      expect(await fixture.balance(owner)).toEqual([(10n ** 18n).toString(), '0', '0']);
    expect(await stored(hold)).toEqual([]);
    expect(await counted()).toBe(before + 1);
  });

  it('when another payout has used the request, also at the same moment', async () => {
    const account = await anAccountWith(100n);
    const hold = withRequest(aHold(account, 10n));
    const all = [hold, ...Array.from({ length: 7 }, () => ({ ...hold, payout_id: aPayoutId() }))];
    const outcomes = (await Promise.all(all.map(ask))).map((one) => one.known && one.reply.outcome);
    expect(outcomes.sort()).toEqual(['placed', ...Array(7).fill('refused')]);
    expect(await fixture.balance(account)).toEqual(['90', '10', '0']);
    expect(await ask({ ...hold, payout_id: aPayoutId() })).toEqual(refused);
  });

  it('when the payout that has used the request was given up or has failed', async () => {
    const account = await anAccountWith(100n);
    for (const end of [release, giveUp]) {
      const hold = withRequest(aHold(account, 10n));
      expect(await ask(hold)).toMatchObject({ reply: { outcome: 'placed' } });
      await fixture.handle(end(hold));
      expect(await ask({ ...hold, payout_id: aPayoutId() })).toEqual(refused);
    }
    expect(await fixture.balance(account)).toEqual(['100', '0', '0']);
  });

  it('when it is of an invoice that the account was paid nothing, or less', async () => {
    const account = await anAccountWith(100n, { invoice_id: 'inv_paid' });
    const refund = (invoice_id: string, amount: bigint): Hold => ({
      ...aHold(account, amount, { invoice_id, destination: DESTINATION }),
      proof: shown(account, `/api/invoices/${invoice_id}/refunds`, { amount: 'all', address: DESTINATION }),
    });
    await fixture.handle(settled(aDeposit(account, 100n)));
    expect(await ask(refund('inv_other', 1n))).toEqual(refused);
    expect(await ask(refund('inv_paid', 101n))).toEqual(refused);
    expect(await ask(refund('inv_paid', 100n))).toMatchObject({ reply: { outcome: 'placed' } });
  });
});

describe('a request', () => {
  it('of a batch pays each of its lines once', async () => {
    const account = await anAccountWith(100n);
    const wei = '0.00000000000000001';
    const lines = [1, 2].map((n) => ({ asset: 'ETH', amount: wei, address: `0x${String(n).repeat(40)}` }));
    const proof = shown(account, '/api/payout-batches', { mode: 'each', payouts: lines });
    const line = (item: number): Hold => ({
      ...aHold(account, 10n, { destination: `0x${String(item).repeat(40)}` }),
      proof: { ...proof, item },
    });
    const [first, second] = [await ask(line(1)), await ask(line(2))];
    expect([first, second]).toMatchObject([
      { reply: { outcome: 'placed' } },
      { reply: { outcome: 'placed' } },
    ]);
    expect([await ask(line(1)), await ask({ ...line(2), proof: { ...proof, item: 1 } })]).toEqual([
      refused,
      refused,
    ]);
    expect(await fixture.balance(account)).toEqual(['80', '20', '0']);
  });

  it('of a claim link pays again when its payout has failed, not before, and never after it has paid', async () => {
    const { claim } = await aClaimLink();
    const first = claim();
    expect(await ask(first)).toMatchObject({ reply: { outcome: 'placed' } });
    const before = await counted();
    expect(await ask(claim())).toEqual(inUse);
    await fixture.handle(release(first));
    const second = claim();
    expect(await ask(second)).toMatchObject({ reply: { outcome: 'placed' } });
    expect(await ask(claim())).toEqual(inUse);
    expect(await counted()).toBe(before);
    await fixture.handle(settle(second));
    expect(await ask(claim())).toEqual(refused);
    expect(await counted()).toBe(before + 1);
  });

  it('of a claim link pays again when its payout was given up before the ledger had decided it', async () => {
    const { claim, proof } = await aClaimLink();
    const first = claim();
    const read = verifyProof(gatewayPublicKeys, 'payouts', {
      ...proof,
      body: Buffer.from(proof.body, 'base64'),
    });
    // As after a crash between keeping the request and placing the hold.
    await fixture.admin.rows(
      `insert into hold_proofs (payout_id, assertion_id, item, use, destination) values ($1, $2, 0, 'link', $3)`,
      [first.payout_id, read?.id, ELSEWHERE],
    );
    expect(await ask(claim())).toEqual(inUse);
    await fixture.handle(giveUp(first));
    expect(await ask(claim())).toMatchObject({ reply: { outcome: 'placed' } });
  });

  it('of a rule pays as often as it runs, also long after', async () => {
    const account = await anAccountWith(100n);
    const rule = { address: DESTINATION, schedule: 'daily' };
    const of = { method: 'PUT', now: new Date(Date.now() - 400 * 86_400_000) };
    const proof = shown(account, '/api/automatic-payouts/ETH', rule, of);
    for (let run = 0; run < 2; run++)
      expect(await ask({ ...aHold(account, 10n, { destination: DESTINATION }), proof })).toMatchObject({
        reply: { outcome: 'placed' },
      });
    expect(await ask({ ...aHold(account, 10n, { destination: ELSEWHERE }), proof })).toEqual(refused);
  });

  it('that is too old gets what was decided, and decides nothing new', async () => {
    const account = await anAccountWith(100n);
    const body = { asset: 'ETH', amount: '0.00000000000000001', address: DESTINATION };
    const proof = shown(account, '/api/payouts', body, { now: new Date(Date.now() - 6 * 60_000) });
    const hold = { ...aHold(account, 10n, { destination: DESTINATION }), proof };
    expect(await ask(hold)).toEqual(refused);
    const placed = withRequest(aHold(account, 10n));
    expect(await ask(placed)).toMatchObject({ reply: { outcome: 'placed' } });
    expect(await ask({ ...placed, proof })).toMatchObject({ reply: { outcome: 'placed' } });
    expect(await fixture.balance(account)).toEqual(['90', '10', '0']);
  });
});

it('keeps to whom a payout goes, and its request', async () => {
  const account = await anAccountWith(100n);
  const hold = withRequest(aHold(account, 10n));
  await ask(hold);
  const row = `select use, destination, item, assertion_id like 'asr_%' as has_request from hold_proofs where payout_id = $1`;
  expect(await fixture.admin.rows(row, [hold.payout_id])).toEqual([
    { use: 'once', destination: DESTINATION, item: 0, has_request: true },
  ]);
});

it('holds of a former release are placed until the time that an operator sets', async () => {
  const account = await anAccountWith(100n);
  await one.stop();
  const until = (ms: number) => ({ UNPROVEN_HOLDS_UNTIL: new Date(Date.now() + ms) });
  const before = await fixture.start({ config: until(60_000) });
  await before.ready;
  const hold = aHold(account, 10n, { destination: DESTINATION });
  // The subscription of a ledger may reach NATS a moment later.
  await eventually(async () => expect(await ask(hold)).toMatchObject({ reply: { outcome: 'placed' } }));
  expect(await ask({ ...aHold(account, 10n) })).toEqual(refused);
  await before.stop();
  const after = await fixture.start({ config: until(-1) });
  await after.ready;
  const late = aHold(account, 10n, { destination: DESTINATION });
  await eventually(async () => expect(await ask(late)).toEqual(refused));
  await after.stop();
});

/** A link that returns an unresolved deposit, and holds of payouts that it asks for. */
async function aClaimLink() {
  const account = anAccount();
  const deposit = await anUnresolved(account);
  const proof = shown(account, `/api/unresolved/${deposit.deposit_id}/return`, { claim: true });
  const claim = (): Hold => ({
    ...aHold(account, 100n, { deposit_id: deposit.deposit_id, destination: ELSEWHERE }),
    proof,
  });
  return { claim, proof };
}

/** The request of the hold, signed by another key or for another service. */
function signedAs(
  hold: Hold,
  other: Pick<Parameters<typeof identityOf>[1], 'privateKey' | 'receiver'>,
): Hold {
  const body = Buffer.from(hold.proof?.body ?? '', 'base64').toString();
  const of = { method: 'POST', path: '/api/payouts', body, ...other };
  return withProof(hold, { assertion: identityOf(hold.account_id as AccountId, of)[IDENTITY_HEADER] });
}

function withProof(hold: Hold, other: Partial<NonNullable<Hold['proof']>>): Hold {
  return hold.proof === undefined ? hold : { ...hold, proof: { ...hold.proof, ...other } };
}
