import { pbkdf2Sync } from 'node:crypto';
import { eventually } from '@quittance/testkit/eventually';
import {
  type Address,
  address,
  createKeyPairSignerFromPrivateKeyBytes,
  generateKeyPairSigner,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit';
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeAccount3Instruction,
  getInitializeMint2Instruction,
  getTransferInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { HDKey } from 'micro-key-producer/slip10.js';
import { solanaChain } from '../../packages/chains/test/solana-chain.ts';
import { SEED } from './fixture.ts';

export const SOL = 10n ** 9n;
export const ONE_USDC = 1_000_000n;
const MINT_BYTES = 82n;
const TOKEN_BYTES = 165n;
const RENT_OF_A_MINT = 1_461_600n;
export const RENT_OF_TOKENS = 2_039_280n;
export const TOKEN_2022 = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
export const WRAPPED_SOL = address('So11111111111111111111111111111111111111112');
export const MEMO = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
/** A scanner must read slots faster than they come, also while other suites run. */
const SLOT_MS = 100;
export const both = ['SOL', 'USDC_SOL'] as const;
export type Asset = (typeof both)[number];

/** A real Solana node, and somebody who forges payments there. */
export async function startSolanaForger() {
  const chain = await solanaChain({ lamports: SOL, usdc: 0n }, SLOT_MS);
  const { payer } = chain;
  const usdc = address(chain.network.usdcMint);
  await chain.pay('USDC_SOL', payer.address, 1_000n * ONE_USDC);
  let last = '';

  const give = (destination: Address, amount: bigint): Instruction =>
    getTransferSolInstruction({ source: payer, destination, amount });
  const tokenAccount = async (owner: Address, mint: Address, tokenProgram: Address = TOKEN_PROGRAM_ADDRESS) =>
    (await findAssociatedTokenPda({ owner, mint, tokenProgram }))[0];
  const opening = async (owner: Address, mint: Address, tokenProgram: Address = TOKEN_PROGRAM_ADDRESS) =>
    getCreateAssociatedTokenIdempotentInstruction({
      payer,
      ata: await tokenAccount(owner, mint, tokenProgram),
      owner,
      mint,
      tokenProgram,
    });

  /** A mint of the forger's own, with as many digits as the real one. */
  async function forgedMint(program: Address = TOKEN_PROGRAM_ADDRESS): Promise<Address> {
    const mint = await generateKeyPairSigner();
    await succeed([
      getCreateAccountInstruction({
        payer,
        newAccount: mint,
        lamports: RENT_OF_A_MINT,
        space: MINT_BYTES,
        programAddress: program,
      }),
      getInitializeMint2Instruction(
        { mint: mint.address, decimals: 6, mintAuthority: payer.address },
        { programAddress: program },
      ),
    ]);
    return mint.address;
  }

  /** A token account that is no associated one, of the real mint. */
  async function strayAccount(owner: Address): Promise<KeyPairSigner> {
    const account = await generateKeyPairSigner();
    await succeed([
      getCreateAccountInstruction({
        payer,
        newAccount: account,
        lamports: RENT_OF_TOKENS,
        space: TOKEN_BYTES,
        programAddress: TOKEN_PROGRAM_ADDRESS,
      }),
      getInitializeAccount3Instruction({ account: account.address, mint: usdc, owner }),
    ]);
    return account;
  }

  const move = async (destination: Address, amount: bigint): Promise<Instruction> =>
    getTransferInstruction({
      source: await tokenAccount(payer.address, usdc),
      destination,
      authority: payer,
      amount,
    });

  /** The key of a deposit address of ours. */
  async function keyOf(ours: Address): Promise<KeyPairSigner> {
    const master = HDKey.fromMasterSeed(pbkdf2Sync(SEED, 'mnemonic', 2_048, 64, 'sha512'));
    for (let index = 0; index < 1_000; index++) {
      const { privateKey } = master.derive(`m/44'/501'/${index}'/0'`);
      const signer = await createKeyPairSignerFromPrivateKeyBytes(privateKey);
      if (signer.address === ours) return signer;
    }
    throw new Error(`${ours} is not one of the first addresses`);
  }

  async function send(instructions: Instruction[]): Promise<string> {
    last = await chain.send(instructions);
    return last;
  }

  /** Sends it, and waits for the outcome it is meant to have. */
  async function ends(instructions: Instruction[], failing: boolean): Promise<void> {
    const signature = await send(instructions);
    await eventually(async () => {
      const answer = await chain.rpc.call('getSignatureStatuses', [[signature]]);
      const [status] = (answer as { value: ({ err: unknown } | null)[] }).value;
      if (status == null) throw new Error(`${signature} is in no block`);
      if ((status.err !== null) !== failing)
        throw new Error(`${signature} ended with ${JSON.stringify(status.err)}`);
    });
  }
  const succeed = (instructions: Instruction[]) => ends(instructions, false);
  const fail = (instructions: Instruction[]) => ends(instructions, true);

  return {
    chain,
    payer,
    usdc,
    give,
    tokenAccount,
    opening,
    forgedMint,
    strayAccount,
    move,
    keyOf,
    succeed,
    fail,
    /** Waits until everything that was sent is final. */
    finalized: () => chain.finalized(last),
  };
}

export type SolanaForger = Awaited<ReturnType<typeof startSolanaForger>>;
