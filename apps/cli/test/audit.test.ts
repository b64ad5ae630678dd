import { expect, test } from '@jest/globals';
import { operatorSuite } from './quittance-in.ts';

const { database, quittance } = await operatorSuite();
const admin = database.openAsAdmin('gateway');
const run = (...args: string[]) =>
  quittance(args, { GATEWAY_DATABASE_URL: database.urlOf('gateway'), QUITTANCE_OPERATOR: 'anna' });
const audit = (...args: string[]) => run('audit', ...args);

test('an operator lists, exports and verifies the audit log', async () => {
  await run('account', 'create', 'a shop');
  await run('token', 'create', 'a shop', '--name', 'till');
  const listed = await audit('list', '--limit', '2');
  expect([listed.code, listed.err]).toEqual([0, '']);
  expect(listed.out).toMatch(/^TIME +WHO +FROM +ACTION +ON +DETAIL\n/);
  expect(listed.out.split('\n')[1]).toMatch(/ UTC +cli:anna +\S+ +account\.created +acc_/);
  expect(listed.out.split('\n')[2]).toMatch(/ UTC +cli:anna +\S+ +token\.created +tok_/);

  const exported = (await audit('export')).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const verified = await audit('verify');
  const [, head = ''] = /--head (\S+)\n$/.exec(verified.out) ?? [];
  expect([verified.code, head]).toEqual([0, `${exported.length}:${exported.at(-1).hash}`]);
  expect((await audit('verify', '--head', head)).code).toBe(0);
  expect((await audit('verify', '--head', 'the last one')).err).toContain('It must be a head');

  await admin.rows('alter table audit_log disable trigger user');
  await admin.rows(`update audit_log set actor = 'cli:bob' where position = ${exported.length}`);
  const broken = await audit('verify', '--json');
  expect([broken.code, broken.json()]).toMatchObject([1, { problem: 'broken' }]);
  await admin.rows(`delete from audit_log where position = ${exported.length}`);
  expect((await audit('verify')).code).toBe(0);
  const cut = await audit('verify', '--head', head);
  expect([cut.code, cut.out]).toEqual([1, expect.stringContaining('the log has not the entry')]);
});
