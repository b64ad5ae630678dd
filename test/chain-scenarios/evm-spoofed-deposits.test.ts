import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { concat, encodeFunctionData, type Hex, keccak256, pad, parseAbi, toHex } from 'viem';
import { anvil } from 'viem/chains';
import { type Asset, type EvmChain, startEvmChain, usdcAbi } from './evm-chain.ts';
import { creation, type Instruction, runtime } from './evm-code.ts';
import { type Invoice, type MoneyIn, startMoneyIn } from './money-in.ts';

/**
 * What looks like a payment and is none, or is another one than it says, on a real Ethereum node. Each row says what
 * really comes to lie on the address, and the node's own balances have to agree: this is credited and nothing beyond.
 */
const CONFIRMATIONS = 3;
const ETHER = 10n ** 18n;
const DUE = { ETH: ETHER / 100n, USDC_ERC20: 25_000_000n } as const;
const GAS = 5_000_000n;
const XPUB =
  'xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbxqsByNNhwWaNQRuhP3JcC3';
const TRANSFER = keccak256(toHex('Transfer(address,address,uint256)'));
const tokenAbi = parseAbi([
  'function mint(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function transferFrom(address from, address to, uint256 amount)',
]);

let chain: EvmChain;
let shop: MoneyIn;
let nonce: number;

beforeAll(async () => {
  chain = await startEvmChain({ payers: 3 });
  nonce = await chain.nonce(1);
  shop = await startMoneyIn(
    {
      ETH: { rate: '2500', confirmations: CONFIRMATIONS },
      USDC_ERC20: { rate: '1', confirmations: CONFIRMATIONS },
    },
    {
      ETHEREUM_RPC_URL: chain.node.rpcUrl,
      ETHEREUM_CHAIN_ID: '31337',
      ETHEREUM_USDC_ADDRESS: chain.usdc,
      ETHEREUM_XPUB: XPUB,
    },
  );
  await shop.look('ethereum');
});
afterAll(async () => {
  await shop?.stop();
  await chain?.stop();
});

type Sent = { to?: Hex; value?: bigint; data?: Hex; gas?: bigint };

/** A transaction of the forger in a block of its own, with the outcome it is meant to have. */
async function send(what: Sent, status: 'success' | 'reverted' = 'success') {
  const payer = chain.payers[1] as EvmChain['payers'][number];
  const raw = await payer.signTransaction({
    ...{ type: 'eip1559', chainId: anvil.id, nonce: nonce++, gas: GAS },
    ...{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n },
    ...what,
  });
  await chain.mine([raw]);
  const receipt = await chain.client.getTransactionReceipt({ hash: keccak256(raw) });
  expect(receipt.status).toBe(status);
  return receipt;
}

/** Leaves a contract that does these things whenever it is called. */
async function contract(...instructions: Instruction[]): Promise<Hex> {
  const { contractAddress } = await send({ data: creation(runtime(...instructions)) });
  if (contractAddress == null) throw new Error('no contract was made');
  return contractAddress;
}

const word = (value: bigint): Hex => pad(toHex(value));
const transferLog = (to: Hex, amount: bigint): Instruction => ({
  log: [TRANSFER, pad(chain.payers[1]?.address as Hex), pad(to)],
  data: [word(amount)],
});
const transferCall = (to: Hex, amount: bigint): Hex =>
  encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [to, amount] });
const mintCall = (to: Hex, amount: bigint): Hex =>
  encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [to, amount] });
/** Somebody whose address differs from ours in its middle, as forgers like it. */
const alike = (to: Hex): Hex =>
  `${to.slice(0, 20)}${(BigInt(`0x${to[20]}`) ^ 1n).toString(16)}${to.slice(21)}` as Hex;

type Row = [
  name: string,
  asked: Asset,
  real: Partial<Record<Asset, bigint>>,
  forge: (to: Hex) => Promise<unknown>,
];

