import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import { type Address, generateKeyPairSigner } from '@solana/kit';
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import {
  AuthorityType,
  findAssociatedTokenPda,
  getInitializeAccount3Instruction,
  getSetAuthorityInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import type { Rpc } from '../src/json-rpc.ts';
import { createSolanaSender, type Rents, type SolanaSender } from '../src/solana/sender.ts';
import { createSolanaSigner, type SolanaSigner } from '../src/solana/signer.ts';
import { associatedAccount, type SolanaSigned } from '../src/solana/transaction.ts';
import { newAddress, type SolanaChain, solanaChain, wallet } from './solana-chain.ts';

const SOL = 10n ** 9n;
let chain: SolanaChain;
let sender: SolanaSender;
let signer: SolanaSigner;
let rents: Rents;
const [BY_HOT, BY_DEPOSIT, TOKENS] = [1, 2, 3];
const owner = await generateKeyPairSigner();
const vault = await associatedAccount(newAddress(), newAddress());
/** Signed first, one sent at once and one never in time, and the height that was final then. */
let landed: SolanaSigned;
let unsent: SolanaSigned;
let from: number;

beforeAll(async () => {
  chain = await solanaChain({ lamports: 100n * SOL, usdc: 1_000_000_000n });
  signer = createSolanaSigner(chain.network, wallet);
  sender = createSolanaSender({ rpc: chain.rpc, network: chain.network, wallet: signer.addresses });
  rents = await sender.rents();
  await eventually(async () =>
    expect(await sender.balance('USDC_SOL', wallet.hotAddress)).toBeGreaterThan(0n),
  );
  from = await sender.finalizedHeight();
  landed = await signer.signTransfer(await transfer('SOL', newAddress(), SOL));
  unsent = await signer.signTransfer(await transfer('SOL', newAddress(), SOL));
  // What the tests pay from, at once: a payment takes a second to be final.
  const paid = await Promise.all([
    chain.pay('SOL', wallet.depositAddress(BY_HOT), SOL),
    chain.pay('SOL', wallet.depositAddress(BY_DEPOSIT), SOL),
    chain.pay('USDC_SOL', wallet.depositAddress(TOKENS), 70n),
    chain.pay('USDC_SOL', chain.payer.address, 100n),
    chain.pay('USDC_SOL', owner.address, 1n),
  ]);
  await Promise.all([land(landed), ...paid.map(chain.finalized)]);
});
afterAll(() => chain.stop());

const terms = async () => ({ lifetime: await sender.lifetime(), priorityFee: await sender.priorityFee() });

const transfer = async (asset: 'SOL' | 'USDC_SOL', to: string, amount: bigint) => ({
  asset,
  to,
  amount: units(amount),
  tokenAccountRent: rents.tokenAccount,
  ...(await terms()),
});

async function land({ raw, txHash }: SolanaSigned) {
  expect(await sender.broadcast(raw)).toBe('accepted');
  await chain.finalized(txHash);
  const status = await sender.status(txHash);
  if (status.state !== 'mined') throw new Error(`it is ${status.state}`);
  return status;
}

test('the check names what is not as configured', async () => {
  const checking = (network: Parameters<typeof createSolanaSender>[0]['network']) =>
    createSolanaSender({ rpc: chain.rpc, network, wallet }).check();
  await expect(checking({ name: 'mainnet' })).rejects.toMatchObject({
    name: 'WrongNetwork',
    message: expect.stringContaining('local'),
  });
  await expect(checking({ name: 'local', usdcMint: newAddress() })).rejects.toThrow('no mint');
  await expect(checking({ name: 'local', usdcMint: wallet.hotAddress })).rejects.toThrow(
    'no mint of the Token',
  );
});

test('has the current rent and lifetime, and an estimated fee', async () => {
  expect(rents).toEqual({ wallet: 890_880n, tokenAccount: 2_039_280n });
  const { lastValidBlockHeight } = await sender.lifetime();
  expect(lastValidBlockHeight).toBeGreaterThan(100);
  expect(await sender.estimatedFee('SOL')).toBeGreaterThan(5_000n);
  expect(await sender.estimatedFee('USDC_SOL')).toBeGreaterThan(5_000n + rents.tokenAccount);
});

describe('a transfer', () => {
  test('of tokens opens the account of a new owner, and only that of a new one', async () => {
    const to = newAddress();
    for (const rent of [rents.tokenAccount, 0n]) {
      const order = await transfer('USDC_SOL', to, 5n);
      expect(await sender.tryTransfer(order)).toBe('works');
      const signed = await signer.signTransfer(order);
      const before = await sender.balance('SOL', wallet.hotAddress);
      const { feePaid, succeeded } = await land(signed);
      expect({ succeeded, feePaid }).toEqual({
        succeeded: true,
        feePaid: signed.maxCost - signed.rentMax + rent,
      });
      expect(await sender.balance('SOL', wallet.hotAddress)).toBe(before - feePaid);
    }
    expect(await sender.balance('USDC_SOL', to)).toBe(10n);
  });

  test('that fails on the chain costs its fee and moves nothing', async () => {
    const to = newAddress();
    const signed = await signer.signTransfer(await transfer('SOL', to, 10n ** 15n));
    expect(await land(signed)).toMatchObject({ succeeded: false, feePaid: signed.maxCost });
    expect(await sender.balance('SOL', to)).toBe(0n);
  });
});

describe('a recipient is refused', () => {
  const trying = async (asset: 'SOL' | 'USDC_SOL', to: string, amount = 2_000_000n) =>
    await sender.tryTransfer(await transfer(asset, to, amount));

  test('that is new and would have less than the rent-exempt minimum', async () => {
    expect(await trying('SOL', newAddress(), rents.wallet - 1n)).toBe('refused');
    expect(await trying('SOL', newAddress(), rents.wallet)).toBe('works');
  });

  test('that is a token account or a mint, for any asset', async () => {
    const account = await associatedAccount(wallet.hotAddress, chain.network.usdcMint);
    expect(await trying('SOL', account)).toBe('refused');
    expect(await trying('USDC_SOL', account)).toBe('refused');
    const otherNetwork = createSolanaSender({ rpc: chain.rpc, network: { name: 'local' }, wallet });
    expect(await otherNetwork.tryTransfer(await transfer('SOL', chain.network.usdcMint, SOL))).toBe(
      'refused',
    );
  });

  test('that is a program', async () => {
    expect(await trying('SOL', 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')).toBe('refused');
  });

  test('that is no public key and was never used, for tokens; a vault with lamports is not', async () => {
    expect(await trying('USDC_SOL', vault)).toBe('refused');
    expect(await trying('SOL', vault)).toBe('works');
    await chain.finalized(await chain.pay('SOL', vault, SOL));
    expect(await trying('USDC_SOL', vault)).toBe('works');
  });

  test('whose token account belongs to somebody else by now', async () => {
    const [owned] = await findAssociatedTokenPda({
      owner: owner.address,
      mint: chain.network.usdcMint as Address,
      tokenProgram: TOKEN_PROGRAM_ADDRESS,
    });
    const give = getSetAuthorityInstruction({
      owned,
      owner,
      authorityType: AuthorityType.AccountOwner,
      newAuthority: newAddress(),
    });
    await chain.finalized(await chain.send([give]));
    expect(await trying('USDC_SOL', owner.address)).toBe('refused');
  });

  test('but not when it is the hot wallet that lacks the money', async () => {
    await expect(trying('SOL', newAddress(), 10n ** 15n)).rejects.toThrow('the hot wallet');
    await expect(trying('USDC_SOL', newAddress(), 10n ** 15n)).rejects.toThrow('the hot wallet has less');
    const hot = await sender.balance('SOL', wallet.hotAddress);
    // It would be left with something, and less than an account must have.
    await expect(trying('SOL', newAddress(), hot - 50_000n)).rejects.toThrow('the hot wallet');
  });
});

describe('a sweep', () => {
  test('of SOL leaves nothing, the fee from the hot wallet or the deposit', async () => {
    const before = await sender.balance('SOL', wallet.hotAddress);
    const sweeps = (
      [
        ['hot', BY_HOT],
        ['deposit', BY_DEPOSIT],
      ] as const
    ).map(async ([feeFrom, index]) => {
      const order = { index, balance: units(SOL), feeFrom, ...(await terms()) };
      const signed = await signer.signNativeSweep(order);
      const { feePaid, succeeded } = await land(signed);
      expect({ feePaid, succeeded }).toEqual({ feePaid: signed.maxCost, succeeded: true });
      await eventually(async () =>
        expect(await sender.balance('SOL', wallet.depositAddress(index))).toBe(0n),
      );
      return feePaid;
    });
    const [first, second] = await Promise.all(sweeps);
    const fees = (first as bigint) + (second as bigint);
    expect(await sender.balance('SOL', wallet.hotAddress)).toBe(before + 2n * SOL - fees);
  });

  test('of tokens empties every account of the address, which never had a lamport', async () => {
    const deposit = wallet.depositAddress(TOKENS) as Address;
    // Somebody may also pay into an account of their own making.
    const extra = await generateKeyPairSigner();
    const mint = chain.network.usdcMint as Address;
    const payerAccount = await associatedAccount(chain.payer.address, mint);
    const sent = await chain.send([
      getCreateAccountInstruction({
        payer: chain.payer,
        newAccount: extra,
        lamports: rents.tokenAccount,
        space: 165n,
        programAddress: TOKEN_PROGRAM_ADDRESS,
      }),
      getInitializeAccount3Instruction({ account: extra.address, mint, owner: deposit }),
      getTransferCheckedInstruction({
        source: payerAccount as Address,
        mint,
        destination: extra.address,
        authority: chain.payer,
        amount: 30n,
        decimals: 6,
      }),
    ]);
    await chain.finalized(sent);
    const accounts = await sender.tokenAccounts('USDC_SOL', deposit);
    expect(accounts.map(({ amount }) => amount)).toEqual([70n, 30n]);
    expect(await sender.balance('USDC_SOL', deposit)).toBe(100n);
    const before = await sender.balance('USDC_SOL', wallet.hotAddress);
    const order = {
      asset: 'USDC_SOL',
      index: TOKENS,
      accounts,
      tokenAccountRent: rents.tokenAccount,
    } as const;
    const signed = await signer.signTokenSweep({ ...order, ...(await terms()) });
    expect(await land(signed)).toMatchObject({
      succeeded: true,
      feePaid: signed.maxCost - rents.tokenAccount,
    });
    expect(await sender.balance('USDC_SOL', wallet.hotAddress)).toBe(before + 100n);
    expect(await sender.tokenAccounts('USDC_SOL', deposit)).toEqual([]);
  });
});

test('a transaction that is sent too late is in no block, ever; before that is proven it is not said', async () => {
  const late = await signer.signTransfer(await transfer('SOL', newAddress(), SOL));
  expect(await sender.nonInclusion(late.txHash, late.validToHeight, from)).toBe('unproven');
  await eventually(async () =>
    expect(await sender.nonInclusion(unsent.txHash, unsent.validToHeight, from)).toBe('proven'),
  );
  expect(await sender.nonInclusion(landed.txHash, landed.validToHeight, from)).toBe('included');
  // A node that was started from a snapshot has forgotten its status, not its block.
  const forgetful: Rpc = {
    ...chain.rpc,
    async call(method, ...rest) {
      const answer = await chain.rpc.call(method, ...rest);
      return method === 'getSignatureStatuses' ? { ...(answer as object), value: [null] } : answer;
    },
  };
  const behindIt = createSolanaSender({ rpc: forgetful, network: chain.network, wallet });
  await expect(behindIt.nonInclusion(landed.txHash, landed.validToHeight, from)).rejects.toThrow(
    'is in its block',
  );
  expect(await behindIt.nonInclusion(unsent.txHash, unsent.validToHeight, from)).toBe('proven');
  // The node takes it, or not, and either way nothing comes of it.
  expect(await sender.broadcast(unsent.raw)).not.toBe('rejected');
  await chain.finalized(
    await chain.send([
      getTransferSolInstruction({ source: chain.payer, destination: newAddress(), amount: SOL }),
    ]),
  );
  expect(await sender.status(unsent.txHash)).toEqual({ state: 'absent' });
});
