import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { parseUnits, type Units } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import type { CrashFixture } from './crash-fixture.ts';

/** Throws while something of a scenario has not come to its end. */
export type Ended = () => Promise<void>;

/** What runs across a crash: begun at once, and gone through with whoever dies. `died` is when those who were to die have. */
export type Scenario = (fixture: CrashFixture, died: Promise<void>) => Promise<Ended>;

/** So long only because others die meanwhile, on a machine that may be busy with other suites. */
export const STEP_MS = 90_000;

const CLI = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));

/** What a payout pays, and an invoice that covers next to nothing of it: too little to be swept for its own sake. */
export const usual = {
  BTC: { payout: '0.001', dollars: 6 },
  ETH: { payout: '0.01', dollars: 6 },
  SOL: { payout: '0.05', dollars: 6 },
  USDC_ERC20: { payout: '1', dollars: 6 },
  USDC_SOL: { payout: '1', dollars: 6 },
} as const;
export type CrashAsset = keyof typeof usual;

type Invoice = { id: string; amount: string; address: { address: string } };

const unitsOf = (asset: AssetSymbol, text: string): Units => {
  const parsed = parseUnits(text, assets[asset].decimals);
  if (!parsed.ok) throw new Error(`${text} is no amount of ${asset}`);
  return parsed.value;
};

export async function invoiceOf(fixture: CrashFixture, asset: CrashAsset, dollars: number): Promise<Invoice> {
  const { status, body } = await fixture.insist('/api/invoices', { asset, amount: dollars });
  expect(status).toBe(201);
  return body.data;
}

export async function expectInvoice(fixture: CrashFixture, id: string, wanted: object): Promise<void> {
  expect((await fixture.shop.get(`/api/invoices/${id}`)).body).toMatchObject(wanted);
}

export const expectTold = ({ told }: CrashFixture, event: string, id: string | number): void =>
  expect(told()).toContainEqual({ event, id });

/** What invoices has published of an invoice and its payments, in alphabetical order. */
export async function expectPublished(
  { quittance }: CrashFixture,
  id: string,
  kinds: readonly string[],
): Promise<void> {
  const rows = await quittance.db.rows<{ kind: string }>(
    `select kind from invoices.outbox where $1 in (payload->>'resource_id', payload->>'invoice_id') order by kind`,
    [id],
  );
  expect(rows.map(({ kind }) => kind)).toEqual(kinds);
}

/** An invoice that one payment has paid, for the merchant and in what was published of it. */
export async function expectPaid(fixture: CrashFixture, id: string): Promise<void> {
  await expectInvoice(fixture, id, { status: 'paid' });
  expectTold(fixture, 'invoice.paid', id);
  await expectPublished(fixture, id, [
    'deposit.settled',
    'invoice.confirmed',
    'invoice.created',
    'invoice.paid',
  ]);
}

/** A payment of an invoice. */
async function pay(
  fixture: CrashFixture,
  asset: CrashAsset,
  dollars: number,
): Promise<{ id: string; ended: Ended }> {
  const { id, amount, address } = await invoiceOf(fixture, asset, dollars);
  await fixture.customerOf(asset).pay(asset, address.address, amount);
  return { id, ended: () => expectPaid(fixture, id) };
}

type Order = { asset: CrashAsset; amount: string; to?: string };

/** A payout that ends mined. Its recipient had nothing before: who has exactly the amount was paid exactly once. */
export async function payOut(fixture: CrashFixture, { asset, amount, to }: Order): Promise<Ended> {
  const address = to ?? (await fixture.customerOf(asset).newAddress());
  const { status, body } = await fixture.insist('/api/payouts', { asset, amount, address });
  expect([status, body.message]).toEqual([201, expect.any(String)]);
  return () => expectPaidOut(fixture, { id: body.data.id, asset, amount, to: address });
}

/** A payout that is mined, to an address that got nothing else. */
export async function expectPaidOut(
  fixture: CrashFixture,
  { id, asset, amount, to }: { id: number; asset: CrashAsset; amount: string; to: string },
): Promise<void> {
  expect((await fixture.shop.get(`/api/payouts/${id}`)).body).toMatchObject({ status: 'mined' });
  expectTold(fixture, 'payout.completed', id);
  expect(await fixture.customerOf(asset).balance(asset, to)).toBe(unitsOf(asset, amount));
}

export const both =
  (...all: readonly Ended[]): Ended =>
  async () => {
    for (const ended of all) await ended();
  };

