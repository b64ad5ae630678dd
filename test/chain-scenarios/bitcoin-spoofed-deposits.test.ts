import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { OutScript, p2ms, p2pk, p2pkh, p2sh, p2tr, p2wpkh, p2wsh } from '@scure/btc-signer';
import { pubECDSA, pubSchnorr } from '@scure/btc-signer/utils.js';
import { type BitcoinChain, type Output, REGTEST, startBitcoinChain } from './bitcoin-chain.ts';
import { SEED } from './fixture.ts';
import { type Invoice, type MoneyIn, startBitcoinMoneyIn } from './money-in.ts';
import { expectOwed, type Forged, received } from './spoofs.ts';

/**
 * What looks like a payment and is none, on a real Bitcoin Core: our bytes in other scripts, money that is not mature,
 * transactions that are replaced. Each row says what really comes to lie on the address, and the node's set of
 * unspent outputs has to agree: this is credited and nothing beyond.
 */
const CONFIRMATIONS = 2;
/** 25 dollars at 60,000. */
const DUE = 41_667n;
const COINBASE_MATURITY = 100;

const wallet = openBitcoinWallet('regtest', SEED);
let chain: BitcoinChain;
let shop: MoneyIn;

beforeAll(async () => {
  chain = await startBitcoinChain();
  shop = await startBitcoinMoneyIn(chain, CONFIRMATIONS);
});
afterAll(async () => {
  await shop?.stop();
  await chain?.stop();
});

/** An address of ours, and what a forger may know of it. */
type Target = {
  address: string;
  script: Uint8Array;
  hash: Uint8Array;
  /** Compressed, as it is known once we have spent from there. */
  key: Uint8Array;
  secret: Uint8Array;
};

/** A transaction with these outputs in a block of its own. */
async function pay(...outputs: Output[]): Promise<void> {
  const utxos = await chain.take(1);
  await chain.mine([chain.sign(utxos, outputs)]);
}
const script = (bytes: Uint8Array, amount = DUE): Output => ({ script: bytes, amount });
const data = (bytes: Uint8Array): Uint8Array => Uint8Array.of(0x6a, bytes.length, ...bytes);
const stranger = (): Output => ({
  address: p2wpkh(pubECDSA(new Uint8Array(32).fill(9)), REGTEST).address as string,
  amount: DUE,
});

type Row = [name: string, real: bigint, forge: (target: Target) => Promise<unknown>];

const rows: Row[] = [
  [
    'our address as text in a data output',
    0n,
    ({ address }) => pay({ script: data(Buffer.from(address)), amount: 0n }),
  ],
  [
    'our script in a data output, with money that nobody can have',
    0n,
    ({ script: own }) => pay(script(data(own))),
  ],
  ['our bare key', 0n, ({ key }) => pay(script(p2pk(key, REGTEST).script))],
  ['the hash of our key in an old script', 0n, ({ key }) => pay(script(p2pkh(key, REGTEST).script))],
  [
    'our script wrapped in an old one',
    0n,
    ({ key }) => pay(script(p2sh(p2wpkh(key, REGTEST), REGTEST).script)),
  ],
  ['our key in a longer witness script', 0n, ({ key }) => pay(script(p2wsh(p2pk(key), REGTEST).script))],
  [
    'our key among others',
    0n,
    ({ key }) => pay(script(p2ms(1, [key, pubECDSA(new Uint8Array(32).fill(9))]).script)),
  ],
  [
    'our key as a Taproot one',
    0n,
    ({ secret }) => pay(script(p2tr(pubSchnorr(secret), undefined, REGTEST).script)),
  ],
  [
    'the hash of our key under a witness version of the future',
    0n,
    ({ hash }) => pay(script(Uint8Array.of(0x52, 20, ...hash))),
  ],
  [
    'the hash of our key backwards',
    0n,
    ({ hash }) => pay(script(Uint8Array.of(0, 20, ...hash.toReversed()))),
  ],
  [
    'the hash of our key as that of a script',
    0n,
    ({ hash }) => pay(script(Uint8Array.of(0xa9, 20, ...hash, 0x87))),
  ],
  [
    'our whole script pushed inside another',
    0n,
    ({ script: own }) => pay(script(Uint8Array.of(own.length, ...own, 0x75, 0x51))),
  ],
  ['an output of nothing', 0n, ({ script: own }) => pay(script(own, 0n))],
  [
    'a thousand outputs, none of them ours',
    0n,
    () => pay(...Array.from({ length: 1_000 }, () => ({ ...stranger(), amount: 300n }))),
  ],
  [
    'a transaction that waits and is then replaced',
    0n,
    async ({ script: own }) => {
      const utxos = await chain.take(1);
      await chain.node.rpc('sendrawtransaction', chain.sign(utxos, [script(own)]));
      await shop.look('bitcoin');
      await chain.mine([chain.sign(utxos, [stranger()])]);
      await shop.look('bitcoin');
    },
  ],
  [
    'two spends of one coin, of which the other is mined',
    0n,
    async ({ script: own }) => {
      const utxos = await chain.take(1);
      const ours = chain.sign(utxos, [script(own)]);
      await chain.mine([chain.sign(utxos, [stranger()])]);
      await expect(chain.mine([ours])).rejects.toThrow();
    },
  ],
  [
    'a block that is dropped, and its coin spent otherwise',
    0n,
    async ({ script: own }) => {
      const utxos = await chain.take(1);
      await chain.mine([chain.sign(utxos, [script(own)])]);
      await shop.look('bitcoin');
      await chain.reorg(1, [[chain.sign(utxos, [stranger()])], []]);
    },
  ],
  [
    'a final block that is dropped, and its coin spent otherwise',
    0n,
    async ({ script: own }) => {
      const utxos = await chain.take(1);
      await chain.mine([chain.sign(utxos, [script(own)])]);
      await chain.mineEmpty(CONFIRMATIONS);
      await shop.look('bitcoin');
      await chain.reorg(CONFIRMATIONS + 1, [
        [chain.sign(utxos, [stranger()])],
        ...Array.from({ length: CONFIRMATIONS + 1 }, () => []),
      ]);
    },
  ],
  ['dust', 294n, ({ script: own }) => pay(script(own, 294n))],
  [
    'one of a thousand outputs',
    DUE,
    ({ script: own }) =>
      pay(...Array.from({ length: 999 }, () => ({ ...stranger(), amount: 300n })), script(own)),
  ],
  [
    'three outputs of one transaction',
    3n * DUE,
    ({ script: own }) => pay(script(own), stranger(), script(own), script(own)),
  ],
  [
    'the same script under the name it has on another network',
    DUE,
    async ({ key }) => {
      // bc1q… of the same key: the name differs, the bytes do not.
      const elsewhere = p2wpkh(key);
      expect(elsewhere.address).toMatch(/^bc1q/);
      await pay(script(elsewhere.script));
    },
  ],
];

