import { expect, it } from '@jest/globals';
import { order, recipient, requestsSuite, storeReverted } from './service-fixture.ts';

/** Files of payouts for bookkeepers. */
const fixture = requestsSuite();

it('GET /api/payouts?format=csv is a file of all that match, whose sums leave out what was not paid', async () => {
  const [pending = 0, mined = 0, failed = 0, charged = 0, refused] = await fixture.payouts(fixture.shop, 5);
  const { id: noted } = (
    await fixture.shop.post({ ...order, external_id: '=1+1', metadata: { note: 'a, "b"' } })
  ).body.data;
  await fixture.db.rows(
    `update payouts set status = 'mined', tx_hash = '0x' || id, completed_at = '2026-11-24T03:04:05Z', usd_rate = null
     where id = $1`,
    [mined],
  );
  const reasons = `update payouts set status = 'failed', failed_reason = 'So.' where id = any($1::bigint[])`;
  await fixture.db.rows(reasons, [[failed, charged]]);
  const failedAt = '2026-11-24T05:06:07.000Z';
  await fixture.db.rows(`update payouts set updated_at = $2, automatic = id = $1 where status = 'failed'`, [
    failed,
    failedAt,
  ]);
  await fixture.db.rows(`update payouts set status = 'refused' where id = $1`, [refused]);
  await storeReverted(fixture.db, charged);
  const { status, headers, body } = await fixture.shop.get('/api/payouts?format=csv');
  expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
  const [head, ...lines] = body.trimEnd().split('\r\n');
  expect(head).toBe(
    'id,external_id,created_at,completed_at,status,asset,amount,network_fee,total,amount_paid,fee_paid,usd_rate,' +
      'usd_value,to_address,tx_hash,deposit_id,refund_id,invoice_id,batch_id,failed_reason,metadata,automatic,failed_at',
  );
  const listed = (await fixture.shop.get('/api/payouts')).body.data;
  const at = (id: number) => listed.find((one: { id: number }) => one.id === id).created_at;
  const fee = '0.0005';
  const usd = (amount: number) => `2500,${amount * 2500}`;
  expect(lines).toEqual([
    `${noted},'=1+1,${at(noted)},,pending,ETH,1.5,${fee},1.5005,0,0,${usd(1.5)},${recipient},,,,,,,` +
      '"{""note"":""a, \\""b\\""""}",false,',
    `${charged},,${at(charged)},,failed,ETH,4,${fee},4.0005,0,${fee},${usd(4)},${recipient},,,,,,So.,{},false,${failedAt}`,
    `${failed},,${at(failed)},,failed,ETH,3,${fee},3.0005,0,0,${usd(3)},${recipient},,,,,,So.,{},true,${failedAt}`,
    `${mined},,${at(mined)},2026-11-24T03:04:05.000Z,mined,ETH,2,${fee},2.0005,2,${fee},,,${recipient},0x${mined},,,,,,{},false,`,
    `${pending},,${at(pending)},,pending,ETH,1,${fee},1.0005,0,0,${usd(1)},${recipient},,,,,,,{},false,`,
  ]);
  const ofStatus = await fixture.shop.get('/api/payouts?format=csv&status=failed&perPage=');
  expect(ofStatus.body.trimEnd().split('\r\n')).toHaveLength(3);
  expect((await fixture.newClient().get('/api/payouts?format=csv')).body).toBe(`${head}\r\n`);
  const paged = await fixture.shop.get('/api/payouts?format=csv&page=2&perPage=5');
  expect([paged.status, Object.keys(paged.body.errors)]).toEqual([422, ['page', 'perPage']]);
  expect(paged.body.hint).toContain('all rows');
});
