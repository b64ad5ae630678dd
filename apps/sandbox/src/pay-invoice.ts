import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  ConnectionError,
  type Invoice,
  isPayable,
  NotFoundError,
  type PayableInvoice,
  PermissionError,
  Quittance,
} from '@quittance/client';
import { type AssetSymbol, assets, isAssetSymbol } from '@quittance/shared/assets';
import { reason } from '@quittance/shared/logger';
import { formatUnits, parseUnits, type Units } from '@quittance/shared/money';
import { nodesSchema, payFromFaucet } from '@quittance/stack/faucet';
import { CHECKOUT_SANDBOX } from 'quittance/sandbox-folder';
import { z } from 'zod';

const usage = `npm run pay -- INVOICE_ID [--asset A] [--amount X] [--late] [--port N]

  Pays an invoice of the running sandbox from a faucet, as a customer would.
  --asset A    chooses the asset first, where the invoice leaves the choice to its payer
  --amount X   this much of the asset instead of what is due: less, more, or again
  --late       too late: waits until the invoice's time is over, then pays
  --port N     the sandbox started with --port N, when several run
  --json       prints JSON
`;

/** Nobody waits longer in front of a terminal. */
const LATE_WITHIN_MINUTES = 10;
const ASK_EVERY_MS = 1_000;
/** After its time is over, an invoice expires when its chain's next block says so too. */
const EXPIRES_WITHIN_MS = 120_000;

const sandboxSchema = z.object({
  url: z.string(),
  accounts: z.array(z.object({ name: z.string(), token: z.string() })),
  nodes: nodesSchema,
});
type Sandbox = z.infer<typeof sandboxSchema>;

const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const { id, late, amount: wanted, asset: choice, port, json } = readArguments();
  const sandbox = readSandbox(port);
  const found = await findInvoice(sandbox, id);
  const invoice = isPayable(found) ? found : await choose(sandbox, id, found, choice);
  const asset = invoice.asset.symbol;
  if (!isAssetSymbol(asset)) throw new Error(`this sandbox cannot pay ${asset}`);
  const amount = wanted === undefined ? stillDue(invoice, asset) : units(wanted, asset);
  if (late) await untilTooLate(sandbox, invoice);
  const payment = { to: invoice.address.address, amount };
  const txHash = await payFromFaucet(sandbox.nodes, asset, payment);
  const paid = formatUnits(amount, assets[asset].decimals);
  if (json) {
    const { url } = invoice;
    say(JSON.stringify({ id, asset, amount: paid, address: payment.to, transaction: txHash, url }));
    return;
  }
  say(`paid ${paid} ${asset} to ${payment.to}`);
  say(`transaction ${txHash}`);
  say(`watch it: ${invoice.url}`);
  if (late) say(`when it is final it waits as unresolved: ${sandbox.url}/api/unresolved`);
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: {
        amount: { type: 'string' },
        asset: { type: 'string' },
        late: { type: 'boolean', default: false },
        port: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: true,
    });
    const [id, ...more] = positionals;
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    if (id === undefined) throw new Error('which invoice? Its id begins with inv_');
    if (more.length > 0) throw new Error(`one invoice at a time: ${more.join(' ')} is too much`);
    return { ...values, id };
  } catch (error) {
    process.stderr.write(`${reason(error)}\n\n${usage}`);
    process.exit(1);
  }
}

function readSandbox(port: string | undefined): Sandbox {
  const path = join(process.env['SANDBOX_DIR'] ?? CHECKOUT_SANDBOX, port ?? '', 'sandbox.json');
  if (!existsSync(path)) {
    throw new Error(
      port === undefined
        ? 'no sandbox was started here yet: run npm start first'
        : `no sandbox was started here with --port ${port}`,
    );
  }
  return sandboxSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
}

