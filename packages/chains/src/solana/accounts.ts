import { type AssetSymbol, assets } from '@quittance/shared/assets';
import type { Units } from '@quittance/shared/money';
import { type Address, isOffCurveAddress } from '@solana/kit';
import { AccountState, getTokenDecoder, getTokenSize } from '@solana-program/token';
import { z } from 'zod';
import { ask, type Rpc } from '../json-rpc.ts';
import { base58, type Commitment, lamports, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './rpc.ts';

const base64 = z
  .tuple([z.string(), z.literal('base64')])
  .transform(([text]): Uint8Array => Buffer.from(text, 'base64'));
const account = z.object({
  value: z.object({ lamports, owner: base58, executable: z.boolean(), data: base64 }).nullable(),
});
const tokenAccounts = z.object({
  value: z.array(z.object({ pubkey: base58, account: z.object({ owner: base58, data: base64 }) })),
});

export type TokenAccount = { address: string; amount: Units };
export type SolanaAccount = NonNullable<z.infer<typeof account>['value']>;

/** What is at an address as of the newest confirmed block; undefined when nothing is. */
export async function accountOf(rpc: Rpc, address: string): Promise<SolanaAccount | undefined> {
  const params = [address, { encoding: 'base64', commitment: 'confirmed' }];
  return (await ask(rpc, account, 'getAccountInfo', params, undefined, 'exact')).value ?? undefined;
}

/**
 * Money sent there would be lost: programs, mints, and accounts that hold tokens for an owner (people confuse those
 * with the owner's own address). For tokens also an address that is no public key and has never been used: it may be
 * such an account that was closed; a vault is given tokens after its first lamports.
 */
export async function isUnpayable(rpc: Rpc, asset: AssetSymbol, to: string): Promise<boolean> {
  const account = await accountOf(rpc, to);
  if (account === undefined) return assets[asset].type === 'token' && isOffCurveAddress(to as Address);
  return account.executable || account.owner === TOKEN_PROGRAM || account.owner === TOKEN_2022_PROGRAM;
}

/** The accounts in which an owner holds usable tokens of a mint, richest first. */
export async function tokensAt(
  rpc: Rpc,
  mint: string,
  owner: string,
  commitment: Commitment = 'finalized',
): Promise<TokenAccount[]> {
  const params = [owner, { mint }, { encoding: 'base64', commitment }];
  const { value } = await ask(rpc, tokenAccounts, 'getTokenAccountsByOwner', params);
  return value
    .map(({ pubkey, account }) => ({ address: pubkey, amount: usableTokens(account) }))
    .filter(({ amount }) => amount > 0n)
    .toSorted((a, b) =>
      a.amount === b.amount ? (a.address < b.address ? -1 : 1) : a.amount > b.amount ? -1 : 1,
    );
}

function usableTokens({ owner, data }: Pick<SolanaAccount, 'owner' | 'data'>): Units {
  if (owner !== TOKEN_PROGRAM || data.length !== getTokenSize()) return 0n as Units;
  const { state, amount } = getTokenDecoder().decode(data);
  return (state === AccountState.Initialized ? amount : 0n) as Units;
}
