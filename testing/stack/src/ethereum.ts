import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AssetSymbol, nativeAsset } from '@quittance/shared/assets';
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  erc20Abi,
  type Hex,
  http,
  parseEther,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { anvil } from './anvil-chain.ts';
import { deployTestUsdc } from './test-usdc.ts';

export const CHAIN_ID = anvil.id;

/** anvil's own development words: every account of theirs is rich, and everybody knows their keys. */
const FAUCET_WORDS = 'test test test test test test test test test test test junk';
export const faucet = mnemonicToAccount(FAUCET_WORDS);

const HOT_WALLET_FLOAT = parseEther('10');
const HOT_WALLET_LOW = parseEther('5');

/**
 * Makes the development chain ready for use, once: the test USD Coin, and Ether in the hot wallet to pay
 * its transactions with.
 * @returns the token's address.
 */
export async function prepareEthereum(rpcUrl: string, hotAddress: string): Promise<string> {
  const usdc = await deployTestUsdc(rpcUrl);
  const transport = http(rpcUrl);
  const node = createPublicClient({ chain: anvil, transport });
  const address = hotAddress as Hex;
  if ((await node.getBalance({ address })) < HOT_WALLET_LOW) {
    const client = createWalletClient({ account: faucet, chain: anvil, transport });
    await client.sendTransaction({ to: address, value: HOT_WALLET_FLOAT });
    await createTestClient({ chain: anvil, mode: 'anvil', transport }).mine({ blocks: 1 });
  }
  return usdc;
}

export type EthereumNode = { rpc: string; tokens: { USDC_ERC20: string } };

/** Sends money of the faucet to an address; it waits in the pool until a block comes. @returns the transaction's hash. */
export async function payOnEthereum(
  node: EthereumNode,
  asset: AssetSymbol,
  { to, amount }: { to: string; amount: bigint },
): Promise<Hex> {
  // The node signs: two who pay at the same time would take the same nonce.
  const client = createWalletClient({ account: faucet.address, chain: anvil, transport: http(node.rpc) });
  if (asset === nativeAsset.ethereum)
    return await withOwnNonce(() => client.sendTransaction({ to: to as Hex, value: amount }));
  if (asset !== 'USDC_ERC20') throw new Error(`the Ethereum faucet has no ${asset}`);
  return await withOwnNonce(() =>
    client.writeContract({
      address: node.tokens.USDC_ERC20 as Hex,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [to as Hex, amount],
    }),
  );
}

const TRIES = 20;
const PAUSE_MAX_MS = 50;
const TAKEN_NONCE = /replacement transaction underpriced|nonce too low|already imported/i;

/** The node itself may give two that come at the same moment the same nonce. It refuses the second, which is sent again. */
async function withOwnNonce<T>(send: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch (error) {
      if (tries === TRIES || !(error instanceof Error) || !TAKEN_NONCE.test(error.message)) throw error;
      await sleep(randomInt(PAUSE_MAX_MS));
    }
  }
}
