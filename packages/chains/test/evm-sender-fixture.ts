import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { mintTestUsdc } from '@quittance/stack/test-usdc';
import { type Hex, parseEther, parseGwei } from 'viem';
import type { EvmFees, EvmSender, TransferOrder } from '../src/chain.ts';
import type { EvmNetwork } from '../src/evm/network.ts';
import { createEvmSender } from '../src/evm/sender.ts';
import { createEvmSigner, type EvmSigner } from '../src/evm/signer.ts';
import { openWallet } from '../src/evm/wallet.ts';
import {
  CHAIN_ID,
  type DevelopmentChain,
  developmentChain,
  newAddress,
  PHRASE,
} from './development-chain.ts';

export const fees: EvmFees = { maxFeePerGas: parseGwei('10'), maxPriorityFeePerGas: parseGwei('1') };
const wallet = openWallet(PHRASE);
export const hot = wallet.hotAddress as Hex;

/** `to` and `index` are a recipient and a deposit address that no other test has used. */
type Given = { chain: DevelopmentChain; sender: EvmSender; signer: EvmSigner; to: Hex; index: number };

/** Starts a node for a suite, with a sender whose hot wallet has Ether and tokens. @returns what its tests do. */
export function senderSuite(use: (given: Given) => void) {
  let given: Given;
  beforeAll(async () => {
    const chain = await developmentChain();
    // The first ten addresses are the node's own rich accounts.
    given = {
      chain,
      sender: otherSender({ rpc: chain.rpc, usdcAddress: chain.usdc }),
      signer: otherSigner({ usdcAddress: chain.usdc }),
      to: hot,
      index: 100,
    };
    await chain.client.setBalance({ address: hot, value: parseEther('100') });
    await mintUsdc(hot, 1_000_000_000n);
  });
  beforeEach(() => {
    given = { ...given, to: newAddress(), index: given.index + 1 };
    use(given);
  });
  afterAll(() => given?.chain.stop());

  const nonce = () => given.sender.nonce(hot, 'latest');
  const mintUsdc = (address: string, amount: bigint) =>
    mintTestUsdc(given.chain.node.rpcUrl, given.chain.usdc, address, amount);
  /** Another sender, which has no token unless it is given one. */
  function otherSender(settings: Partial<Parameters<typeof createEvmSender>[0]>): EvmSender {
    const rpc = settings.rpc ?? given.chain.rpc;
    return createEvmSender({ wallet, chain: 'ethereum', chainId: CHAIN_ID, ...settings, rpc });
  }
  /** Newly opened keys, of the same wallet. */
  const otherSigner = (settings: Partial<EvmNetwork>): EvmSigner =>
    createEvmSigner({ chain: 'ethereum', chainId: CHAIN_ID, ...settings }, openWallet(PHRASE));
  const orderOf = (amount: bigint): TransferOrder => ({
    asset: 'ETH',
    to: given.to,
    amount: units(amount),
    nonce: 0,
    gas: 21_000n,
    fees,
  });
  return {
    nonce,
    mintUsdc,
    otherSender,
    otherSigner,
    orderOf,
    mine: (blocks = 1) => given.chain.client.mine({ blocks }),
    transfer: async (amount = 5n, order: Partial<TransferOrder> = {}) =>
      await given.signer.signTransfer({ ...orderOf(amount), nonce: await nonce(), ...order }),
    /** Gives the recipient of the test this code. */
    async codeAt(bytecode: Hex): Promise<Hex> {
      await given.chain.client.setCode({ address: given.to, bytecode });
      return given.to;
    },
  };
}
