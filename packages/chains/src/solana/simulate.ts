import { type AssetSymbol, assets } from '@quittance/shared/assets';
import { type Address, isOffCurveAddress } from '@solana/kit';
import { z } from 'zod';
import { type Rpc, RpcUnavailable, read } from '../json-rpc.ts';
import { accountOf, count, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './rpc.ts';
import { type SolanaPlan, unsigned } from './transaction.ts';

const simulation = z.object({ value: z.object({ err: z.unknown() }) });
const rentRefusal = z.object({ InsufficientFundsForRent: z.object({ account_index: count }) });
const programRefusal = z.object({ InstructionError: z.array(z.unknown()) });

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

/** What the newest confirmed state would make of a plan: `payer` when it is the fee payer's own account that fails. */
export async function simulate(rpc: Rpc, plan: SolanaPlan): Promise<'works' | 'payer' | 'fails'> {
  const method = 'simulateTransaction';
  const config = {
    encoding: 'base64',
    commitment: 'confirmed',
    sigVerify: false,
    replaceRecentBlockhash: true,
  };
  const { err } = read(simulation, await rpc.call(method, [unsigned(plan), config]), method).value;
  if (err == null) return 'works';
  const rent = rentRefusal.safeParse(err);
  if (rent.success) return rent.data.InsufficientFundsForRent.account_index === 0 ? 'payer' : 'fails';
  if (programRefusal.safeParse(err).success) return 'fails';
  // Anything else is about the node, the moment, or the fee payer.
  throw new RpcUnavailable(method, `it fails with ${JSON.stringify(err)}`);
}