const indexOf = (address: string): number => {
  for (let index = 0; index < 10_000; index++) if (wallet.address('deposit', index) === address) return index;
  throw new Error(`${address} is not one of the first addresses`);
};

function targetOf(address: string): Target {
  const secret = wallet.privateKey('deposit', indexOf(address));
  const key = pubECDSA(secret);
  const { script: own } = p2wpkh(key, REGTEST);
  const decoded = OutScript.decode(own);
  if (decoded.type !== 'wpkh') throw new Error('our addresses are P2WPKH');
  return { address, script: own, hash: decoded.hash, key, secret };
}

const balance = async (address: string): Promise<bigint> =>
  (await chain.balances([address])).get(address) ?? 0n;

describe('spoofed deposits on Bitcoin', () => {
  const forged: Forged[] = [];
  const open = async (name: string): Promise<Invoice> => {
    const account = shop.newAccount();
    const invoice = await shop.invoice(account, { asset: 'BTC', amount: 25, expires_in: 1 });
    forged.push({ name, account, invoice });
    return invoice;
  };

  it.each(rows)('%s', async (name, real, forge) => {
    const invoice = await open(name);
    await forge(targetOf(invoice.address));
    await chain.mineEmpty(2 * CONFIRMATIONS + 1);
    await shop.look('bitcoin');
    expect(await balance(invoice.address)).toBe(real);
    expect(await received(shop, invoice, 'BTC')).toBe(real);
  });

  it('a coinbase counts when a hundred blocks stand on it, and not before', async () => {
    const invoice = await open('coinbase');
    await chain.node.mine(1, invoice.address);
    await chain.mineEmpty(COINBASE_MATURITY - 2);
    await shop.look('bitcoin');
    expect(await received(shop, invoice, 'BTC', ['settled'])).toBe(0n);
    expect(await received(shop, invoice, 'BTC', ['seen'])).toBeGreaterThan(0n);
    await chain.mineEmpty(1);
    await shop.look('bitcoin');
    expect(await received(shop, invoice, 'BTC', ['settled'])).toBe(await balance(invoice.address));
  });

  it('in the end the ledger owes what lies on the addresses', async () => {
    const balances = await chain.balances(forged.map(({ invoice }) => invoice.address));
    await expectOwed(shop, 'bitcoin', {
      ...{ forged, assets: ['BTC'], mine: () => chain.mineEmpty(1) },
      balance: async (_, address) => balances.get(address) ?? 0n,
    });
    expect(forged).toHaveLength(rows.length + 1);
  });
});
