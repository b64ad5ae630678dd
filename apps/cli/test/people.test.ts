import { expect, test } from '@jest/globals';
import { commandSuite } from './quittance-in.ts';

const { quittance } = await commandSuite();

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
