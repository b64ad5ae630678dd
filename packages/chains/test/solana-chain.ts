import { startSurfpool } from '@quittance/engines/surfpool';
import { invariant } from '@quittance/shared/result';
import { payOnSolana, prepareSolana } from '@quittance/stack/solana';
import { eventually } from '@quittance/testkit/eventually';
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
const ASK_EVERY_MS = 20;

/** A Solana node with a test USD Coin, and a hot wallet with the given money. */
export async function solanaChain(hot: { lamports: bigint; usdc: bigint }, slotMs = SLOT_MS) {
  const node = await startSurfpool({ port: 0, wsPort: 0, slotMs });
  const rpc = connectRpc(node.rpcUrl);
  const usdcMint = await prepareSolana(node.rpcUrl, { address: wallet.hotAddress, ...hot });
  const faucet = { rpc: node.rpcUrl, tokens: { USDC_SOL: usdcMint } };
  const payer = await createKeyPairSignerFromBytes(node.payerSecretKey);
  return {
    node,
    rpc,
    network: { name: 'local', usdcMint } satisfies SolanaNetwork,
    faucet,
    /** A rich account whose key the tests have. */
    payer,
    /**
     * Sends, signed by the payer and whoever else signs the instructions. Addresses in `tables` are named by their place
     * there. @returns the signature.
     */
    async send(instructions: Instruction[], tables: AddressesByLookupTableAddress = {}): Promise<string> {
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
    pay: (asset: 'SOL' | 'USDC_SOL', to: string, amount: bigint): Promise<string> =>
      payOnSolana(faucet, [{ asset, to, amount }]),
    finalized: (signature: string) => finalizedSlot(rpc, signature),
    async stop() {
      await rpc.close();
      await node.stop();
    },
  };
}

export type SolanaChain = Awaited<ReturnType<typeof solanaChain>>;

async function finalizedSlot(rpc: Rpc, signature: string): Promise<number> {
  type Status = { slot: number; confirmationStatus: string } | null;
  return await eventually(
    async () => {
      const answer = (await rpc.call('getSignatureStatuses', [[signature]])) as { value: [Status] };
      const [status] = answer.value;
      invariant(status?.confirmationStatus === 'finalized', 'it is final');
      return status.slot;
    },
    HAPPENS_WITHIN_MS,
    ASK_EVERY_MS,
  );
}

let last = 0;

/** An address nobody has used, and that is a public key. */
export const newAddress = (): Address => wallet.depositAddress(1_000_000 + ++last) as Address;
