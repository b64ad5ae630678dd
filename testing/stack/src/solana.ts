import { createHash, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AssetSymbol, assets, nativeAsset } from '@quittance/shared/assets';
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  createDefaultRpcTransport,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpcFromTransport,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  isSolanaError,
  type KeyPairSigner,
  lamports,
  pipe,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE as SIMULATION_FAILED,
  type Signature,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';

/** As the invoices and payouts services are told: no public network. */
export const SOLANA_NETWORK = 'local';

const FAUCET_LAMPORTS = 10n ** 14n;
/** A billion whole coins. */
const FAUCET_USDC = 10n ** 15n;
const USDC_DECIMALS = assets.USDC_SOL.decimals;
const CONFIRMED_WITHIN_MS = 30_000;
const ASK_EVERY_MS = 50;
const ANSWERED_WITHIN_MS = 10_000;
const COMPUTE_BUDGET = address('ComputeBudget111111111111111111111111111111');
const SET_COMPUTE_UNIT_PRICE = 3;
const PRICE_MAX = 50_000;
const TRIES_MAX = 3;

export type SolanaNode = { rpc: string; tokens: { USDC_SOL: string } };
type Rpc = ReturnType<typeof solanaRpc>;

/** Each request has a limit of time: without one, whoever waits for a node that stands still waits for minutes. */
export function solanaRpc(url: string) {
  const transport = createDefaultRpcTransport({ url });
  const limited: typeof transport = (request) =>
    transport({ ...request, signal: request.signal ?? AbortSignal.timeout(ANSWERED_WITHIN_MS) });
  return createSolanaRpcFromTransport(limited);
}

/** Keys that everybody can know, the same on every development chain. */
const wellKnown = (name: string): Promise<KeyPairSigner> =>
  createKeyPairSignerFromPrivateKeyBytes(createHash('sha256').update(`Quittance sandbox ${name}`).digest());
const faucetSigner = () => wellKnown('faucet');
const mintSigner = () => wellKnown('USD Coin');

/**
 * Makes a new development chain ready for use: the test USD Coin, a rich faucet, and in the hot wallet what it
 * should have. On a chain that has the coin already, nothing happens.
 * @returns the mint's address.
 */
export async function prepareSolana(
  rpcUrl: string,
  hot: { address: string; lamports: bigint; usdc: bigint },
): Promise<string> {
  const rpc = solanaRpc(rpcUrl);
  const [faucet, mint] = await Promise.all([faucetSigner(), mintSigner()]);
  const known = await rpc.getAccountInfo(mint.address, { encoding: 'base64' }).send();
  if (known.value !== null) return mint.address;
  await confirmed(rpc, await rpc.requestAirdrop(faucet.address, lamports(FAUCET_LAMPORTS)).send());
  const space = BigInt(getMintSize());
  const rent = await rpc.getMinimumBalanceForRentExemption(space).send();
  const decimals = USDC_DECIMALS;
  await send(rpc, faucet, [
    getCreateAccountInstruction({
      payer: faucet,
      newAccount: mint,
      lamports: rent,
      space,
      programAddress: TOKEN_PROGRAM_ADDRESS,
    }),
    getInitializeMint2Instruction({ mint: mint.address, decimals, mintAuthority: faucet.address }),
    ...(await minting(faucet, mint.address, faucet.address, FAUCET_USDC)),
  ]);
  await send(rpc, faucet, [
    getTransferSolInstruction({
      source: faucet,
      destination: address(hot.address),
      amount: hot.lamports,
    }),
    ...(hot.usdc === 0n ? [] : await minting(faucet, mint.address, address(hot.address), hot.usdc)),
  ]);
  return mint.address;
}

/** The slot of the chain's first block: a development node that has skipped some begins later than at 0. */
export const firstSolanaSlot = (rpcUrl: string): Promise<bigint> =>
  solanaRpc(rpcUrl).getFirstAvailableBlock().send();

