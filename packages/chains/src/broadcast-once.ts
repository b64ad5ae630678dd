import type { Broadcast } from './chain.ts';
import { RpcRefused } from './json-rpc.ts';

/** How the nodes of a chain answer a transaction, and how one is looked up. */
export type BroadcastOf = {
  txHash: string;
  /** Sends the transaction. Resolves to the hash that the node answers. */
  send: () => Promise<string>;
  isKnown: () => Promise<boolean>;
  /** Codes with which nodes refuse the transaction, not codes of their own failures. */
  refusals: ReadonlySet<number>;
  /** How nodes answer that they have the transaction already. */
  saysKnown?: (refusal: RpcRefused) => boolean;
};

/**
 * Sends a transaction whose hash is known. A node also refuses a transaction that it has or that is mined (with "nonce too low"
 * or "inputs missing", say), so a refusal counts only when the node does not know the transaction.
 */
export async function broadcastOnce(given: BroadcastOf): Promise<Broadcast> {
  try {
    return (await given.send()) === given.txHash ? 'accepted' : 'unknown';
  } catch (error) {
    if (!(error instanceof RpcRefused)) return 'unknown';
    if (given.saysKnown?.(error) === true) return 'accepted';
    // Without an answer nothing is known of the transaction: the status of a later round decides.
    const known = await given.isKnown().catch(() => undefined);
    if (known === undefined) return 'unknown';
    if (known) return 'accepted';
    return given.refusals.has(error.code) ? 'rejected' : 'unknown';
  }
}
