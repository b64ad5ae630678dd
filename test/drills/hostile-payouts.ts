import { expect } from '@jest/globals';
import { readSignature } from '@quittance/chains/signing';
import type { Quittance } from '@quittance/testkit/quittance';
import { parseEther } from 'viem';
import type { Hostile } from './hostile.ts';

/** What a thief who has replaced payouts asks the ledger and the signer for. */

/** Asks for a hold of a balance whose account has requested nothing. */
export async function triesToHold(payouts: Hostile, account: string): Promise<void> {
  const hold = {
    payout_id: '900000',
    asset: 'ETH',
    amount: '1',
    network_fee: '0',
    deposit_id: null,
  } as const;
  expect(await payouts.bus().ask('hold.place', { ...hold, account_id: account })).toMatchObject({
    reply: { outcome: 'refused', because: 'not_asked_for' },
  });
}

async function sign(payouts: Hostile, order: object, ids: readonly string[]) {
  const hot = payouts.env['ETHEREUM_HOT_ADDRESS'] ?? '';
  const orders = [{ order: { hot, ...order }, payouts: [...ids] }];
  const asked = await payouts.bus().ask('transactions.sign', {
    chain: 'ethereum',
    asked_at: new Date().toISOString(),
    only_known: false,
    orders,
  });
  if (!asked.known) throw new Error(asked.reason);
  return asked.reply;
}

/** Asks for payments to the thief, of which the signer signs none. `paid`: a payout that is signed already. */
export async function triesToHaveSigned(
  { db }: Quittance,
  payouts: Hostile,
  { to, paid }: { to: string; paid: string },
): Promise<void> {
  const { nonce } = await db.one<{ nonce: number }>(
    `select nonce::int from payouts.transactions t join payouts.payments p using (replacement_group)
     where p.payout_id = $1 limit 1`,
    [paid],
  );
  const fees = { maxFeePerGas: '2000000000', maxPriorityFeePerGas: '1000000000' };
  const amount = String(parseEther('0.1'));
  const theft = { is: 'transfer', asset: 'ETH', to, amount, nonce: 90, gas: '21000', fees };
  const tried: [object, string[], string][] = [
    [theft, ['900000'], 'the ledger has no hold for the payout'],
    [theft, [paid], 'another transaction of the payout may still be mined'],
    [{ ...theft, nonce }, [paid], 'the payout is for another address'],
    [theft, [], 'its payouts are not its recipients'],
    [{ ...theft, hot: to }, ['900000'], 'it is for keys of another wallet'],
  ];
  for (const [order, ids, because] of tried)
    expect(await sign(payouts, order, ids)).toMatchObject({ signed: [], refused: { because } });
}

/** Has sweeps signed whose fees are as high as the signer allows. @returns what they can cost together */
export async function burnsAsFees({ db }: Quittance, payouts: Hostile): Promise<bigint> {
  const deposit = await db.one<{ index: number; address: string }>(
    `select derivation_index as index, address from invoices.addresses where chain = 'ethereum' limit 1`,
  );
  let burnt = 0n;
  const aboveLimit = 'network fees are above their limit of 24 hours';
  for (const [ether, because] of [
    ['1', 'its fee is higher than the chain ever asks for'],
    ['0.09', aboveLimit],
    ['0.02', undefined],
    ['0.04', aboveLimit],
  ] as const) {
    const perGas = String(parseEther(ether) / 21_000n);
    const fees = { maxFeePerGas: perGas, maxPriorityFeePerGas: perGas };
    const balance = String(parseEther('10'));
    const sweep = { is: 'native_sweep', ...deposit, balance, nonce: 0, fees };
    const { signed, refused } = await sign(payouts, sweep, []);
    expect([ether, refused?.because]).toEqual([ether, because]);
    for (const one of signed) burnt += readSignature(one).maxCost;
  }
  return burnt;
}
