import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { assets } from '@quittance/shared/assets';
import { parseUnits } from '@quittance/shared/money';
import type { Hex } from 'viem';
import { type Asset, type EvmChain, startEvmChain } from './evm-chain.ts';
import { type Invoice, type MoneyIn, startMoneyIn } from './money-in.ts';
import { DEPTH_MAX, type Entry, type Payment, reorgScript } from './reorg-script.ts';
import { firstSeed, scripts, sized } from './size.ts';

/**
 * Generated reorganisations of a real Ethereum node, one to six blocks deep and mostly deeper than what counts as
 * final, under a real invoices service and a real ledger. When the dust has settled, what the ledger owes for each
 * address is what the chain says lies there: balances of the final chain are the whole of the oracle. And at no
 * moment before that is one payment credited twice.
 */
const CONFIRMATIONS = 3;
const BATCH = 10;
/** After this an invoice of a minute is closed, and its address was looked at once more. */
const SETTLE_MS = 160_000;
const BATCHES = Math.ceil(scripts(sized(60, 200)) / BATCH);
const FIRST_SEED = firstSeed(1);
const STRANGER = '0x00000000000000000000000000000000005742a6';
const both = ['ETH', 'USDC_ERC20'] as const;

let chain: EvmChain;
let shop: MoneyIn;

beforeAll(async () => {
  chain = await startEvmChain();
  // The first key of the words "legal winner thank year wave sausage worth useful legal winner thank yellow".
  const xpub =
    'xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbxqsByNNhwWaNQRuhP3JcC3';
  shop = await startMoneyIn(
    {
      ETH: { rate: '2500', confirmations: CONFIRMATIONS },
      USDC_ERC20: { rate: '1', confirmations: CONFIRMATIONS },
    },
    {
      ETHEREUM_RPC_URL: chain.node.rpcUrl,
      ETHEREUM_CHAIN_ID: '31337',
      ETHEREUM_USDC_ADDRESS: chain.usdc,
      ETHEREUM_XPUB: xpub,
    },
  );
  await shop.look('ethereum');
});
afterAll(async () => {
  await shop?.stop();
  await chain?.stop();
});

type Played = {
  seed: number;
  account: Awaited<ReturnType<typeof shop.newAccount>>;
  invoices: (Invoice & { asset: Asset })[];
};

/** Plays a script up to its end, and leaves it to time to make all of it final. */
async function play(seed: number): Promise<Played> {
  const script = reorgScript(seed);
  const account = shop.newAccount();
  const invoices: Played['invoices'] = [];
  for (let i = 0; i < script.invoices; i++) {
    const asset = both[(seed + i) % 3 === 0 ? 1 : 0] as Asset;
    invoices.push({ asset, ...(await shop.invoice(account, { asset, amount: 25, expires_in: 1 })) });
  }
  // Payer 0 is the node's own.
  const nonces = await Promise.all(script.payments.map((_, i) => chain.nonce(i + 1)));
  const raw = async ({ payment, way }: Entry): Promise<Hex> => {
    const meant = script.payments[payment] as Payment;
    return chain.sign(payment + 1, nonces[payment] as number, callOf(meant, way, invoices));
  };
  const rawsOf = (block: readonly Entry[]) => Promise.all(block.map(raw));
  for (const step of script.steps) {
    if (step.do === 'look') {
      await shop.look('ethereum');
      expect({ seed, doubled: await shop.doubled() }).toEqual({ seed, doubled: [] });
    } else if (step.do === 'mine') await chain.mine(await rawsOf(step.block));
    else await chain.reorg(step.depth, await Promise.all(step.blocks.map(rawsOf)));
  }
  return { seed, account, invoices };
}

function callOf({ pays, otherwise, form }: Payment, way: Entry['way'], invoices: Played['invoices']) {
  const target = (index: number) => invoices[index] as Played['invoices'][number];
  const [{ invoice, percent }] = pays as [Payment['pays'][number]];
  const { asset, address, amount } = target(invoice);
  const due = parseUnits(amount, assets[asset].decimals);
  if (!due.ok) throw new Error(`${amount} is no amount`);
  const paid = (due.value * BigInt(percent)) / 100n;
  if (way === 'second') {
    const to = otherwise === undefined ? STRANGER : (target(otherwise).address as Hex);
    return chain.transfer(form % 2 === 0 ? 'ETH' : 'USDC_ERC20', to, paid % 10n ** 9n);
  }
  if (asset === 'ETH' && form % 3 === 0) {
    // Balances are watched where Ether is asked for.
    const those = pays.map(({ invoice: one }) => target(one)).filter((one) => one.asset === 'ETH');
    return chain.inside(
      those.map((one) => one.address as Hex),
      paid,
    );
  }
  // Now and then somebody sends what was not asked for.
  if (form % 10 === 1)
    return chain.transfer(asset === 'ETH' ? 'USDC_ERC20' : 'ETH', address as Hex, paid % 10n ** 9n);
  return chain.transfer(asset, address as Hex, paid);
}

/** What the chain says, address by address, and what the books say of the same. */
async function compare({ account, invoices }: Played) {
  const onChain = { ETH: 0n, USDC_ERC20: 0n };
  const differing: object[] = [];
  for (const { id, address } of invoices) {
    for (const asset of both) {
      const there = await chain.balance(asset, address as Hex);
      onChain[asset] += there;
      const [row] = await shop.db.rows<{ settled: string; told: string; loose: number }>(
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
      const said = { settled: BigInt(row?.settled ?? -1), told: BigInt(row?.told ?? -1), loose: row?.loose };
      if (said.settled !== there || said.told !== there || said.loose !== 0) {
        differing.push({ id, address, asset, there, ...said });
      }
    }
  }
  const booked = await Promise.all(both.map((asset) => shop.booked(account, asset)));
  return {
    differing,
    onChain: both.map((asset) => onChain[asset]),
    booked: booked.map(({ available, held, unresolved }) => available + held + unresolved),
  };
}

it.each(Array.from({ length: BATCHES }, (_, i) => FIRST_SEED + i * BATCH))(
  'reorganisations of Ethereum: scripts from seed %i on credit what the chain says, once',
  async (from) => {
    const played: Played[] = [];
    for (let i = 0; i < Math.min(BATCH, scripts(BATCH)); i++) played.push(await play(from + i));
    // Everything is final or given up, and every invoice is past its time.
    await chain.mineEmpty(DEPTH_MAX + 2 * CONFIRMATIONS);
    await shop.look('ethereum');
    await shop.pass('ethereum', SETTLE_MS, () => chain.mineEmpty(1));
    await shop.settled();
    for (const script of played) {
      const { differing, onChain, booked } = await compare(script);
      expect({ seed: script.seed, differing, booked }).toEqual({
        seed: script.seed,
        differing: [],
        booked: onChain,
      });
    }
    expect(await shop.breaches(['I1', 'I2', 'I3', 'I5'])).toEqual([]);
  },
);

it('the scripts did what they are for', async () => {
  const [row] = await shop.db.rows<Record<string, number>>(
    `select count(*)::int as all, count(*) filter (where state = 'settled')::int as settled,
       count(*) filter (where state = 'dropped')::int as dropped,
       count(*) filter (where state = 'reversed')::int as reversed,
       count(*) filter (where tx_hash is null or outpoint not like tx_hash || ':%')::int as inside
     from deposits`,
  );
  for (const kind of ['settled', 'dropped', 'reversed', 'inside']) {
    expect({ kind, enough: (row?.[kind] ?? 0) >= BATCHES }).toEqual({ kind, enough: true });
  }
});
