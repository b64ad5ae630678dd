import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { operatorSuite } from './quittance-in.ts';

/*
 * What merchants, customers and servers wrote is in every column that a command shows. None of it may drive the operator's
 * terminal, look like a line of ours, or be lost in JSON.
 */

/** Clears the screen, writes to the clipboard, colours, begins a line, turns the text round, and hides. */
const HOSTILE =
  'evil\u001b[2J\u001b]52;c;QQ==\u0007\u009b31m\r\nFORGED ok\u202e\u2066\u061c\u200b\u200d\ufeff\u2028\u2029\u007f\u0085\u{e0041}\tend';
/** What is not understood is quoted as it was typed. */
const IN_A_LINE = HOSTILE.replace('\r\n', '');
const OBEYED = /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}|^FORGED/mu;

const { database, quittance } = await operatorSuite();
const admin = database.openAsAdmin('public', { pool: 1 });

beforeAll(async () => {
  for (const sql of [
    `insert into gateway.accounts (id, name) values ('acc_1', $1)`,
    `insert into gateway.tokens (id, account_id, name, hash, hint) values ('tok_1', 'acc_1', $1, sha256('x'), $1)`,
    `insert into invoices.invoices (id, account_id, external_id, asset, chain, amount_fiat, usd_rate, quote, amount_due,
         min_confirmations, dust, created_at, address, derivation_index)
       values ('inv_1', 'acc_1', $1, 'ETH', 'ethereum', 500, 1, '{}', 1, 1, 0, now(), $1, 0)`,
    `insert into invoices.unchosen_invoices (id, account_id, external_id, currency, amount_fiat, assets, tolerance_bps, created_at)
       values ('inv_2', 'acc_1', $1, 'USD', 500, '{ETH}', 0, now())`,
    `insert into invoices.mempool_payments (chain, outpoint, invoice_id, asset, amount, first_seen_at, address, tx_hash, output_index)
       values ('ethereum', $1, 'inv_1', 'ETH', 1, now(), $1, $1, 0)`,
    `insert into invoices.outbox (id, kind, payload, request_id, sent_at)
       values ('evt_1', 'invoice.created', jsonb_build_object('resource_id', 'inv_1'), $1, now())`,
    `insert into payouts.payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status, failed_reason)
       values (1, 1, 'acc_1', 'ETH', 1, 1, $1, 1, 'failed', $1)`,
    `insert into payouts.payouts (seq, id, account_id, asset, amount, network_fee, address, min_confirmations, status)
       values (2, 2, 'acc_1', 'ETH', 1, 1, $1, 1, 'reserved')`,
    `insert into webhooks.accounts (account_id, last_sequence) values ('acc_1', 1)`,
    `insert into webhooks.events (account_id, sequence, id, kind, created_at, resource_id, version, data)
       values ('acc_1', 1, 'evt_1', 'invoice.created', now(), 'inv_1', 1, '{}')`,
    `insert into webhooks.endpoints (id, account_id, url, event_types, created_at) values ('whe_1', 'acc_1', 'https://shop.example/' || $1, '{}', now())`,
    `insert into webhooks.deliveries (endpoint_key, sequence, state, due_at) select key, 1, 'exhausted', now() from webhooks.endpoints`,
    `insert into webhooks.attempts (endpoint_key, sequence, number, started_at, ms, failure)
       select key, 1, 1, now(), 1, $1 from webhooks.endpoints`,
    `insert into ledger.dead_letters (event_id, kind, envelope, failure) values ($1, $1, '{}', $1)`,
    `insert into webhooks.dead_letters (event_id, kind, envelope, failure) values ('evt_1', $1, '{}', $1)`,
    `insert into invoices.rescans (chain, from_height, next_height, asked_at, ended_at, failure)
       values ('ethereum', 1, 1, now(), now(), $1)`,
    `insert into ledger.balances (account_id, asset, available, held, unresolved) values ($1, 'ETH', 5, 0, 0)`,
  ])
    await admin.rows(sql, sql.includes('$1') ? [HOSTILE] : []);
});
database.finally(async () => {
  await admin.rows('delete from ledger.balances');
  await admin.rows(`update payouts.payouts set status = 'refused' where id = 2`);
});