const rows: Row[] = [
  [
    'Ether by a transaction that reverts',
    'ETH',
    {},
    async (to) => {
      const value = DUE.ETH;
      await send({ to: await contract({ call: to, value }, 'revert'), value }, 'reverted');
    },
  ],
  [
    'Ether by a call whose caller reverts, in a transaction that succeeds',
    'ETH',
    {},
    async (to) => {
      const inner = await contract({ call: to, value: DUE.ETH }, 'revert');
      await send({ to: await contract({ call: inner, value: DUE.ETH }), value: DUE.ETH });
    },
  ],
  [
    'Ether that a contract does not have',
    'ETH',
    {},
    async (to) => {
      await send({ to: await contract({ call: to, value: DUE.ETH }) });
    },
  ],
  ['no Ether at all', 'ETH', {}, (to) => send({ to, value: 0n })],
  [
    'our address in the data of a transaction to somebody else',
    'ETH',
    {},
    (to) => send({ to: alike(to), value: DUE.ETH, data: concat([to, to]) }),
  ],
  ['Ether to an address that looks like ours', 'ETH', {}, (to) => send({ to: alike(to), value: DUE.ETH })],
  [
    'Ether to a contract that is being made',
    'ETH',
    {},
    (to) => send({ value: DUE.ETH, data: creation(runtime(transferLog(to, DUE.ETH))) }),
  ],
  [
    'an old call that names us and gives the value to its caller',
    'ETH',
    {},
    async (to) => {
      await send({ to: await contract({ callCode: to, value: DUE.ETH }), value: DUE.ETH });
    },
  ],
  [
    'a transaction that waits and is in no block',
    'ETH',
    {},
    async (to) => {
      const waiting = await chain.sign(2, await chain.nonce(2), { to, value: DUE.ETH });
      const hash = await chain.client.sendRawTransaction({ serializedTransaction: waiting });
      await shop.look('ethereum');
      await chain.client.dropTransaction({ hash });
    },
  ],
  [
    'a transaction that is replaced by one to somebody else',
    'ETH',
    {},
    async (to) => {
      const of = await chain.nonce(2);
      await chain.client.sendRawTransaction({
        serializedTransaction: await chain.sign(2, of, { to, value: DUE.ETH }),
      });
      const dearer = {
        to: alike(to),
        value: DUE.ETH,
        maxFeePerGas: 10n ** 11n,
        maxPriorityFeePerGas: 10n ** 10n,
      };
      await chain.mine([await chain.sign(2, of, dearer)]);
    },
  ],
  [
    'a block that is dropped for good',
    'ETH',
    {},
    async (to) => {
      await chain.mine([await chain.sign(2, await chain.nonce(2), { to, value: DUE.ETH })]);
      await shop.look('ethereum');
      await chain.reorg(1, [[], []]);
    },
  ],
  [
    'a final block that is dropped for good',
    'ETH',
    {},
    async (to) => {
      await chain.mine([await chain.sign(2, await chain.nonce(2), { to, value: DUE.ETH })]);
      await chain.mineEmpty(CONFIRMATIONS);
      await shop.look('ethereum');
      await chain.reorg(
        CONFIRMATIONS + 1,
        Array.from({ length: CONFIRMATIONS + 2 }, () => []),
      );
    },
  ],
  ['a single wei', 'ETH', { ETH: 1n }, (to) => send({ to, value: 1n })],
  ['Ether where tokens were asked for', 'USDC_ERC20', { ETH: DUE.ETH }, (to) => send({ to, value: DUE.ETH })],
  [
    'Ether by a contract that destroys itself',
    'ETH',
    { ETH: DUE.ETH },
    async (to) => {
      await send({ to: await contract({ destroyTo: to }), value: DUE.ETH });
    },
  ],
  [
    'Ether by a contract that is never there',
    'ETH',
    { ETH: DUE.ETH },
    (to) => send({ value: DUE.ETH, data: creation('0x', { destroyTo: to }) }),
  ],
  [
    'Ether three times by one transaction',
    'ETH',
    { ETH: 3n * DUE.ETH },
    async (to) => {
      const once = { call: to, value: DUE.ETH };
      await send({ to: await contract(once, once, once), value: 3n * DUE.ETH });
    },
  ],
  [
    'Ether by two calls of which one is undone',
    'ETH',
    { ETH: DUE.ETH },
    async (to) => {
      const undone = await contract({ call: to, value: DUE.ETH }, 'revert');
      const instructions: Instruction[] = [
        { call: undone, value: DUE.ETH },
        { call: to, value: DUE.ETH },
      ];
      await send({ to: await contract(...instructions), value: 2n * DUE.ETH });
    },
  ],
  [
    'a log of Ether that never came',
    'ETH',
    {},
    async (to) => {
      await send({ to: await contract(transferLog(to, DUE.ETH)) });
    },
  ],

  [
    'more tokens than the payer has',
    'USDC_ERC20',
    {},
    (to) => send({ to: chain.usdc, data: transferCall(to, 10n ** 30n) }, 'reverted'),
  ],
  ['no tokens at all', 'USDC_ERC20', {}, (to) => send({ to: chain.usdc, data: transferCall(to, 0n) })],
  [
    'an allowance',
    'USDC_ERC20',
    {},
    (to) =>
      send({
        to: chain.usdc,
        data: encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [to, DUE.USDC_ERC20] }),
      }),
  ],
  [
    'tokens to an address that looks like ours',
    'USDC_ERC20',
    {},
    (to) => send({ to: chain.usdc, data: transferCall(alike(to), DUE.USDC_ERC20) }),
  ],
  [
    'the log of another contract',
    'USDC_ERC20',
    {},
    async (to) => {
      await send({ to: await contract(transferLog(to, DUE.USDC_ERC20)) });
    },
  ],
  [
    'the log of another contract beside a real transfer to somebody else',
    'USDC_ERC20',
    {},
    async (to) => {
      const forger = await contract(
        { call: chain.usdc, data: mintCall(alike(to), DUE.USDC_ERC20) },
        transferLog(to, DUE.USDC_ERC20),
      );
      await send({ to: forger });
    },
  ],
  [
    'a token whose transfer returns false',
    'USDC_ERC20',
    {},
    async (to) => {
      await send({ to: await contract({ give: word(0n) }), data: transferCall(to, DUE.USDC_ERC20) });
    },
  ],
  [
    'a token of the same name, with eighteen digits',
    'USDC_ERC20',
    {},
    async (to) => {
      const forged = await contract(transferLog(to, 25n * ETHER), { give: word(1n) });
      await send({ to: forged, data: transferCall(to, 25n * ETHER) });
    },
  ],
  [
    'a token that keeps a fee of what it says to move',
    'USDC_ERC20',
    {},
    async (to) => {
      const forged = await contract(transferLog(to, DUE.USDC_ERC20), transferLog(alike(to), 1_000_000n));
      await send({ to: forged, data: transferCall(to, DUE.USDC_ERC20) });
    },
  ],
  [
    'a proxy that runs the token’s code on its own books',
    'USDC_ERC20',
    {},
    async (to) => {
      await send({ to: await contract({ delegate: chain.usdc, data: mintCall(to, DUE.USDC_ERC20) }) });
    },
  ],
  [
    'a thing with a number, whose log looks alike',
    'USDC_ERC20',
    {},
    async (to) => {
      const from = pad(chain.payers[1]?.address as Hex);
      await send({ to: await contract({ log: [TRANSFER, from, pad(to), word(DUE.USDC_ERC20)], data: [] }) });
    },
  ],
  [
    'a log that names us in its data alone',
    'USDC_ERC20',
    {},
    async (to) => {
      await send({ to: await contract({ log: [TRANSFER], data: [pad(to), pad(to), word(DUE.USDC_ERC20)] }) });
    },
  ],
  [
    'tokens by a transaction that reverts',
    'USDC_ERC20',
    {},
    async (to) => {
      const data = mintCall(to, DUE.USDC_ERC20);
      await send({ to: await contract({ call: chain.usdc, data }, 'revert') }, 'reverted');
    },
  ],
  [
    'tokens by a call whose caller reverts, in a transaction that succeeds',
    'USDC_ERC20',
    {},
    async (to) => {
      const data = mintCall(to, DUE.USDC_ERC20);
      const inner = await contract({ call: chain.usdc, data }, 'revert');
      await send({ to: await contract({ call: inner }) });
    },
  ],
  [
    'tokens in a block that is dropped for good',
    'USDC_ERC20',
    {},
    async (to) => {
      const call = { to: chain.usdc, data: transferCall(to, DUE.USDC_ERC20) };
      await chain.mine([await chain.sign(2, await chain.nonce(2), call)]);
      await shop.look('ethereum');
      await chain.reorg(1, [[], []]);
    },
  ],
  [
    'tokens where Ether was asked for',
    'ETH',
    { USDC_ERC20: 25_000_000n },
    (to) => send({ to: chain.usdc, data: transferCall(to, DUE.USDC_ERC20) }),
  ],
  [
    'a millionth of a dollar',
    'USDC_ERC20',
    { USDC_ERC20: 1n },
    (to) => send({ to: chain.usdc, data: transferCall(to, 1n) }),
  ],
  [
    'tokens by a contract, among forged logs',
    'USDC_ERC20',
    { USDC_ERC20: 25_000_000n },
    async (to) => {
      const forged = transferLog(to, 10n ** 12n);
      await send({
        to: await contract(forged, { call: chain.usdc, data: mintCall(to, DUE.USDC_ERC20) }, forged),
      });
    },
  ],
  [
    'tokens twice in one transaction',
    'USDC_ERC20',
    { USDC_ERC20: 50_000_000n },
    async (to) => {
      const once = { call: chain.usdc, data: mintCall(to, DUE.USDC_ERC20) };
      await send({ to: await contract(once, once) });
    },
  ],
  [
    'tokens by somebody’s allowance',
    'USDC_ERC20',
    { USDC_ERC20: 25_000_000n },
    async (to) => {
      const [owner, spender] = [chain.payers[2], chain.payers[1]] as EvmChain['payers'];
      if (owner === undefined || spender === undefined) throw new Error('there are three payers');
      const allow = encodeFunctionData({
        abi: tokenAbi,
        functionName: 'approve',
        args: [spender.address, DUE.USDC_ERC20],
      });
      await chain.mine([await chain.sign(2, await chain.nonce(2), { to: chain.usdc, data: allow })]);
      const args = [owner.address, to, DUE.USDC_ERC20] as const;
      await send({
        to: chain.usdc,
        data: encodeFunctionData({ abi: tokenAbi, functionName: 'transferFrom', args }),
      });
    },
  ],
];

