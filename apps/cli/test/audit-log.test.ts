import { expect, test } from '@jest/globals';
import { operatorSuite } from './quittance-in.ts';

/** The audit log of what operators do. */

const ANNA = { QUITTANCE_OPERATOR: 'Anna K.' };
const { database, quittance } = await operatorSuite();
const admin = database.openAsAdmin('operator');

const auditLog = () => admin.rows('select actor, action, subject from audit_log order by seq');

test('the audit log names the operator who pauses payouts, resumes them or resumes them by force', async () => {
  expect((await quittance(['payouts', 'pause', '--asset', 'ETH', '--reason', 'a drill'], ANNA)).code).toBe(0);
  expect((await quittance(['payouts', 'pause', '--asset', 'ETH', '--reason', 'again'], ANNA)).code).toBe(1);
  expect((await quittance(['payouts', 'resume', '--asset', 'ETH'], ANNA)).err).toMatch(/no node of ethereum/);
  expect(
    (await quittance(['payouts', 'resume', '--asset', 'ETH', '--force'], { QUITTANCE_OPERATOR: 'ben' })).code,
  ).toBe(0);
  const { seq } = await admin.one<{ seq: string }>('select seq from auditor.halts');
  expect(await auditLog()).toEqual([
    { actor: 'cli:Anna K.', action: 'halt', subject: `ETH, halt ${seq}` },
    { actor: 'cli:ben', action: 'resume by force', subject: `ETH, halt ${seq}` },
  ]);
});

test('payouts are not paused when the audit log cannot be written', async () => {
  const [before, halts] = [await auditLog(), await admin.rows('select * from auditor.halts')];
  await admin.rows('alter table audit_log add constraint audit_log_none check (false) not valid');
  try {
    expect((await quittance(['payouts', 'pause', '--asset', 'ETH', '--reason', 'x'], ANNA)).code).toBe(1);
  } finally {
    await admin.rows('alter table audit_log drop constraint audit_log_none');
  }
  expect([await auditLog(), await admin.rows('select * from auditor.halts')]).toEqual([before, halts]);
});

test('without QUITTANCE_OPERATOR the user of the process is named; an invalid name is refused', async () => {
  expect(
    (await quittance(['payouts', 'pause', '--asset', 'SOL', '--reason', 'x'], { QUITTANCE_OPERATOR: '' }))
      .code,
  ).toBe(0);
  expect((await auditLog()).at(-1)).toMatchObject({
    actor: expect.stringMatching(/^cli:\w+$/),
    action: 'halt',
  });
  const refused = await quittance(['payouts', 'resume', '--asset', 'SOL', '--force'], {
    QUITTANCE_OPERATOR: 'a\nb',
  });
  expect(refused).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/^QUITTANCE_OPERATOR is the name/),
  });
});
