import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { run } from 'quittance/run';
import { thiefsAddress } from './fixture.ts';

/**
 * The ledger's database is lost and comes back from a backup, next to the newer records of all other services: a customer has paid
 * and payouts were made since. Payouts stay paused until databases and chain agree.
 */

const STEP_MS = 60_000;

type Records = {
  quittance: Quittance;
  newMerchant(asset: 'ETH'): Promise<Merchant>;
  balanceOf(shop: Merchant, asset: 'ETH'): Promise<bigint>;
  untilEnded(shop: Merchant, payout: number): Promise<string>;
  taken(asset: 'ETH', address: string): Promise<bigint>;
};

export const drillOfRestoredLedger = (at: Records, limitMs: number): void =>
  test(
    'ledger: an hour-old backup restored next to newer payouts pays nobody twice, and after the repair is exact to the unit',
    () => restoresTheLedger(at),
    limitMs,
  );

async function restoresTheLedger(at: Records): Promise<void> {
  const { quittance, newMerchant, balanceOf, untilEnded, taken } = at;
  const folder = mkdtempSync(join(tmpdir(), 'quittance-restore-'));
  const command = commandOf(quittance, folder);
  const pay = async (shop: Merchant, amount: number, address = thiefsAddress()) => {
    const answer = await shop.post('/api/payouts', { asset: 'ETH', amount, address });
    expect(answer.status).toBe(201);
    const { id } = answer.body.data;
    expect(await untilEnded(shop, id)).toBe('mined');
    return { id: id as number, address };
  };
  try {
    const identity = await generateIdentity();
    writeFileSync(join(folder, 'key.txt'), identity);

    // An hour ago: one shop is paid and has paid out.
    const old = await newMerchant('ETH');
    await pay(old, 0.1);
    const recipient = await identityToRecipient(identity);
    const { file } = await command.json('backup', '--to', folder, '--recipient', recipient);

    // Since then: another shop's customer has paid, both have paid out.
    const young = await newMerchant('ETH');
    const [paidOfOld, paidOfYoung] = [await pay(old, 0.2), await pay(young, 0.3)];
    await eventually(() => areProcessed(quittance), STEP_MS, 500);
    const balances = async () => [await balanceOf(old, 'ETH'), await balanceOf(young, 'ETH')];
    const right = await balances();
    const received = await Promise.all([paidOfOld, paidOfYoung].map(({ address }) => taken('ETH', address)));

    // Its records are lost, and come back as they were.
    await quittance.stack.services.ledger.stop();
    await emptyLedger(quittance);
    await command.text(0, 'restore', file, '--only', 'ledger', '--identity', 'key.txt');
    expect(await balances()).not.toEqual(right);

    // Each difference is named, and payouts are paused.
    const named = await command.text(1, 'restore', '--check', '--grace-period', '0');
    expect(named).toContain('Payouts of all assets are paused');
    for (const { id } of [paidOfOld, paidOfYoung])
      expect(named).toContain(`payout ${id} is mined, its hold is missing`);
    expect(named).toMatch(/invoices sent deposit\.settled evt_\w+, ledger does not have it/);
    expect(named).toMatch(/With --repair: [1-9]\d* events are sent again, 2 holds/);

    // What records and chain prove is repaired: first what the balances have, the rest when the deposits are booked.
    const first = await command.text(1, 'restore', '--check', '--repair', '--grace-period', '0');
    expect(first).toMatch(/Repaired: [1-9]\d* events are sent again, 1 holds/);
    expect(first).toContain(`Of payouts ${paidOfYoung.id} the balance has too little yet`);
    await quittance.stack.services.ledger.restart();
    const refused = await eventually(async () => {
      const answer = await old.post('/api/payouts', { asset: 'ETH', amount: 0.1, address: thiefsAddress() });
      expect(answer.status).toBe(503);
      return answer;
    }, STEP_MS);
    expect(JSON.stringify(refused.body)).not.toContain('"id"');
    await eventually(
      async () => expect(await command.text(null, 'restore', '--check', '--repair')).toContain('1 holds'),
      STEP_MS,
      500,
    );
    await eventually(
      async () => {
        const agreed = await command.text(null, 'restore', '--check', '--grace-period', '0');
        expect(agreed).toContain('Databases and chains agree.');
      },
      STEP_MS,
      500,
    );

    // Exact to the unit, and nobody was paid again.
    expect(await balances()).toEqual(right);
    const afterwards = [paidOfOld, paidOfYoung].map(({ address }) => taken('ETH', address));
    expect(await Promise.all(afterwards)).toEqual(received);
    expect((await command.json('payouts', 'paused')).every(({ halted }: { halted: boolean }) => halted)).toBe(
      true,
    );

    // Resumed by its operator, payouts go on.
    for (const asset of ['ETH', 'USDC_ERC20']) await command.text(0, 'payouts', 'resume', '--asset', asset);
    await eventually(
      async () => {
        const order = { asset: 'ETH', amount: 0.1, address: thiefsAddress() };
        expect((await old.post('/api/payouts', order)).status).toBe(201);
      },
      STEP_MS,
      500,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The command of an operator, with the settings of the chains. */
function commandOf({ stack }: Quittance, cwd: string) {
  const typed = async (args: readonly string[]) => {
    const said = { out: '', err: '' };
    const code = await run(args, {
      env: { ...stack.chainSettings, DATABASE_URL_ADMIN: stack.adminUrl, QUITTANCE_OPERATOR: 'drill' },
      cwd,
      out: (text) => {
        said.out += text;
      },
      err: (text) => {
        said.err += text;
      },
    });
    return { code, ...said };
  };
  return {
    /** @param wanted the exit code; null: any */
    async text(wanted: number | null, ...args: string[]): Promise<string> {
      const { code, out, err } = await typed(args);
      expect({ code: wanted === null ? null : code, err }).toEqual({ code: wanted, err: '' });
      return out;
    },
    // biome-ignore lint/suspicious/noExplicitAny: whatever the command says
    async json(...args: string[]): Promise<any> {
      const { code, out, err } = await typed([...args, '--json']);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      return JSON.parse(out);
    },
  };
}

/** Every event has been processed, and its sender knows: it would not send it again by itself. */
async function areProcessed({ db, books }: Quittance): Promise<void> {
  for (const sender of ['invoices', 'payouts', 'ledger'])
    expect(await db.rows(`select kind from ${sender}.outbox where confirmed_at is null`)).toEqual([]);
  expect((await books()).discrepancies).toEqual([]);
}

async function emptyLedger({ db }: Quittance): Promise<void> {
  const { names } = await db.one<{ names: string }>(
    `select string_agg(format('%I.%I', schemaname, tablename), ', ') as names from pg_tables
     where schemaname = 'ledger' and tablename not like 'migrations%'`,
  );
  await db.rows(`truncate ${names}`);
}
