import type { Units } from '@quittance/shared/money';
import { z } from 'zod';
import { type Rpc, read } from '../json-rpc.ts';
import { base58, type Commitment, TOKEN_PROGRAM } from './rpc.ts';
import type { TokenAccount } from './transaction.ts';

export const TOKEN_ACCOUNT_BYTES = 165;
/** Where a token account holds its amount and its state. */
const AMOUNT_AT = 64;
const STATE_AT = 108;
const STATE_USABLE = 1;
const tokenAccounts = z.object({
  value: z.array(
    z.object({
      pubkey: base58,
      account: z.object({ owner: base58, data: z.tuple([z.string(), z.literal('base64')]) }),
    }),
  ),
});

function tokensIn({ owner, data: [text] }: z.infer<typeof tokenAccounts>['value'][number]['account']): Units {
  const data = Buffer.from(text, 'base64');
  const usable =
    owner === TOKEN_PROGRAM && data.length === TOKEN_ACCOUNT_BYTES && data[STATE_AT] === STATE_USABLE;
  return (usable ? data.readBigUInt64LE(AMOUNT_AT) : 0n) as Units;
}

/** The accounts in which an owner holds usable tokens of a mint, richest first. */
export async function tokensAt(
  rpc: Rpc,
  mint: string,
  owner: string,
  commitment: Commitment = 'finalized',
): Promise<TokenAccount[]> {
  const method = 'getTokenAccountsByOwner';
  const answer = await rpc.call(method, [owner, { mint }, { encoding: 'base64', commitment }]);
  return read(tokenAccounts, answer, method)
    .value.map(({ pubkey, account }) => ({ address: pubkey, amount: tokensIn(account) }))
    .filter(({ amount }) => amount > 0n)
    .toSorted((a, b) =>
      a.amount === b.amount ? (a.address < b.address ? -1 : 1) : a.amount > b.amount ? -1 : 1,
    );
}
