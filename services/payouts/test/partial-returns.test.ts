import { describe, expect, it } from '@jest/globals';
import type { PayoutId } from '@quittance/shared/ids';
import { FINNEY, refundsSuite } from './refunds-fixture.ts';
import { recipient as address, storeReverted } from './service-fixture.ts';

/** Parts of an unresolved deposit of 10 finneys are returned, on two replicas. The network fee is half a finney. */
const at = refundsSuite();
const { aDepositToReturn, giveBack, page, fail, shown } = at;

const HALF = FINNEY / 2n;
/** What the ledger was asked to hold of a deposit, with the network fee, in halves of a finney; and whether it was a part. */
const asked = () =>
  at.fixture.ledger.asked.map((hold) => [
    (BigInt(hold.amount) + BigInt(hold.network_fee)) / HALF,
    hold.is_part === true,
  ]);
const takenOf = async (id: string) => {
  const { taken } = await at.fixture.db.one<{ taken: string }>(
    `select coalesce(sum(amount + network_fee), 0)::text as taken from payouts
     where returns_deposit = $1 and status not in ('failed', 'refused', 'voided')`,
    [id],
  );
  return BigInt(taken) / HALF;
};

describe('POST /api/unresolved/{deposit}/return of a part', () => {
  it('pays the part less the network fee, and the rest later', async () => {
    const id = await aDepositToReturn();
    const part = await giveBack(id, { amount: '0.004', address });
    expect(part.status).toBe(201);
    const payout = (await at.fixture.shop.get(`/api/payouts/${part.body.data.id}`)).body;
    expect(payout).toMatchObject({ amount: '0.0035', network_fee: '0.0005', deposit_id: id });
    const tooMuch = await giveBack(id, { amount: 0.0061, address });
    expect([tooMuch.status, tooMuch.body]).toMatchObject([
      400,
      { code: 'refund_too_large', hint: 'At most 0.006 is left.' },
    ]);
    expect((await giveBack(id, { address })).status).toBe(201);
    expect(asked()).toEqual([
      [8n, true],
      [12n, true],
    ]);
    await giveBack(await aDepositToReturn(), { address });
    const list = await at.fixture.shop.get(`/api/payouts?deposit_id=${id}`);
    expect(list.body).toMatchObject({ meta: { total: 2 }, data: [{ amount: '0.0055' }, payout] });
    const file = (await at.fixture.shop.get(`/api/payouts?format=csv&deposit_id=${id}`)).body as string;
    expect(file.trimEnd().split('\r\n')).toHaveLength(3);
    expect((await at.fixture.newClient().get(`/api/payouts?deposit_id=${id}`)).body.data).toEqual([]);
    for (const body of [{ address }, { address, amount: 0.001 }])
      expect([(await giveBack(id, body)).status, await takenOf(id)]).toEqual([409, 20n]);
  });

  it('of all that there is is a return of the whole deposit', async () => {
    const id = await aDepositToReturn();
    expect((await giveBack(id, { amount: '0.010', address })).status).toBe(201);
    expect(asked()).toEqual([[20n, false]]);
  });

  it('takes as much as fits when many arrive at once', async () => {
    const id = await aDepositToReturn();
    const answers = await Promise.all(
      Array.from({ length: 9 }, () => giveBack(id, { amount: '0.003', address })),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(6);
    for (const { status, body } of refused)
      expect([status, body]).toMatchObject([400, { code: 'refund_too_large' }]);
    expect([await takenOf(id), asked()]).toEqual([18n, Array.from({ length: 3 }, () => [6n, true])]);
  });

  it('or of all never takes more than the deposit when both arrive at once', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await aDepositToReturn();
      const bodies = [{ address }, { amount: 0.006, address }, { address }, { amount: 0.004, address }];
      const answers = await Promise.all(bodies.map((body) => giveBack(id, body)));
      for (const { status } of answers) expect([201, 400, 409]).toContain(status);
      const taken = await takenOf(id);
      expect(taken).toBeGreaterThan(0n);
      expect(taken).toBeLessThanOrEqual(20n);
    }
  });

  it('can be returned again when its payout has failed, less a fee that was spent', async () => {
    const id = await aDepositToReturn();
    const first = String((await giveBack(id, { amount: 0.006, address })).body.data.id) as PayoutId;
    await fail(first);
    const second = String((await giveBack(id, { amount: 0.006, address })).body.data.id) as PayoutId;
    await storeReverted(at.fixture.db, second);
    await fail(second);
    expect((await giveBack(id, { amount: 0.01, address })).body).toMatchObject({
      hint: 'At most 0.0095 is left.',
    });
    expect((await giveBack(id, { amount: 0.0095, address })).status).toBe(201);
    expect(asked().at(-1)).toEqual([19n, false]);
  });

  it('answers a repeated key alike', async () => {
    const id = await aDepositToReturn();
    const key = { 'idempotency-key': `part of ${id}` };
    const first = await giveBack(id, { amount: 0.006, address }, key);
    const again = await giveBack(id, { amount: 0.006, address }, key);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect((await giveBack(id, { amount: 0.004, address }, key)).status).toBe(422);
    expect(await takenOf(id)).toBe(12n);
  });
});

