import { expect, test } from '@jest/globals';
import { commandSuite, operatorSuite } from './quittance-in.ts';

const { quittance } = await commandSuite();
const { database, quittance: withRole } = await operatorSuite();

test('the operator invites the first owner with a token that is shown once, and refuses what is no address', async () => {
  const name = `shop ${Math.random().toString(36).slice(2)}`;
  await quittance(['account', 'create', name]);
  const invite = (email: string, role = 'owner') =>
    quittance(['people', 'invite', '--account', name, '--email', email, '--role', role]);
  const invited = await invite('Anna@Shop.example');
  expect(invited).toMatchObject({ code: 0, err: '' });
  expect(invited.out).toMatch(/anna@shop\.example may become owner of the account/);
  expect(invited.out).toMatch(/\n {2}qi_[\w-]{43}\n/);
  expect((await invite('anna')).err).toContain('is no e-mail address');
  expect((await invite('ben@shop.example', 'king')).code).not.toBe(0);
  expect((await quittance(['people', 'list', name])).out).toContain('No people yet.');
  for (const command of [
    ['people', 'reset', '--email', 'anna@shop.example'],
    ['people', 'remove', '--account', name, '--email', 'anna@shop.example'],
  ])
    expect((await quittance(command)).err).toContain('There is no person "anna@shop.example"');
});

test('the operator’s role makes a person an operator, and takes it away, each with an entry in the audit log', async () => {
  const admin = database.openAsAdmin('gateway');
  await admin.rows(`insert into people (id, email, name) values ('per_1', 'anna@shop.example', 'Anna')`);
  await admin.rows(`insert into accounts (id, name) values ('acc_ops', 'ops'), ('acc_other', 'other')`);
  await admin.rows(
    `insert into memberships (person_id, account_id, role) values ('per_1', 'acc_ops', 'viewer')`,
  );
  const grant = ['--grant', '--account', 'ops'];
  const operators = async () => (await admin.rows('select person_id from operators')).length;
  const command = (...args: string[]) => withRole(['people', 'operator', ...args]);
  expect((await command('ben@shop.example', ...grant)).err).toContain(
    'There is nobody with the address "ben@shop.example" in the account "ops"',
  );
  // Somebody may have been invited into another account with the address of somebody else.
  expect((await command('anna@shop.example', '--grant', '--account', 'other')).err).toContain(
    'nobody with the address',
  );
  expect((await command('anna@shop.example', '--grant')).err).toContain('Say --account');
  expect((await command('anna@shop.example')).err).toContain('Say --grant or --revoke.');
  expect((await command('anna@shop.example', '--grant', '--revoke')).code).not.toBe(0);
  expect(await operators()).toBe(0);
  const granted = await command(' Anna@Shop.example', ...grant, '--json');
  expect(granted.json()).toEqual({ email: 'anna@shop.example', operator: true, changed: true });
  expect((await command('anna@shop.example', ...grant)).out).toMatch(/^anna@shop\.example is an operator/);
  expect(await operators()).toBe(1);
  expect((await command('anna@shop.example', '--revoke')).out).toContain('is no longer an operator');
  expect((await command('anna@shop.example', '--revoke')).out).toContain('is not an operator');
  expect(await operators()).toBe(0);
  expect(await admin.rows('select action, subject from audit_log order by seq')).toEqual([
    { action: 'operator.granted', subject: 'per_1' },
    { action: 'operator.revoked', subject: 'per_1' },
  ]);
});
