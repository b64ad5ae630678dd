import { beforeEach, expect, test } from '@jest/globals';
import { refusal } from '@quittance/testkit/refusal';
import { operatorSuite } from './quittance-in.ts';

/** What the auditor has measured of the operator's money, and what an operator notes of it. */
const { database, quittance: operator } = await operatorSuite();
const admin = database.openAsAdmin('auditor');

const measured = `insert into auditor.operator_funds (asset, amount, cause, noted_at) values
  ('ETH', 2000000000000000000, 'measured', '2026-01-02T03:04:00Z'), ('ETH', 500000000000000000, 'arrived', '2026-01-03T03:04:00Z')`;
beforeEach(async () => {
  await admin.rows('delete from auditor.operator_funds');
  await admin.rows(measured);
});

test('are listed with each change', async () => {
  const { code, out } = await operator(['funds', 'list']);
  expect(code).toBe(0);
  expect(out).toMatch(/ETH +2\.5\n/);
  expect(out).toMatch(/2026-01-03 03:04 UTC +ETH +0\.5 +arrived/);
  expect((await operator(['funds', 'list', '--json'])).json()).toMatchObject({
    funds: [{ asset: 'ETH', amount: '2.5' }],
    changes: [{ cause: 'measured' }, { cause: 'arrived' }],
  });
});

test('a withdrawal reduces them, and is in the audit log', async () => {
  const done = await operator(['funds', 'withdrawn', '--asset', 'eth', '--amount', '1.000000000000000001']);
  expect(done).toMatchObject({ code: 0, out: 'The operator has 1.499999999999999999 ETH left.\n' });
  const [entry] = await admin.rows('select action, subject from gateway.audit_log order by seq desc limit 1');
  expect(entry).toMatchObject({ action: 'note withdrawal', subject: '1.000000000000000001 ETH' });
});

test.each([
  [['--asset', 'ETH', '--amount', '0'], /a number of ETH above 0/],
  [['--asset', 'ETH', '--amount', '-1'], /a number of ETH above 0/],
  [['--asset', 'XYZ', '--amount', '1'], /There is no asset "XYZ"/],
  [['--asset', 'SOL', '--amount', '1'], /has not measured the operator's SOL yet/],
])('a withdrawal of %j is refused', async (given, why) => {
  expect(await operator(['funds', 'withdrawn', ...given])).toMatchObject(refusal(why));
});
