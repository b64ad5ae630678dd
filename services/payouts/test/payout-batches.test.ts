import { describe, expect, it } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { finishStaleBatches } from '../src/operations/finish-payout-batch.ts';
import { voidStaleRequests } from '../src/operations/request-payout.ts';
import type { Hold } from './scripted-ledger.ts';
import { order, recipient, requestsSuite } from './service-fixture.ts';

/** Many payouts in one request. */
const fixture = requestsSuite();

const PATH = '/api/payout-batches';
type Line = Partial<Record<'asset' | 'amount' | 'address' | 'external_id', unknown>>;
const lines = (count: number): Line[] =>
  Array.from({ length: count }, (_, i) => ({ ...order, external_id: `wage ${i + 1}` }));
const send = (mode: string, payouts: unknown, headers = {}, client = fixture.shop) =>
  client.post({ mode, payouts }, headers, PATH);
const sendFile = (text: string | Uint8Array, query = '?mode=each', headers = {}) =>
  fixture.shop.post(text as string, { 'content-type': 'text/csv', ...headers }, `${PATH}${query}`);
const statuses = async () => (await fixture.rowsOf(fixture.shop)).map(({ status }) => status);
/** The hold of the line with this amount of Ether. */
const isOf = ({ amount }: Hold, ether: bigint) => amount === (ether * 10n ** 18n).toString();
const kinds = async () => {
  const rows = await fixture.db.rows<{ kind: string; n: number }>(
    `select kind, count(*)::int as n from outbox where payload->>'account_id' = $1 group by 1 order by 1`,
    [fixture.shop.account],
  );
  return Object.fromEntries(rows.map(({ kind, n }) => [kind, n]));
};

describe('a batch of the mode each', () => {
  it('creates the payouts of 200 lines but the wrong, the repeated and the refused one, within seconds', async () => {
    const payouts = lines(200);
    payouts[99] = { ...order, address: '0x1', external_id: 'bad' };
    payouts[149] = payouts[7] as Line;
    payouts[199] = { ...order, amount: 9 };
    fixture.ledger.reply = (hold) =>
      isOf(hold, 9n) ? { outcome: 'refused', available: '5' } : { outcome: 'placed' };
    const began = Date.now();
    const { status, body } = await send('each', payouts);
    expect(Date.now() - began).toBeLessThan(5_000);
    expect(status).toBe(201);
    expect(body.data.totals).toEqual({
      ...{ lines: 200, created: 197, refused: 1, invalid: 2, unavailable: 0, undecided: 0 },
    });
    expect(body.data.lines.map(({ line }: { line: number }) => line)).toEqual(payouts.map((_, i) => i + 1));
    expect(body.data.lines[99]).toMatchObject({
      ...{
        status: 'invalid',
        errors: { address: ['The selected address is invalid.'] },
        hint: expect.any(String),
      },
    });
    expect(body.data.lines[149].errors).toEqual({ external_id: ['The line repeats line 8.'] });
    expect(body.data.lines[199]).toMatchObject({
      ...{ status: 'refused', code: 'insufficient_balance' },
      hint: '0.000000000000000005 ETH is available and 9.0005 ETH is needed: 9 and 0.0005 network fee.',
    });
    expect(await kinds()).toEqual({ 'payout.created': 197 });
    const shown = await fixture.shop.get(`${PATH}/${body.data.id}`);
    expect([shown.status, shown.body]).toEqual([200, body.data]);
    const list = await fixture.shop.get(`/api/payouts?batch_id=${body.data.id}&external_id=wage%201`);
    expect(list.body.data).toMatchObject([{ id: body.data.lines[0].payout_id, batch_id: body.data.id }]);
  });

  it('voids the lines that the ledger does not decide and tells them', async () => {
    fixture.ledger.reply = (hold) => ({ outcome: isOf(hold, 2n) ? 'voided' : 'placed' });
    const { body } = await send('each', [order, { ...order, amount: 2 }]);
    expect(body.data.lines).toMatchObject([
      { status: 'created' },
      { status: 'unavailable', code: 'unavailable' },
    ]);
    expect(await statuses()).toEqual(['reserved', 'voided']);
    expect(await kinds()).toEqual({ 'hold.void': 1, 'payout.created': 1 });
  });

  it('pays lines of other assets when payouts of one asset are halted', async () => {
    await fixture.db.rows(`insert into halted_assets (asset, halt) values ('ETH', 1)`);
    const token = { asset: 'USDC_ERC20', amount: 5, address: recipient };
    const { body } = await send('each', [order, token]);
    const key = { 'idempotency-key': 'all or nothing' };
    const all = await send('all_or_nothing', [order, token], key);
    await fixture.db.rows('update halted_assets set resumed_at = now()');
    expect(body.data.lines).toMatchObject([{ status: 'unavailable' }, { status: 'created' }]);
    expect(all.status).toBe(503);
    expect((await send('all_or_nothing', [order, token], key)).status).toBe(201);
  });
});

