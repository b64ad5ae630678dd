import { describe, expect, test } from '@jest/globals';
import { refusal } from '@quittance/testkit/refusal';
import { operatorSuite, quittanceIn } from './quittance-in.ts';

/** Former names of commands work for one release, and do the same as the new ones. */

const { quittance } = await operatorSuite();

const TXID = 'a'.repeat(64);
test.each([
  ['parked list', 'dead-letters list'],
  ['parked requeue --all --json', 'dead-letters retry --all --json'],
  ['parked requeue evt_1 --not-taken-in', 'dead-letters retry evt_1 --not-processed'],
  ['parked requeue --all --not-taken-in', 'dead-letters retry --all --not-processed'],
  ['engine allow ethereum 17', 'signing resume ethereum --nonce 17'],
  ['engine allow ethereum 17 --none-was-paid', 'signing resume ethereum --nonce 17 --confirm-none-paid'],
  [`engine allow bitcoin ${TXID}:0`, `signing resume bitcoin --outpoint ${TXID}:0`],
  ['engine allow solana 17', 'signing resume solana --signature 17'],
  ['asset list --json', 'payouts paused --json'],
  ['asset halt XYZ --reason drill', 'payouts pause --asset XYZ --reason drill'],
  ['asset resume ETH --patience 5', 'payouts resume --asset ETH --grace-period 5'],
  ['resume-payouts ETH', 'payouts resume --asset ETH'],
  ['payout show 9', 'payouts show 9'],
  ['payout stalled', 'payouts stalled'],
  ['verify-books --patience 86401', 'verify-books --grace-period 86401'],
  ['env', 'init'],
  ['keep-bus', 'nats provision --watch'],
  ['keep-bus --once', 'nats provision'],
  ['nats-permissions --json', 'nats permissions --json'],
])('%j does the same as %j', async (former, name) => {
  const [was, is] = [await quittance(former.split(' ')), await quittance(name.split(' '))];
  const plain = (text: string) =>
    text.replace('--patience', '--grace-period').replace(/\n\(add --help[\s\S]*$/, '');
  expect({ ...was, err: plain(was.err), json: null }).toEqual({ ...is, err: plain(is.err), json: null });
});

test('payouts that are paused under the former name are resumed under the new one', async () => {
  const halted = async () =>
    (await quittance(['payouts', 'paused', '--json']))
      .json()
      .filter((row: { halt_asked: boolean }) => row.halt_asked)
      .map((row: { asset: string }) => row.asset);
  expect((await quittance(['asset', 'halt', 'ETH', '--reason', 'a drill'])).code).toBe(0);
  expect(await halted()).toEqual(['ETH']);
  expect((await quittance(['payouts', 'resume', '--asset', 'ETH', '--force'])).code).toBe(0);
  expect((await quittance(['payouts', 'pause', '--asset', 'SOL', '--reason', 'a drill'])).code).toBe(0);
  expect(await halted()).toEqual(['SOL']);
  expect((await quittance(['asset', 'resume', 'SOL', '--force'])).code).toBe(0);
  expect(await halted()).toEqual([]);
});

describe('the help', () => {
  test('names the new commands and none that has a former name only', async () => {
    const { code, out: help } = await quittanceIn('/', {}, ['--help']);
    expect(code).toBe(0);
    for (const name of ['dead-letters', 'payouts', 'signing', 'init', 'nats'])
      expect(help).toContain(`  ${name}`);
    for (const name of ['engine', 'asset', 'resume-payouts', 'keep-bus', 'nats-permissions'])
      expect(help).not.toMatch(new RegExp(`^  ${name}\\b`, 'm'));
  });

  test('a command without the option that it needs is refused', async () => {
    expect((await quittance(['payouts', 'pause', '--reason', 'x'])).code).toBe(2);
    expect((await quittance(['payouts', 'resume'])).code).toBe(2);
    expect(await quittance(['signing', 'resume', 'ethereum'])).toMatchObject(refusal(/^Which transaction\?/));
  });
});