// One of the commands below resumes it.
beforeEach(async () => {
  await admin.rows(
    `insert into auditor.halts (asset, discrepancies)
     select 'ETH', jsonb_build_array(jsonb_build_object('invariant', 'I2', 'what', $1::text))
     where not exists (select from auditor.halts where resumed_at is null)`,
    [HOSTILE],
  );
});

const commands: readonly (readonly [string, string[]])[] = [
  ['accounts', ['account', 'list']],
  ['an account that there is', ['account', 'create', HOSTILE]],
  ['an account’s tokens', ['token', 'list', 'acc_1']],
  ['tokens of an account that is not there', ['token', 'list', `no ${HOSTILE}`]],
  ['a new token', ['token', 'create', 'acc_1', '--name', 'till']],
  ['a token with such a name', ['token', 'create', 'acc_1', '--name', HOSTILE]],
  ['a token that ends', ['token', 'revoke', 'tok_1']],
  ['an invoice', ['invoice', 'show', 'inv_1']],
  ['an invoice before the choice of its asset', ['invoice', 'show', 'inv_2']],
  ['an invoice that is not there', ['invoice', 'show', HOSTILE]],
  ['a payout', ['payouts', 'show', '1']],
  ['a payout that is not there', ['payouts', 'show', HOSTILE]],
  ['dead letters', ['dead-letters', 'list']],
  ['a dead letter that nobody sends again', ['dead-letters', 'retry', HOSTILE]],
  ['all dead letters', ['dead-letters', 'retry', '--all']],
  ['rescans', ['rescan']],
  ['a rescan of no chain', ['rescan', HOSTILE]],
  ['paused payouts', ['payouts', 'paused']],
  ['an asset that there is not', ['payouts', 'pause', '--asset', HOSTILE, '--reason', 'x']],
  ['an asset whose books are wrong', ['payouts', 'resume', '--asset', 'ETH', '--force']],
  ['payouts that would be signed', ['signing', 'resume', 'ethereum', '--nonce', '1']],
  ['a delivery that is not there', ['webhook', 'resend', HOSTILE]],
  ['wrong books', ['verify-books', '--grace-period', '0']],
  ['a command that there is not', [IN_A_LINE]],
  ['an option that there is not', ['account', 'list', `--${IN_A_LINE}`]],
];

/** The text is shortened there, or only the ids are said. */
const notInJson = ['a dead letter that nobody sends again', 'payouts that would be signed'];

describe.each(commands)('%s', (what, args) => {
  const env = () => ({
    GATEWAY_DATABASE_URL: database.adminUrl,
    DATABASE_URL_ADMIN: database.adminUrl,
    QUITTANCE_OPERATOR: 'anna',
  });

  test('is shown in words without anything that a terminal obeys', async () => {
    const { out, err } = await quittance(args, env());
    expect((out + err).split('\n').filter((line) => OBEYED.test(line))).toEqual([]);
    // JSON of a message escapes in its own way what it must: what follows is the same.
    expect(out + err).toMatch(
      /evil\\u001b\[2J\\u001b\]52;c;QQ==\\u0007\\u009b31m(?:\\(?:u000d|r)\\(?:u000a|n)| )?FORGED ok/,
    );
  });

  test('is the same in JSON, without anything that a terminal obeys', async () => {
    const { out, err } = await quittance([...args, '--json'], env());
    expect((out + err).split('\n').filter((line) => OBEYED.test(line))).toEqual([]);
    const said = JSON.stringify(JSON.parse(out || err));
    if (notInJson.includes(what)) return;
    // Messages quote it, as JSON does.
    const quoted = [HOSTILE, IN_A_LINE].map((text) => JSON.stringify(text).slice(1, -1));
    expect(
      [...quoted, ...quoted.map((text) => JSON.stringify(text).slice(1, -1))].some((text) =>
        said.includes(text),
      ),
    ).toBe(true);
  });
});
