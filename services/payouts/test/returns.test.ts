import { describe, expect, it } from '@jest/globals';
import type { AssetSymbol } from '@quittance/shared/assets';
import { sleep } from '@quittance/shared/clock';
import type { PayoutId } from '@quittance/shared/ids';
import { recordDeposits, reverseDeposits } from '../src/handlers.ts';
import { movePayout } from '../src/store/payouts.ts';
import { aDeposit, type DepositPayload } from './deposit-event.ts';
import { recipient, requestsSuite, storeReverted } from './service-fixture.ts';

/** An unresolved deposit is refunded: a payout of its whole amount less the fee, once. */
const fixture = requestsSuite();

const address = recipient;
const FEE = 500_000_000_000_000n;
const FINNEY = 10n ** 15n;

type Given = { asset?: AssetSymbol; amount?: bigint; disposition?: 'credit' | 'unresolved' };
let made = 0;

/** An unresolved deposit of which payouts has got no event. */
function untold({ asset = 'ETH', amount = 10n * FINNEY, disposition = 'unresolved' }: Given = {}) {
  made += 1;
  const place = { address: `0x${made.toString(16).padStart(40, 'd')}`, index: made, outpoint: `0x${made}:0` };
  return aDeposit({ account_id: fixture.shop.account, asset, amount, disposition, ...place });
}

const tell = (payload: DepositPayload) => fixture.db.transaction((trx) => recordDeposits(trx, [{ payload }]));
const reverse = ({ disposition: _, ...payload }: DepositPayload) =>
  fixture.db.transaction((trx) => reverseDeposits(trx, [{ payload }]));

async function deposit(given: Given = {}) {
  const payload = untold(given);
  await tell(payload);
  return payload;
}

const giveBack = (id: string, body: object = { address }, headers = {}, client = fixture.shop) =>
  client.post(body, headers, `/api/unresolved/${id}/return`);
const giveBackOnce = (id: string, key: string) => giveBack(id, { address }, { 'idempotency-key': key });
const saying = (message: string) => expect.objectContaining({ message });

const payoutsOf = (id: string) =>
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
    expect(await payoutsOf(deposit_id)).toMatchObject([{ status: 'reserved' }]);
    expect((await giveBack(deposit_id)).status).toBe(409);
  });

  it('answers a repeated key alike, and refuses the key for another deposit', async () => {
    const [one, other] = [await deposit(), await deposit()];
    const first = await giveBackOnce(one.deposit_id, 'once');
    const again = await giveBackOnce(one.deposit_id, 'once');
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await giveBackOnce(other.deposit_id, 'once')).status).toBe(422);
    expect(await payoutsOf(other.deposit_id)).toEqual([]);
  });

  it('answers a repeated key alike when the deposit was reversed since', async () => {
    const dropped = await deposit();
    const first = await giveBackOnce(dropped.deposit_id, 'before the chain took it');
    await reverse(dropped);
    const again = await giveBackOnce(dropped.deposit_id, 'before the chain took it');
    expect([again.status, again.body]).toEqual([201, first.body]);
    const other = await giveBackOnce(dropped.deposit_id, 'after it');
    expect([other.status, other.body]).toEqual([409, saying('These funds were already reversed.')]);
  });

  it('accepts another request when the payout has failed', async () => {
    const { deposit_id } = await deposit();
    const { body } = await giveBack(deposit_id);
    await fixture.db.transaction((trx) =>
      movePayout(trx, String(body.data.id) as PayoutId, ['reserved'], 'failed', { failedReason: 'refused' }),
    );
    expect((await giveBack(deposit_id)).status).toBe(201);
    expect(await payoutsOf(deposit_id)).toMatchObject([{ status: 'failed' }, { status: 'reserved' }]);
  });

  it('pays less by the fee of an earlier payout that was mined and reverted', async () => {
    const { deposit_id, amount } = await deposit();
    const { body } = await giveBack(deposit_id);
    const payout = String(body.data.id);
    await fixture.db.transaction(async (trx) => {
      await storeReverted(trx, payout);
      await movePayout(trx, payout as PayoutId, ['reserved'], 'failed', { failedReason: 'refused' });
    });
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
    expect(await payoutsOf(deposit_id)).toMatchObject([{ status: 'refused' }]);
  });

  it('answers 503 when the hold is void, and the key is free again', async () => {
    fixture.ledger.reply = () => ({ outcome: 'voided' });
    const { deposit_id } = await deposit();
    expect((await giveBackOnce(deposit_id, 'void')).status).toBe(503);
    expect(await payoutsOf(deposit_id)).toMatchObject([{ status: 'voided' }]);
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

  it.each([
    [{}, { address: ['The address field is required.'] }],
    [{ address: 7 }, { address: ['The address must be a string.'] }],
    [{ address, metadata: { a: 1 } }, { 'metadata.a': ['The metadata.a must be a string.'] }],
    [
      { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
      { address: ['The selected address is invalid.'] },
    ],
  ])('refuses %j', async (body, errors) => {
    const { deposit_id } = await deposit();
    const answer = await giveBack(deposit_id, body);
    expect([answer.status, answer.body]).toMatchObject([
      422,
      { message: 'The given data was invalid.', errors },
    ]);
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