/** What each row's account has on the chain when all is done. */
const forged: { name: string; account: AccountId; invoice: Invoice }[] = [];

describe('spoofed deposits on Ethereum', () => {
  it.each(rows)('%s', async (name, asked, real, forge) => {
    const account = shop.newAccount();
    const invoice = await shop.invoice(account, { asset: asked, amount: 25, expires_in: 1 });
    forged.push({ name, account, invoice });
    const to = invoice.address as Hex;
    await forge(to);
    await chain.mineEmpty(2 * CONFIRMATIONS + 1);
    await shop.look('ethereum');
    for (const asset of ['ETH', 'USDC_ERC20'] as const) {
      const wanted = real[asset] ?? 0n;
      expect(await chain.balance(asset, to)).toBe(wanted);
      const { found } = await shop.db.one<{ found: string }>(
        `select coalesce(sum(amount), 0)::text as found from deposits
         where invoice_id = $1 and asset = $2 and state in ('seen', 'settled', 'missing')`,
        [invoice.id, asset],
      );
      expect({ asset, found: BigInt(found) }).toEqual({ asset, found: wanted });
    }
  });

  it('in the end the ledger owes what lies on the addresses', async () => {
    await shop.pass('ethereum', 160_000, () => chain.mineEmpty(1));
    await shop.settled();
    for (const { name, account, invoice } of forged) {
      for (const asset of ['ETH', 'USDC_ERC20'] as const) {
        const { available, held, unresolved } = await shop.booked(account, asset);
        const there = await chain.balance(asset, invoice.address as Hex);
        expect({ name, asset, owed: available + held + unresolved }).toEqual({ name, asset, owed: there });
      }
    }
    expect(forged).toHaveLength(rows.length);
    expect(await shop.discrepancies(['I1', 'I2', 'I3', 'I5'])).toEqual([]);
    expect(await shop.unborne('ethereum')).toEqual([]);
  });
});
