import { connectRpc, RpcRefused } from '@quittance/chains/json-rpc';
import type { BitcoindHandle } from '@quittance/engines/bitcoind';
import { assets } from '@quittance/shared/assets';
import { formatUnits, type Units } from '@quittance/shared/money';
import { z } from 'zod';

/** As the invoices and payouts services are told. */
export const BITCOIN_NETWORK = 'regtest';

/** The wallet that the engine opens in its node, and mines the first blocks to. */
const WALLET = 'faucet';
const SATOSHIS_PER_VBYTE = 5;
const NO_SUCH_WALLET = -18;

/** The treasury counts what was sent to its hot address when so many blocks have it. */
const DEEP = 6;
const HOT_WALLET_FLOAT = '5';
const HOT_WALLET_LOW = 1;

export type BitcoinNode = { rpc: string };

/** Gives the hot wallet something to pay fees with, and payouts that are larger than what came in. */
export async function prepareBitcoin(node: BitcoindHandle, hotAddress: string): Promise<void> {
  const look = ['start', [`addr(${hotAddress})`]];
  const { total_amount } = await node.rpc<{ total_amount: number }>('scantxoutset', ...look);
  if (total_amount >= HOT_WALLET_LOW) return;
  await node.pay(hotAddress, HOT_WALLET_FLOAT);
  await node.mine(DEEP);
}

/** Sends coins of the faucet, all in one transaction; it waits in the mempool until a block comes. @returns its id. */
export async function payOnBitcoin(
  node: BitcoinNode,
  payments: readonly { to: string; amount: bigint }[],
): Promise<string> {
  const { decimals } = assets.BTC;
  const amounts = Object.fromEntries(
    payments.map(({ to, amount }) => [to, formatUnits(amount as Units, decimals)]),
  );
  const wallet = connectRpc(`${node.rpc.replace(/\/$/, '')}/wallet/${WALLET}`);
  try {
    const order = ['', amounts, 1, '', [], true, null, 'unset', SATOSHIS_PER_VBYTE];
    return z.string().parse(await wallet.call('sendmany', order));
  } catch (error) {
    if (error instanceof RpcRefused && error.code === NO_SUCH_WALLET) {
      throw new Error(`the Bitcoin node has no wallet named ${WALLET}: it is not the sandbox's`);
    }
    throw error;
  } finally {
    await wallet.close();
  }
}
