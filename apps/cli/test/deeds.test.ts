import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { operatorOf } from './quittance-in.ts';

/** What is written down of what operators do: who it was is asked after the money is gone. */

const logger = createLogger('test', 'silent');
const ANNA = { QUITTANCE_OPERATOR: 'Anna K.' };
let database: TestDatabase;
let quittance: ReturnType<typeof operatorOf>;
let admin: Db;

beforeAll(async () => {
  database = await testDatabase();
  quittance = operatorOf(database);
  admin = openDb({ url: database.adminUrl, schema: 'operator', pool: 1, logger });
});
afterAll(async () => {
  await admin?.close();
  await database?.drop();
});

const deeds = () => admin.rows('select actor, deed, subject from deeds order by seq');

test('who halts payouts, resumes them or forces them on is written down, by name', async () => {
  expect((await quittance(['asset', 'halt', 'ETH', '--reason', 'a drill'], ANNA)).code).toBe(0);
  expect((await quittance(['asset', 'halt', 'ETH', '--reason', 'again'], ANNA)).code).toBe(1);
  expect((await quittance(['asset', 'resume', 'ETH'], ANNA)).err).toMatch(/no node of ethereum/);
  expect((await quittance(['asset', 'resume', 'ETH', '--force'], { QUITTANCE_OPERATOR: 'ben' })).code).toBe(
    0,
  );
  const { seq } = await admin.one<{ seq: string }>('select seq from auditor.halts');
  expect(await deeds()).toEqual([
    { actor: 'cli:Anna K.', deed: 'halt', subject: `ETH, halt ${seq}` },
    { actor: 'cli:ben', deed: 'resume by force', subject: `ETH, halt ${seq}` },
  ]);
});

test('a deed that cannot be written down is not done', async () => {
  const [before, halts] = [await deeds(), await admin.rows('select * from auditor.halts')];
  await admin.rows('alter table deeds add constraint deeds_none check (false) not valid');
  try {
    expect((await quittance(['asset', 'halt', 'ETH', '--reason', 'x'], ANNA)).code).toBe(1);
  } finally {
    await admin.rows('alter table deeds drop constraint deeds_none');
  }
  expect([await deeds(), await admin.rows('select * from auditor.halts')]).toEqual([before, halts]);
});

test('who names nobody is the user of the process; what is no name is refused', async () => {
  expect((await quittance(['asset', 'halt', 'SOL', '--reason', 'x'], { QUITTANCE_OPERATOR: '' })).code).toBe(
    0,
  );
  expect((await deeds()).at(-1)).toMatchObject({ actor: expect.stringMatching(/^cli:\w+$/), deed: 'halt' });
  const refused = await quittance(['asset', 'resume', 'SOL', '--force'], { QUITTANCE_OPERATOR: 'a\nb' });
  expect(refused).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/^QUITTANCE_OPERATOR names/),
  });
});
