import { openSigner } from '@quittance/chains/registry';
import type { ChainSettings, SettingsOf } from '@quittance/chains/settings';
import type { SigningOrder } from '@quittance/chains/signing';
import type { ChainKind } from '@quittance/shared/assets';
import { units } from '@quittance/shared/money';

/** Orders as payouts asks for them, complete, and the wallet that they are for. */

export const SEED = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
export const OTHER_SEED = `${'abandon '.repeat(11)}about`;

export const HOUR_MS = 3_600_000;
const GWEI = 10n ** 9n;

export const recipients = {
  ethereum: '0x52908400098527886e0f7030069857d2e4169ee7',
  bitcoin: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
  solana: 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg',
} as const;
export const others = { ethereum: '0x8617e340b3d01fa5f11f306f4090fd50e238070d' } as const;

const noNodes = { rpcUrls: [] };
export const settingsOf: { [K in 'ethereum' | 'base' | 'bitcoin' | 'solana']: ChainSettings } = {
  ethereum: {
    ...noNodes,
    kind: 'evm',
    chain: 'ethereum',
    chainId: 31_337,
    usdcAddress: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
  },
  base: { ...noNodes, kind: 'evm', chain: 'base', chainId: 8_453 },
  bitcoin: { ...noNodes, kind: 'bitcoin', chain: 'bitcoin', network: 'regtest' },
  solana: { ...noNodes, kind: 'solana', chain: 'solana', network: 'local' },
};

export const BLOCKHASH = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM';

export type OrderOfPayouts = { order: SigningOrder; payouts: readonly string[] };

const hotOf = (chain: keyof typeof settingsOf, seed = SEED) =>
  openSigner(settingsOf[chain] as SettingsOf<ChainKind>, seed).addresses.hotAddress;

const hot = { evm: hotOf('ethereum'), bitcoin: hotOf('bitcoin'), solana: hotOf('solana') };

/** A transfer of Ethereum for one payout, of 1000 wei unless something else is given. */
export const aTransfer = (
  payout: string,
  given: Partial<Extract<SigningOrder<'evm'>, { is: 'transfer' }>> = {},
): OrderOfPayouts => ({
  payouts: [payout],
  order: {
    is: 'transfer',
    hot: hot.evm,
    asset: 'ETH',
    to: recipients.ethereum,
    amount: units(1_000n),
    nonce: 0,
    gas: 21_000n,
    fees: { maxFeePerGas: GWEI, maxPriorityFeePerGas: GWEI },
    ...given,
  },
});

/** The same with a higher fee. */
export const bumped = (asked: OrderOfPayouts, times = 2n): OrderOfPayouts => ({
  ...asked,
  order: {
    ...(asked.order as SigningOrder<'evm'>),
    fees: { maxFeePerGas: GWEI * times, maxPriorityFeePerGas: GWEI * times },
  } as SigningOrder,
});

/** Ether of the deposit address 0 to the hot wallet. */
export function aSweep(
  given: Partial<Extract<SigningOrder<'evm'>, { is: 'native_sweep' }>> = {},
): OrderOfPayouts {
  const { depositAddress } = openSigner(settingsOf.ethereum as SettingsOf<'evm'>, SEED).addresses;
  return {
    payouts: [],
    order: {
      is: 'native_sweep',
      hot: hot.evm,
      index: 0,
      address: depositAddress(0),
      balance: units(10n ** 18n),
      nonce: 0,
      fees: { maxFeePerGas: GWEI, maxPriorityFeePerGas: GWEI },
      ...given,
    },
  };
}

export const outpoint = (n: number): string => `${n.toString(16).padStart(64, '0')}:0`;

/** 10,000 satoshi for each payout, out of inputs of 100,000, with 1,000 for the fee and no change. */
export function aSpend(
  payouts: readonly string[],
  inputs: readonly number[],
  given: { amount?: bigint; fee?: bigint; of?: bigint } = {},
): OrderOfPayouts {
  const { amount = 10_000n, fee = 1_000n, of = 100_000n } = given;
  const utxos = inputs.map((n) => ({
    outpoint: outpoint(n),
    branch: 'hot' as const,
    index: 0,
    amount: units(of),
  }));
  const change = of * BigInt(inputs.length) - amount * BigInt(payouts.length) - fee;
  return {
    payouts,
    order: {
      is: 'spend',
      hot: hot.bitcoin,
      utxos,
      recipients: payouts.map(() => ({ to: recipients.bitcoin, amount: units(amount) })),
      change: { index: 0, amount: units(change) },
      fee: units(fee),
    },
  };
}

/** A transfer of Solana for one payout, of 1000 lamports unless something else is given. */
export const aSolanaTransfer = (
  payout: string,
  given: Partial<Extract<SigningOrder<'solana'>, { is: 'transfer' }>> = {},
): OrderOfPayouts => ({
  payouts: [payout],
  order: {
    is: 'transfer',
    hot: hot.solana,
    asset: 'SOL',
    to: recipients.solana,
    amount: units(1_000n),
    lifetime: { blockhash: BLOCKHASH, lastValidBlockHeight: 1_150 },
    priorityFee: 10_000n,
    tokenAccountRent: units(0n),
    ...given,
  },
});
