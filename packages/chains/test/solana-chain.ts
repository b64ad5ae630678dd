import { setTimeout as sleep } from 'node:timers/promises';
import { startSurfpool } from '@quittance/engines/surfpool';
import { payOnSolana, prepareSolana, type SolanaNode } from '@quittance/stack/solana';
import {
  type Address,
  type AddressesByLookupTableAddress,
  appendTransactionMessageInstructions,
  type Blockhash,
  compressTransactionMessageUsingAddressLookupTables,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { connectRpc, type Rpc } from '../src/json-rpc.ts';
import type { SolanaNetwork } from '../src/solana/network.ts';
import { openWallet } from '../src/solana/wallet.ts';

const PHRASE = 'test test test test test test test test test test test junk';
export const wallet = openWallet(PHRASE);
/** Sixteen times the public networks' pace: a block is finalized within a second. */
const SLOT_MS = 25;
const HAPPENS_WITHIN_MS = 30_000;

export type SolanaChain = {
  node: Awaited<ReturnType<typeof startSurfpool>>;
  rpc: Rpc;
  network: SolanaNetwork & { usdcMint: string };
  faucet: SolanaNode;
  /** A rich account whose key the tests have. */
  payer: KeyPairSigner;
  /** Sends, signed by the payer and whoever else signs the instructions. @returns the signature. */
  /** With `tables`, addresses in them are named by their place there. */
  send(instructions: Instruction[], tables?: AddressesByLookupTableAddress): Promise<string>;
  pay(asset: 'SOL' | 'USDC_SOL', to: string, amount: bigint): Promise<string>;
  finalized(signature: string): Promise<number>;
  stop(): Promise<void>;
};

/** A Solana node with a test USD Coin, and a hot wallet with the given money. */
export async function solanaChain(
  hot: { lamports: bigint; usdc: bigint },
  slotMs = SLOT_MS,
): Promise<SolanaChain> {
  const node = await startSurfpool({ port: 0, wsPort: 0, slotMs });
  const rpc = connectRpc(node.rpcUrl);
  const usdcMint = await prepareSolana(node.rpcUrl, { address: wallet.hotAddress, ...hot });
  const faucet = { rpc: node.rpcUrl, tokens: { USDC_SOL: usdcMint } };
  const payer = await createKeyPairSignerFromBytes(node.payerSecretKey);
  return {
    node,
    rpc,
    network: { name: 'local', usdcMint },
    faucet,
    payer,
    async send(instructions, tables = {}) {
      const answer = await rpc.call('getLatestBlockhash', []);
      const { blockhash, lastValidBlockHeight } = (
        answer as { value: { blockhash: Blockhash; lastValidBlockHeight: number } }
      ).value;
      const signed = await signTransactionMessageWithSigners(
        pipe(
          createTransactionMessage({ version: 0 }),
          (message) => setTransactionMessageFeePayerSigner(payer, message),
          (message) =>
            setTransactionMessageLifetimeUsingBlockhash(
              { blockhash, lastValidBlockHeight: BigInt(lastValidBlockHeight) },
              message,
            ),
          (message) => appendTransactionMessageInstructions(instructions, message),
          (message) => compressTransactionMessageUsingAddressLookupTables(message, tables),
        ),
      );
      const raw = getBase64EncodedWireTransaction(signed);
      return String(await rpc.call('sendTransaction', [raw, { encoding: 'base64', skipPreflight: true }]));
    },
    pay: (asset, to, amount) => payOnSolana(faucet, [{ asset, to, amount }]),
    finalized: (signature) => finalizedSlot(rpc, signature),
    async stop() {
      await rpc.close();
      await node.stop();
    },
  };
}

async function finalizedSlot(rpc: Rpc, signature: string): Promise<number> {
  type Status = { slot: number; confirmationStatus: string } | null;
  return await eventually(async () => {
    const answer = (await rpc.call('getSignatureStatuses', [[signature]])) as { value: [Status] };
    const [status] = answer.value;
    return status?.confirmationStatus === 'finalized' ? status.slot : undefined;
  });
}

export async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + HAPPENS_WITHIN_MS;
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (Date.now() > deadline) throw new Error('it did not happen');
    await sleep(20);
  }
}

let last = 0;

/** An address nobody has used, and that is a public key. */
export const newAddress = (): Address => wallet.depositAddress(1_000_000 + ++last) as Address;
