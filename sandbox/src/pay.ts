import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type AssetSymbol, assets, isAssetSymbol } from '@quittance/shared/assets';
import { reason } from '@quittance/shared/logger';
import { formatUnits, parseUnits, type Units } from '@quittance/shared/money';
import { z } from 'zod';
import { payFromFaucet } from './faucet.ts';

const usage = `npm run pay -- INVOICE_ID [--amount X] [--port N]

  Pays an invoice of the running sandbox from a faucet, as a customer would.
  --amount X   this much of the asset instead of what is due: less, more, or again
  --port N     the sandbox started with --port N, when several run
`;

const sandboxSchema = z.object({
  url: z.string(),
  accounts: z.array(z.object({ name: z.string(), token: z.string() })),
  nodes: z.object({ ethereum: z.object({ rpc: z.string(), tokens: z.object({ USDC_ERC20: z.string() }) }) }),
});
type Sandbox = z.infer<typeof sandboxSchema>;

const invoiceSchema = z.object({
  amount: z.string(),
  paid_amount: z.string(),
  pending_amount: z.string(),
  status: z.string(),
  url: z.string(),
  asset: z.object({ symbol: z.string() }),
  address: z.object({ address: z.string() }),
});
type Invoice = z.infer<typeof invoiceSchema>;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { amount: { type: 'string' }, port: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  });
  const [id] = positionals;
  if (values.help === true || id === undefined) {
    process.stdout.write(usage);
    process.exit(values.help === true ? 0 : 1);
  }
  const sandbox = readSandbox(values.port);
  const invoice = await findInvoice(sandbox, id);
  const asset = invoice.asset.symbol;
  if (!isAssetSymbol(asset)) throw new Error(`this sandbox cannot pay ${asset}`);
  const amount = values.amount === undefined ? stillDue(invoice, asset) : units(values.amount, asset);
  const txHash = await payFromFaucet(sandbox.nodes.ethereum, asset, invoice.address.address, amount);
  process.stdout.write(
    `paid ${formatUnits(amount, assets[asset].decimals)} ${asset} to ${invoice.address.address}\n` +
      `transaction ${txHash}\nwatch it: ${invoice.url}\n`,
  );
}

function readSandbox(port: string | undefined): Sandbox {
  const home = fileURLToPath(new URL('../../.sandbox', import.meta.url));
  const path = join(process.env['SANDBOX_DIR'] ?? home, port ?? '', 'sandbox.json');
  if (!existsSync(path)) throw new Error('no sandbox was started here yet: run npm start first');
  return sandboxSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
}

/** The faucet knows all demo accounts' tokens, so it finds whoever's invoice it is. */
async function findInvoice(sandbox: Sandbox, id: string): Promise<Invoice> {
  for (const { token } of sandbox.accounts) {
    const response = await fetch(`${sandbox.url}/api/invoices/${encodeURIComponent(id)}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    }).catch((error: unknown) => {
      throw new Error(
        `the sandbox at ${sandbox.url} does not answer; is npm start still running? (${reason(error)})`,
      );
    });
    if (response.ok) return invoiceSchema.parse(await response.json());
    if (response.status !== 403)
      throw new Error(`the API answers ${response.status}: ${await response.text()}`);
  }
  throw new Error(`none of the sandbox's accounts has the invoice ${id}`);
}

function stillDue(invoice: Invoice, asset: AssetSymbol): Units {
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
