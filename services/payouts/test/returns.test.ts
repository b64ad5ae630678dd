import { describe, expect, it } from '@jest/globals';
import { sleep } from '@quittance/shared/clock';
import type { PayoutId } from '@quittance/shared/ids';
import { CANCELLED } from '../src/domain/states.ts';
import { reverseDeposits } from '../src/handlers.ts';
import type { DepositPayload } from './deposit-event.ts';
import { FINNEY, refundsSuite } from './refunds-fixture.ts';
import { recipient as address, storeReverted } from './service-fixture.ts';

/** An unresolved deposit is refunded: a payout of its whole amount less the fee, once. */
const at = refundsSuite();
const { fixture, untold, tell, deposit, aDepositToReturn, shown, page, payoutsOf, fail } = at;

const FEE = FINNEY / 2n;

const reverse = ({ disposition: _, ...payload }: DepositPayload) =>
  fixture.db.transaction((trx) => reverseDeposits(trx, [{ payload }]));

const giveBack = (id: string, body: object = { address }, headers = {}, client = fixture.shop) =>
  at.giveBack(id, body, headers, client);
const giveBackOnce = (id: string, key: string) => giveBack(id, { address }, { 'idempotency-key': key });
const saying = (message: string) => expect.objectContaining({ message });

const returnsOf = (id: string) =>
  fixture.db.rows<{ id: PayoutId; status: string }>(
    'select id, status from payouts where returns_deposit = $1 order by seq',
    [id],
  );

