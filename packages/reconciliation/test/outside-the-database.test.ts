import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { type ClientCall, checkClientLog } from '../src/client-log.ts';
import { faultsFired } from '../src/faults-fired.ts';
import { secretsInLogs } from '../src/secrets-in-logs.ts';

/** What tests know and no table holds: what clients were told, what stands in logs, what faults were planned. */

const db = (await suiteDatabase()).openAsAdmin('public');

describe('I9', () => {
  beforeAll(async () => {
    for (const [seq, status] of ['reserved', 'mined', 'failed', 'voided'].entries()) {
      await db.rows(
        `insert into payouts.payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status,
           tx_hash, completed_at, failed_reason)
         values ($1::int, $1::int + 100, 'acc_1', 'ETH', 1500000000000000000, 1, '0x1', 3, $2::text,
           case when $2 = 'mined' then '0x9' end, case when $2 = 'mined' then now() end,
           case when $2 = 'failed' then 'So.' end)`,
        [seq + 1, status],
      );
    }
    // Unresolved money that is paid back: no client asked for it at /api/payouts, and the list shows it.
    await db.rows(
      `insert into payouts.payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status,
         returns_deposit) values (5, 105, 'acc_1', 'ETH', 7, 1, '0x1', 3, 'reserved', 'dep_1')`,
    );
    await db.rows(
      `insert into invoices.invoices (id, account_id, asset, chain, amount_fiat, usd_rate, quote, amount_due,
         min_confirmations, dust, status, created_at, address, derivation_index)
       values ('inv_1', 'acc_1', 'ETH', 'ethereum', 1000, 10, '{}', 100, 3, 1, 'pending', now(), '0xa', 0)`,
    );
  });
  const asked = (status: number | undefined, id?: number, more: Partial<ClientCall> = {}): ClientCall => ({
    account: 'acc_1',
    method: 'POST',
    path: '/api/payouts',
    body: '{"asset":"ETH","amount":1.5,"address":"0x1"}',
    ...(status === undefined ? {} : { status }),
    ...(id === undefined ? {} : { answer: { data: { id } } }),
    ...more,
  });
  const answered = (
    method: ClientCall['method'],
    path: string,
    status: number,
    answer: unknown,
  ): ClientCall => ({ account: 'acc_1', method, path, status, answer });
  const shown = (id: number, status: string, tx_hash: string | null = null) =>
    answered('GET', `/api/payouts/${id}`, 200, { id, type: 'payout', status, tx_hash });
  const [one, two, three] = [asked(201, 101), asked(201, 102), asked(201, 103)];
  const told = [one, two, three];
  const finer = '{"asset":"ETH","amount":1.500000000000000001}';
  const unpaid = answered('GET', '/api/invoices/inv_1', 200, { data: { id: 'inv_1', status: 'paid' } });
  const lost = answered('POST', '/api/invoices', 201, { data: { id: 'inv_2' } });
  const key = { key: 'k' };

  test.each<[string, ClientCall[]]>([
    ['every payout was told, and refusals left none', [...told, asked(503), asked(400), asked(422)]],
    ['the answer to one was lost', [one, two, asked(undefined)]],
    ['one was told again by its key', [...told, asked(500, undefined, key), asked(503, undefined, key)]],
    ['the same payout for the same key', [asked(201, 101, key), asked(201, 101, key), two, three]],
    [
      'they are shown as they are',
      [...told, shown(101, 'pending'), shown(102, 'mined', '0x9'), shown(103, 'failed')],
    ],
    ['money that is paid back is shown', [...told, shown(105, 'pending')]],
  ])('holds when %s', async (_, log) => {
    expect(await checkClientLog(db, log)).toEqual([]);
  });

  test.each<[string, ClientCall[], RegExp]>([
    [
      'a payout that was answered 201 does not exist',
      [...told, asked(201, 999)],
      /999 was answered 201 .* does not exist/,
    ],
    ['one that was voided was answered 201', [...told, asked(201, 104)], /104 was answered 201/],
    ['one was refused with 503 and exists', [one, two, asked(503)], /no client was told of \(103\)/],
    ['two requests were told of one payout', [...told, one], /101 was told to two requests/],
    [
      'one key was told of two payouts',
      [asked(201, 101, key), asked(201, 102, key), three],
      /told of 2 payouts/,
    ],
    [
      'another amount was paid than was asked for',
      [asked(201, 101, { body: finer }), two, three],
      /101 is of 1500000000000000000 ETH, .* asked for 1500000000000000001 ETH/,
    ],
    [
      'it belongs to another account',
      [asked(201, 101, { account: 'acc_2' }), two, three],
      /101 .* is acc_1's/,
    ],
    [
      'what was mined is not any more',
      [...told, shown(101, 'mined', '0x1')],
      /101 was shown as mined, it is reserved/,
    ],
    ['another transaction mined it', [...told, shown(102, 'mined', '0x8')], /102 was shown as mined by 0x8/],
    ['an invoice was shown as paid', [...told, unpaid], /inv_1 was shown as paid, it is pending/],
    ['an invoice was answered 201 and is not there', [...told, lost], /inv_2 was answered 201/],
  ])('names it when %s', async (_, log, named) => {
    expect(await checkClientLog(db, log)).toEqual([
      expect.objectContaining({ what: expect.stringMatching(named) }),
    ]);
  });
});

describe('I11', () => {
  const dir = mkdtempSync(join(tmpdir(), 'quittance-logs-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const seed = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
  const secrets = { WALLET_SEED: seed, CLAIM_LINKS_SECRET: 'p"ss/w0rd&+', short: 'abc' };

  const found = async (...lines: string[]) => {
    const file = join(dir, 'a.log');
    writeFileSync(file, `{"msg":"started"}\n${lines.join('\n')}\n`);
    return (await secretsInLogs([file], secrets)).map(({ invariant, what }) => `${invariant} ${what}`);
  };

  test('right logs have none', async () => {
    expect(await found('{"msg":"the winner of the year may thank"}', '{"abc":"abc"}')).toEqual([]);
  });

  test.each([
    ['as it is', JSON.stringify({ seed }), 'WALLET_SEED'],
    ['in JSON', JSON.stringify({ x: secrets.CLAIM_LINKS_SECRET }), 'CLAIM_LINKS_SECRET'],
    ['in a URL', `postgres://u:${encodeURIComponent(secrets.CLAIM_LINKS_SECRET)}@h/`, 'CLAIM_LINKS_SECRET'],
    ['in base64', Buffer.from(secrets.CLAIM_LINKS_SECRET).toString('base64'), 'CLAIM_LINKS_SECRET'],
    ['in hex', Buffer.from(secrets.CLAIM_LINKS_SECRET).toString('hex'), 'CLAIM_LINKS_SECRET'],
    ['a few of its words', 'unknown words: year wave sausage worth', 'WALLET_SEED'],
    ['a few of its words, as a list', JSON.stringify(seed.split(' ').slice(2, 7)), 'WALLET_SEED'],
  ])('a secret %s is named with its line, and not shown', async (_, line, name) => {
    const all = await found(line);
    expect(all).toEqual([expect.stringMatching(new RegExp(`^I11 ${name} stands in .*a.log, line 2$`))]);
    for (const value of Object.values(secrets)) expect(all.join()).not.toContain(value.slice(0, 12));
  });
});

test('I12 names the faults that never happened', () => {
  const planned = [
    { name: 'relay.claimed', fired: 2 },
    { name: 'relay.published', fired: 0 },
  ];
  expect(faultsFired(planned)).toMatchObject([
    { invariant: 'I12', what: 'relay.published was planned and never happened' },
  ]);
});
