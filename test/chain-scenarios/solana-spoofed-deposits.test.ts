import { pbkdf2Sync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AccountId } from '@quittance/shared/ids';
import { eventually } from '@quittance/testkit/eventually';
import { solanaCustomer } from '@quittance/testkit/solana-customer';
import {
  AccountRole,
  type Address,
  address,
  createKeyPairSignerFromPrivateKeyBytes,
  generateKeyPairSigner,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit';
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import {
  AuthorityType,
  findAssociatedTokenPda,
  getApproveInstruction,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeAccount3Instruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
  getSetAuthorityInstruction,
  getTransferInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { HDKey } from 'micro-key-producer/slip10.js';
import { type SolanaChain, solanaChain } from '../../packages/chains/test/solana-chain.ts';
import { SEED } from './fixture.ts';
import { type Invoice, type MoneyIn, startMoneyIn } from './money-in.ts';

/**
 * What looks like a payment and is none, or is another one than it says, on a real Solana runtime. Each row says what
 * really comes to be ours, and the node's own balances have to agree: this is credited and nothing beyond.
 */
const SOL = 10n ** 9n;
const ONE_USDC = 1_000_000n;
const MINT_BYTES = 82n;
const TOKEN_BYTES = 165n;
const RENT_OF_A_MINT = 1_461_600n;
const RENT_OF_TOKENS = 2_039_280n;
const TOKEN_2022 = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
const WRAPPED_SOL = address('So11111111111111111111111111111111111111112');
const MEMO = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const both = ['SOL', 'USDC_SOL'] as const;
type Asset = (typeof both)[number];

let chain: SolanaChain;
let shop: MoneyIn;
let usdc: Address;
let payer: KeyPairSigner;

const give = (destination: Address, amount: bigint): Instruction =>
  getTransferSolInstruction({ source: payer, destination, amount });
const tokenAccount = async (owner: Address, mint: Address, tokenProgram: Address = TOKEN_PROGRAM_ADDRESS) =>
  (await findAssociatedTokenPda({ owner, mint, tokenProgram }))[0];
const opening = async (owner: Address, mint: Address, tokenProgram: Address = TOKEN_PROGRAM_ADDRESS) =>
  getCreateAssociatedTokenIdempotentInstruction({
    payer,
    ata: await tokenAccount(owner, mint, tokenProgram),
    owner,
    mint,
    tokenProgram,
  });

/** A mint of the forger's own, with as many digits as the real one. */
async function forgedMint(program: Address = TOKEN_PROGRAM_ADDRESS): Promise<Address> {
  const mint = await generateKeyPairSigner();
  await succeed([
    getCreateAccountInstruction({
      payer,
      newAccount: mint,
      lamports: RENT_OF_A_MINT,
      space: MINT_BYTES,
      programAddress: program,
    }),
    getInitializeMint2Instruction(
      { mint: mint.address, decimals: 6, mintAuthority: payer.address },
      { programAddress: program },
    ),
  ]);
  return mint.address;
}

/** A token account that is no associated one, of the real mint. */
async function strayAccount(owner: Address): Promise<KeyPairSigner> {
  const account = await generateKeyPairSigner();
  await succeed([
    getCreateAccountInstruction({
      payer,
      newAccount: account,
      lamports: RENT_OF_TOKENS,
      space: TOKEN_BYTES,
      programAddress: TOKEN_PROGRAM_ADDRESS,
    }),
    getInitializeAccount3Instruction({ account: account.address, mint: usdc, owner }),
  ]);
  return account;
}

const move = async (destination: Address, amount: bigint): Promise<Instruction> =>
  getTransferInstruction({
    source: await tokenAccount(payer.address, usdc),
    destination,
    authority: payer,
    amount,
  });

/** The key of a deposit address of ours. */
async function keyOf(ours: Address): Promise<KeyPairSigner> {
  const master = HDKey.fromMasterSeed(pbkdf2Sync(SEED, 'mnemonic', 2_048, 64, 'sha512'));
  for (let index = 0; index < 1_000; index++) {
    const { privateKey } = master.derive(`m/44'/501'/${index}'/0'`);
    const signer = await createKeyPairSignerFromPrivateKeyBytes(privateKey);
    if (signer.address === ours) return signer;
  }
  throw new Error(`${ours} is not one of the first addresses`);
}

let last = '';
async function send(instructions: Instruction[]): Promise<string> {
  last = await chain.send(instructions);
  return last;
}

/** Sends it, and waits for the outcome it is meant to have. */
async function ends(instructions: Instruction[], failing: boolean): Promise<void> {
  const signature = await send(instructions);
  await eventually(async () => {
    const answer = await chain.rpc.call('getSignatureStatuses', [[signature]]);
    const [status] = (answer as { value: ({ err: unknown } | null)[] }).value;
    if (status == null) throw new Error(`${signature} is in no block`);
    if ((status.err !== null) !== failing)
      throw new Error(`${signature} ended with ${JSON.stringify(status.err)}`);
  });
}
const succeed = (instructions: Instruction[]) => ends(instructions, false);
const fail = (instructions: Instruction[]) => ends(instructions, true);

type Row = [
  name: string,
  asked: Asset,
  real: Partial<Record<Asset, bigint>>,
  forge: (ours: Address) => Promise<unknown>,
];

const rows: Row[] = [
  ['more SOL than the payer has', 'SOL', {}, (ours) => fail([give(ours, 10n ** 18n)])],
  [
    'SOL in a transaction of which another part fails',
    'SOL',
    {},
    (ours) => fail([give(ours, SOL), give(payer.address, 10n ** 18n)]),
  ],
  ['no SOL at all', 'SOL', {}, (ours) => succeed([give(ours, 0n)])],
  ['less than an account must hold', 'SOL', {}, (ours) => fail([give(ours, 1_000n)])],
  [
    'a memo that names our address and an amount',
    'SOL',
    {},
    (ours) => succeed([{ programAddress: MEMO, data: Buffer.from(`${ours} 1000000000`) }]),
  ],
  [
    'a transfer to somebody else that has our address among its accounts',
    'SOL',
    {},
    async (ours) => {
      const transfer = give((await generateKeyPairSigner()).address, SOL) as Instruction & {
        accounts: readonly object[];
      };
      const accounts = [...transfer.accounts, { address: ours, role: AccountRole.READONLY }];
      await succeed([{ ...transfer, accounts } as Instruction]);
    },
  ],
  [
    'the payer’s transfer to itself',
    'SOL',
    {},
    (ours) => succeed([give(payer.address, SOL), { programAddress: MEMO, data: Buffer.from(ours) }]),
  ],
  [
    'SOL there and back again in one transaction',
    'SOL',
    {},
    async (ours) => {
      const source = await keyOf(ours);
      await succeed([
        give(ours, SOL),
        getTransferSolInstruction({ source, destination: payer.address, amount: SOL }),
      ]);
    },
  ],
  [
    'wrapped SOL',
    'SOL',
    {},
    async (ours) =>
      succeed([await opening(ours, WRAPPED_SOL), give(await tokenAccount(ours, WRAPPED_SOL), SOL)]),
  ],
  [
    'the rent of a token account that is opened for us',
    'SOL',
    {},
    async (ours) => succeed([await opening(ours, usdc)]),
  ],
  [
    'SOL to our token account',
    'SOL',
    {},
    async (ours) => succeed([await opening(ours, usdc), give(await tokenAccount(ours, usdc), SOL)]),
  ],
  [
    'the smallest amount that an account can hold',
    'SOL',
    { SOL: 890_880n },
    (ours) => succeed([give(ours, 890_880n)]),
  ],
  [
    'SOL three times in one transaction',
    'SOL',
    { SOL: 3n * SOL },
    (ours) => succeed([give(ours, SOL), give(ours, SOL), give(ours, SOL)]),
  ],
  [
    'more SOL than goes back in the same transaction',
    'SOL',
    { SOL: SOL },
    async (ours) => {
      const source = await keyOf(ours);
      await succeed([
        give(ours, 3n * SOL),
        getTransferSolInstruction({ source, destination: payer.address, amount: 2n * SOL }),
      ]);
    },
  ],
  [
    'what an account leaves that is closed to our favour',
    'SOL',
    { SOL: RENT_OF_TOKENS },
    async (ours) => {
      const account = await strayAccount(payer.address);
      await succeed([
        getCloseAccountInstruction({ account: account.address, destination: ours, owner: payer }),
      ]);
    },
  ],
  ['SOL where tokens were asked for', 'USDC_SOL', { SOL: SOL }, (ours) => succeed([give(ours, SOL)])],

  [
    'no tokens at all',
    'USDC_SOL',
    {},
    async (ours) => succeed([await opening(ours, usdc), await move(await tokenAccount(ours, usdc), 0n)]),
  ],
  [
    'more tokens than the payer has',
    'USDC_SOL',
    {},
    async (ours) => {
      await succeed([await opening(ours, usdc)]);
      await fail([await move(await tokenAccount(ours, usdc), 10n ** 15n)]);
    },
  ],
  [
    'tokens in a transaction of which another part fails',
    'USDC_SOL',
    {},
    async (ours) => {
      await succeed([await opening(ours, usdc)]);
      await fail([await move(await tokenAccount(ours, usdc), ONE_USDC), give(payer.address, 10n ** 18n)]);
    },
  ],
  [
    'tokens of another mint that looks the same',
    'USDC_SOL',
    {},
    async (ours) => {
      const mint = await forgedMint();
      const token = await tokenAccount(ours, mint);
      await succeed([
        await opening(ours, mint),
        getMintToInstruction({ mint, token, mintAuthority: payer, amount: 25n * ONE_USDC }),
      ]);
    },
  ],
  [
    'tokens of another mint, of the program that may take fees',
    'USDC_SOL',
    {},
    async (ours) => {
      const mint = await forgedMint(TOKEN_2022);
      const token = await tokenAccount(ours, mint, TOKEN_2022);
      await succeed([
        await opening(ours, mint, TOKEN_2022),
        getMintToInstruction(
          { mint, token, mintAuthority: payer, amount: 25n * ONE_USDC },
          { programAddress: TOKEN_2022 },
        ),
      ]);
    },
  ],
  [
    'an allowance',
    'USDC_SOL',
    {},
    async (ours) =>
      succeed([
        getApproveInstruction({
          source: await tokenAccount(payer.address, usdc),
          delegate: ours,
          owner: payer,
          amount: 25n * ONE_USDC,
        }),
      ]),
  ],
  [
    'tokens to somebody’s account that we may close',
    'USDC_SOL',
    {},
    async (ours) => {
      const account = await strayAccount(payer.address);
      await succeed([
        getSetAuthorityInstruction({
          owned: account.address,
          owner: payer,
          authorityType: AuthorityType.CloseAccount,
          newAuthority: ours,
        }),
        await move(account.address, ONE_USDC),
      ]);
    },
  ],
  [
    'tokens to an account of ours that is not the usual one',
    'USDC_SOL',
    { USDC_SOL: 25n * ONE_USDC },
    async (ours) => succeed([await move((await strayAccount(ours)).address, 25n * ONE_USDC)]),
  ],
  [
    'an account full of tokens that becomes ours',
    'USDC_SOL',
    { USDC_SOL: 25n * ONE_USDC },
    async (ours) => {
      const account = await strayAccount(payer.address);
      await succeed([
        await move(account.address, 25n * ONE_USDC),
        getSetAuthorityInstruction({
          owned: account.address,
          owner: payer,
          authorityType: AuthorityType.AccountOwner,
          newAuthority: ours,
        }),
      ]);
    },
  ],
  [
    'tokens where SOL was asked for',
    'SOL',
    { USDC_SOL: ONE_USDC },
    async (ours) =>
      succeed([await opening(ours, usdc), await move(await tokenAccount(ours, usdc), ONE_USDC)]),
  ],
];

type Forged = { name: string; account: AccountId; invoice: Invoice };
const forged = new Map<string, Forged>();

beforeAll(async () => {
  chain = await solanaChain({ lamports: SOL, usdc: 0n });
  payer = chain.payer;
  usdc = address(chain.network.usdcMint);
  await chain.pay('USDC_SOL', payer.address, 1_000n * ONE_USDC);
  shop = await startMoneyIn(
    { SOL: { rate: '150', confirmations: 1 }, USDC_SOL: { rate: '1', confirmations: 1 } },
    {
      SOLANA_RPC_URL: chain.node.rpcUrl,
      SOLANA_NETWORK: 'local',
      SOLANA_USDC_MINT: usdc,
      ADDRESSES_AHEAD: '64',
    },
  );
  await shop.look('solana');
  for (const [name, asked, , forge] of rows) {
    const account = shop.newAccount();
    const invoice = await shop.invoice(account, { asset: asked, amount: 25, expires_in: 1 });
    forged.set(name, { name, account, invoice });
    await forge(address(invoice.address));
  }
  await chain.finalized(last);
  await shop.look('solana');
});
afterAll(async () => {
  await shop?.stop();
  await chain?.stop();
});

const found = async ({ id }: Invoice, asset: Asset): Promise<bigint> => {
  const { sum } = await shop.db.one<{ sum: string }>(
    `select coalesce(sum(amount), 0)::text as sum from deposits
     where invoice_id = $1 and asset = $2 and state in ('seen', 'settled', 'missing')`,
    [id, asset],
  );
  return BigInt(sum);
};

describe('spoofed deposits on Solana', () => {
  it.each(rows)('%s', async (name, _asked, real) => {
    const { invoice } = forged.get(name) as Forged;
    const customer = solanaCustomer(chain.faucet);
    for (const asset of both) {
      const wanted = real[asset] ?? 0n;
      expect(await customer.balance(asset, invoice.address)).toBe(wanted);
      expect({ asset, found: await found(invoice, asset) }).toEqual({ asset, found: wanted });
    }
  });

  it('in the end the ledger owes what is ours', async () => {
    const blocks = async () => undefined;
    await shop.pass('solana', 160_000, blocks);
    await shop.settled();
    const customer = solanaCustomer(chain.faucet);
    for (const { name, account, invoice } of forged.values()) {
      for (const asset of both) {
        const { available, held, unresolved } = await shop.booked(account, asset);
        const there = await customer.balance(asset, invoice.address);
        expect({ name, asset, owed: available + held + unresolved }).toEqual({ name, asset, owed: there });
      }
    }
    expect(forged.size).toBe(rows.length);
    expect(await shop.discrepancies(['I1', 'I2', 'I3', 'I5'])).toEqual([]);
    expect(await shop.unborne('solana')).toEqual([]);
  });
});