describe('POST /api/unresolved/{deposit}/return', () => {
  it('creates a payout of the whole deposit less the fee', async () => {
    const { deposit_id } = await deposit();
    const notes = { external_id: 'refund 1042', metadata: { by: 'ada' } };
    const { status, body } = await giveBack(deposit_id, { address, ...notes });
    expect([status, body]).toEqual([
      201,
      { message: 'Payout created successfully.', data: { id: body.data.id } },
    ]);
    expect(fixture.ledger.asked).toEqual([
      {
        request_id: expect.stringMatching(/^req_/),
        payout_id: String(body.data.id),
        account_id: fixture.shop.account,
        asset: 'ETH',
        amount: (10n * FINNEY - FEE).toString(),
        network_fee: FEE.toString(),
        deposit_id,
        invoice_id: null,
        destination: address.toLowerCase(),
        proof: expect.objectContaining({ path: `/api/unresolved/${deposit_id}/return` }),
      },
    ]);
    const { body: shown } = await fixture.shop.get(`/api/payouts/${body.data.id}`);
    const total = { amount: '0.0095', network_fee: '0.0005', total: '0.01' };
    expect(shown).toMatchObject({ ...total, ...notes, to_address: address, status: 'pending', deposit_id });
  });

  it('waits for the event of a deposit that the ledger lists already', async () => {
    const told = untold();
    const answer = giveBack(told.deposit_id);
    await sleep(200);
    await tell(told);
    expect((await answer).status).toBe(201);
  });

  it('refunds a deposit once, also when requests arrive at the same time', async () => {
    const { deposit_id } = await deposit();
    const answers = await Promise.all(Array.from({ length: 12 }, () => giveBack(deposit_id)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status, body } of answers.filter((one) => one.status !== 201)) {
      expect([status, body]).toEqual([409, saying('These funds were already returned.')]);
    }
    expect(await returnsOf(deposit_id)).toMatchObject([{ status: 'reserved' }]);
    expect((await giveBack(deposit_id)).status).toBe(409);
  });

  it('answers a repeated key alike, also when the deposit was reversed since, and refuses the key for another deposit', async () => {
    const [one, other] = [await deposit(), await deposit()];
    const first = await giveBackOnce(one.deposit_id, 'once');
    for (const isReversed of [false, true]) {
      if (isReversed) await reverse(one);
      const again = await giveBackOnce(one.deposit_id, 'once');
      expect([again.status, again.body]).toEqual([201, first.body]);
      expect(again.headers['idempotent-replayed']).toBe('true');
    }
    const late = await giveBackOnce(one.deposit_id, 'after it');
    expect([late.status, late.body]).toEqual([409, saying('These funds were already reversed.')]);
    expect((await giveBackOnce(other.deposit_id, 'once')).status).toBe(422);
    expect(await returnsOf(other.deposit_id)).toEqual([]);
  });

  it('pays less by the fee of an earlier payout that was mined and reverted', async () => {
    const { deposit_id, amount } = await deposit();
    const { body } = await giveBack(deposit_id);
    const payout = String(body.data.id) as PayoutId;
    await storeReverted(fixture.db, payout);
    await fail(payout);
    expect((await giveBack(deposit_id)).status).toBe(201);
    const [first, second] = fixture.ledger.asked.slice(-2);
    expect(BigInt(first?.amount ?? 0)).toBe(BigInt(amount) - FEE);
    expect(BigInt(second?.amount ?? 0)).toBe(BigInt(amount) - 2n * FEE);
  });

  it.each([
    ['the deposit was accepted', undefined, 'These funds were already accepted.'],
    [
      'a part of the deposit was used for a recovery',
      'used_for_recovery',
      'A part of these funds repaid a loss: accept what is left, and pay it out from the balance.',
    ],
  ] as const)('answers 409 when %s, also to the same key', async (what, because, message) => {
    fixture.ledger.reply = () => ({ outcome: 'refused', ...(because && { because }) });
    const { deposit_id } = await deposit();
    for (let i = 0; i < 2; i++) {
      const { status, body } = await giveBackOnce(deposit_id, what);
      expect([status, body]).toEqual([409, saying(message)]);
    }
    expect(await returnsOf(deposit_id)).toMatchObject([{ status: 'refused' }]);
  });

  it('answers 503 when the hold is void, and the key is free again', async () => {
    fixture.ledger.reply = () => ({ outcome: 'voided' });
    const { deposit_id } = await deposit();
    expect((await giveBackOnce(deposit_id, 'void')).status).toBe(503);
    expect(await returnsOf(deposit_id)).toMatchObject([{ status: 'voided' }]);
    fixture.ledger.reply = () => ({ outcome: 'placed' });
    expect((await giveBackOnce(deposit_id, 'void')).status).toBe(201);
  });

  it('refuses deposits that are credited, unknown, reversed or of another account', async () => {
    const nothing = saying('No query results for model [Deposit].');
    const credited = await deposit({ disposition: 'credit' });
    const ids = [credited.deposit_id, 'dep_unknown', '%00'];
    for (const { status, body } of await Promise.all(ids.map((id) => giveBack(id)))) {
      expect([status, body]).toEqual([404, nothing]);
    }
    const { deposit_id } = await deposit();
    const stranger = fixture.newClient();
    const refused = await giveBack(deposit_id, { address: 'x' }, {}, stranger);
    expect([refused.status, refused.body]).toEqual([403, { message: 'This action is unauthorized.' }]);
    const dropped = await deposit();
    await reverse(dropped);
    const reversed = await giveBack(dropped.deposit_id);
    expect([reversed.status, reversed.body]).toEqual([409, saying('These funds were already reversed.')]);
    expect(fixture.ledger.asked).toEqual([]);
  });

  const amount = (problem: string) => ({ amount: [`The amount must ${problem}`] });
  const unknown = (field: string, named = field) => ({ [field]: [`The ${named} field is not known.`] });
  it.each<[object, object, RegExp?]>([
    [{}, { address: ['The address field is required.'] }],
    [{ claim: false }, { address: ['The address field is required.'] }, /"claim": true/],
    [{ address: 7 }, { address: ['The address must be a string.'] }],
    [{ address, metadata: { a: 1 } }, { 'metadata.a': ['The metadata.a must be a string.'] }],
    [
      { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
      { address: ['The selected address is invalid.'] },
    ],
    [{ claim: true, address }, unknown('address'), /not both/],
    [{ claim: true, expires_in_days: 0 }, { expires_in_days: ['The expires in days must be at least 1.'] }],
    [{ expires_in_days: 5, address }, unknown('expires_in_days', 'expires in days'), /claim links/],
    [{ amount: 'x', address }, amount('be a number.')],
    [{ amount: 0, address }, amount('be at least 0.000000000000000001.')],
    [{ amount: '0.0000000000000000011', address }, amount('not have more than 18 decimal places.')],
    [{ amount: '0.0005', address }, amount('be at least 0.00051.')],
    [{ amount: '0.0005', claim: true }, amount('be at least 0.00051.')],
  ])('refuses %j', async (body, errors, hint = /./) => {
    const answer = await giveBack(await aDepositToReturn(), body);
    const refused = { message: 'The given data was invalid.', errors, hint: expect.stringMatching(hint) };
    expect([answer.status, answer.body]).toMatchObject([422, refused]);
    expect(fixture.ledger.asked).toEqual([]);
  });

  it('refuses what the fee would eat up, and takes what leaves just enough', async () => {
    const dust = 10_000_000_000_000n;
    const small = await deposit({ amount: FEE + dust - 1n });
    expect((await giveBack(small.deposit_id)).body.errors).toEqual({
      amount: ['The amount must be at least 0.00051.'],
    });
    const enough = await deposit({ amount: FEE + dust });
    expect((await giveBack(enough.deposit_id)).status).toBe(201);
    expect(fixture.ledger.asked).toMatchObject([{ amount: dust.toString(), network_fee: FEE.toString() }]);
  });

  it('promises no fee from yesterday, and nothing on a chain that is not there', async () => {
    fixture.board.isFresh = false;
    const { deposit_id } = await deposit();
    expect((await giveBack(deposit_id)).status).toBe(503);
    fixture.board.isFresh = true;
    const elsewhere = await deposit({ asset: 'ETH_BASE' });
    expect((await giveBack(elsewhere.deposit_id)).status).toBe(503);
    expect(fixture.ledger.asked).toEqual([]);
  });
});

describe('POST /api/unresolved/{deposit}/return with a claim link', () => {
  it('pays the deposit back less the network fee, once', async () => {
    const id = await aDepositToReturn();
    const { status, body } = await giveBack(id, { claim: true, external_id: 'late' });
    expect([status, body.data]).toMatchObject([
      201,
      { status: 'claimable', deposit_id: id, invoice_id: null, amount: '0.01', requested: 'deposit' },
    ]);
    expect((await giveBack(id, { claim: true })).status).toBe(409);
    const token = body.data.claim_url.split('/').at(-1);
    expect((await page(token)).text).toMatch(/Network fee, which is taken from it[\s\S]*0\.0005 ETH/);
    await Promise.all([page(token, address), page(token, address)]);
    expect(fixture.ledger.asked).toMatchObject([
      { deposit_id: id, amount: ((95n * FINNEY) / 10n).toString() },
    ]);
    const [payout, ...more] = await payoutsOf(body.data.id);
    expect(more).toEqual([]);
    expect((await giveBack(id, { address })).status).toBe(409);
    expect((await page(token)).text).toMatch(/Sent after the network fee[\s\S]*0\.0095 ETH/);
    await fail(payout?.id as PayoutId, CANCELLED);
    expect((await page(token)).text).not.toContain('Sent after');
  });

  it('pays nothing while the shop returns the deposit, and ends when the shop has accepted it', async () => {
    const id = await aDepositToReturn();
    const { body } = await giveBack(id, { claim: true });
    const token = body.data.claim_url.split('/').at(-1);
    const returned = (await giveBack(id, { address })).body.data;
    for (const status of ['claimable', 'expired']) {
      const resolved = await page(token, address);
      const decided = expect.stringContaining('The shop has decided otherwise');
      expect([resolved.status, resolved.text]).toEqual([409, decided]);
      expect(await shown(body.data.id)).toMatchObject({ status });
      if (status === 'expired') break;
      // The return fails, and then the shop accepts the deposit.
      await fail(String(returned.id) as PayoutId);
      fixture.ledger.reply = () => ({ outcome: 'refused' });
    }
    expect((await page(token, address)).status).toBe(303);
    expect(await payoutsOf(body.data.id)).toHaveLength(1);
  });
});