/** What every crash has to let through: a payment and a payout. */
export const sale =
  (asset: CrashAsset): Scenario =>
  async (fixture) =>
    both(
      ...(await Promise.all([
        pay(fixture, asset, usual[asset].dollars).then(({ ended }) => ended),
        payOut(fixture, { asset, amount: usual[asset].payout }),
      ])),
    );

/** Money for the payouts to come. */
export async function fund(fixture: CrashFixture, asset: CrashAsset, dollars: number): Promise<void> {
  const { ended } = await pay(fixture, asset, dollars);
  await eventually(ended, STEP_MS);
}

/** A payment so large that it is swept at once for its own sake, by one transaction. */
export const largeSale =
  (asset: CrashAsset, dollars: number): Scenario =>
  async (fixture) => {
    const { id, ended } = await pay(fixture, asset, dollars);
    const sweep = `select h.state, t.state as transaction from invoices.deposits d
      join payouts.unswept_deposits h on h.deposit_id = d.id left join payouts.transactions t on t.id = h.sweep_id
      where d.invoice_id = $1`;
    return async () => {
      await ended();
      expect(await fixture.quittance.db.rows(sweep, [id])).toEqual([
        { state: 'swept', transaction: 'mined' },
      ]);
    };
  };

/** More than there is: refused, and never paid. */
export const tooMuch =
  (asset: CrashAsset): Scenario =>
  async (fixture) => {
    const to = await fixture.customerOf(asset).newAddress();
    const { status, body } = await fixture.insist('/api/payouts', { asset, amount: '900000', address: to });
    expect([status, body.message]).toEqual([400, 'Insufficient balance']);
    return async () => expect(await fixture.customerOf(asset).balance(asset, to)).toBe(0n);
  };

/** The ledger is silent: answered with 503, and never paid. */
export const unanswered =
  (asset: CrashAsset): Scenario =>
  async (fixture, died) => {
    const ledger = fixture.processOf('ledger');
    const to = await fixture.customerOf(asset).newAddress();
    const order = { asset, amount: usual[asset].payout, address: to };
    ledger.pause();
    try {
      const answer = await fixture.shop.post('/api/payouts', order).catch(() => undefined);
      expect(answer?.status ?? 503).toBeGreaterThanOrEqual(500);
      await died;
    } finally {
      ledger.resume();
    }
    return async () => {
      expect(await undecided(fixture)).toEqual([]);
      expect(await fixture.customerOf(asset).balance(asset, to)).toBe(0n);
    };
  };

const undecided = ({ quittance }: CrashFixture) =>
  quittance.db.rows(`select id from payouts.payouts where status = 'requested'`);

/**
 * A balance of one unit too much, as if somebody had changed it. Payouts of the asset pause until the balance is right
 * again and an operator resumes them.
 */
export const miscounted =
  (asset: CrashAsset): Scenario =>
  async (fixture, died) => {
    const { quittance, shop } = fixture;
    const change = (by: number) =>
      quittance.db.rows(
        'update ledger.balances set available = available + $1 where account_id = $2 and asset = $3',
        [by, shop.id, asset],
      );
    await change(1);
    await died;
    await eventually(async () => {
      const halted = 'select asset from payouts.halted_assets where resumed_at is null';
      expect(await quittance.db.rows(halted)).toEqual([{ asset }]);
    }, STEP_MS);
    const address = await fixture.customerOf(asset).newAddress();
    const refused = await shop.post('/api/payouts', { asset, amount: usual[asset].payout, address });
    expect(refused.status).toBe(503);
    await change(-1);
    await resumePayouts(fixture, asset);
    const ended = await payOut(fixture, { asset, amount: usual[asset].payout });
    return async () => {
      await ended();
      expect(await fixture.customerOf(asset).balance(asset, address)).toBe(0n);
      expect(await quittance.db.rows('select 1 from auditor.halts where resumed_at is null')).toEqual([]);
    };
  };

/** Resumes payouts as an operator does. Refused as long as an invariant is violated. */
async function resumePayouts({ quittance: { stack } }: CrashFixture, asset: AssetSymbol): Promise<void> {
  const env = { ...stack.chainSettings, DATABASE_URL_ADMIN: stack.adminUrl };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [CLI, 'payouts', 'resume', '--asset', asset],
    { env },
  );
  expect(stdout).toContain(`Payouts of ${asset} resume`);
}