describe('a batch of the mode all_or_nothing', () => {
  it('reserves all payouts when all holds are placed', async () => {
    const { status, body } = await send('all_or_nothing', lines(3));
    expect([status, body.data.totals.created]).toEqual([201, 3]);
    expect(await statuses()).toEqual(['reserved', 'reserved', 'reserved']);
  });

  it('answers 422 with the errors of all lines and does nothing when a line is wrong', async () => {
    const { status, body } = await send('all_or_nothing', [order, {}, order, { ...order, amount: 'max' }]);
    expect(status).toBe(422);
    expect(body.errors).toMatchObject({
      'payouts.1.asset': ['The asset field is required.'],
      'payouts.2.external_id': ['The line repeats line 1.'],
      'payouts.3.amount': ['The amount must be a number.'],
    });
    expect(await statuses()).toEqual([]);
    expect(fixture.ledger.asked).toEqual([]);
  });

  it('voids all other holds when the ledger refuses one, and answers the same again', async () => {
    fixture.ledger.reply = (hold) =>
      isOf(hold, 9n) ? { outcome: 'refused', available: '5' } : { outcome: 'placed' };
    const asked = [...lines(2), { ...order, amount: 9 }, ...lines(4).slice(2)];
    const key = { 'idempotency-key': 'k' };
    const { status, body } = await send('all_or_nothing', asked, key);
    expect([status, body]).toMatchObject([400, { code: 'insufficient_balance', line: 3 }]);
    expect(body.hint).toContain('0.000000000000000005 ETH is available');
    expect(await statuses()).toEqual(['voided', 'voided', 'refused', 'voided', 'voided']);
    expect(await kinds()).toEqual({ 'hold.void': 4 });
    fixture.ledger.reply = () => ({ outcome: 'placed' });
    const again = await send('all_or_nothing', asked, key);
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([400, 'true']);
  });

  it('says what the whole batch needs of an asset, and what the balance has for it', async () => {
    fixture.ledger.available = (2n * 10n ** 18n).toString();
    fixture.ledger.reply = (hold) =>
      isOf(hold, 9n) ? { outcome: 'refused', available: '5' } : { outcome: 'placed' };
    const token = { asset: 'USDC_ERC20', amount: 5, address: recipient };
    const asked = [{ ...order, amount: 3 }, token, { ...order, amount: 9 }];
    const { body } = await send('all_or_nothing', asked);
    // Two are left, and the first line holds three and its fee.
    expect(body).toMatchObject({
      line: 3,
      hint:
        '5.0005 ETH is available and 12.001 ETH is needed for the 2 payouts of this batch in ETH: 0.001 of it is network fees. ' +
        'Nothing was paid.',
    });
  });

  it('reserves nothing when a request was voided before all holds were placed', async () => {
    fixture.ledger.reply = (hold) => ({
      outcome: 'placed',
      before: async () => {
        const update = `update payouts set created_at = now() - interval '1 minute' where id = $1`;
        if (!isOf(hold, 2n)) return;
        await fixture.db.rows(update, [hold.payout_id]);
        await voidStaleRequests(fixture.service.ports);
      },
    });
    const { status } = await send('all_or_nothing', [...lines(2), { ...order, amount: 2 }]);
    expect(status).toBe(503);
    expect(await statuses()).toEqual(['voided', 'voided', 'voided']);
  });
});