describe('a claim link of a part', () => {
  const link = async (id: string, body: object = {}) => {
    const answer = await giveBack(id, { claim: true, ...body });
    const token = String(answer.body.data?.claim_url).split('/').at(-1) ?? '';
    return { ...answer, token, refund: answer.body.data };
  };

  it('is made as long as the links leave enough, and one of all is of what they leave', async () => {
    const id = await aDepositToReturn();
    const first = await link(id, { amount: '0.006' });
    expect(first.refund).toMatchObject({ amount: '0.006', share: '0.006', requested: '0.006' });
    const tooMuch = await link(id, { amount: '0.005' });
    expect([tooMuch.status, tooMuch.body]).toMatchObject([400, { hint: 'At most 0.004 is left.' }]);
    const rest = await link(id);
    expect(rest.refund).toMatchObject({ amount: '0.004', requested: 'deposit' });
    expect((await link(id)).status).toBe(409);
    for (const { token } of [first, rest, first, rest]) expect((await page(token, address)).status).toBe(303);
    expect(asked()).toEqual([
      [12n, true],
      [8n, true],
    ]);
  });

  it('is made as often as fits when many are asked for at once', async () => {
    const id = await aDepositToReturn();
    const links = await Promise.all(Array.from({ length: 7 }, () => link(id, { amount: 0.004 })));
    expect(links.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400, 400, 400, 400]);
  });

  it('pays nothing when a return has taken its part, and pays the rest when it was of all', async () => {
    const id = await aDepositToReturn();
    const part = await link(id, { amount: 0.006 });
    const paid = await giveBack(id, { amount: 0.005, address });
    const resolved = await page(part.token, address);
    expect([resolved.status, resolved.text]).toEqual([409, expect.stringContaining('decided otherwise')]);
    expect(await shown(part.refund.id)).toMatchObject({ status: 'claimable' });
    await fail(String(paid.body.data.id) as PayoutId);
    expect((await page(part.token, address)).status).toBe(303);

    const other = await aDepositToReturn();
    const all = await link(other);
    await giveBack(other, { amount: 0.004, address });
    expect((await page(all.token, address)).status).toBe(303);
    expect(await takenOf(other)).toBe(20n);
  });

  it('and returns to an address never take more than the deposit when they arrive at once', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await aDepositToReturn();
      const [one, two] = [await link(id, { amount: 0.006 }), await link(id, { amount: 0.004 })];
      await Promise.all([
        ...[one, two, one, two].map(({ token }) => page(token, address)),
        ...[0.003, 0.007].map((amount) => giveBack(id, { amount, address })),
      ]);
      expect(await takenOf(id)).toBeLessThanOrEqual(20n);
      for (const { refund } of [one, two])
        expect((await at.payoutsOf(refund.id)).length).toBeLessThanOrEqual(1);
    }
  });
});
