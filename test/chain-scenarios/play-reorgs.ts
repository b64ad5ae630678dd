import { expect } from '@jest/globals';
import { type AssetSymbol, assets, type Chain } from '@quittance/shared/assets';
import type { AccountId } from '@quittance/shared/ids';
import { parseUnits } from '@quittance/shared/money';
import type { Invoice, MoneyIn } from './money-in.ts';
import { DEPTH_MAX, type Entry, type Payment, type ReorgScript, reorgScript } from './reorg-script.ts';

export type ScriptInvoice = Invoice & { asset: AssetSymbol; due: bigint };

/** A transaction that a script wants in a block, with all that a chain needs to make it. */
export type Wanted = Entry & { meant: Payment; invoices: readonly ScriptInvoice[] };

/** How scripts are played on a chain. The raw form of a wanted transaction is always the same. */
export type ReorgChain = {
  chain: Chain;
  /** What can come to lie on an address. */
  assets: readonly AssetSymbol[];
  assetOfInvoice(seed: number, index: number): AssetSymbol;
  /** Makes ready so many payers with money. */
  begin(payments: number): Promise<void>;
  raw(wanted: Wanted): Promise<string>;
  /** Hands transactions to the node before any block has them, where a chain shows what waits. */
  send?(raws: readonly string[]): Promise<void>;
  mine(raws: readonly string[]): Promise<unknown>;
  /** Replaces the newest `depth` blocks by these, which are more. */
  reorg(depth: number, blocks: readonly (readonly string[])[]): Promise<void>;
  mineEmpty(blocks: number): Promise<void>;
  /** Does away with what no block has in the end, where it would otherwise wait for ever. */
  clear?(waiting: readonly { first: string; second: string }[]): Promise<void>;
  /** What the chain says lies on these addresses, by asset and address. */
  balances(addresses: readonly string[]): Promise<Map<AssetSymbol, Map<string, bigint>>>;
};

export type Played = { seed: number; account: AccountId; invoices: ScriptInvoice[] };

/** After this an invoice of a minute is closed, and its address was looked at once more. */
const SETTLE_MS = 160_000;
/** An invoice whose payment vanished before its block stays open for an hour more: eviction proves nothing. */
const VANISHED_MS = 60 * 60_000;

/** The service looks more often than blocks come. */
const BLOCK_EVERY_MS = 54_000;

/** Plays a script up to its end, and leaves it to time to make all of it final. */
async function play(shop: MoneyIn, chain: ReorgChain, script: ReorgScript): Promise<Played> {
  const { seed } = script;
  const account = shop.newAccount();
  const invoices: ScriptInvoice[] = [];
  for (let i = 0; i < script.invoices; i++) {
    const asset = chain.assetOfInvoice(seed, i);
    const invoice = await shop.invoice(account, { asset, amount: 25, expires_in: 1 });
    const due = parseUnits(invoice.amount, assets[asset].decimals);
    if (!due.ok) throw new Error(`${invoice.amount} is no amount of ${asset}`);
    invoices.push({ ...invoice, asset, due: due.value });
  }
  await chain.begin(script.payments.length);
  const raw = (entry: Entry) =>
    chain.raw({ ...entry, meant: script.payments[entry.payment] as Payment, invoices });
  const rawsOf = (block: readonly Entry[]) => Promise.all(block.map(raw));
  const early = [...script.payments.keys()].filter((i) => (script.payments[i]?.form ?? 0) % 3 === 0);
  await chain.send?.(await rawsOf(early.map((payment) => ({ payment, way: 'first' }))));
  for (const step of script.steps) {
    if (step.do === 'mine') await chain.mine(await rawsOf(step.block));
    else if (step.do === 'reorg') await chain.reorg(step.depth, await Promise.all(step.blocks.map(rawsOf)));
    else {
      await shop.look(chain.chain);
      expect({ seed, doubled: await shop.doubled() }).toEqual({ seed, doubled: [] });
    }
  }
  await chain.clear?.(
    await Promise.all(
      script.waiting.map(async (payment) => ({
        first: await raw({ payment, way: 'first' }),
        second: await raw({ payment, way: 'second' }),
      })),
    ),
  );
  return { seed, account, invoices };
}