describe('an Idempotency-Key of a batch', () => {
  const key = { 'idempotency-key': 'wages of May' };

  it('pays once when the request is sent many times at once, and answers the same later', async () => {
    const asked = await Promise.all(Array.from({ length: 5 }, () => send('each', lines(3), key)));
    expect(asked.filter(({ status }) => status === 201 || status === 409)).toHaveLength(5);
    const again = await send('each', lines(3), key);
    expect([again.status, again.body.data.totals.created]).toEqual([201, 3]);
    expect(await statuses()).toHaveLength(3);
    expect((await send('each', lines(2), key)).status).toBe(422);
    expect((await send('all_or_nothing', lines(3), key)).status).toBe(422);
  });

  it('answers with the payouts that exist when the process died in the middle of a batch', async () => {
    fixture.ledger.reply = () => ({});
    const hanging = send('each', lines(3), key);
    const ids = await eventually(async () => {
      const rows = await fixture.rowsOf(fixture.shop);
      expect(rows).toHaveLength(3);
      return rows.map(({ id }) => id);
    });
    expect((await send('each', lines(3), key)).status).toBe(409);
    // As after a crash: another replica ends the batch before this one does.
    await fixture.db.rows(`update payouts set status = 'reserved' where id = $1`, [ids[0]]);
    await fixture.db.rows(
      `update payouts set created_at = now() - interval '31 seconds' where id = any($1)`,
      [ids],
    );
    await voidStaleRequests(fixture.service.ports);
    await finishStaleBatches(fixture.service.ports, 0);
    const again = await send('each', lines(3), key);
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([201, 'true']);
    const created = again.body.data.lines.map(({ status }: { status: string }) => status);
    expect(created).toEqual(['created', 'unavailable', 'unavailable']);
    expect((await hanging).body.data).toEqual(again.body.data);
    expect(await statuses()).toEqual(['reserved', 'voided', 'voided']);
  });

  it('can be used again when nothing came of an all_or_nothing batch', async () => {
    fixture.ledger.reply = () => ({ outcome: 'voided' });
    expect((await send('all_or_nothing', lines(3), key)).status).toBe(503);
    fixture.ledger.reply = () => ({ outcome: 'placed' });
    expect((await send('all_or_nothing', lines(3), key)).status).toBe(201);
    expect((await statuses()).filter((status) => status === 'reserved')).toHaveLength(3);
  });
});

describe('POST /api/payout-batches', () => {
  it('takes a CSV file with the mode as a query parameter', async () => {
    const file = `\ufeffasset,amount,address,external_id\r\nETH,1.5,${recipient},=cmd\r\nETH,x,${recipient},\r\n`;
    const { status, body } = await sendFile(file);
    expect(status).toBe(201);
    expect(body.data.lines).toMatchObject([
      { line: 2, status: 'created' },
      { line: 3, status: 'invalid', errors: { amount: ['The amount must be a number.'] } },
    ]);
    const { body: shown } = await fixture.shop.get(`/api/payouts/${body.data.lines[0].payout_id}`);
    expect(shown).toMatchObject({ amount: '1.5', external_id: '=cmd' });
    const all = await sendFile(file, '?mode=all_or_nothing');
    expect(Object.keys(all.body.errors)).toEqual(['lines.3.amount']);
  });

  it.each<[string, () => Promise<{ status: number; body: { errors: object } }>, string]>([
    ['no mode', () => sendFile('asset,amount,address\n1,2,3', ''), 'mode'],
    ['another parameter', () => sendFile('asset,amount,address\n1,2,3', '?mode=each&a=1'), 'a'],
    ['a broken file', () => sendFile('asset,amount,address\n"'), 'body'],
    ['a file without lines', () => sendFile('asset,amount,address\n'), 'payouts'],
    ['no list', () => send('each', undefined), 'payouts'],
    ['an empty list', () => send('each', []), 'payouts'],
    ['501 lines', () => send('each', Array(501).fill({})), 'payouts'],
    ['another mode', () => send('some', [order]), 'mode'],
    ['another field', () => fixture.shop.post({ mode: 'each', payouts: [order], a: 1 }, {}, PATH), 'a'],
  ])('answers 422 to %s', async (_, call, field) => {
    const { status, body } = await call();
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
    expect(await statuses()).toEqual([]);
  });

  it('lists the batches of the account without their lines, newest first', async () => {
    const wrong = { ...order, address: '0x1' };
    fixture.ledger.reply = (hold) => ({ outcome: isOf(hold, 9n) ? 'refused' : 'placed' });
    const first = await send('each', [...lines(2), { ...order, amount: 9 }, wrong]);
    const second = await send('all_or_nothing', lines(1));
    const list = await fixture.shop.get(`${PATH}?perPage=1`);
    const { lines: _, ...head } = second.body.data;
    expect(list.body).toMatchObject({ data: [head], meta: { total: 2, last_page: 2 } });
    expect(list.body.data[0]).not.toHaveProperty('lines');
    const older = (await fixture.shop.get(`${PATH}?perPage=1&page=2`)).body.data;
    expect(older).toMatchObject([{ id: first.body.data.id, mode: 'each', totals: first.body.data.totals }]);
    expect(older[0].totals).toMatchObject({ lines: 4, created: 2, refused: 1, invalid: 1 });
    expect((await fixture.shop.get(`${PATH}?status=created`)).status).toBe(422);
  });

  it('answers 404 and 403 to whoever reads another batch', async () => {
    const { body } = await send('each', [order]);
    expect((await fixture.shop.get(`${PATH}/pba_1`)).status).toBe(404);
    expect((await fixture.newClient().get(`${PATH}/${body.data.id}`)).status).toBe(403);
    expect((await fixture.shop.get(`${PATH}/${body.data.id}?a=1`)).status).toBe(422);
  });
});
