import { openWallet } from '@quittance/chains/evm/wallet';
import { anvil } from '@quittance/stack/anvil-chain';
import { eventually } from '@quittance/testkit/eventually';
import type { Quittance } from '@quittance/testkit/quittance';
import { createWalletClient, type Hex, http, parseEther } from 'viem';
import type { Hostile } from './hostile.ts';

const FEE = parseEther('0.001');

/** Sends all that the wallets have by the recovery phrase. */
export async function movesAll(
  { db, ethereum, stack }: Quittance,
  signer: Hostile,
  to: string,
): Promise<void> {
  const wallet = openWallet(signer.env['WALLET_SEED'] ?? '');
  const given = await db.rows<{ index: number }>(
    `select derivation_index as index from invoices.addresses where chain = 'ethereum'`,
  );
  for (const account of [wallet.hotSigner, ...given.map(({ index }) => wallet.depositSigner(index))]) {
    const held = await ethereum.balance('ETH', account.address);
    if (held <= FEE) continue;
    const client = createWalletClient({ account, chain: anvil, transport: http(stack.nodes.ethereum.rpc) });
    // The service itself may send something at the same time.
    await eventually(() => client.sendTransaction({ to: to as Hex, value: held - FEE }));
  }
}