/** What the chain says, address by address, and what the services say of the same. */
async function compare(shop: MoneyIn, chain: ReorgChain, { account, invoices }: Played) {
  const onChain = await chain.balances(invoices.map(({ address }) => address));
  const differing: object[] = [];
  const balances: object[] = [];
  for (const asset of chain.assets) {
    let sum = 0n;
    for (const { id, address } of invoices) {
      const there = onChain.get(asset)?.get(address) ?? 0n;
      sum += there;
      const row = await shop.db.one<{ settled: string; told: string; loose: number }>(
        `select (select coalesce(sum(amount), 0)::text from deposits d
                 where d.invoice_id = $1 and d.asset = $2 and d.state = 'settled') as settled,
                (select coalesce(sum((payload->>'amount')::numeric
                   * case kind when 'deposit.settled' then 1 else -1 end), 0)::text from outbox o
                 where kind in ('deposit.settled', 'deposit.reversed')
                   and payload->>'invoice_id' = $1 and payload->>'asset' = $2) as told,
                (select count(*)::int from deposits d
                 where d.invoice_id = $1 and d.asset = $2 and d.state in ('seen', 'missing')) as loose`,
        [id, asset],
      );
      const said = { settled: BigInt(row.settled), told: BigInt(row.told), loose: row.loose };
      if (said.settled !== there || said.told !== there || said.loose !== 0) {
        differing.push({ id, address, asset, there, ...said });
      }
    }
    const { available, held, unresolved } = await shop.booked(account, asset);
    if (available + held + unresolved !== sum) balances.push({ asset, sum, available, held, unresolved });
  }
  return { differing, balances };
}

/**
 * Plays scripts one after the other, lets the dust settle, and expects that what the ledger owes for each address is
 * what the chain says lies there; and that at no moment before that one payment was credited twice.
 */
export async function expectCreditsOfChain(
  shop: MoneyIn,
  chain: ReorgChain,
  seeds: readonly number[],
  confirmations: number,
): Promise<void> {
  const played: Played[] = [];
  for (const seed of seeds) played.push(await play(shop, chain, reorgScript(seed)));
  // Everything is final or given up, and every invoice is past its time.
  await chain.mineEmpty(DEPTH_MAX + 2 * confirmations);
  await shop.look(chain.chain);
  const settleMs = chain.chain === 'bitcoin' ? SETTLE_MS + VANISHED_MS : SETTLE_MS;
  let blockAt = 0;
  await shop.pass(chain.chain, settleMs, async () => {
    const now = shop.clock.at.getTime();
    if (now < blockAt) return;
    blockAt = now + BLOCK_EVERY_MS;
    await chain.mineEmpty(1);
  });
  await shop.settled();
  for (const script of played) {
    const found = await compare(shop, chain, script);
    expect({ seed: script.seed, ...found }).toEqual({ seed: script.seed, differing: [], balances: [] });
  }
  expect(await shop.discrepancies(['I1', 'I2', 'I3', 'I5'])).toEqual([]);
  expect(await shop.unborne(chain.chain)).toEqual([]);
  const { found, address } = await shop.unborneWithoutLargest(chain.chain);
  expect(found).toEqual([expect.stringContaining(`the address ${address} has `)]);
}

/** How many deposits came to each end: scripts that reorganise nothing of interest prove nothing. */
export async function depositEnds(shop: MoneyIn): Promise<Record<string, number>> {
  const rows = await shop.db.rows<{ state: string; n: number }>(
    'select state, count(*)::int as n from deposits group by state',
  );
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
}