/** The faucet knows all demo accounts' tokens, so it finds whoever's invoice it is. */
async function findInvoice({ url, accounts }: Sandbox, id: string): Promise<Invoice> {
  let missing = 0;
  for (const { token } of accounts) {
    try {
      return await new Quittance({ url, token, maxRetries: 0 }).invoices.retrieve(id);
    } catch (error) {
      if (error instanceof ConnectionError)
        throw new Error(
          `the sandbox at ${url} does not answer; is npm start still running? (${error.message})`,
        );
      if (error instanceof NotFoundError) missing++;
      else if (!(error instanceof PermissionError)) throw error;
    }
  }
  throw new Error(
    missing > 0
      ? `there is no invoice ${JSON.stringify(id)} in the sandbox at ${url}`
      : `none of the sandbox's accounts has the invoice ${id}`,
  );
}

/** Chooses the asset on the payment page, as its payer would. */
async function choose(
  sandbox: Sandbox,
  id: string,
  { url, assets: offered = [], status }: Invoice,
  asset: string | undefined,
): Promise<PayableInvoice> {
  if (status !== 'pending') throw new Error(`no asset was chosen for the invoice, and it is ${status}`);
  const how = `choose on ${url}, or give --asset with one of ${offered.join(', ')}`;
  if (asset === undefined) throw new Error(`no asset is chosen for the invoice yet: ${how}`);
  const chosen = await fetch(`${url}/choose`, {
    method: 'POST',
    body: new URLSearchParams({ asset }),
    redirect: 'manual',
  });
  const found = await findInvoice(sandbox, id);
  if (!isPayable(found)) throw new Error(`${asset} was not taken (${chosen.status}): ${how}`);
  return found;
}

/** Waits until the invoice's time is over and it says so. */
async function untilTooLate(sandbox: Sandbox, invoice: PayableInvoice): Promise<void> {
  if (invoice.status === 'paid' || invoice.status === 'confirmed') {
    throw new Error(`the invoice is ${invoice.status}: nothing can be too late for it any more`);
  }
  if (invoice.expires_at === null)
    throw new Error('the invoice never expires: no payment is too late for it');
  const end = new Date(invoice.expires_at);
  const waitMs = end.getTime() - Date.now();
  if (waitMs > LATE_WITHIN_MINUTES * 60_000) {
    throw new Error(
      `the invoice can be paid in time until ${clockTime(end)}, which is long to wait for; ` +
        'make one with "expires_in": 1 (minutes) and pay that too late',
    );
  }
  if (waitMs > 0) say(`its time is over at ${clockTime(end)}; waiting until then`);
  if (waitMs > 0) await sleep(waitMs);
  const deadline = Date.now() + EXPIRES_WITHIN_MS;
  for (;;) {
    const { status } = await findInvoice(sandbox, invoice.id);
    if (status === 'expired' || status === 'partially_paid') return;
    if (Date.now() > deadline)
      throw new Error(`its time is over and it is still ${status}: nothing was paid`);
    await sleep(ASK_EVERY_MS);
  }
}

const clockTime = (time: Date): string => `${time.toISOString().slice(11, 19)} UTC`;

function stillDue(invoice: PayableInvoice, asset: AssetSymbol): Units {
  const [due, paid, pending] = [invoice.amount, invoice.paid_amount, invoice.pending_amount].map((text) =>
    units(text, asset),
  );
  const open = ((due ?? 0n) - (paid ?? 0n) - (pending ?? 0n)) as Units;
  if (open <= 0n)
    throw new Error(`the invoice is ${invoice.status}, nothing is due; --amount X pays more all the same`);
  return open;
}

function units(text: string, asset: AssetSymbol): Units {
  const parsed = parseUnits(text, assets[asset].decimals);
  if (!parsed.ok) throw new Error(`${text} is no amount of ${asset} (${parsed.refusal})`);
  return parsed.value;
}

main().catch((error: unknown) => {
  process.stderr.write(`${reason(error)}\n`);
  process.exit(1);
});