/** Sends money of the faucet to an address, and waits until a block has it. @returns the signature. */
export async function payOnSolana(
  node: SolanaNode,
  payments: readonly { asset: AssetSymbol; to: string; amount: bigint }[],
): Promise<string> {
  const faucet = await faucetSigner();
  const instructions: Instruction[] = [];
  for (const { asset, to, amount } of payments) {
    if (asset === nativeAsset.solana) {
      instructions.push(getTransferSolInstruction({ source: faucet, destination: address(to), amount }));
    } else if (asset === 'USDC_SOL') {
      instructions.push(...(await sendingTokens(faucet, address(node.tokens.USDC_SOL), address(to), amount)));
    } else {
      throw new Error(`the Solana faucet has no ${asset}`);
    }
  }
  return await send(solanaRpc(node.rpc), faucet, instructions);
}

async function tokenAccount(faucet: KeyPairSigner, mint: Address, owner: Address) {
  const [ata] = await findAssociatedTokenPda({ owner, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS });
  const create = getCreateAssociatedTokenIdempotentInstruction({ payer: faucet, ata, owner, mint });
  return { ata, create };
}

async function minting(faucet: KeyPairSigner, mint: Address, owner: Address, amount: bigint) {
  const { ata, create } = await tokenAccount(faucet, mint, owner);
  return [create, getMintToInstruction({ mint, token: ata, mintAuthority: faucet, amount })];
}

async function sendingTokens(faucet: KeyPairSigner, mint: Address, owner: Address, amount: bigint) {
  const [{ ata: source }, { ata, create }] = await Promise.all([
    tokenAccount(faucet, mint, faucet.address),
    tokenAccount(faucet, mint, owner),
  ]);
  const order = { source, mint, destination: ata, authority: faucet, amount, decimals: USDC_DECIMALS };
  return [create, getTransferCheckedInstruction(order)];
}

/**
 * A transaction whose simulation fails is in no block and never will be: on a busy machine its blockhash is too old by then. It is
 * made again, with a newer one.
 */
async function send(rpc: Rpc, faucet: KeyPairSigner, instructions: readonly Instruction[]): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      return await sendOnce(rpc, faucet, instructions);
    } catch (error) {
      if (tries === TRIES_MAX || !isSolanaError(error, SIMULATION_FAILED)) throw error;
    }
  }
}

async function sendOnce(
  rpc: Rpc,
  faucet: KeyPairSigner,
  instructions: readonly Instruction[],
): Promise<string> {
  const { value: lifetime } = await rpc.getLatestBlockhash().send();
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (given) => setTransactionMessageFeePayerSigner(faucet, given),
    (given) => setTransactionMessageLifetimeUsingBlockhash(lifetime, given),
    (given) => appendTransactionMessageInstructions([somePrice(), ...instructions], given),
  );
  const transaction = await signTransactionMessageWithSigners(message);
  const signature = getSignatureFromTransaction(transaction);
  await rpc.sendTransaction(getBase64EncodedWireTransaction(transaction), { encoding: 'base64' }).send();
  await confirmed(rpc, signature);
  return signature;
}

/** Two equal payments within one block would be the same transaction, and count once: so each has its own price. */
function somePrice(): Instruction {
  const data = Buffer.alloc(9);
  data.writeUInt8(SET_COMPUTE_UNIT_PRICE, 0);
  data.writeBigUInt64LE(BigInt(randomInt(PRICE_MAX)), 1);
  return { programAddress: COMPUTE_BUDGET, data };
}

async function confirmed(rpc: Rpc, signature: Signature): Promise<void> {
  const deadline = Date.now() + CONFIRMED_WITHIN_MS;
  for (;;) {
    const [status] = (await rpc.getSignatureStatuses([signature]).send()).value;
    if (status?.err) throw new Error(`the transaction ${signature} failed`);
    if (status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized') return;
    if (Date.now() > deadline) throw new Error(`the transaction ${signature} is in no block`);
    await sleep(ASK_EVERY_MS);
  }
}
