import { AccountRole, type Address, generateKeyPairSigner, type Instruction } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  AuthorityType,
  getApproveInstruction,
  getCloseAccountInstruction,
  getMintToInstruction,
  getSetAuthorityInstruction,
} from '@solana-program/token';
import {
  type Asset,
  MEMO,
  ONE_USDC,
  RENT_OF_TOKENS,
  SOL,
  type SolanaForger,
  TOKEN_2022,
  WRAPPED_SOL,
} from './solana-forger.ts';

/** What a forger does to an address of ours where an asset was asked for, and what really comes to be ours. */
type Spoof = [
  name: string,
  asked: Asset,
  real: Partial<Record<Asset, bigint>>,
  forge: (ours: Address, forger: SolanaForger) => Promise<unknown>,
];

export const solanaSpoofs: Spoof[] = [
  ['more SOL than the payer has', 'SOL', {}, (ours, { fail, give }) => fail([give(ours, 10n ** 18n)])],
  [
    'SOL in a transaction of which another part fails',
    'SOL',
    {},
    (ours, { fail, give, payer }) => fail([give(ours, SOL), give(payer.address, 10n ** 18n)]),
  ],
  ['no SOL at all', 'SOL', {}, (ours, { give, succeed }) => succeed([give(ours, 0n)])],
  ['less than an account must hold', 'SOL', {}, (ours, { fail, give }) => fail([give(ours, 1_000n)])],
  [
    'a memo that names our address and an amount',
    'SOL',
    {},
    (ours, { succeed }) => succeed([{ programAddress: MEMO, data: Buffer.from(`${ours} 1000000000`) }]),
  ],
  [
    'a transfer to somebody else that has our address among its accounts',
    'SOL',
    {},
    async (ours, { give, succeed }) => {
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
    (ours, { give, payer, succeed }) =>
      succeed([give(payer.address, SOL), { programAddress: MEMO, data: Buffer.from(ours) }]),
  ],
  [
    'SOL there and back again in one transaction',
    'SOL',
    {},
    async (ours, { give, keyOf, payer, succeed }) => {
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
    async (ours, { give, opening, succeed, tokenAccount }) =>
      succeed([await opening(ours, WRAPPED_SOL), give(await tokenAccount(ours, WRAPPED_SOL), SOL)]),
  ],
  [
    'the rent of a token account that is opened for us',
    'SOL',
    {},
    async (ours, { opening, succeed, usdc }) => succeed([await opening(ours, usdc)]),
  ],
  [
    'SOL to our token account',
    'SOL',
    {},
    async (ours, { give, opening, succeed, tokenAccount, usdc }) =>
      succeed([await opening(ours, usdc), give(await tokenAccount(ours, usdc), SOL)]),
  ],
  [
    'the smallest amount that an account can hold',
    'SOL',
    { SOL: 890_880n },
    (ours, { give, succeed }) => succeed([give(ours, 890_880n)]),
  ],
  [
    'SOL three times in one transaction',
    'SOL',
    { SOL: 3n * SOL },
    (ours, { give, succeed }) => succeed([give(ours, SOL), give(ours, SOL), give(ours, SOL)]),
  ],
  [
    'more SOL than goes back in the same transaction',
    'SOL',
    { SOL: SOL },
    async (ours, { give, keyOf, payer, succeed }) => {
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
    async (ours, { payer, strayAccount, succeed }) => {
      const account = await strayAccount(payer.address);
      await succeed([
        getCloseAccountInstruction({ account: account.address, destination: ours, owner: payer }),
      ]);
    },
  ],
  [
    'SOL where tokens were asked for',
    'USDC_SOL',
    { SOL: SOL },
    (ours, { give, succeed }) => succeed([give(ours, SOL)]),
  ],

  [
    'no tokens at all',
    'USDC_SOL',
    {},
    async (ours, { move, opening, succeed, tokenAccount, usdc }) =>
      succeed([await opening(ours, usdc), await move(await tokenAccount(ours, usdc), 0n)]),
  ],
  [
    'more tokens than the payer has',
    'USDC_SOL',
    {},
    async (ours, { fail, move, opening, succeed, tokenAccount, usdc }) => {
      await succeed([await opening(ours, usdc)]);
      await fail([await move(await tokenAccount(ours, usdc), 10n ** 15n)]);
    },
  ],
  [
    'tokens in a transaction of which another part fails',
    'USDC_SOL',
    {},
    async (ours, { fail, give, move, opening, payer, succeed, tokenAccount, usdc }) => {
      await succeed([await opening(ours, usdc)]);
      await fail([await move(await tokenAccount(ours, usdc), ONE_USDC), give(payer.address, 10n ** 18n)]);
    },
  ],
  [
    'tokens of another mint that looks the same',
    'USDC_SOL',
    {},
    async (ours, { forgedMint, opening, payer, succeed, tokenAccount }) => {
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
    async (ours, { forgedMint, opening, payer, succeed, tokenAccount }) => {
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
    async (ours, { payer, succeed, tokenAccount, usdc }) =>
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
    async (ours, { move, payer, strayAccount, succeed }) => {
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
    async (ours, { move, strayAccount, succeed }) =>
      succeed([await move((await strayAccount(ours)).address, 25n * ONE_USDC)]),
  ],
  [
    'an account full of tokens that becomes ours',
    'USDC_SOL',
    { USDC_SOL: 25n * ONE_USDC },
    async (ours, { move, payer, strayAccount, succeed }) => {
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
    async (ours, { move, opening, succeed, tokenAccount, usdc }) =>
      succeed([await opening(ours, usdc), await move(await tokenAccount(ours, usdc), ONE_USDC)]),
  ],
];
